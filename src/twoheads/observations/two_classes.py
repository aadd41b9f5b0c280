"""Models that give one column for two classes, ``p_<class>`` of one of them: the other follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Floats
from twoheads.observations.checks import check_scale, rows_off
from twoheads.observations.labels import classes_in, label_text, sorted_names
from twoheads.text import listed


def with_other_class(names: list[str], labels: Iterable[str], where: str, column: str) -> list[str]:
    """The two classes, where the columns of models name only one: the other is found among the labels.

    names   those that columns name
    labels  the distinct texts of answers and truth that are classes
    """
    if len(names) != 1:
        return names
    others = sorted_names(set(labels) - set(names))
    if len(others) == 1:
        return [*names, *others]
    if not others:
        raise InvalidObservations(
            f"{where} must show both classes; its only probability column is {column!r}, and no answer and no truth is "
            "of another class. Add the column of the other class, or name both with classes (--classes), in Python in "
            "Observations.from_frame(X, classes=...)."
        )
    raise InvalidObservations(
        f"{where} must have one probability column per class; its only one is {column!r}, which is enough for two "
        f"classes, but answers and truth also hold {listed([repr(name) for name in others])} ({len(others)} others). "
        "Give one column per class, or correct the labels."
    )


def texts_of(labels: Sequence[NDArray[Any]]) -> list[str]:
    """The distinct labels of columns, as texts; missing ones are not classes."""
    return [label_text(name) for values in labels for name in classes_in(values).tolist()]


def both_columns(numbers: NDArray[Any], second: bool, scale: str, column: str) -> NDArray[Any]:
    """A model's rows of two classes from the column of one of them, (n_items, 2), on the same scale.

    numbers  (n_items, 1), NaN where the model has no prediction; a logit is that against the other class
    second   whether the column is that of the second class
    """
    check_scale(scale)
    given = numbers[:, 0]
    other = _OTHER[scale](given, column)
    return np.stack([other, given] if second else [given, other], axis=1)


def _other_probability(given: Floats, column: str) -> Floats:
    off = np.flatnonzero((given < 0) | (given > 1))
    if len(off):
        remedy = "If these are logits, set model_scale='logit' (--model-scale logit); if scores, name it <model>.score."
        raise rows_off(f"column {column!r}", "must hold probabilities from 0 to 1", given, off, remedy)
    return np.asarray(1 - given)


def _other_log(given: Floats, column: str) -> Floats:
    off = np.flatnonzero(given > 0)
    if len(off):
        raise rows_off(f"column {column!r}", "must hold logarithms of probabilities", given, off, "Correct them.")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(-np.exp(given)))


def _other_logit(given: Floats, _: str) -> Floats:
    return np.where(np.isnan(given), np.nan, 0.0)


_OTHER = {"probability": _other_probability, "log": _other_log, "logit": _other_logit}
