"""The stages that fit the correction for dependence."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np

from twoheads.combination.fitting.cross_fitting import out_of_fold_likelihood
from twoheads.combination.fitting.holdout import CrossFittedPredictions, holdout_counts
from twoheads.combination.fitting.state import FitState
from twoheads.combination.rule import CombinationRule
from twoheads.combination.statistics.folds import crowd_counts_by_fold
from twoheads.dependence import Dependence
from twoheads.dependence.evidence import OutOfFoldLikelihood
from twoheads.engines.blocks import transform_blocks
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.agreement import agreement_log_density
from twoheads.kernels.dependence.posterior import MODE_LABELS
from twoheads.kernels.priors import AFTER_EM_SD, HELD_SD

#: Log-probabilities in the subsample of a large table on which a fit starts (64 MB).
SAMPLE_NUMBERS = 8_000_000

#: With many classes the Hessian is a product of matrices, which is efficient on blocks of so many items.
MIN_ITEMS = 1024


def sample_limit(n_classes: int) -> int:
    """Most items of the subsample of a large table on which a fit starts."""
    return min(MODE_LABELS, SAMPLE_NUMBERS // n_classes)


def fit_agreement(state: FitState) -> FitState:
    """The density of the model's log temperature from unlabelled items; None where it is held, or nobody answered."""
    if state.calibrator.log_temperature_prior()[1] <= HELD_SD:
        return state
    block = state.items.answered_unlabelled()
    if block is None:
        return state
    log_proba, label_shares = state.rule.model_log_proba(block), state.rule.human_label_shares(block)
    density = agreement_log_density(log_proba, label_shares, *state.confusion.accuracy_posterior())
    return replace(state, agreement=density)


def hold_temperature(state: FitState) -> FitState:
    """Estimate the temperature without labels, and fix the calibrator there for EM."""
    assert state.dependence is not None
    dependence = copy(state.dependence).start(
        log_temperature_prior=state.calibrator.log_temperature_prior(),
        n_classes=state.schema.n_classes,
        agreement=state.agreement,
    )
    calibrator = copy(state.calibrator).hold(dependence.mean_log_temperature())
    return replace(state, dependence=dependence, calibrator=calibrator)


def dependence_from_prior(state: FitState) -> FitState:
    """Set the dependence to its prior, at the temperature that EM has found."""
    assert state.dependence is not None
    prior = state.calibrator.log_temperature_after_em(), HELD_SD
    dependence = copy(state.dependence).start(log_temperature_prior=prior, n_classes=state.schema.n_classes)
    return replace(state, dependence=dependence)


def fit_dependence(state: FitState) -> FitState:
    """Fit the dependence to the labelled items, with the calibrator's prior of the temperature."""
    return _fit(state, state.calibrator.log_temperature_prior())


def fit_dependence_after_em(state: FitState) -> FitState:
    """The same with a temperature near the one that EM has found."""
    return _fit(state, (state.calibrator.log_temperature_after_em(), AFTER_EM_SD))


def _fit(state: FitState, log_temperature_prior: tuple[float, float]) -> FitState:
    assert state.dependence is not None
    assert state.labelled is not None
    n_classes, rule = state.schema.n_classes, state.rule
    out_of_fold = _out_of_fold(state)
    sample: Sequence[Block] = []
    blocks = state.labelled_blocks
    if len(state.labelled) > MODE_LABELS:
        sample = state.labelled.subsample(sample_limit(n_classes), min_items=MIN_ITEMS)
        blocks = blocks if blocks[0].n_items >= MIN_ITEMS else state.labelled.blocks(min_items=MIN_ITEMS)
    with_model, without_model = state.statistics.answered
    to_stage = partial(_stage_input, rule)
    dependence = copy(state.dependence).fit(
        transform_blocks(to_stage, blocks),
        transform_blocks(to_stage, sample),
        out_of_fold,
        n=float(with_model if rule.has_model else with_model + without_model),
        log_temperature_prior=log_temperature_prior,
        n_classes=n_classes,
        agreement=state.agreement,
    )
    holdout = holdout_counts(sample or blocks, _predictions(rule, out_of_fold, dependence))
    return replace(state, dependence=dependence, holdout=holdout)


def _out_of_fold(state: FitState) -> OutOfFoldLikelihood:
    assert state.labelled is not None
    fold_counts, blocks = None, state.labelled_blocks
    if not state.single:
        n_classes, correlation = state.schema.n_classes, state.correlation
        fold_counts = crowd_counts_by_fold(blocks, n_classes=n_classes, correlation=correlation)
    weight = state.labelled.mean_weight()
    return out_of_fold_likelihood(state.confusion, state.response, blocks, weight=weight, fold_counts=fold_counts)


def _stage_input(rule: CombinationRule, block: Block) -> Block:
    """The block with the model's log-probabilities as the stage takes them, single-source items with weight 0."""
    alone = np.concatenate(block.single_source_items(has_model=rule.has_model))
    weight = block.weight
    if len(alone):
        weight = np.ones(block.n_items) if weight is None else weight.copy()
        weight[alone] = 0.0
    return replace(block, log_proba=rule.model_log_proba(block), weight=weight)


def _predictions(
    rule: CombinationRule, out_of_fold: OutOfFoldLikelihood, dependence: Dependence
) -> CrossFittedPredictions:
    plain = dependence.plain()

    def predict(block: Block) -> tuple[Floats, Floats, Codes]:
        likelihood = out_of_fold(block)
        combined = rule.posterior(block, likelihood, dependence)
        return combined, rule.posterior(block, likelihood, plain), rule.human_label(block, likelihood)

    return predict
