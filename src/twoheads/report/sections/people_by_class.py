"""How often each person is right on the items of each true class: sensitivity, specificity, or the hardest class."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.combination.insight.annotators import SHOWN_LEVEL
from twoheads.confusion.score_levels import answered
from twoheads.evaluation.team import Team, levels_of, positive_of
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.inference.grouped_rows import ratio, sums
from twoheads.kernels.inference.intervals import jeffreys_interval
from twoheads.kernels.inference.weights import heavy_factor
from twoheads.observations import Observations
from twoheads.observations.labels import label_text

_ENOUGH = 5  # answers about a class, for it to be called somebody's hardest


def people_by_class(
    team: Team, observations: Observations, truth: Codes, weight: Floats | None
) -> tuple[str | None, dict[str, dict[str, Any]]]:
    """The positive class of two, and for each person ``sensitivity`` and ``specificity``; else ``hardest``, a class.

    Shares are measured by the truth, (n_items,); the positive class is that of the team's scores, else the second.
    """
    observed = answered(observations, levels_of(team))
    right, total = _counts(observed, truth, weight)
    classes = [label_text(name) for name in observed.classes.tolist()]
    if len(classes) != 2:
        return None, {
            name: {"hardest": _hardest(right[at], total[at], classes)} for at, name in enumerate(observed.annotators)
        }
    positive = positive_of(team)
    yes = classes.index(label_text(positive)) if positive is not None else 1
    shares = [_shares(right[:, at], total[:, at]) for at in (yes, 1 - yes)]
    return classes[yes], {
        name: {"sensitivity": shares[0][at], "specificity": shares[1][at]}
        for at, name in enumerate(observed.annotators)
    }


def _counts(observed: Observations, truth: Codes, weight: Floats | None) -> tuple[Floats, Floats]:
    """Right answers, and all, of each person about each true class, (n_people, n_classes).

    Weighted answers are as many as Kish's number of them, or fewer where a few have most of the weight.
    """
    answers, n_classes, n_people = observed.answers, observed.n_classes, len(observed.annotators)
    item, column = item_of_answers(answers), answers.column
    known = (column != MISSING) & (truth[item] != MISSING)
    item, column = item[known], column[known]
    place = column // n_classes * n_classes + truth[item]
    counted = np.ones(len(item)) if weight is None else weight[item]
    wrong = column % n_classes != truth[item]
    of_each = counted, counted * ~wrong, counted**2, counted**4
    total, right, squares, fourth = (sums(place, each, n_people * n_classes) for each in of_each)
    number = ratio(total**2, squares)
    number = number / heavy_factor(number, ratio(squares**2, fourth))
    shape = n_people, n_classes
    return (ratio(right, total) * number).reshape(shape), number.reshape(shape)


def _shares(right: Floats, total: Floats) -> list[dict[str, float] | None]:
    """Shares with Jeffreys' interval, (n_people,); None for somebody who has not seen the class."""
    low, high = jeffreys_interval(right, total, SHOWN_LEVEL)
    return [
        {"value": right[at] / total[at], "low": low[at], "high": high[at]} if total[at] > 0 else None
        for at in range(len(total))
    ]


def _hardest(right: Floats, total: Floats, classes: list[str]) -> dict[str, Any] | None:
    """The class with the lowest share of right answers, of those seen often enough; None without an error."""
    enough = total >= _ENOUGH
    share = np.where(enough, right / np.maximum(total, 1e-300), 1.0)
    worst = int(share.argmin())
    if share[worst] >= 1.0:
        return None
    return {"class": classes[worst], "right": float(right[worst]), "n": float(total[worst])}
