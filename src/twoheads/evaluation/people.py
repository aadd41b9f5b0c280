"""Each person's accuracy on the items of an evaluation, measured by the truth given there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.insight.annotators import SHOWN_LEVEL, annotator_stats, information
from twoheads.combination.insight.answer_rows import answer_rows
from twoheads.combination.insight.crowd_facts import people_facts
from twoheads.combination.insight.out_of_fold import out_of_fold_posterior
from twoheads.combination.insight.people_accuracy import measured_accuracy
from twoheads.combination.statistics.reservoir import sample_size
from twoheads.confusion.score_levels import answered
from twoheads.evaluation.team import Team, confusion_of, levels_of
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.confusion.annotators import annotation_counts
from twoheads.observations import Observations


class MeasuredPeople(NamedTuple):
    """People on the items evaluated.

    stats    a column per statistic, as ``annotator_stats_``
    facts    how far people differ, and who is the most and the least reliable
    n_items  items of known truth with an answer
    """

    stats: dict[str, NDArray[Any]]
    facts: dict[str, Any]
    n_items: int


def measured_people(
    team: Team,
    observations: Observations,
    truth: Codes,
    weight: Floats | None = None,
    *,
    fitted_on_same: bool = False,
    level: float = SHOWN_LEVEL,
) -> MeasuredPeople | None:
    """People's own answers, not those of machines, against the truth; None where no item of known truth has one.

    Items without truth narrow the intervals by what the team believes of them: the team itself if it was fitted on
    other items, else copies of it that were fitted without the item. With more labelled items than a fit retains they
    are left out, and where all truth is of one class: accuracies are then those on items of this class.

    truth, weight  (n_items,)
    """
    posterior = _held_out_posterior(team, observations, truth, weight, fitted_on_same)
    if len(np.unique(truth[truth != MISSING])) == 1:  # what is believed of the others says nothing of this class
        posterior = None
    observations = answered(observations, levels_of(team))
    who = [at for at, name in enumerate(observations.annotators) if name not in observations.machines]
    answers = answer_rows(observations, truth, weight, posterior).of(who)
    n_items = len(np.unique(answers.labelled().item))
    if not n_items:
        return None
    n_annotators, n_classes = len(observations.annotators), observations.n_classes
    accuracy = measured_accuracy(answers, n_classes)
    _, counts = annotation_counts(observations.answers, weight, n_annotators, n_classes)
    names = tuple(observations.annotators[at] for at in who)
    stats = annotator_stats(names, accuracy, answers.numbers(), counts[:, who], _bits(team, names), level)
    return MeasuredPeople(stats, people_facts(stats, accuracy, level), n_items)


def _held_out_posterior(
    team: Team, observations: Observations, truth: Codes, weight: Floats | None, fitted_on_same: bool
) -> Floats | None:
    """What is believed of each item without its truth; None where it is not needed, or not to be had."""
    known = np.flatnonzero(truth != MISSING)
    if len(known) in (0, len(truth)) or len(known) > sample_size(observations.n_classes):
        return None
    if not fitted_on_same:
        return team.predict_proba(observations)
    return out_of_fold_posterior(team, observations, truth, weight)


def _bits(team: Team, names: tuple[str, ...]) -> Floats:
    """Information of one answer of each person, as the team estimates it; NaN for somebody it does not know."""
    confusion = confusion_of(team)
    if confusion is None:
        return np.full(len(names), np.nan)
    known = dict(zip(team.annotators_, information(confusion).tolist(), strict=True))
    return np.array([known.get(name, np.nan) for name in names])
