"""Interval of a share that holds with few items.

Lancaster (1961), Significance tests in discrete distributions (mid-p). Brown, Cai & DasGupta (2001), Interval
estimation for a binomial proportion.
"""

from __future__ import annotations

from scipy.optimize import brentq
from scipy.special import betainc, betaincinv

#: An end may be wrong at most so many times as often as it should be on average.
MOST = 1.5


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
