"""To how many decimals probabilities and scores were rounded, as their values show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Floats
from twoheads.kernels.numerics.sampling import evenly_spaced

#: Decimals of probabilities that are not rounded; single precision keeps about so many.
FULL = 7
#: With fewer probabilities than this, rounding is not looked for.
_FEW_NUMBERS = 20
#: Rows that are looked at for it.
_LOOKED_AT = 50


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
