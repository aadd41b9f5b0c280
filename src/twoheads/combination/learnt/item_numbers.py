"""The numbers that items are compared by: probabilities, and scores as such; and how far they are rounded.

Two weighted means of an item's numbers, its place, do not depend on the order of the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Floats
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.observations.labels import label_text

#: Decimals of probabilities that are not rounded; single precision keeps about so many.
FULL = 7
#: With fewer probabilities than this, rounding is not looked for.
_FEW_NUMBERS = 20
#: Rows that are looked at for it.
_LOOKED_AT = 50


def as_probabilities(proba: NDArray[Any], model_scale: str) -> Floats:
    """A model's rows as probabilities that sum to 1, (n_items, n_classes); NaN without a row."""
    numbers = np.asarray(proba, dtype=np.float64)
    if model_scale != "probability":
        numbers = np.exp(numbers - numbers.max(axis=1, keepdims=True))
    return np.asarray(numbers / numbers.sum(axis=1, keepdims=True))


def between_0_and_1(scores: Floats, n_classes: int) -> Floats:
    """Scores as if they were probabilities of the first and last class, (n_items, n_classes), which rise with the last.

    What is rounded moves by no more than it did.
    """
    last = 0.5 + np.arctan(scores) / np.pi
    return np.stack([1.0 - last, *[np.zeros(len(last))] * (n_classes - 2), last], axis=1)


def class_weights(classes: NDArray[Any]) -> Floats:
    """Weights from 0 to 1 that depend on the names and not on their order, (2, n_classes)."""
    rank = np.argsort(np.argsort([label_text(name) for name in classes.tolist()]))
    return np.outer([0.6180339887498949, 0.4142135623730951], rank) % 1.0


def decimals_of(probas: Sequence[NDArray[Any]]) -> int:
    """To how many decimals all probabilities are rounded: 1 to 6, or `FULL`."""
    rows = [proba[evenly_spaced(len(proba), _LOOKED_AT)].astype(np.float64) for proba in probas]
    if sum(row.size for row in rows) < _FEW_NUMBERS:
        return FULL
    found = (decimals for decimals in range(1, FULL) if all(_is_rounded(row, decimals) for row in rows))
    return next(found, FULL)


def _is_rounded(proba: Floats, decimals: int) -> bool:
    """Whether all are multiples of a unit, also of one that was made a bit larger or smaller for the sum to be 1."""
    n_classes = proba.shape[1]
    off = n_classes // 2 + 1 if decimals <= 4 else 0
    rounded = np.isnan(proba[:, 0])
    for unit in 10**decimals + np.arange(-off, off + 1):
        scaled = proba * unit
        rounded |= (np.abs(scaled - np.rint(scaled)) <= 1e-7 * unit + 1e-9).all(axis=1)
    return bool(rounded.all())
