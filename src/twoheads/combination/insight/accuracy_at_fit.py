"""People's accuracies from what a fit retains: sums over labelled items, and samples of items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.insight.answer_rows import AnswerRows, answer_rows
from twoheads.combination.insight.class_accuracy import class_stats, shares_from_answers, shares_from_counts
from twoheads.combination.insight.out_of_fold import Learner, out_of_fold_posterior, posterior_without_truth
from twoheads.combination.insight.people_accuracy import (
    PeopleAccuracy,
    Units,
    believed_accuracy,
    counted_accuracy,
    design_effects,
    measured_accuracy,
    units_of,
)
from twoheads.combination.items.protocol import Schema
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.inference.grouped_rows import ratio
from twoheads.observations import Observations


def accuracy_at_fit(team: Learner, result: FitResult) -> PeopleAccuracy:
    """Measured where labelled items of two classes have an answer, else believed; of people, and of machines.

    Where the sample holds all labelled items, those without truth narrow the accuracies. Where there are more, their
    exact sums are used alone.
    """
    answers, schema = retained_answers(team, result), result.schema
    people = _accuracy(result, answers, schema.people)
    if not schema.machines:
        return people
    return replace(people, machines=_accuracy(result, answers, schema.machine_numbers))


def _accuracy(result: FitResult, answers: AnswerRows | None, who: list[int]) -> PeopleAccuracy:
    """Accuracies of the annotators with these numbers."""
    counts, n_classes = result.statistics.counts, result.schema.n_classes
    right, count = _right_and_count(counts[who])
    own = None if answers is None else answers.of(who)
    if not count.any():
        if own is None or counts.any():  # the soft counts of EM: beliefs out of fold are not of all items
            return believed_accuracy(*_right_and_count(_soft_counts(result, who)))
        return believed_accuracy(own.counts(own.belief(own.label)), own.counts(np.ones(len(own.item))))
    judged = result.statistics.answer_numbers[who, :-1].sum(axis=1)
    if _one_class(counts):
        return _of_one_class(result, own, who, judged)
    if own is not None:
        return measured_accuracy(own, n_classes, judged)
    units = _labelled_units(result, who)
    return counted_accuracy(right, count, judged, units, *_design_effects(result, right / np.maximum(count, 1.0), who))


def _of_one_class(result: FitResult, own: AnswerRows | None, who: list[int], judged: Floats) -> PeopleAccuracy:
    """Believed accuracies, labelled answers counted as they are; without a sample of all that the team believes."""
    unit = _labelled_units(result, who).of_class
    if own is None or own.posterior is None:
        return believed_accuracy(*_right_and_count(_soft_counts(result, who)), judged, unit)
    believed = np.where(own.truth == MISSING, own.belief(own.label), own.right())
    return believed_accuracy(own.counts(believed), own.counts(np.ones(len(own.item))), judged, unit)


def _one_class(counts: Floats) -> bool:
    """Whether labelled answers are about one class only; counts (n_people, n_classes, n_classes)."""
    return bool(np.count_nonzero(counts.sum(axis=(0, 1))) == 1)


def class_stats_at_fit(team: Learner, result: FitResult, level: float) -> dict[str, NDArray[Any]]:
    """`class_stats` of each person."""
    schema, answers = result.schema, retained_answers(team, result)
    people, statistics = schema.people, result.statistics
    counts = statistics.counts[people]
    if answers is not None:
        shares_of = shares_from_answers(answers.of(people), schema.n_classes)
    elif counts.any():
        units = _labelled_units(result, people).of_person
        shares_of = shares_from_counts(counts / units[:, None, None], measured=True)
    else:
        shares_of = shares_from_counts(_soft_counts(result, people), measured=False)
    names, judged = tuple(schema.annotators[at] for at in people), statistics.answer_numbers[people, :-1]
    return class_stats(names, schema.classes, judged, shares_of, level)


def retained_answers(team: Learner, result: FitResult) -> AnswerRows | None:
    """The answers about the retained items; None where these are not all that accuracies must rest on.

    With truth there must be all labelled items, and beliefs are out-of-fold; without, all items, and beliefs are the
    team's own. Where the truth is of one class only, beliefs are those of a team that has not seen it.
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
    if _one_class(result.statistics.counts):
        posterior = posterior_without_truth(team, observations, whole.weight)
    else:
        posterior = out_of_fold_posterior(team, observations, whole.true_label, whole.weight)
    return answer_rows(observations, whole.true_label, whole.weight, posterior)


def sampled_observations(block: Block, schema: Schema) -> Observations:
    """The items of a sample as observations again; scores are the answers that they were read as."""
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
        machines=schema.machines,
    )


def _right_and_count(counts: Floats) -> tuple[Floats, Floats]:
    """Right answers, and all; counts (n_people, n_classes, n_classes)."""
    return np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))


def _soft_counts(result: FitResult, who: list[int]) -> Floats:
    """EM's counts of these people, each answer by one whatever its weight, (n_people, n_classes, n_classes)."""
    statistics = result.statistics
    per_weight = ratio(statistics.answer_numbers.sum(axis=1), statistics.annotation_counts[0], 1.0)
    return np.asarray(result.rule.confusion.counts_[who] * per_weight[who, None, None])


def _labelled_units(result: FitResult, who: list[int]) -> Units:
    """`Units` of these people's answers about labelled items, from the sampled ones."""
    sample, n_classes = result.statistics.labelled, result.schema.n_classes
    if sample is None:
        return Units(np.ones(len(who)), np.ones(n_classes), 1.0)
    block = sample.block(for_all=True)
    assert block.true_label is not None
    observations = sampled_observations(block, result.schema)
    return units_of(answer_rows(observations, block.true_label, block.weight).of(who), n_classes, sample.weight)


def _design_effects(result: FitResult, share: Floats, who: list[int]) -> tuple[float, float]:
    """Of the crowd's mean over these people and of all answers together, from the sampled labelled items."""
    sample = result.statistics.labelled
    if sample is None:
        return 1.0, 1.0
    block = sample.block()
    assert block.true_label is not None
    return design_effects(answer_rows(sampled_observations(block, result.schema), block.true_label).of(who), share)
