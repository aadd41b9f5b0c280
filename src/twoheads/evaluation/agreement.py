"""How far people agree with each other, whatever the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from twoheads.confusion.score_levels import ScoreLevels, answered
from twoheads.evaluation.bootstrap import Score, mean_score, resampling
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.inference.linearised import linearised
from twoheads.kernels.scoring import label_statistics as statistics
from twoheads.kernels.scoring.label_statistics import RaterSums, as_rater_sums, rater_values
from twoheads.observations import Observations, answers_of_people, as_observations
from twoheads.rendering.notebook import Shown
from twoheads.text import count

_STATISTICS: dict[str, Callable[[RaterSums], Floats]] = {
    "fleiss_kappa": statistics.fleiss_kappa,
    "krippendorff_alpha": statistics.krippendorff_alpha,
    "gwet_ac1": statistics.gwet_ac1,
}


@dataclass(frozen=True)
class Agreement(Shown):
    """Agreement of people with each other, with 95 % intervals by item.

    Attributes
    ----------
    n_items, n_people : int
        Items with two answers or more, and people.
    fleiss_kappa, krippendorff_alpha, gwet_ac1 : Score or None
        None where they are not defined, as where all answers are one class.
    """

    n_items: int
    n_people: int
    fleiss_kappa: Score | None
    krippendorff_alpha: Score | None
    gwet_ac1: Score | None

    def as_dict(self) -> dict[str, Any]:
        """All numbers as plain Python objects that JSON can hold."""
        return asdict(self)

    def sentence(self) -> str:
        """The numbers in one sentence."""
        names = {
            "fleiss_kappa": "Fleiss' kappa",
            "krippendorff_alpha": "Krippendorff's alpha",
            "gwet_ac1": "Gwet's AC1",
        }
        parts = [f"{title} {_text(getattr(self, name))}" for name, title in names.items()]
        who = f"Agreement of {count(self.n_people, 'person', 'people')} on {count(self.n_items, 'item')}"
        return f"{who} with several answers: {', '.join(parts)}."


def agreement(X: Any, *, random_state: int | None = 0) -> Agreement | None:
    """Fleiss' kappa, Krippendorff's alpha (nominal) and Gwet's AC1 of people among each other; machines do not count.

    Items may have different numbers of answers; one with a single answer counts for the class shares of Fleiss' kappa
    and AC1 (Gwet 2014), and not for alpha. None where no item has two answers.

    Parameters
    ----------
    X : Observations, data frame, or array
    random_state : int or None
        Seed of the bootstrap, which is used with more than 2,000 items.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"human_a": [0, 1, 0, 1, 1], "human_b": [0, 1, 1, 1, 1], "p_0": 0.5, "p_1": 0.5})
    >>> round(agreement(X).fleiss_kappa.value, 3)
    0.524
    """
    votes = _votes(as_observations(X))
    several = votes.sum(axis=1) >= 2
    if not several.any():
        return None
    rated = votes[votes.sum(axis=1) > 0]
    weight = np.ones(len(rated))
    draws = resampling(len(rated), 2000, np.random.default_rng(random_state))
    values = rater_values(rated)
    found: dict[str, Score | None] = {}
    for name, statistic in _STATISTICS.items():
        parts, possible = linearised(_of_sums(statistic), values, weight, _one_apart(rated))
        if np.isnan(parts).any():
            found[name] = None
            continue
        chance = np.full(len(possible), 1.0 / len(possible))
        score = mean_score(parts, weight, draws, possible=(possible, chance))
        found[name] = Score(score.value, score.low, None if score.high is None else min(1.0, score.high))
    return Agreement(int(several.sum()), int(_n_people(as_observations(X))), **found)


def _of_sums(statistic: Callable[[RaterSums], Floats]) -> Callable[[Floats], Floats]:
    return lambda sums: statistic(as_rater_sums(sums))


def _votes(observations: Observations) -> Floats:
    """Answers of people for each class, (n_items, n_classes)."""
    read = answered(observations, ScoreLevels.of(observations, None))
    answers, n_classes = answers_of_people(read), read.n_classes
    there = answers.column != MISSING
    cell = item_of_answers(answers)[there] * n_classes + answers.column[there] % n_classes
    return np.bincount(cell, minlength=len(read) * n_classes).reshape(-1, n_classes).astype(np.float64)


def _n_people(observations: Observations) -> int:
    return sum(name not in observations.machines for name in observations.annotators)


def _one_apart(votes: Floats) -> Floats:
    """Items that might have been seen as well: one on which all agree, and one on which one person does not."""
    n_ratings = max(2, round(float(votes.sum(axis=1).mean())))
    classes = np.argsort(-votes.sum(axis=0), kind="stable")[:2]
    apart = np.zeros((2, votes.shape[1]))
    apart[:, classes[0]] = n_ratings
    apart[1, classes[0]] -= 1
    apart[1, classes[1]] += 1
    return rater_values(apart)


def _text(score: Score | None) -> str:
    if score is None:
        return "not defined"
    value, *ends = ("–" if each is None else f"{each:.2f}" for each in (score.value, score.low, score.high))
    interval = "" if score.low is None else f" [{ends[0]}, {ends[1]}]"
    return f"{value}{interval}".replace("-0.00", "0.00").replace("-", "−")
