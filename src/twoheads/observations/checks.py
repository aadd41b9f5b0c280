"""Checks of values: each raises one message that names the argument, the row, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.errors import InvalidObservations, InvalidParameter, Problem
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations.frames import as_numbers
from twoheads.observations.labels import in_order
from twoheads.text import did_you_mean

MODEL_SCALES = ("probability", "log", "logit")

_USE_A_FRAME = "Use a data frame with columns human and p_<class> where classes have names."
CONFIDENCE_REMEDY = (
    "Give numbers on any scale, blank where it is not known; or rename the column if it holds something else."
)


def same_length(name: str, length: int, other: str, expected: int) -> None:
    """Refuse two arguments of different lengths."""
    if length != expected:
        raise InvalidObservations(
            f"{name} and {other} must have the same number of rows; {name} has {length}, {other} has {expected}. "
            "Give one entry per item, in the same order."
        )


def check_scale(model_scale: str) -> None:
    """Refuse an unknown scale."""
    if model_scale not in MODEL_SCALES:
        meant = did_you_mean(str(model_scale), MODEL_SCALES)
        raise InvalidParameter(f"model_scale must be one of {', '.join(MODEL_SCALES)}; it is {model_scale!r}.{meant}")


def as_matrix(X: Any, *, n_columns: int, columns: str) -> NDArray[Any]:
    """A dense array of numbers with two dimensions and at least ``n_columns`` columns, not copied if it is one."""
    if hasattr(X, "toarray"):
        raise InvalidObservations(
            "X must be a dense array, a data frame or Observations; it is a sparse matrix. Call X.toarray()."
        )
    array = as_numbers(X, "X", remedy=_USE_A_FRAME)
    if array.ndim != 2:
        raise InvalidObservations(
            f"X must have two dimensions; it has {array.ndim}. Reshape your data, one row per item: {columns}."
        )
    if len(array) == 0:
        raise InvalidObservations("X must have at least one row; it has none. Give one row per item.")
    if array.shape[1] < n_columns:
        raise InvalidObservations(
            f"X has {array.shape[1]} feature(s) (shape={array.shape}) while a minimum of {n_columns} is required: "
            f"{columns}."
        )
    return array


def as_class_codes(values: ArrayLike, n_classes: int, argument: str) -> Codes:
    """Class codes from 0 to ``n_classes - 1``, MISSING where they are -1 or NaN."""
    numbers = as_numbers(values, argument, remedy=_USE_A_FRAME)
    codes = np.empty(numbers.shape, dtype=np.intp)

    def is_sound(rows: slice) -> bool:
        values, cast = np.ascontiguousarray(numbers[rows]), codes[rows]
        with np.errstate(invalid="ignore"):
            cast[:] = values
        return bool(cast.min() >= MISSING and cast.max() < n_classes and (cast == values).all())

    if all(map_blocks(is_sound, block_slices(len(codes), 1))):
        return codes
    filled = np.where(np.isnan(numbers), MISSING, numbers)
    off = np.flatnonzero(~((filled >= MISSING) & (filled < n_classes) & (filled == np.floor(filled))))
    if len(off):
        rule = f"must hold class codes from 0 to {n_classes - 1}, or -1 where nobody answered"
        raise rows_off(argument, rule, numbers, off, _USE_A_FRAME)
    return filled.astype(np.intp)


#: The largest weight of an item: sums of larger ones are no longer exact.
MOST_WEIGHT = 1e12


def as_weight(sample_weight: ArrayLike | None, n_items: int, *, beside: str = "X") -> Floats | None:
    """Weights of the items as floats, or None if every item counts once; ``beside`` names the items' argument."""
    if sample_weight is None:
        return None
    remedy = "Give weight 0 to items that should not count."
    weight = as_numbers(sample_weight, "sample_weight", remedy=remedy).astype(np.float64)
    if weight.ndim == 0:
        weight = np.full(n_items, float(weight))
    if weight.ndim != 1:
        raise InvalidObservations(
            f"sample_weight must be one-dimensional; it has shape {weight.shape}. Give one number per item."
        )
    same_length("sample_weight", len(weight), beside, n_items)
    off = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(off):
        raise rows_off("sample_weight", "must be finite and not negative", weight, off, remedy)
    off = np.flatnonzero(weight > MOST_WEIGHT)
    if len(off):
        remedy = "A weight counts items: divide all of them by the same number."
        raise rows_off("sample_weight", f"must be at most {MOST_WEIGHT:g}", weight, off, remedy)
    if not weight.any():
        raise InvalidObservations("sample_weight must be positive for at least one item; all are 0.")
    return weight


def as_confidence(values: ArrayLike, argument: str) -> Floats:
    """The confidence of each answer: finite numbers on any scale, NaN where it is not known."""
    numbers = as_numbers(values, argument, remedy=CONFIDENCE_REMEDY).astype(np.float64)
    if numbers.ndim != 1:
        raise InvalidObservations(
            f"{argument} must be one-dimensional, one number per answer; it has shape {numbers.shape}."
        )
    off = np.flatnonzero(np.isinf(numbers))
    if len(off):
        raise rows_off(argument, "must hold finite numbers", numbers, off, CONFIDENCE_REMEDY)
    return numbers


def rows_off(argument: str, rule: str, values: NDArray[Any], off: Codes, remedy: str) -> InvalidObservations:
    """Numbers that break a rule, at the positions ``off``."""
    row = int(off[0])
    return InvalidObservations(Problem(argument, rule, row, f"has {values[row]:g}", len(off), len(values), remedy))


def check_sizes(classes: NDArray[Any], n_items: int, model_scale: str) -> None:
    """Refuse an unknown scale, no items, and fewer than two classes."""
    check_scale(model_scale)
    need_items(n_items)
    if len(classes) < 2:
        only = f"there is 1 class, {str(classes[0])!r}" if len(classes) else "there is none"
        raise InvalidObservations(f"there must be at least two classes; {only}. Give one probability column per class.")


def check_order(classes: NDArray[Any], model_proba: Sequence[NDArray[Any]]) -> None:
    """Refuse classes out of order, and models without a column for each."""
    if not in_order(classes) or any(proba.shape[1] != len(classes) for proba in model_proba):
        raise InvalidObservations(
            "classes must be sorted, each once, with a column of model_proba for each; they are "
            f"{', '.join(map(repr, classes.tolist()[:8]))} and the shapes of model_proba are "
            f"{[proba.shape for proba in model_proba]}. Make Observations with from_arrays, from_frame or "
            "from_answers, which put them in order."
        )


def class_order(names: Sequence[str], wanted: Sequence[str]) -> Codes:
    """The position of each class of a fit among ``names``, which must be the same, in any order."""
    if sorted(names) != sorted(wanted):
        raise InvalidObservations(
            f"X must have the same classes as at fit; they were {', '.join(map(repr, wanted[:8]))} "
            f"and are {', '.join(map(repr, names[:8]))} "
            f"({len(set(wanted) - set(names))} of {len(wanted)} are missing, "
            f"{len(set(names) - set(wanted))} are new). Name all classes when making the observations."
        )
    return np.array([names.index(name) for name in wanted], dtype=np.intp)


def need_items(n_items: int) -> None:
    """Refuse observations of no items."""
    if n_items == 0:
        raise InvalidObservations("X must have at least one row; it has none. Give one row per item.")


def check_same_models(models: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse models that a fit did not have."""
    new = [name for name in models if name not in wanted]
    if new:
        raise InvalidObservations(
            f"X must hold the models of the fit, {', '.join(wanted[:8])}; {new[0]!r} is new "
            f"({len(new)} of {len(models)} models are off).{did_you_mean(new[0], wanted)} "
            "Leave it out, or fit again with it."
        )


def check_information(
    has_model: Callable[[], NDArray[np.bool_]],
    answers: Answers,
    unsure: Answers | None,
    items: NDArray[Any],
    scored: NDArray[np.bool_] | None = None,
) -> None:
    """Refuse items without a model row, an answer, "unsure" or a score; most tables need no look at the models."""
    empty = np.flatnonzero(answers.per_item() == 0)
    empty = empty if scored is None else empty[~scored[empty]]
    if len(empty) and unsure is not None:
        empty = empty[unsure.per_item()[empty] == 0]
    empty = empty[~has_model()[empty]] if len(empty) else empty
    if len(empty):
        row, rule = int(empty[0]), "must have a model row or an answer"
        found = f"(item {items[row]}) has neither"
        raise InvalidObservations(Problem("every item", rule, row, found, len(empty), len(items), "Drop those rows."))


def check_columns(values: NDArray[Any], n_classes: int, argument: str) -> None:
    """Refuse a model without one number per class."""
    if values.ndim != 2 or values.shape[1] != n_classes:
        raise InvalidObservations(
            f"{argument} must have one column per class, {n_classes}; it has shape {values.shape}. "
            "Give (n_items, n_classes)."
        )
