"""How many equal items weighted ones are worth, where an interval or a test counts them.

A weight says how many items of the population an item stands for: it moves means, and no item is ever counted as more
than one observation. The unit of the weights does not matter.

Kish (1965), Survey Sampling. Korn & Graubard (1998), Survey Methodology 24.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from twoheads.kernels.arrays import Floats

#: Degrees of freedom of a spread are at least so many.
_FREEDOM = 3.0


def kish_number(weight: Floats) -> float:
    """Kish's number of items, ``(sum w)^2 / sum w^2``: as many as there are where weights are equal, else fewer.

    weight  (n_items,) some positive
    """
    return float(weight.sum() ** 2 / (weight**2).sum())


def heavy_factor(kish: Floats | float, freedom: Floats | float) -> Floats:
    """How many times fewer items count where a few of them have most of the weight, at least 1.

    ``(t_{f-1} / t_{K-1})^2`` with Student's quantiles: a spread that rests on ``f = (sum w^2)^2 / sum w^4`` items is
    not known as that of K, Kish's number, is. 1 where weights are equal, and 2.6 at most.
    """
    few, many = (stdtrit(np.maximum(np.asarray(each) - 1.0, _FREEDOM), 0.975) for each in (freedom, kish))
    return np.asarray(np.maximum((few / many) ** 2, 1.0))


def effective_number(values: Floats, weight: Floats) -> float:
    """Items of equal weight that would tell as much of the mean m: Kish's number, or fewer.

    ``W sum w (v - m)^2 / sum w^2 (v - m)^2`` is the variance of one value over that of the mean. It is Kish's number
    where weights have nothing to do with values, and less where what is far from the mean has the larger weights.
    Where it would be more, Kish's number is kept: few items do not show that luck. `heavy_factor` is allowed for.

    values, weight  (n_items,) some weight positive
    """
    squares = weight * (values - weight @ values / weight.sum()) ** 2
    spread, most = float(weight @ squares), kish_number(weight)
    seen = min(most, float(weight.sum() * squares.sum() / spread)) if spread > 0 else most
    return max(min(2.0, most), seen / float(heavy_factor(most, kish_number(weight**2))))
