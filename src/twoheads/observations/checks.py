"""What values must be like: each check has one message that names the argument, the row, the value and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations.frames import as_numbers

#: How far from 1 a row of probabilities may sum; within it, rows are normalised.
SUM_TOLERANCE = 1e-3
#: How far from 1 a row that was rounded to two decimals, or to one, is likely to sum.
_ROUNDED = 0.05
MODEL_SCALES = ("probability", "log", "logit")

_USE_A_FRAME = "Use a data frame with columns human and p_<class> where classes have names."
CONFIDENCE_REMEDY = (
    "Give numbers on any scale, blank where none was given; or rename the column if it holds something else."
)


def same_length(name: str, length: int, other: str, expected: int) -> None:
    """Refuse two arguments of different lengths."""
    if length != expected:
        raise InvalidObservations(
            f"{name} and {other} must have the same number of rows; {name} has {length}, {other} has {expected}. "
            "Give one entry per item, in the same order."
        )


def check_scale(model_scale: str) -> None:
    """Refuse a scale that is not known."""
    if model_scale not in MODEL_SCALES:
        raise InvalidParameter(f"model_scale must be one of {', '.join(MODEL_SCALES)}; it is {model_scale!r}.")


def as_matrix(X: Any, *, n_columns: int, columns: str) -> NDArray[Any]:
    """A dense array of numbers with two dimensions and at least ``n_columns`` columns, not copied where it is one."""
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
        given, some = np.ascontiguousarray(numbers[rows]), codes[rows]
        with np.errstate(invalid="ignore"):
            some[:] = given
        return bool(some.min() >= MISSING and some.max() < n_classes and (some == given).all())

    if all(map_blocks(is_sound, block_slices(len(codes), 1))):
        return codes
    filled = np.where(np.isnan(numbers), MISSING, numbers)
    off = np.flatnonzero(~((filled >= MISSING) & (filled < n_classes) & (filled == np.floor(filled))))
    if len(off):
        raise InvalidObservations(
            f"{argument} must hold class codes from 0 to {n_classes - 1}, or -1 where nobody answered; "
            f"row {off[0]} has {numbers[off[0]]:g} ({len(off)} of {len(numbers)} rows are off). {_USE_A_FRAME}"
        )
    return filled.astype(np.intp)


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
        raise InvalidObservations(
            f"sample_weight must be finite and not negative; row {off[0]} has {weight[off[0]]:g} "
            f"({len(off)} of {n_items} rows are off). {remedy}"
        )
    if not weight.any():
        raise InvalidObservations("sample_weight must be positive for at least one item; all are 0.")
    return weight


def as_confidence(values: ArrayLike, argument: str) -> Floats:
    """How sure each answer was: finite numbers on any scale, NaN where none was given."""
    numbers = as_numbers(values, argument, remedy=CONFIDENCE_REMEDY).astype(np.float64)
    if numbers.ndim != 1:
        raise InvalidObservations(
            f"{argument} must be one-dimensional, one number per answer; it has shape {numbers.shape}."
        )
    off = np.flatnonzero(np.isinf(numbers))
    if len(off):
        raise InvalidObservations(
            f"{argument} must hold finite numbers; row {off[0]} has {numbers[off[0]]:g} "
            f"({len(off)} of {len(numbers)} rows are off). {CONFIDENCE_REMEDY}"
        )
    return numbers


def check_columns(values: NDArray[Any], n_classes: int, argument: str) -> None:
    """Refuse a model whose rows have not one number per class."""
    if values.ndim != 2 or values.shape[1] != n_classes:
        raise InvalidObservations(
            f"{argument} must have one column per class, {n_classes}; it has shape {values.shape}. "
            "Give (n_items, n_classes)."
        )


def check_model(
    values: NDArray[Any], n_classes: int, scale: str, *, argument: str = "model_proba", classes: Sequence[Any] = ()
) -> None:
    """Refuse rows that are no probabilities on their scale; a row of NaN only is a model that has not seen the item.

    ``classes`` names the columns, for the message.
    """
    check_columns(values, n_classes, argument)

    def kernel(rows: slice) -> NDArray[np.bool_]:
        with np.errstate(over="ignore", invalid="ignore"):
            return _rows_off(values[rows], scale)

    off = np.concatenate(list(map_blocks(kernel, block_slices(len(values), n_classes))))
    n_off = int(off.sum())
    if n_off:
        row = int(off.argmax())
        extent = f"({n_off} of {len(values)} rows are off)"
        wrong = _what_is_wrong(values[row].astype(np.float64), row, extent, scale, classes)
        raise InvalidObservations(f"{argument} {wrong}")


def _rows_off(values: NDArray[Any], scale: str) -> NDArray[np.bool_]:
    """Which rows are no probabilities, (n_rows,); whole blocks are passed by their extremes where nothing is wrong."""
    if scale == "logit":
        if np.isfinite(values.sum()):
            return np.zeros(len(values), dtype=bool)
        off = ~np.isfinite(values.max(axis=1))
    else:
        proba = values if scale == "probability" else np.exp(values)
        off = ~(np.abs(np.einsum("nk->n", proba) - 1.0) <= SUM_TOLERANCE)
        if not proba.min() >= 0.0:
            off |= ~(proba >= 0.0).all(axis=1)
    if off.any():
        off &= ~np.isnan(values).all(axis=1)
    return np.asarray(off)


def _what_is_wrong(entries: Floats, row: int, extent: str, scale: str, classes: Sequence[Any]) -> str:
    impossible = ~np.isfinite(entries) if scale == "probability" else np.isnan(entries) | np.isposinf(entries)
    if impossible.any():
        return (
            f"must be finite; row {row} has {entries[impossible][0]:g} {extent}. "
            "Leave the whole row blank (NaN) where the model said nothing."
        )
    if scale == "logit":
        return f"must have a finite logit in every row; row {row} has only -inf {extent}. Leave the row blank (NaN)."
    if scale == "log":
        with np.errstate(over="ignore"):
            total = np.exp(entries).sum()
        return (
            f"must hold logarithms of probabilities that sum to 1; row {row} sums to {total:.4g} {extent}. "
            "If these are logits, say model_scale='logit'."
        )
    if entries.min() < 0:
        return f"must not be negative; row {row} has {entries.min():.4g} {extent}. {_sign_remedy(entries)}"
    total = entries.sum()
    return f"must sum to 1 in every row; row {row} sums to {total:.4g} {extent}. {_sum_remedy(entries, classes)}"


def _sign_remedy(entries: Floats) -> str:
    sums = entries.sum(), np.abs(entries).sum()
    if entries.max() <= 1.0 + _ROUNDED and any(abs(total - 1.0) <= _ROUNDED for total in sums):
        return "The row is otherwise one of probabilities: correct that entry, or set it to 0."
    return "If these are logits or log-probabilities, say model_scale='logit' or model_scale='log'."


def _sum_remedy(entries: Floats, classes: Sequence[Any]) -> str:
    total = entries.sum()
    if abs(total - 100) <= 100 * SUM_TOLERANCE:
        return "These look like percentages: divide by 100."
    if abs(total - 1.0) <= _ROUNDED:
        lacking = "; if a class has no column, add it" if total < 1.0 else ""
        return f"If these were rounded, divide each row by its sum{lacking}."
    extra = np.flatnonzero(np.abs(total - entries - 1.0) <= SUM_TOLERANCE)
    if len(entries) > 2 and len(extra) == 1 and len(classes):
        return f"Without the column of {str(classes[extra[0]])!r} it sums to 1: drop that one if it is no class."
    if total < 1.0:
        return "If a class has no column, add it; else divide each row by its sum."
    return "Divide each row by its sum, or, if these are logits, say model_scale='logit'."
