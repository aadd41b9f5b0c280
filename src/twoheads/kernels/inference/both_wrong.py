"""Whether two labellers err on the same items more often than by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from twoheads.kernels.arrays import Codes, Floats


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
            chance = np.convolve(chance, overlap_chances(n, first, second))
    expected = float((one * other / np.maximum(n_items, 1)).sum())
    return expected, float(min(1.0, chance[int(both.sum()) :].sum()))


def overlap_chances(n: int, first: int, second: int) -> Floats:
    """Probability that k of n items are in both of two random sets of these sizes, from 0 to the smaller one.

    Hypergeometric, ``C(first, k) C(n - first, second - k) / C(n, second)``; faster than `scipy.stats.hypergeom`.
    """
    both = np.arange(min(first, second) + 1)
    neither = n - first - second + both
    cells = both, first - both, second - both, np.maximum(neither, 0)
    margins = gammaln(np.array([first, n - first, second, n - second]) + 1.0).sum() - gammaln(n + 1.0)
    log_chance = margins - gammaln(np.stack(cells) + 1.0).sum(axis=0)
    return np.where(neither < 0, 0.0, np.exp(log_chance))
