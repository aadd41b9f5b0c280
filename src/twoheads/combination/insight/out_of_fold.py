"""Out-of-fold beliefs: what a team believes of items whose truth it was not fitted on."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import clone

from twoheads.confusion.score_levels import ScoreLevels, answered
from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.numerics.content import folds_in_turn, name_hashes
from twoheads.observations import Observations

N_FOLDS = 5


class Learner(Protocol):
    """A team that can be cloned, fitted again and asked."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to observations and their truth."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class for each item, (n_items, n_classes)."""


def out_of_fold_posterior(
    team: Learner, observations: Observations, truth: Codes, weight: Floats | None
) -> Floats | None:
    """Posteriors of copies of the team that were fitted to labelled items alone, never to the item itself.

    A labelled item has the posterior of the one copy that was fitted without it, any other item the mean of all. None
    where no copy can be fitted, or nobody answered about an item without truth.

    truth, weight  (n_items,)
    returns        (n_items, n_classes)
    """
    known, rest = np.flatnonzero(truth != MISSING), np.flatnonzero(truth == MISSING)
    if not observations.answers.per_item()[rest].any():
        return None
    fold = _folds(team, observations.take(known), truth[known], None if weight is None else weight[known])
    folds = np.unique(fold)
    if len(folds) < 2:
        return None
    observations = _as_given(team, observations)
    posterior = np.zeros((len(truth), observations.n_classes))
    for at in folds:
        judged, fitted = known[fold == at], known[fold != at]
        share = None if weight is None else weight[fitted]
        try:
            copy = clone(team).fit(observations.take(fitted), observations.classes[truth[fitted]], share)
        except InvalidObservations:  # such as a method that needs two classes
            return None
        proba = copy.predict_proba(observations.take(np.concatenate([judged, rest])))
        posterior[judged] = proba[: len(judged)]
        posterior[rest] += proba[len(judged) :] / len(folds)
    return posterior


def posterior_without_truth(team: Learner, observations: Observations, weight: Floats | None) -> Floats | None:
    """Posteriors of a copy of the team that was fitted without any truth; None where it cannot be.

    weight   (n_items,)
    returns  (n_items, n_classes)
    """
    observations = _as_given(team, observations)
    try:
        found: Floats = clone(team).fit(observations, None, weight).predict_proba(observations)
    except InvalidObservations:
        return None
    return found


def _folds(team: Learner, labelled: Observations, truth: Codes, weight: Floats | None) -> Codes:
    """The fold of each labelled item, (n_labelled,), whatever the order of rows and the names of classes."""
    read = answered(labelled, _levels(team))
    block = read.block(slice(0, len(truth)), true_label=truth, weight=weight)
    return folds_in_turn(block, name_hashes(read.annotators), min(N_FOLDS, len(truth)))


def _as_given(team: Learner, observations: Observations) -> Observations:
    """Observations of which a copy of the team finds the levels of scores again."""
    levels = _levels(team)
    return observations if levels is None else levels.as_scores(observations)


def _levels(team: Learner) -> ScoreLevels | None:
    levels: ScoreLevels | None = getattr(team, "levels_", None)
    return levels
