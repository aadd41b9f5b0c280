"""Predictions that a team may be judged by: of held-out items, or out of fold where it has learnt from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from twoheads.confusion.score_levels import ScoreLevels
from twoheads.evaluation.cross_validation import cross_validated, labels_of
from twoheads.evaluation.leakage import CROSS_VALIDATED, items_to_judge
from twoheads.evaluation.predictions import Predictions, matched_items, predict_all
from twoheads.evaluation.team import Team, levels_of
from twoheads.kernels.arrays import Codes, Floats
from twoheads.observations import Observations, counted_items


@dataclass(frozen=True, eq=False)
class Judged:
    """Items, and the predictions by which a team is judged on them.

    observations, truth, weight  the items, without those of known truth that were learnt from
    predicted  of these items, or out of fold of those of known truth
    status     as in `twoheads.evaluation.leakage`
    notes      remarks on what was left out, a sentence each
    levels     by which scores are labels in these predictions; None without scores
    """

    observations: Observations
    truth: Codes
    weight: Floats | None
    predicted: Predictions
    status: str
    notes: list[str]
    levels: ScoreLevels | None = None

    @property
    def n_unknown(self) -> int:
        """Items of unknown truth that have no prediction here."""
        return len(self.truth) - len(self.predicted)


def judged(
    team: Team,
    X: Any,
    y: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    held_out: bool | None = None,
    random_state: int | None = 0,
) -> Judged:
    """Predictions for items that the team has not learnt from; cross-validated if it has learnt from all of them.

    Parameters
    ----------
    team : Team
        Fitted.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,), optional
        The truth; None, NaN, -1 or blank if unknown.
    sample_weight : array of shape (n_items,), optional
    held_out : bool, optional
        Whether the items are known to be held out. By default that is found from what the team has learnt from. True:
        nothing is left out, and items learnt from are called so. False: the team is cross-validated.
    random_state : int or None
        Seed of the folds.
    """
    observations, truth, weight = counted_items(*matched_items(team, X, y, sample_weight))
    found = items_to_judge(team, observations, truth, held_out=held_out)
    if len(found.rows) < len(observations):
        observations, truth = observations.take(found.rows), truth[found.rows]
        weight = None if weight is None else weight[found.rows]
    if found.status == CROSS_VALIDATED:
        labels = labels_of(truth, observations.classes)
        predicted = cross_validated(team, observations, labels, sample_weight=weight, random_state=random_state)
        levels = ScoreLevels.of(observations, truth, weight)
    else:
        predicted = replace(predict_all(team, observations, truth, weight), how=found.status)
        levels = levels_of(team)
    return Judged(observations, truth, weight, predicted, found.status, found.notes, levels)
