"""The stages that fit the correction for dependence."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np

from twoheads.combination.fitting.cross_fitting import out_of_fold_likelihood
from twoheads.combination.fitting.holdout import holdout_counts
from twoheads.combination.fitting.state import FitState
from twoheads.combination.items.protocol import Schema
from twoheads.combination.rivals import RivalList
from twoheads.combination.rule import CombinationRule
from twoheads.combination.statistics.folds import crowd_counts_by_fold
from twoheads.dependence import Dependence
from twoheads.dependence.evidence import Evidence, OutOfFoldLikelihood, StreamedEvidence
from twoheads.engines.blocks import map_blocks, transform_blocks
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.agreement import agreement_log_density, share_of_unlabelled
from twoheads.kernels.dependence.left_out import MOST_LABELS, NUMBERS
from twoheads.kernels.dependence.posterior import MODE_LABELS
from twoheads.kernels.priors import AFTER_EM_SD, HELD_SD

#: Log-probabilities in the subsample of a large table on which a fit starts (64 MB).
SAMPLE_NUMBERS = 8_000_000

#: With many classes the Hessian is a product of matrices, which is efficient on blocks of so many items.
MIN_ITEMS = 1024


def sample_limit(n_classes: int) -> int:
    """Most items of the subsample of a large table on which a fit starts."""
    return min(MODE_LABELS, SAMPLE_NUMBERS // n_classes)


def unlabelled_share(state: FitState) -> float:
    """How much the unlabelled items count of all that unlabelled items can, so that no single one makes a jump."""
    block = state.items.answered_unlabelled()
    return 0.0 if block is None else share_of_unlabelled(block.n_items)


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
    return _fit(state)


def fit_dependence_after_em(state: FitState) -> FitState:
    """The same with a temperature near the one that EM has found, the nearer the more items had no truth."""
    share = unlabelled_share(state)
    mean, sd = state.calibrator.log_temperature_prior()
    found = state.calibrator.log_temperature_after_em()
    return _fit(state, (mean + share * (found - mean), sd + share * (AFTER_EM_SD - sd)))


def _fit(state: FitState, log_temperature_prior: tuple[float, float] | None = None) -> FitState:
    assert state.dependence is not None
    assert state.labelled is not None
    fold_counts = _fold_counts(state)
    prior = log_temperature_prior or state.calibrator.log_temperature_prior()
    labelled, n_classes, rule = state.labelled, state.schema.n_classes, state.rule
    is_large, weight = len(labelled) > MODE_LABELS, labelled.mean_weight()
    blocks, few, whole = state.labelled_blocks, state.labelled_blocks, None
    out_of_fold = out_of_fold_likelihood(
        state.confusion, state.response, blocks, weight=weight, fold_counts=fold_counts
    )
    if is_large:
        few = labelled.subsample(sample_limit(n_classes), min_items=MIN_ITEMS)
        blocks = blocks if blocks[0].n_items >= MIN_ITEMS else labelled.blocks(min_items=MIN_ITEMS)
        whole = StreamedEvidence(transform_blocks(partial(_stage_input, rule), blocks), out_of_fold)
    with_model, without_model = state.statistics.answered
    dependence = copy(state.dependence).fit(
        list(map_blocks(partial(_evidence, rule, out_of_fold), few)),
        whole,
        n=float(with_model if rule.has_model else with_model + without_model),
        log_temperature_prior=prior,
        n_classes=n_classes,
        agreement=state.agreement,
    )
    schema, n_labelled = state.schema, state.statistics.n_labelled
    predictions = partial(_predictions, rule, schema, out_of_fold, dependence, dependence.plain(), n_labelled)
    rivals = RivalList(schema.annotators, schema.models if schema.has_model else (), machines=schema.machines)
    return replace(state, dependence=dependence, holdout=holdout_counts(few, predictions, rivals))


def _fold_counts(state: FitState) -> Floats | None:
    """The crowd's counts by fold; None for one annotator, whose matrix without an item needs no folds."""
    if state.single:
        return None
    n_classes, correlation = state.schema.n_classes, state.correlation
    return crowd_counts_by_fold(state.labelled_blocks, n_classes=n_classes, correlation=correlation)


def _evidence(rule: CombinationRule, out_of_fold: OutOfFoldLikelihood, block: Block) -> Evidence:
    return Evidence.of(_stage_input(rule, block), out_of_fold)


def _stage_input(rule: CombinationRule, block: Block) -> Block:
    """The block with the model's log-probabilities as the stage takes them, single-source items with weight 0."""
    alone = np.concatenate(block.single_source_items(has_model=rule.has_model))
    weight = block.weight
    if len(alone):
        weight = np.ones(block.n_items) if weight is None else weight.copy()
        weight[alone] = 0.0
    return replace(block, log_proba=rule.model_log_proba(block), weight=weight)


def _predictions(
    rule: CombinationRule,
    schema: Schema,
    out_of_fold: OutOfFoldLikelihood,
    dependence: Dependence,
    plain: Dependence,
    n_labels: float,
    block: Block,
) -> tuple[Floats, Floats, Codes, Codes]:
    """`CrossFittedPredictions` of a block.

    With few labels each of them moves the parameters of the combination: they too are then left out.
    """
    likelihood = out_of_fold(block)
    combined, product = rule.posteriors(block, likelihood, dependence, plain)
    numbers = len(dependence.weight_) * combined.size
    if n_labels <= MOST_LABELS and numbers <= NUMBERS:
        _leave_out(rule, dependence, block, likelihood, (combined, product), n_labels)
    label = rule.human_label(block, likelihood)
    if not schema.machines:
        return combined, product, label, label
    people = schema.people_only(block)
    return combined, product, label, rule.human_label(people, out_of_fold(people))


def _leave_out(
    rule: CombinationRule,
    dependence: Dependence,
    block: Block,
    likelihood: Floats,
    probas: tuple[Floats, Floats],
    n_labels: float,
) -> None:
    """Write predictions with parameters fitted without the item, where it has an answer and a model row."""
    assert block.answers is not None
    assert block.true_label is not None
    both = np.ones(block.n_items, dtype=bool)
    both[np.concatenate(block.single_source_items(has_model=rule.has_model))] = False
    here = np.flatnonzero(both)
    if not len(here):
        return
    log_proba, truth, answers = rule.model_log_proba(block)[:, here], block.true_label[here], block.answers.take(here)
    found = dependence.left_out_probas(log_proba, likelihood[:, here], truth, answers, n=n_labels)
    for proba, without in zip(probas, found, strict=True):
        proba[:, here] = without
