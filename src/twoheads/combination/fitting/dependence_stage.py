"""The stages that fit the correction for dependence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np

from twoheads.combination.fitting.cross_fitting import apart, out_of_fold_likelihood
from twoheads.combination.fitting.holdout import CrossFittedPredictions, HeldOut, holdout_counts, only_one_right
from twoheads.combination.fitting.left_out import left_out_posteriors
from twoheads.combination.fitting.state import FitState
from twoheads.combination.items.protocol import Schema, sample_hashes_of
from twoheads.combination.rule import CombinationRule
from twoheads.combination.statistics.folds import crowd_counts_by_fold
from twoheads.dependence import Dependence
from twoheads.dependence.evidence import Evidence, OutOfFoldLikelihood, StreamedEvidence, more_answers
from twoheads.engines.blocks import map_blocks, sum_blocks, transform_blocks
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.agreement import agreement_log_density, share_of_unlabelled
from twoheads.kernels.dependence.groups import separation_mean
from twoheads.kernels.dependence.left_out import MOST_LABELS
from twoheads.kernels.dependence.posterior import MODE_LABELS
from twoheads.kernels.dependence.preference import Preference, fit_preference
from twoheads.kernels.dependence.witnesses import strength_items
from twoheads.kernels.numerics.sampling import Hashes
from twoheads.kernels.priors import AFTER_EM_SD, HELD_SD, MEAN_ANSWERS_LABELS

#: Log-probabilities in the subsample of a large table on which a fit starts (64 MB).
SAMPLE_NUMBERS = 8_000_000
#: With many classes the Hessian is a product of matrices, which is efficient on blocks of so many items.
MIN_ITEMS = 1024
#: Prior of the log temperature of a team without a model: held at 0.
NO_TEMPERATURE = 0.0, HELD_SD


def sample_limit(n_classes: int) -> int:
    """Most items of the subsample of a large table on which a fit starts."""
    return min(MODE_LABELS, SAMPLE_NUMBERS // n_classes)


def unlabelled_share(state: FitState) -> float:
    """How much the unlabelled items count, from 0 to 1, rising with their number so that no single one makes a jump."""
    block = state.items.answered_unlabelled()
    return 0.0 if block is None else share_of_unlabelled(block.total_weight())


def fit_agreement(state: FitState) -> FitState:
    """The density of the model's log temperature from unlabelled items; None where it is held, or nobody answered."""
    if not state.schema.has_model or state.calibrator.log_temperature_prior()[1] <= HELD_SD:
        return state
    block = state.items.answered_unlabelled()
    if block is None:
        return state
    log_proba, label_shares = state.rule.model_log_proba(block), state.rule.human_label_shares(block)
    density = agreement_log_density(log_proba, label_shares, *state.confusion.accuracy_posterior(), block.weight)
    return replace(state, agreement=density)


def hold_temperature(state: FitState) -> FitState:
    """Estimate the temperature without labels, and fix the calibrator there for EM."""
    assert state.dependence is not None
    dependence = copy(state.dependence).start(
        log_temperature_prior=_temperature_prior(state),
        n_classes=state.schema.n_classes,
        agreement=state.agreement,
        answers_per_item=_answers_per_item(state),
        correlation_share=state.correlation_share,
    )
    calibrator = copy(state.calibrator).hold(dependence.mean_log_temperature())
    return replace(state, dependence=dependence, calibrator=calibrator)


def dependence_from_prior(state: FitState) -> FitState:
    """Set the dependence to its prior, at the temperature that EM has found."""
    assert state.dependence is not None
    prior = (state.calibrator.log_temperature_after_em(), HELD_SD) if state.schema.has_model else NO_TEMPERATURE
    dependence = copy(state.dependence).start(
        log_temperature_prior=prior,
        n_classes=state.schema.n_classes,
        answers_per_item=_answers_per_item(state),
        correlation_share=state.correlation_share,
    )
    return replace(state, dependence=dependence)


def fit_dependence(state: FitState) -> FitState:
    """Fit the dependence to the labelled items, with the calibrator's prior of the temperature."""
    return _fit(state)


def fit_dependence_after_em(state: FitState) -> FitState:
    """The same with a temperature near the one that EM has found: the more items have no truth, the nearer."""
    if not state.schema.has_model:
        return _fit(state)
    share = unlabelled_share(state)
    mean, sd = state.calibrator.log_temperature_prior()
    found = state.calibrator.log_temperature_after_em()
    return _fit(state, (mean + share * (found - mean), sd + share * (AFTER_EM_SD - sd)))


def _temperature_prior(state: FitState) -> tuple[float, float]:
    """The calibrator's prior of the log temperature; held at 0 without a model: class shares need none."""
    return state.calibrator.log_temperature_prior() if state.schema.has_model else NO_TEMPERATURE


def _fit(state: FitState, log_temperature_prior: tuple[float, float] | None = None) -> FitState:
    assert state.dependence is not None
    assert state.labelled is not None
    prior = log_temperature_prior or _temperature_prior(state)
    labelled, n_classes, rule = state.labelled, state.schema.n_classes, state.rule
    blocks, few, whole = state.labelled_blocks, few_labelled(state), None
    out_of_fold = _out_of_fold(state)
    if len(labelled) > MODE_LABELS:
        blocks = blocks if blocks[0].n_items >= MIN_ITEMS else labelled.blocks(min_items=MIN_ITEMS)
        whole = StreamedEvidence(transform_blocks(partial(_stage_input, rule), blocks), out_of_fold)
    sampled = rule.has_model and len(labelled) > strength_items(n_classes)
    hashes = sample_hashes_of(few, state.schema.annotators) if sampled else None
    with_model, without_model = state.statistics.answered
    dependence = copy(state.dependence).fit(
        list(map_blocks(partial(_evidence, rule, out_of_fold, hashes), few)),
        whole,
        n=float(with_model if rule.has_model else with_model + without_model),
        log_temperature_prior=prior,
        n_classes=n_classes,
        agreement=state.agreement,
        unlabelled=_unlabelled_evidence(state),
        has_model=rule.has_model,
        answers_per_item=_answers_per_item(state),
        correlation_share=state.correlation_share,
    )
    n_labels = _left_out_of(state)
    if rule.machines:
        dependence.separation_ = _separation(rule, out_of_fold, dependence, n_labels, few)
    fitted = replace(state, dependence=dependence, out_of_fold=out_of_fold)
    if len(state.panel_members):  # the record will be the panel's
        return fitted
    predictions = held_out_predictions(fitted, _preference(rule, out_of_fold, few))
    return replace(fitted, holdout=holdout_counts(few, predictions, state.rivals))


def few_labelled(state: FitState) -> Sequence[Block]:
    """The labelled items' blocks; of a large table, those of a subsample."""
    assert state.labelled is not None
    if len(state.labelled) <= MODE_LABELS:
        return state.labelled_blocks
    return state.labelled.subsample(sample_limit(state.schema.n_classes), min_items=MIN_ITEMS)


def held_out_predictions(state: FitState, preference: Preference | None = None) -> CrossFittedPredictions:
    """Predictions of labelled blocks by the fitted dependence, from matrices fitted without their items."""
    assert state.dependence is not None
    assert state.out_of_fold is not None
    rule, n_labels = replace(state.rule, preference=preference), _left_out_of(state)
    parts = state.schema, state.out_of_fold, state.dependence, state.dependence.plain(), n_labels
    return partial(_predictions, rule, *parts)


def _left_out_of(state: FitState) -> float | None:
    """The weight of all labels; None where they are so many, by Kish's number, that none needs to be left out."""
    total, squares = float(state.statistics.labels_per_class.sum()), state.statistics.labelled_squares
    return total if total**2 <= MOST_LABELS * squares else None


def _out_of_fold(state: FitState) -> OutOfFoldLikelihood:
    assert state.labelled is not None
    return out_of_fold_likelihood(
        state.confusion,
        state.response,
        state.labelled_blocks,
        weighted=state.labelled.is_weighted,
        fold_counts=_fold_counts(state),
    )


def _preference(rule: CombinationRule, out_of_fold: OutOfFoldLikelihood, blocks: Sequence[Block]) -> Preference:
    """The preference in close calls, which is part of the combination that the record judges."""
    counts = sum_blocks(lambda block: only_one_right(block, rule.human_label_shares(block, out_of_fold(block))), blocks)
    return fit_preference(float(counts[0]), float(counts[1]), float(counts[2]))


def _separation(
    rule: CombinationRule,
    out_of_fold: OutOfFoldLikelihood,
    dependence: Dependence,
    n_labels: float | None,
    few: Sequence[Block],
) -> float:
    """How far people and machines are two groups, by the labelled items."""
    plain = dependence.plain()

    def kernel(block: Block) -> tuple[Floats]:
        assert block.true_label is not None
        likelihood, combined, _ = left_out_posteriors(rule, out_of_fold, dependence, plain, n_labels, block)
        groups = rule.groups(block, likelihood, out_of_fold, dependence.correlation_)
        return (groups.log_likelihood(combined, block.true_label, block.weight),)

    return separation_mean(sum_blocks(kernel, few)[0])


def _answers_per_item(state: FitState) -> float:
    """Mean number of answers on an answered item; 1 where there is no model to share errors with.

    It is that of the labelled items, to which the dependence is fitted; the mean of all items counts as ten labels.
    """
    statistics = state.statistics
    if not (state.schema.has_model and statistics.answered_items > 0):
        return 1.0
    of_all = float(statistics.annotation_counts[0].sum()) / statistics.answered_items
    answers, answered = float(statistics.counts.sum()), float(statistics.answered.sum())
    return max(1.0, (MEAN_ANSWERS_LABELS * of_all + answers) / (MEAN_ANSWERS_LABELS + answered))


def _fold_counts(state: FitState) -> Floats | None:
    """The crowd's counts by fold, or those of people and of machines; None for one annotator, who needs no folds."""
    if state.single:
        return None
    counts = partial(crowd_counts_by_fold, n_classes=state.schema.n_classes, correlation=state.correlation)
    machines, blocks = state.rule.machines, state.labelled_blocks
    if not machines:
        return counts(blocks)
    return np.stack([counts(group) for group in apart(blocks, machines, state.schema.people)], axis=1)


def _unlabelled_evidence(state: FitState) -> Evidence | None:
    """Some unlabelled items with answer and model row, each with the weight of those it represents."""
    total = unlabelled_weight(state)
    block = state.items.answered_unlabelled(strength_items(state.schema.n_classes)) if total > 0 else None
    if block is None:
        return None
    weight = total * block.weight_shares()
    if block.no_model is not None:
        weight[block.no_model] = 0.0
    truth = np.full(block.n_items, MISSING)
    log_proba, likelihood = state.rule.model_log_proba(block), state.rule.answer_log_likelihood(block)
    return Evidence(log_proba, likelihood, truth, weight, more_answers(block))


def unlabelled_weight(state: FitState) -> float:
    """The total weight of the unlabelled items with an answer, as the team weighs them."""
    statistics = state.statistics
    return state.parts.unlabelled_weight * max(statistics.answered_items - float(statistics.answered.sum()), 0.0)


def _evidence(
    rule: CombinationRule,
    out_of_fold: OutOfFoldLikelihood,
    hashes: Callable[[Block], tuple[Hashes, Hashes]] | None,
    block: Block,
) -> Evidence:
    """The evidence of a block, with hashes where it is to be sampled."""
    return Evidence.of(_stage_input(rule, block), out_of_fold, None if hashes is None else hashes(block))


def _stage_input(rule: CombinationRule, block: Block) -> Block:
    """The block with the model's log-probabilities as the stage takes them, single-source items with weight 0."""
    alone = np.concatenate(block.single_source_items(has_model=rule.has_model))
    weight = block.weight
    own = block.own_weight
    if len(alone):
        own = np.ones(block.n_items) if weight is None and own is None else weight if own is None else own
        weight = np.ones(block.n_items) if weight is None else weight.copy()
        weight[alone] = 0.0
    return replace(block, log_proba=rule.model_log_proba(block), weight=weight, own_weight=own)


def _predictions(
    rule: CombinationRule,
    schema: Schema,
    out_of_fold: OutOfFoldLikelihood,
    dependence: Dependence,
    plain: Dependence,
    n_labels: float | None,
    block: Block,
) -> HeldOut:
    """`CrossFittedPredictions` of a block."""
    likelihood, combined, product = left_out_posteriors(rule, out_of_fold, dependence, plain, n_labels, block)
    combined = rule.separated(block, combined, likelihood, out_of_fold, dependence)
    combined = rule.preferred(block, combined, likelihood, dependence)
    shares = rule.human_label_shares(block, likelihood)
    if not schema.machines:
        return HeldOut(combined, product, shares, shares)
    people = schema.people_only(block)
    return HeldOut(combined, product, shares, rule.human_label_shares(people, out_of_fold(people)))
