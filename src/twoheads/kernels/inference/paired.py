"""Paired differences of two members on the same items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.weights import heavy_factor, kish_number


class PairedMean(NamedTuple):
    """A mean of paired differences, its interval, and the two-sided p-value of no difference.

    Where none differs there is no interval: nothing shows by how much the next one might.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float


def paired_t(difference: Floats, weight: Floats, level: float) -> PairedMean:
    """Student's t of a weighted mean of differences, of which many may be 0.

    With ``a_i = w_i d_i / W``, the variance is ``sum_i (a_i - w_i m / W)^2``, and one more item that differs by as much
    as those that do usually (the root of their mean square): what was not seen is possible. Its degrees of freedom are
    how many items differ, by Kish's number of the squares, ``(sum_i a_i^2)^2 / sum_i a_i^4``: with three items that
    differ, all in one direction, p is about 0.2; McNemar's exact test has 0.25.

    With weights, K their Kish number by the `heavy_factor`, the variance is ``sum_i w_i (d_i - m)^2 / (W K)`` at least,
    the one item more ``sum_i w_i d_i^2 / (K^2 sum_{d_i != 0} w_i)``, and the degrees of freedom ``K (sum_i w_i d_i^2)^2
    / (W sum_i w_i d_i^4)`` at most, but 1: two may as well differ on the heavy items, of which few were seen. Equal
    weights change nothing.

    difference, weight  (n_items,), weights positive
    """
    share = weight / weight.sum()
    mean = float(share @ difference)
    squares = (share * difference) ** 2
    differing = np.abs(difference) > 1e-12
    if not differing.any():
        return PairedMean(0.0, None, None, 1.0)
    kish = kish_number(weight)
    number = kish / float(heavy_factor(kish, kish_number(weight**2)))
    size = float(share @ difference**2)
    freedom = float(squares.sum() ** 2 / (squares**2).sum())
    freedom = max(1.0, min(freedom, number * size**2 / float(share @ difference**4)))
    spread = max(float(((share * (difference - mean)) ** 2).sum()), float(share @ (difference - mean) ** 2) / number)
    one_more = max(float(squares[differing].mean()), size / float(share[differing].sum()) / number**2)
    error = np.sqrt(spread + one_more)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
    return PairedMean(mean, mean - half, mean + half, float(2.0 * stdtr(freedom, -abs(mean) / error)))
