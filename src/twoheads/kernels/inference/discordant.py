"""The difference of two errors on the same items: a p-value and an interval that always agree.

Lancaster (1961), Significance tests in discrete distributions (mid-p). Fagerland, Lydersen & Laake (2013), The McNemar
test for binary matched-pairs data. Xie & Singh (2013), Confidence distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, betaincinv, expit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.weights import heavy_factor
from twoheads.kernels.scoring.differences import DifferenceSums, weighted_differences

#: Log-odds at which the distribution of the share of items that differ is known: its tails matter as its middle does.
_LOG_ODDS = np.linspace(-18.0, 18.0, 361)
_WEIGHTS = expit(_LOG_ODDS) * expit(-_LOG_ODDS) / (expit(_LOG_ODDS) * expit(-_LOG_ODDS)).sum()
#: Fewer items than this are rounding.
_NONE = 1e-9


class Discordant(NamedTuple):
    """Items on which two differ, as numbers of equal ones.

    below, above  how many differ below 0 and above
    unit          weight times size of each
    """

    below: float
    above: float
    unit: float


def discordant(sums: DifferenceSums, number: float) -> Discordant:
    """Equal items that are as much evidence as those on which two differ.

    ``N = min(h (sum |w d|)^2 / sum (w d)^2, K (sum |w d|)^2 / (sum w sum w d^2))`` with ``K = h (sum w)^2 / sum w^2``,
    and ``1 / h`` the `heavy_factor`. The first is Kish's number of the items that differ. The second is the weighted
    share of items that differ, of Kish's number of all: two may as well differ on the heavy items, of which few were
    seen. Where weights are equal both are a plain count, in which the halves of tied votes count as items.
    With ``unit = sum |w d| / N``, ``unit (above - below)`` is the sum of ``w d``.

    number  K, by `number_of`
    """
    if sums.absolute <= 0:
        return Discordant(0.0, 0.0, 1.0)
    unit = max(sums.squared, sums.size * sums.squared_weight / sums.weight) / sums.absolute
    unit *= sums.weight**2 / sums.squared_weight / number
    below, above = ((sums.absolute + sign * sums.difference) / (2.0 * unit) for sign in (-1.0, 1.0))
    return Discordant(below if below > _NONE else 0.0, above if above > _NONE else 0.0, unit)


def differing_items(difference: Floats, weight: Floats) -> Discordant:
    """`discordant` of items one by one, (n_items,) each."""
    sums = _summed(difference, weight)
    return discordant(sums, float(number_of(sums)))


def number_of(sums: DifferenceSums) -> Floats:
    """Kish's number of all items compared, or fewer where a few have most of the weight, (n,) or a number."""
    kish, freedom = sums.weight**2 / sums.squared_weight, sums.squared_weight**2 / sums.fourth_power
    return np.asarray(kish / heavy_factor(kish, freedom))


def _summed(difference: Floats, weight: Floats) -> DifferenceSums:
    return DifferenceSums(*(float(column.sum()) for column in weighted_differences(difference, weight)))


def mid_p_value(found: Discordant) -> float:
    """McNemar's test with mid-p, two-sided: whether items differ below 0 as often as above.

    Twice the probability of fewer on the rarer side than were seen, and half of that of as many. Two that are equally
    good are called different in 5 % of cases at most, whatever the share of items that differ.
    """
    if found.below + found.above == 0:
        return 1.0
    first = float(betainc(found.above, found.below + 1.0, 0.5)) if found.above else 1.0
    second = float(betainc(found.above + 1.0, found.below, 0.5)) if found.below else 0.0
    below = 0.5 * (first + second)
    return min(1.0, 2.0 * min(below, 1.0 - below))


def mid_p_values(sums: DifferenceSums) -> list[float]:
    """`mid_p_value` of several, from their sums, (n,) each."""
    rows = zip(number_of(sums).tolist(), *(column.tolist() for column in sums), strict=True)
    return [mid_p_value(discordant(DifferenceSums(*each), number)) for number, *each in rows]


def paired_interval(difference: Floats, weight: Floats, level: float, *, n_picked: int = 1) -> tuple[float, float]:
    """Interval of a weighted mean of paired differences, each from -1 to 1, that has 0 where `mid_p_value` is above.

    Of n items (`number_of`) b differ below 0 and c above. The part t of those above among them has the confidence
    distribution of the mid-p test, half ``Beta(c, b + 1)`` and half ``Beta(c + 1, b)``; the share s of items that
    differ has the posterior ``Beta(b + c + 1, n - b - c + 1/2)``; and the mean is ``s (2 t - 1)``, in units. Its sign
    is that of ``t - 1/2``: 0 is outside where the mid-p value is below ``1 - level``, and only there.

    difference, weight  (n_items,), weights positive
    n_picked            of how many the other one was picked by its low error. Luck in that makes the difference too
                        large, never too small: the lower end has the tail ``(1 - level) / (2 n_picked)`` (Bonferroni)
    """
    sums, tail = _summed(difference, weight), (1.0 - level) / 2.0
    number = float(number_of(sums))
    found = discordant(sums, number)
    count = max(number, found.below + found.above)
    scale = found.unit * count / sums.weight if found.below + found.above else 1.0
    turned = Discordant(found.above, found.below, found.unit)
    return scale * _low_end(found, count, tail / n_picked), -scale * _low_end(turned, count, tail)


def _low_end(found: Discordant, count: float, tail: float) -> float:
    """The mean difference, in units, below which the confidence distribution has this probability."""
    differ = found.below + found.above
    shape = differ + 1.0, count - differ + 0.5
    share = betaincinv(*shape, expit(_LOG_ODDS))

    def probability(mean: float) -> float:
        one_way = 1.0 if mean >= 0 else float(betaincc(*shape, -mean))
        other_way = 0.0 if mean <= 0 else float(betainc(*shape, mean))
        part = np.clip(0.5 + 0.5 * mean / share, 0.0, 1.0)
        first = float(_WEIGHTS @ betainc(found.above, found.below + 1.0, part)) if found.above else one_way
        second = float(_WEIGHTS @ betainc(found.above + 1.0, found.below, part)) if found.below else other_way
        return 0.5 * (first + second)

    return float(brentq(lambda mean: probability(mean) - tail, -1.0, 1.0))
