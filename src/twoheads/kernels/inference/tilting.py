"""An interval of a mean of skewed values, by exponential tilting.

Values ``x_j`` of weights ``w_j`` (sum 1) belong to the family ``w_j exp(t x_j) / sum_i w_i exp(t x_i)``, whose mean
grows with t. The interval has the means of those members of the family under which a mean of n values as large, or as
small, as the one seen is not too rare; their tails are given by a saddlepoint approximation. Of a share it is close to
the mid-p interval; of a mean of losses it is not symmetric, as it should not be. A mean so small that even the best
sample could not rule it out from above may have the whole error at the lower end.

Efron (1981), Nonparametric standard errors and confidence intervals. DiCiccio & Romano (1990), Nonparametric confidence
limits by resampling methods and least favorable families. Tails: Lugannani & Rice (1980) in Barndorff-Nielsen's form
``r + log(u / r) / r``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.weights import effective_number

#: A mean at the very end of the values has no tilt: it is moved inwards by this share of their range.
INWARDS = 1e-6
#: Possible values are summed up in so many cells.
CELLS = 256
_LARGEST_STEP = 1e9


class Family(NamedTuple):
    """The values, from 0 to 1, and the logarithms of their weights."""

    value: Floats
    log_weight: Floats

    def log_total(self, tilt: float) -> float:
        """``log sum w exp(t x)``."""
        logits = self.log_weight + tilt * self.value
        largest = float(logits.max())
        return largest + float(np.log(np.exp(logits - largest).sum()))

    def mean_variance(self, tilt: float) -> tuple[float, float]:
        """Mean and variance of the member at a tilt."""
        logits = self.log_weight + tilt * self.value
        share = np.exp(logits - logits.max())
        share /= share.sum()
        mean = float(share @ self.value)
        return mean, float(share @ (self.value - mean) ** 2)


class Sample(NamedTuple):
    """A mean of a ``number`` of values and their family, scaled by ``least + span * value``; ``own`` is its tilt."""

    family: Family
    mean: float
    number: float
    own: float
    least: float
    span: float

    def end(self, tail: float, *, upper: bool) -> float:
        """The mean of the member under which a mean as small, or as large, as the one seen has this probability."""
        quantile = float(stdtrit(self.number - 1.0, 1.0 - tail))
        end = _limit(self, -quantile if upper else quantile)
        return self.least + self.span * (max(end, self.mean) if upper else min(end, self.mean))


def tilting_interval(
    values: Floats,
    weight: Floats,
    level: float,
    *,
    possible: tuple[Floats, Floats] | None = None,
    reach: float = -np.inf,
) -> tuple[float, float]:
    """Interval of the mean of values, of which n (`effective_number`, by their weights) were seen.

    values, weight  (n_values,) weights positive
    possible        values that might have been seen as well, and their weights in items: they widen the range of what
                    the mean can be, and do not change its estimate
    reach           how far the interval of the best sample would have reached: up to there no sample rules a mean out
                    from above, and the lower end may be wrong in ``1 - level`` of cases
    """
    seen = _sample(values, weight, possible)
    if seen is None:
        mean = float(weight @ values / weight.sum())
        return mean, mean
    tail = (1.0 - level) / 2.0
    low, high = seen.end(tail, upper=False), seen.end(tail, upper=True)
    if reach > low:
        low = min(reach, seen.end(2.0 * tail, upper=False))
    return low, high


def _sample(values: Floats, weight: Floats, possible: tuple[Floats, Floats] | None) -> Sample | None:
    """The mean of the values and their family; None where all values are the same."""
    mean = float(weight @ values / weight.sum())
    count = effective_number(values, weight)
    share = weight * (count / weight.sum())
    if possible is not None:
        values, share = np.concatenate([values, possible[0]]), np.concatenate([share, possible[1]])
        values, share = values[share > 0], share[share > 0]
    least, span = float(values.min()), float(np.ptp(values))
    if not span > 0 or count <= 1:
        return None
    family = Family((values - least) / span, np.log(share / share.sum()))
    centre = min(max((mean - least) / span, INWARDS), 1.0 - INWARDS)
    towards = 10.0 if family.mean_variance(0.0)[0] < centre else -10.0
    own = _root(lambda tilt: family.mean_variance(tilt)[0] - centre, 0.0, towards)
    return Sample(family, centre, count, own, least, span)


def possible_losses(loss: Floats, proba: Floats, *, items: float, mislabelled: float) -> tuple[Floats, Floats]:
    """The losses of every outcome of every item, as values that might have been seen, in cells of similar loss.

    A wrong label of the truth costs a sharp forecaster much and is not in its probabilities: it is one value more, the
    mean over items of all classes but the least costly. Tilting would find the largest of them.

    loss, proba  (n_classes, n_items) the loss if a class is true, and how likely that is
    items        their total weight
    mislabelled  how many wrong labels are possible beside them, as a share of them
    """
    wrong = float((loss.sum(axis=0) - loss.min(axis=0)).mean()) / max(1, len(loss) - 1)
    value, weight = _in_cells(loss, np.asarray(proba * (items / proba.sum()), dtype=np.float64))
    return np.append(value, wrong), np.append(weight, items * mislabelled)


def _in_cells(loss: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Mean and weight of each cell of similar losses; any shape."""
    flat, weight = loss.ravel(), weight.ravel()
    least, span = float(flat.min()), float(np.ptp(flat))
    if len(flat) <= CELLS or not span > 0:
        return flat, weight
    cell = np.minimum((flat - least) * (CELLS / span), CELLS - 1).astype(np.intp)
    total, sums = np.bincount(cell, weight, CELLS), np.bincount(cell, weight * flat, CELLS)
    seen = total > 0
    return np.asarray(sums[seen] / total[seen]), np.asarray(total[seen], dtype=np.float64)


def _limit(sample: Sample, quantile: float) -> float:
    """The mean of the member of the family under which the mean seen is at this normal quantile."""
    family, mean, count, own = sample.family, sample.mean, sample.number, sample.own
    log_own, variance = family.log_total(own), family.mean_variance(own)[1]

    def rareness(tilt: float) -> float:
        """The normal quantile of the mean seen, under the member at a tilt."""
        away = own - tilt
        root = np.sign(away) * np.sqrt(max(2.0 * count * (away * mean - log_own + family.log_total(tilt)), 0.0))
        wald = away * np.sqrt(count * variance)
        return float(root + np.log(wald / root) / root) if abs(root) > 1e-3 and wald / root > 0 else float(root)

    step = -np.sign(quantile) / np.sqrt(count * variance)
    return family.mean_variance(_root(lambda tilt: rareness(tilt) - quantile, own, step))[0]


def _root(function: Callable[[float], float], start: float, step: float) -> float:
    """Where a function is 0, looked for from ``start`` in steps that double; the last one if it is so nowhere."""
    here, end = function(start), start + step
    while function(end) * here > 0 and abs(step) < _LARGEST_STEP:
        step *= 2.0
        end = start + step
    if function(end) * here > 0:
        return end
    low, high = sorted((start, end))
    return float(brentq(function, low, high, xtol=1e-12 + 1e-9 * abs(step)))
