"""Whether two labellers err on the same items more often than by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from twoheads.kernels.arrays import Codes


def both_wrong_p_value(
    one_wrong: NDArray[np.bool_], other_wrong: NDArray[np.bool_], stratum: Codes
) -> tuple[float, float]:
    """How many items both would have wrong by chance, and how likely it is that as many or more are (exact).

    Given how often each errs within a stratum (a true class), the number that both have wrong there is hypergeometric
    if they are independent; the sum over strata has the convolution of these distributions.

    one_wrong, other_wrong, stratum  (n_items,)
    """
    n_items = np.bincount(stratum)
    one, other = (np.bincount(stratum, wrong).astype(int) for wrong in (one_wrong, other_wrong))
    chance = np.ones(1)
    for n, first, second in zip(n_items.tolist(), one.tolist(), other.tolist(), strict=True):
        if first and second:
            chance = np.convolve(chance, hypergeom.pmf(np.arange(min(first, second) + 1), n, first, second))
    expected = float((one * other / np.maximum(n_items, 1)).sum())
    return expected, float(min(1.0, chance[int((one_wrong & other_wrong).sum()) :].sum()))
