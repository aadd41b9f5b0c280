"""Intervals of a share, and of the difference of two shares on the same items, that hold with few items.

Lancaster (1961), Significance tests in discrete distributions (mid-p). Brown, Cai & DasGupta (2001), Interval
estimation for a binomial proportion. Agresti & Min (2005), Frequentist performance of Bayesian confidence intervals for
comparing proportions.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv

from twoheads.kernels.arrays import Floats

#: An end may be wrong at most so many times as often as it should be on average.
MOST = 1.5
#: Jeffreys' prior: so many items that only one, only the other, and both or neither have right.
PRIOR = 0.5
#: Nodes of the integral over the share of items that differ.
NODES = (np.arange(128) + 0.5) / 128


def share_interval(share: float, count: float, level: float) -> tuple[float, float]:
    """Mid-p interval of a share of a number of items, which need not be whole, that never covers much too seldom.

    An end is the share under which a number as extreme as the one seen has mid-p ``(1 - level) / 2``, and exact
    probability ``MOST`` times that at most: it covers at its level on average over shares, and a 95 % interval nowhere
    below 92.5 %. A share so small that no number of items, not even 0, could rule it out from above has the whole
    ``1 - level`` at the lower end, and the other way round.
    """
    return _low_end(share * count, count, level), 1.0 - _low_end((1.0 - share) * count, count, level)


def _low_end(seen: float, count: float, level: float) -> float:
    """Lower end of the interval of a share, of which ``seen`` items of ``count`` are."""
    if seen <= 0:
        return 0.0
    tail = (1.0 - level) / 2.0
    not_ruled_out = min(0.5, 1.0 - float((MOST * tail) ** (1.0 / count)))
    return min(_limit(seen, count, 2.0 * tail), max(_limit(seen, count, tail), not_ruled_out))


def _limit(seen: float, count: float, tail: float) -> float:
    """The share under which so many or more have this mid-p, or ``MOST`` times it as their exact probability."""
    others = max(count - seen, 1e-12)

    def mid_p(share: float) -> float:
        return float(betainc(seen, others + 1.0, share) + betainc(seen + 1.0, others, share)) / 2.0

    exact = float(betaincinv(seen, others + 1.0, MOST * tail))
    return min(exact, float(brentq(lambda share: mid_p(share) - tail, 0.0, 1.0)))


def paired_interval(difference: Floats, weight: Floats, level: float) -> tuple[float, float]:
    """Interval of a weighted mean of paired differences, each from -1 to 1: equal tails of a posterior.

    Of n items (Kish's number) b differ by -1 and c by 1. With Jeffreys' prior, ``Dirichlet(1/2, 1/2, 1/2)``, the share
    s of items that differ is ``Beta(b + c + 1, n - b - c + 1/2)``, the part t of them that differs by 1
    ``Beta(c + 1/2, b + 1/2)``, and the mean ``s (2 t - 1)``. Differences that are fractions, as of a vote without
    a majority, count as fewer ones of a smaller common size m: mean and variance stay the same. Where all that differ
    do so in one direction, the interval also has the share interval's end in that direction: without it 2.3 expected
    items, all in one direction, are covered in 89 % of cases where 95 % are meant.

    difference, weight  (n_items,) weights positive
    """
    count = float(weight.sum() ** 2 / (weight**2).sum())
    share = weight / weight.sum()
    size = float(share @ np.abs(difference))
    scale = float(share @ difference**2) / size if size > 0 else 1.0
    below, above = (count * float(share @ np.maximum(sign * difference, 0.0)) / scale for sign in (-1.0, 1.0))
    differ = betaincinv(below + above + 2 * PRIOR, max(count - below - above, 0.0) + PRIOR, NODES)

    def probability(mean: float) -> float:
        """That the mean of differences of size 1 is below this."""
        part = np.clip(0.5 + 0.5 * mean / differ, 0.0, 1.0)
        return float(betainc(above + PRIOR, below + PRIOR, part).mean())

    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    low, high = (float(brentq(lambda mean, tail=tail: probability(mean) - tail, -1.0, 1.0)) for tail in tails)
    if above == 0:
        low = min(low, -share_interval(min(1.0, below / count), count, level)[1])
    if below == 0:
        high = max(high, share_interval(min(1.0, above / count), count, level)[1])
    return scale * low, scale * high
