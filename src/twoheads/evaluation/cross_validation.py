"""Cross-validation: each item is predicted by a copy of the team that was fitted without its truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from twoheads.confusion.score_levels import ScoreLevels, answered
from twoheads.errors import InvalidObservations
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.predictions import Predictions, combines_apart, predict_all
from twoheads.evaluation.team import Team, UnfittedTeam, positive_of
from twoheads.kernels.answers import joined_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations, as_observations, as_truth, as_weight, matched_rows

_MAX_LEAVE_ONE_OUT = 50  # labels; with more, folds are as good


def cross_validated(
    team: UnfittedTeam,
    X: Any,
    y: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    n_splits: int = 5,
    random_state: int | None = 0,
) -> Predictions:
    """Out-of-fold predictions for the items of known truth.

    Folds are stratified by class. Items of unknown truth are in every training set and are never evaluated. With fewer
    than two labels per class each item is its own fold (up to 50 labels).

    Parameters
    ----------
    team : UnfittedTeam
        Fitted or not; it is cloned and not changed.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,)
        The truth; None, NaN, -1 or blank if unknown. At least two items need it.
    sample_weight : array of shape (n_items,), optional
        How often each item counts, in fitting and in evaluating.
    n_splits : int
        Number of folds; at most one per label.
    random_state : int or None
        Seed of the split.

    Returns
    -------
    Predictions
        Of the items of known truth, in the order of ``X``.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9], [1, 0.5, 0.5]]
    >>> found = cross_validated(ProbabilityLabelCombiner(), X, [0, 1, 0, 1, None])
    >>> len(found), found.how
    (4, 'leave-one-out cross-validation')
    """
    y, sample_weight = matched_rows(X, y, sample_weight)
    observations = as_observations(X, y=y, positive=positive_of(team), model_scale=team.model_scale)
    truth, weight = as_truth(y, observations), as_weight(sample_weight, len(observations))
    known = np.flatnonzero(truth != MISSING)
    if len(known) < 2:
        raise InvalidObservations(
            f"cross-validation needs at least 2 items of known truth; {len(known)} of {len(observations)} have one. "
            "Label more items, or evaluate the team on others."
        )
    folds = _folds(truth[known], n_splits, random_state)
    n_folds = int(folds.max()) + 1
    rows = [known[folds == fold] for fold in range(n_folds)]
    # A score is read as the same label in every fold: what the rivals say does not depend on a fit.
    levels = ScoreLevels.of(observations, truth, weight)
    # A fold may have no item with several answers, or none with a model row: whether people are combined is of all.
    apart = combines_apart(answered(observations.take(known), levels))
    parts = [_predict_fold(team, observations, truth, weight, held_out, levels, apart) for held_out in rows]
    how = "leave-one-out" if n_folds == len(known) else f"{n_folds}-fold"
    joined = _concatenated(parts).take(np.argsort(np.concatenate(rows)))
    return replace(joined, weight=None if weight is None else weight[known], how=f"{how} cross-validation")


def labels_of(true_label: Codes, classes: NDArray[Any]) -> NDArray[Any]:
    """Labels of codes, (n_items,); None for an unknown truth."""
    labels = np.full(len(true_label), None, dtype=object)
    known = true_label != MISSING
    labels[known] = classes[true_label[known]]
    return labels


def fitted_on(team: UnfittedTeam, observations: Observations, truth: Codes, weight: Floats | None) -> Team:
    """Clone the team and fit it on observations and the codes of their truth."""
    labels = labels_of(truth, observations.classes)
    weights = {} if weight is None else {"sample_weight": weight}
    fitted: Team = clone(team).fit(observations, labels, **weights)
    return fitted


def _folds(truth: Codes, n_splits: int, random_state: int | None) -> Codes:
    """Fold of each item, stratified by class."""
    n_items, n_classes = len(truth), len(np.unique(truth))
    wanted = max(2, whole_number(n_splits, "n_splits"))
    if n_items < 2 * n_classes and n_items <= _MAX_LEAVE_ONE_OUT:
        wanted = n_items
    folds = np.empty(n_items, dtype=np.intp)
    order = np.lexsort((np.random.default_rng(random_state).random(n_items), truth))
    folds[order] = np.arange(n_items) % min(wanted, n_items)
    return folds


def _predict_fold(
    team: UnfittedTeam,
    observations: Observations,
    truth: Codes,
    weight: Floats | None,
    held_out: Codes,
    levels: ScoreLevels | None,
    crowd_apart: bool,
) -> Predictions:
    training = np.setdiff1d(np.arange(len(observations)), held_out)
    training_weight = None if weight is None else weight[training]
    fitted = fitted_on(team, observations.take(training), truth[training], training_weight)
    there = observations.take(held_out).aligned(fitted.classes_)
    return predict_all(fitted, there, truth[held_out], None, levels=levels, crowd_apart=crowd_apart)


def _concatenated(parts: list[Predictions]) -> Predictions:
    """The predictions of all folds, one after the other."""
    calibrated = [part.calibrated_proba for part in parts if part.calibrated_proba is not None]
    crowd = [part.crowd_proba for part in parts if part.crowd_proba is not None]
    return Predictions(
        parts[0].classes,
        np.concatenate([part.items for part in parts]),
        np.concatenate([part.true_label for part in parts]),
        np.concatenate([part.human_label for part in parts]),
        np.concatenate([part.human_error for part in parts]),
        np.concatenate([part.has_model for part in parts]),
        np.concatenate([part.model_proba for part in parts]),
        np.concatenate(calibrated) if calibrated else None,
        np.concatenate([part.combined_proba for part in parts]),
        crowd_proba=np.concatenate(crowd) if len(crowd) == len(parts) else None,
        answers=joined_answers([part.answers for part in parts if part.answers is not None]),
        annotators=parts[0].annotators,
        machines=parts[0].machines,
        models=parts[0].models,
        model_errors=np.concatenate([part.model_errors for part in parts if part.model_errors is not None], axis=1),
    )
