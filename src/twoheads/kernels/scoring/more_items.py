"""How many more items would decide a comparison of two that err on different items."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import ndtri

#: How often so many more items decide it, if their shares are those assumed.
POWER = 0.8
_MOST = 10**9


class Paired(NamedTuple):
    """Items won by one of the two (only it has them right) and lost: counts, or shares of all items."""

    won: float
    lost: float


def items_until_significant(seen: Paired, share: Paired, *, level: float) -> int | None:
    """How many more items make McNemar's mid-p test significant with probability `POWER`, if they have certain shares.

    The counts seen are kept, and N items are added that are won and lost with shares w and l. With d = w - l and
    q = w + l, the excess of items won is ``seen + N d + sqrt(N (q - d^2)) z``, and it is significant beyond
    ``z_level sqrt(won + lost seen + N q)``. N is the least with ``z = -z_power``; None if no number suffices.

    level  of the two-sided test
    """
    difference, differing = share.won - share.lost, share.won + share.lost
    beyond, unlucky = float(ndtri(1.0 - level / 2.0)), float(ndtri(POWER))
    spread = math.sqrt(max(differing - difference**2, 0.0))

    def decided(more: int) -> bool:
        excess = seen.won - seen.lost + more * difference - unlucky * spread * math.sqrt(more)
        return excess >= beyond * math.sqrt(seen.won + seen.lost + more * differing)

    high = 1
    while not decided(high):
        high *= 2
        if high > _MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high
