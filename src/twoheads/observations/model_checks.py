"""Checks of models' rows: probabilities, their logarithms or logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.errors import InvalidObservations, Problem
from twoheads.kernels.arrays import Floats
from twoheads.observations.checks import check_columns, same_length

#: How far from 1 a row of probabilities may sum; within it, rows are normalised.
SUM_TOLERANCE = 1e-3
#: How far from 1 a row of probabilities rounded to one or two decimals is likely to sum.
_ROUNDED = 0.05


@dataclass(frozen=True)
class ModelTerms:
    """How messages about a model's rows name them, and the options by which their reader can change how they are read.

    Each is a format string. ``rows`` are those of the only model, ``rows_of`` those of one of several, by its name;
    ``scale`` sets the scale, and ``divide`` is the advice to divide rows by their sums.
    """

    rows: str = "model_proba"
    rows_of: str = "model_proba of {!r}"
    scale: str = "set model_scale={!r}"
    divide: str = "divide each row by its sum"

    def argument(self, model: str | None = None) -> str:
        """The rows of a model, by name if there are several."""
        return self.rows if model is None else self.rows_of.format(model)


#: Where the reader of a message calls a function with the parameter ``model_scale``.
CALL_TERMS = ModelTerms()
#: Where the caller has no such parameter, but takes Observations.
OBSERVATIONS_TERMS = ModelTerms(scale="give Observations.from_frame(X, model_scale={!r})")


def check_models(
    model_proba: Sequence[NDArray[Any]],
    models: Sequence[str] | None,
    n_items: int,
    classes: NDArray[Any],
    scale: str,
    terms: ModelTerms,
) -> None:
    """Refuse rows of any model that are not probabilities on their scale, or not one per item."""
    names = classes.tolist()
    for at, proba in enumerate(model_proba):
        argument = terms.argument(models[at] if models is not None and len(models) > 1 else None)
        check_model(proba, len(classes), scale, argument=argument, classes=names, terms=terms)
        same_length(argument, len(proba), "the answers", n_items)


def check_model(
    values: NDArray[Any],
    n_classes: int,
    scale: str,
    *,
    argument: str = "model_proba",
    classes: Sequence[Any] = (),
    terms: ModelTerms = CALL_TERMS,
) -> None:
    """Refuse rows that are not probabilities on their scale; a row of NaN is an item without a prediction.

    ``classes`` names the columns, and ``terms`` the caller's options, in the message.
    """
    check_columns(values, n_classes, argument)

    def kernel(rows: slice) -> NDArray[np.bool_]:
        with np.errstate(over="ignore", invalid="ignore"):
            return _rows_off(values[rows], scale)

    off = np.concatenate(list(map_blocks(kernel, block_slices(len(values), n_classes))))
    n_off = int(off.sum())
    if n_off:
        row = int(off.argmax())
        rule, found, remedy = _what_is_wrong(values[row].astype(np.float64), scale, classes, terms)
        raise InvalidObservations(Problem(argument, rule, row, found, n_off, len(values), remedy))


def _rows_off(values: NDArray[Any], scale: str) -> NDArray[np.bool_]:
    """Which rows are not probabilities, (n_rows,); the extremes of a block show quickly that none is wrong."""
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


def _what_is_wrong(entries: Floats, scale: str, classes: Sequence[Any], terms: ModelTerms) -> tuple[str, str, str]:
    """The rule that a row breaks, what it has, and the remedy."""
    impossible = ~np.isfinite(entries) if scale == "probability" else np.isnan(entries) | np.isposinf(entries)
    if impossible.any():
        remedy = "Leave the whole row blank (NaN) where the model has no prediction."
        return "must be finite", f"has {entries[impossible][0]:g}", remedy
    if scale == "logit":
        return "must have a finite logit in every row", "has only -inf", "Leave the row blank (NaN)."
    if scale == "log":
        with np.errstate(over="ignore"):
            total = np.exp(entries).sum()
        remedy = f"If these are logits, {terms.scale.format('logit')}."
        return "must hold logarithms of probabilities that sum to 1", f"sums to {total:.4g}", remedy
    if entries.min() < 0:
        return "must not be negative", f"has {entries.min():.4g}", _sign_remedy(entries, terms)
    return "must sum to 1 in every row", f"sums to {entries.sum():.4g}", _sum_remedy(entries, classes, terms)


def _sign_remedy(entries: Floats, terms: ModelTerms) -> str:
    sums = entries.sum(), np.abs(entries).sum()
    if entries.max() <= 1.0 + _ROUNDED and any(abs(total - 1.0) <= _ROUNDED for total in sums):
        return "Otherwise the row holds probabilities: correct that entry, or set it to 0."
    logit, log = (terms.scale.format(scale) for scale in ("logit", "log"))
    return f"If these are logits, {logit}; if log-probabilities, {log}."


def _sum_remedy(entries: Floats, classes: Sequence[Any], terms: ModelTerms) -> str:
    total = entries.sum()
    if abs(total - 100) <= 100 * SUM_TOLERANCE:
        return "These look like percentages: divide by 100."
    if abs(total - 1.0) <= _ROUNDED:
        lacking = "; if a class has no column, add it" if total < 1.0 else ""
        return f"If these were rounded, {terms.divide}{lacking}."
    extra = np.flatnonzero(np.abs(total - entries - 1.0) <= SUM_TOLERANCE)
    if len(entries) > 2 and len(extra) == 1 and len(classes):
        return f"Without the column of {str(classes[extra[0]])!r} it sums to 1: drop that column if it is not a class."
    if total < 1.0:
        return f"If a class has no column, add it; else {terms.divide}."
    return f"If these are logits, {terms.scale.format('logit')}; else {terms.divide}."
