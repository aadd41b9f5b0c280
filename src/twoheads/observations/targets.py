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
from twoheads.observations.frames import Frame, as_column, as_numbers, is_frame
from twoheads.observations.labels import encode_labels, label_text
from twoheads.observations.model_checks import check_model
from twoheads.observations.observations import Observations


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
