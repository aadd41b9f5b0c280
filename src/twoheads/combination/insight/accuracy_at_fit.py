"""People's accuracies from what a fit retains: sums over labelled items, and samples of items."""

from __future__ import annotations

import numpy as np

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.insight.answer_rows import AnswerRows, answer_rows
from twoheads.combination.insight.out_of_fold import Learner, out_of_fold_posterior
from twoheads.combination.insight.people_accuracy import (
    PeopleAccuracy,
    believed_accuracy,
    counted_accuracy,
    design_effects,
    measured_accuracy,
)
from twoheads.combination.items.protocol import Schema
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.observations import Observations


def accuracy_at_fit(team: Learner, result: FitResult) -> PeopleAccuracy:
    """Measured where a labelled item has an answer, else believed.

    Where the sample holds all labelled items, those without truth narrow the accuracies. Where there are more, their
    exact sums are used alone.
    """
    statistics = result.statistics
    right, count = _right_and_count(statistics.counts)
    answers = retained_answers(team, result)
    if not count.any():
        if answers is None:  # the soft counts of EM
            return believed_accuracy(*_right_and_count(result.rule.confusion.counts_))
        return believed_accuracy(answers.sums(answers.belief(answers.label)), answers.sums(np.ones(len(answers.item))))
    if answers is not None:
        return measured_accuracy(answers)
    return counted_accuracy(right, count, *_design_effects(result, right / np.maximum(count, 1.0)))


def retained_answers(team: Learner, result: FitResult) -> AnswerRows | None:
    """The answers about the retained items; None where these are not all that accuracies must rest on.

    With truth there must be all labelled items, and beliefs are out-of-fold; without, all items, and beliefs are the
    team's own.
    """
    labelled, rest = result.statistics.labelled, result.statistics.unlabelled
    if not result.statistics.counts.any():
        if rest is None or not np.isinf(rest.threshold):
            return None
        block = rest.block()
        observations = sampled_observations(block, result.schema)
        nothing = np.full(block.n_items, MISSING)
        return answer_rows(observations, nothing, block.weight, team.predict_proba(observations))
    if labelled is None or not np.isinf(labelled.threshold):
        return None
    whole = joined([labelled.block()] + ([rest.block()] if rest is not None else []))
    assert whole.true_label is not None
    observations = sampled_observations(whole, result.schema)
    order = np.arange(labelled.n_items)  # by key, which is random
    posterior = out_of_fold_posterior(team, observations, whole.true_label, whole.weight, order)
    return answer_rows(observations, whole.true_label, whole.weight, posterior)


def sampled_observations(block: Block, schema: Schema) -> Observations:
    """The items of a sample as observations again."""
    assert block.answers is not None
    models: tuple[Floats, ...] = ()
    if schema.has_model:
        models = tuple(np.array(each.T) for each in block.members or (block.log_proba,))
        if block.no_model is not None and not block.members:
            models[0][block.no_model] = np.nan
    return Observations(
        schema.classes,
        models,
        block.answers,
        schema.annotators,
        np.arange(block.n_items),
        schema.models if schema.has_model else (),
        model_scale="log",
        unsure=block.unsure,
        confidence=block.confidence,
    )


def _right_and_count(counts: Floats) -> tuple[Floats, Floats]:
    """Right answers, and all; counts (n_people, n_classes, n_classes)."""
    return np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))


def _design_effects(result: FitResult, share: Floats) -> tuple[float, float]:
    """Of the crowd's mean over people and of all answers together, from the sampled labelled items."""
    sample = result.statistics.labelled
    if sample is None:
        return 1.0, 1.0
    block = sample.block()
    assert block.true_label is not None
    return design_effects(answer_rows(sampled_observations(block, result.schema), block.true_label), share)
