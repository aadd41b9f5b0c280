"""The truth of items: hard labels as codes, and soft targets as probabilities."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from twoheads.errors import InvalidObservations, Problem
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.simplex import class_major
from twoheads.observations.checks import same_length
from twoheads.observations.columns import class_columns, same_classes
from twoheads.observations.frames import Frame, as_column, as_numbers, in_row_order, is_frame
from twoheads.observations.labels import encode_labels, is_missing, label_text
from twoheads.observations.model_checks import check_model
from twoheads.observations.observations import Observations


def matched_rows(X: Any, y: Any = None, sample_weight: Any = None) -> tuple[Any, Any]:
    """The truth and the weights of the rows of ``X``.

    Where ``X`` is a pandas frame and they are series, they are matched by index. A column ``truth`` of a data frame is
    its truth; ``y`` beside it must be the same.
    """
    if isinstance(X, Observations) or not is_frame(X):
        return y, sample_weight
    y, weight = in_row_order(X, y, "y"), in_row_order(X, sample_weight, "sample_weight")
    frame = Frame(X)
    if "truth" not in frame.columns:
        return y, weight
    own = frame.column("truth")
    if y is not None:
        _need_same(as_column(y), own)
    return own, weight


def _need_same(y: NDArray[Any], own: NDArray[Any]) -> None:
    """Refuse a truth that is not the one that the frame itself holds."""
    if y.shape != own.shape:
        off, row = len(own), 0
    else:
        differs = [_key(one) != _key(other) for one, other in zip(y.tolist(), own.tolist(), strict=True)]
        off, row = sum(differs), differs.index(True) if any(differs) else 0
    if off:
        raise InvalidObservations(
            Problem(
                "y",
                "must be the column truth of X where X has one",
                row,
                f"differs: X has {own[row]!r}",
                off,
                len(own),
                "Drop that column of X, or leave y out.",
            )
        )


def _key(value: Any) -> str | None:
    return None if is_missing(value) or label_text(value) == "-1" else label_text(value)


def as_truth(y: Any, observations: Observations) -> Codes:
    """The code of each item's true class, MISSING where unknown; everywhere if ``y`` is None."""
    if y is None:
        return np.full(len(observations), MISSING)
    labels = as_column(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Give y of shape (n_items,), such as y.ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        labels = labels[:, 0]
    if labels.ndim == 1:
        same_length("y", len(labels), "X", len(observations))
    return encode_labels(labels, observations.classes, argument="y")


def as_targets(y: Any, observations: Observations) -> tuple[Codes | None, Floats | None]:
    """Hard targets as codes (n_items,), or soft ones as probabilities (n_classes, n_items); none may be missing."""
    shape = (0,) if y is None else as_column(y).shape
    soft = _soft_targets(y, observations) if len(shape) == 2 and shape[1] > 1 else None
    truth = as_truth(y, observations) if soft is None else None
    unknown = np.flatnonzero(truth == MISSING if soft is None else np.isnan(soft[0]))
    if len(unknown):
        rule, remedy = "must be known for every item here", "Leave those items out."
        raise InvalidObservations(
            Problem("y", rule, int(unknown[0]), "is missing", len(unknown), len(observations), remedy)
        )
    return truth, soft


def labelled_items(
    observations: Observations, y: Any, weight: Floats | None
) -> tuple[Observations, Codes, Floats | None]:
    """The items whose truth is known, with their truth and weights; at least one must be."""
    truth = as_truth(y, observations)
    known = np.flatnonzero(truth != MISSING)
    if len(known) == 0:
        raise InvalidObservations(
            "y must be known for at least one item here; it is missing for all. "
            "ProbabilityLabelCombiner can be fitted without any truth."
        )
    if len(known) == len(truth):
        return observations, truth, weight
    return observations.take(known), truth[known], None if weight is None else weight[known]


def _soft_targets(y: Any, observations: Observations) -> Floats:
    if is_frame(y):
        frame = Frame(y, argument="y")
        columns = class_columns(frame.columns, frame.argument)
        same_classes(columns, observations.classes, argument="y")
        soft: NDArray[Any] = frame.numbers([columns[label_text(name)] for name in observations.classes.tolist()])
    else:
        soft = as_numbers(y, "y")
    same_length("y", len(soft), "X", len(observations))
    check_model(soft, observations.n_classes, "probability", argument="y")
    target = class_major(soft)
    target /= target.sum(axis=0)
    return target


def counted_items(
    observations: Observations, truth: Codes, weight: Floats | None
) -> tuple[Observations, Codes, Floats | None]:
    """The items of positive weight: one of weight 0 is none, wherever items are counted."""
    if weight is None or weight.all():
        return observations, truth, weight
    rows = np.flatnonzero(weight)
    return observations.take(rows), truth[rows], weight[rows]
