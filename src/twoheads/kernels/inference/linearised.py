"""A smooth function of sums over items as a mean over items: its influence function, by its gradient.

A statistic ``f(sum_i w_i v_i)`` moves with item i by ``W grad f . (v_i - mean v)``; with its own value added these are
numbers, one per item, whose mean is the statistic and whose spread is its own, so that every interval and test of a
mean holds for it (Hampel 1974; Efron 1982, the infinitesimal jackknife).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from twoheads.kernels.arrays import Floats

_STEP = 1e-5


def gradient(statistic: Callable[[Floats], Floats], sums: Floats, step: float) -> Floats:
    """Central differences of a statistic of sums, (n_sums,); it takes sums of shape (..., n_sums)."""
    moves = step * np.eye(len(sums))
    return np.asarray((statistic(sums + moves) - statistic(sums - moves)) / (2.0 * step))


def linearised(
    statistic: Callable[[Floats], Floats], values: Floats, weight: Floats, possible: Floats | None = None
) -> tuple[Floats, Floats]:
    """The statistic as numbers whose weighted mean it is: of the items, (n_items,), and of possible ones.

    values    (n_items, n_sums) what each item adds to the sums
    weight    (n_items,)
    possible  (n_possible, n_sums) of items that might have been seen as well
    """
    total, sums = float(weight.sum()), weight @ values
    value = float(statistic(sums[None])[0])
    slope = total * gradient(statistic, sums, _STEP * total)
    slope = np.where(np.isfinite(slope), slope, 0.0)
    centre = float(slope @ sums) / total
    others = np.empty(0) if possible is None else value + possible @ slope - centre
    return value + values @ slope - centre, others
