"""Whether two labellers err on the same items more often than by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from twoheads.kernels.arrays import Codes


def both_wrong_counts(
    one_wrong: NDArray[np.bool_], other_wrong: NDArray[np.bool_], stratum: Codes, n_strata: int
) -> Codes:
    """Items of each stratum (a true class): all, those that the one has wrong, the other, and both; (4, n_strata).

    one_wrong, other_wrong, stratum  (n_items,)
    """
    which = np.ones(len(stratum), dtype=bool), one_wrong, other_wrong, one_wrong & other_wrong
    return np.stack([np.bincount(stratum[each], minlength=n_strata) for each in which])


def both_wrong_p_value(
    one_wrong: NDArray[np.bool_], other_wrong: NDArray[np.bool_], stratum: Codes
) -> tuple[float, float]:
    """`counted_p_value` of items one by one, (n_items,) each."""
    return counted_p_value(both_wrong_counts(one_wrong, other_wrong, stratum, int(stratum.max(initial=0)) + 1))


def counted_p_value(counts: Codes) -> tuple[float, float]:
    """How many items both would have wrong by chance, and how likely it is that as many or more are (exact).

    Given how often each errs within a stratum, the number that both have wrong there is hypergeometric if they are
    independent; the sum over strata has the convolution of these distributions.

    counts  (4, n_strata) as by `both_wrong_counts`
    """
    n_items, one, other, both = counts
    chance = np.ones(1)
    for n, first, second in zip(n_items.tolist(), one.tolist(), other.tolist(), strict=True):
        if first and second:
            chance = np.convolve(chance, hypergeom.pmf(np.arange(min(first, second) + 1), n, first, second))
    expected = float((one * other / np.maximum(n_items, 1)).sum())
    return expected, float(min(1.0, chance[int(both.sum()) :].sum()))
