"""A method that is fitted without any truth, beside others that have it."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from twoheads.evaluation.team import Team, UnfittedTeam
from twoheads.kernels.arrays import Floats


class FitWithoutTruth(BaseEstimator):
    """A team that is fitted on the same items as others, without their truth: P+L becomes P+L-EM.

    Parameters
    ----------
    team : UnfittedTeam
        One that can be fitted without truth; it is cloned.

    Attributes
    ----------
    team_ : Team
        The fitted team.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> FitWithoutTruth(ProbabilityLabelCombiner()).fit(X, [0, 1, 0, 1]).team_.n_labelled_
    0
    """

    team_: Team

    def __init__(self, team: UnfittedTeam) -> None:
        self.team = team

    @property
    def model_scale(self) -> str:
        """What the model's columns hold."""
        return self.team.model_scale

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return self.team_.classes_

    @property
    def annotators_(self) -> tuple[str, ...]:
        """The people."""
        return self.team_.annotators_

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the team on the items; their truth is not looked at."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.team_ = clone(self.team).fit(X, **weights)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each item, (n_items, n_classes)."""
        return self.team_.predict_proba(X)
