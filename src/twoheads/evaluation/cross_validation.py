"""Judge a team on the items it is fitted on, honestly: each by a copy that has not seen its truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from twoheads.errors import InvalidObservations
from twoheads.evaluation.inputs import whole_number
from twoheads.evaluation.predictions import Predictions, predicted
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations, as_observations, as_truth, as_weight

_LEAVE_ONE_OUT = 50  # labels at most: beyond, as many fits would tell little more


def cross_validated(
    team: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    n_splits: int = 5,
    random_state: int | None = 0,
) -> Predictions:
    """Predictions for the items of known truth, each by a clone of the team that was fitted without its truth.

    The parts have as equal a share of every class as can be. Items of unknown truth are in every training part and are
    never judged. With fewer than two labels per class each item is left out alone (up to 50 labels).

    Parameters
    ----------
    team : Combiner
        Fitted or not; it is cloned and stays as it is.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,)
        The truth; None, NaN, -1 or blank where it is not known. At least two items need it.
    sample_weight : array of shape (n_items,), optional
        How often each item counts, in fitting and in judging.
    n_splits : int
        How many parts; at most one per label.
    random_state : int or None
        Seed of the split.

    Returns
    -------
    Predictions
        Of the items whose truth is known, in the order of ``X``.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9], [1, 0.5, 0.5]]
    >>> found = cross_validated(ProbabilityLabelCombiner(), X, [0, 1, 0, 1, None])
    >>> len(found), found.how
    (4, 'leave-one-out cross-validation')
    """
    seen = as_observations(X, y=y, model_scale=team.model_scale)
    truth, weight = as_truth(y, seen), as_weight(sample_weight, len(seen))
    known = np.flatnonzero(truth != MISSING)
    if len(known) < 2:
        raise InvalidObservations(
            "a team cannot be judged on the items it is fitted on with truth for fewer than 2 of them; it is known "
            f"for {len(known)} of {len(seen)}. Judge it on other items, or say the truth of more."
        )
    folds = _folds(truth[known], n_splits, random_state)
    n_folds = int(folds.max()) + 1
    rows = [known[folds == fold] for fold in range(n_folds)]
    parts = [_judged(team, seen, truth, weight, held_out) for held_out in rows]
    how = "leave-one-out" if n_folds == len(known) else f"{n_folds}-fold"
    joined = _joined(parts).take(np.argsort(np.concatenate(rows)))
    return replace(joined, weight=None if weight is None else weight[known], how=f"{how} cross-validation")


def fitted_on(team: Any, seen: Observations, truth: Codes, weight: Floats | None) -> Any:
    """Clone the team and fit it on observations and codes of their truth; it knows the classes in the same order."""
    labels = np.full(len(truth), None, dtype=object)
    known = truth != MISSING
    labels[known] = seen.classes[truth[known]]
    fitted = clone(team)
    if weight is None:
        return fitted.fit(seen, labels)
    return fitted.fit(seen, labels, sample_weight=weight)


def _folds(truth: Codes, n_splits: int, random_state: int | None) -> Codes:
    """Which part each item is in, stratified by class."""
    n_items, n_classes = len(truth), len(np.unique(truth))
    wanted = max(2, whole_number(n_splits, "n_splits"))
    if n_items < 2 * n_classes and n_items <= _LEAVE_ONE_OUT:
        wanted = n_items
    folds = np.empty(n_items, dtype=np.intp)
    order = np.lexsort((np.random.default_rng(random_state).random(n_items), truth))
    folds[order] = np.arange(n_items) % min(wanted, n_items)
    return folds


def _judged(team: Any, seen: Observations, truth: Codes, weight: Floats | None, rows: Codes) -> Predictions:
    training = np.setdiff1d(np.arange(len(seen)), rows)
    fitted = fitted_on(team, seen.take(training), truth[training], None if weight is None else weight[training])
    held_out = seen.take(rows).aligned(fitted.classes_)
    return predicted(fitted, held_out, truth[rows], None)


def _joined(parts: list[Predictions]) -> Predictions:
    """Put the predictions of all parts one after the other."""
    first = parts[0]
    calibrated = [part.calibrated_proba for part in parts if part.calibrated_proba is not None]
    crowd = [part.crowd_proba for part in parts if part.crowd_proba is not None]
    return Predictions(
        first.classes,
        np.concatenate([part.items for part in parts]),
        np.concatenate([part.true_label for part in parts]),
        np.concatenate([part.human_label for part in parts]),
        np.concatenate([part.human_error for part in parts]),
        np.concatenate([part.has_model for part in parts]),
        np.concatenate([part.model_proba for part in parts]),
        np.concatenate(calibrated) if calibrated else None,
        np.concatenate([part.combined_proba for part in parts]),
        crowd_proba=np.concatenate(crowd) if len(crowd) == len(parts) else None,
    )
