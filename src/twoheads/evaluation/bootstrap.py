"""Scores with intervals that hold for few items; with many, a paired bootstrap of all members together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.discordant import paired_interval
from twoheads.kernels.inference.shares import share_interval
from twoheads.kernels.inference.tilting import tilting_interval
from twoheads.kernels.inference.weights import effective_number
from twoheads.kernels.scoring import scores
from twoheads.rendering.notebook import Shown

#: More items than this are put at random into so many groups, and groups are resampled: the spread of a mean over items
#: is the same, known to 1 / sqrt(2 * GROUPS), about 1 %.
GROUPS = 4096
_FEW = 10  # with fewer errors (or right answers) than this, resampling underestimates the spread
#: From here on a mean is as good as normal, and its interval is that of the replicates.
MANY = 2000
LEVEL = 0.95
MIN_ITEMS = 10  # for an interval of anything but a share
Z_95 = float(ndtri(0.975))


@dataclass(frozen=True)
class Score(Shown):
    """A number with its 95 % interval; None with too few items for one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Resampling:
    """How often each group of items is drawn in each replicate, the same for all that is compared.

    group  (n_items,) which group an item is in; each its own up to `GROUPS` items
    drawn  (n_bootstrap, n_groups)
    """

    group: Codes
    drawn: Floats

    def take(self, rows: NDArray[np.bool_]) -> Resampling:
        """The same replicates of a subset of the items, by a mask."""
        return Resampling(self.group[rows], self.drawn)

    def sums(self, values: Floats) -> Floats:
        """Sum over the items drawn, (n_bootstrap,), of values (n_items,)."""
        return np.asarray(self.drawn @ np.bincount(self.group, values, self.drawn.shape[1]))

    def means(self, values: Floats, weight: Floats) -> Floats:
        """Weighted mean over the items drawn, (n_bootstrap,); NaN if none has positive weight."""
        total = self.sums(weight)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(total > 0, self.sums(values * weight) / total, np.nan))


def resampling(n_items: int, n_bootstrap: int, rng: np.random.Generator) -> Resampling:
    """Draw ``n_bootstrap`` samples with replacement, of as many items (or groups) as there are."""
    n_groups = min(n_items, GROUPS)
    group = np.arange(n_items) if n_items <= GROUPS else rng.permutation(n_items) % n_groups
    drawn = np.empty((n_bootstrap, n_groups))
    for row in drawn:
        row[:] = np.bincount(rng.integers(0, n_groups, n_groups), minlength=n_groups)
    return Resampling(group, drawn)


def mean_score(
    values: Floats,
    weight: Floats,
    replicates: Resampling,
    *,
    possible: tuple[Floats, Floats] | None = None,
    reach: float = -np.inf,
) -> Score:
    """Weighted mean with its interval: by tilting, which knows skewed values, and percentiles of very many items.

    possible  values that might have been seen as well, and their weights in items
    reach     up to where no sample rules a mean out from above
    """
    value = scores.weighted_mean(values, weight)
    counted = weight > 0
    if np.count_nonzero(counted) < MIN_ITEMS:
        return Score(value, None, None)
    if len(values) > MANY:
        low, high = percentiles(replicates.means(values, weight))
    else:
        low, high = tilting_interval(values[counted], weight[counted], LEVEL, possible=possible, reach=reach)
    return Score(value, min(low, value), max(high, value))


def share_score(wrong: Floats, weight: Floats, replicates: Resampling, *, level: float = LEVEL) -> Score:
    """Weighted share of errors with its interval for an `effective_number` of items; percentiles of very many."""
    value = scores.weighted_mean(wrong, weight)
    n_wrong = float(wrong[weight > 0].sum())
    if len(wrong) > MANY and min(n_wrong, len(wrong) - n_wrong) >= _FEW:
        low, high = percentiles(replicates.means(wrong, weight), level)
    else:
        low, high = share_interval(value, effective_number(wrong, weight), level)
    return Score(value, min(low, value), max(high, value))


def difference_score(difference: Floats, weight: Floats, *, n_picked: int = 1) -> Score:
    """Weighted mean of paired differences of errors, each from -1 to 1, with the interval of McNemar's mid-p test.

    n_picked  of how many the other one was picked by its low error
    """
    value, counted = scores.weighted_mean(difference, weight), weight > 0
    low, high = paired_interval(difference[counted], weight[counted], LEVEL, n_picked=n_picked)
    return Score(value, max(-1.0, min(low, value)), min(1.0, max(high, value)))


def percentiles(replicates: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Between which the middle of the finite replicates are, a share of ``level``."""
    known = replicates[np.isfinite(replicates)]
    low, high = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)
