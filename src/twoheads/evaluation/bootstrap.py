"""A paired bootstrap over items: all members of a comparison are resampled together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring import scores

#: More items than this are put at random into so many groups, and groups are resampled: the spread of a mean over items
#: is the same, known to 1 / sqrt(2 * GROUPS), about 1 %.
GROUPS = 4096
_FEW = 10  # with fewer errors (or right answers) than this, resampling underestimates the spread
_CLASSES_AT_ONCE = 16  # classes whose bins are summed in one product of matrices
_MIN_ITEMS = 10  # for an interval of anything but a share
Z_95 = float(ndtri(0.975))


@dataclass(frozen=True)
class Score:
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

    def bin_sums(self, bins: Codes, values: Floats, n_bins: int, n_replicates: int) -> Floats:
        """Sum over the items drawn that are in each bin, (n_replicates, n_columns, n_bins).

        bins, values  (n_columns, n_items)
        """
        n_groups, n_columns = self.drawn.shape[1], len(bins)
        cell = (self.group * n_columns + np.arange(n_columns)[:, None]) * n_bins + bins
        grouped = np.bincount(cell.ravel(), values.ravel(), n_groups * n_columns * n_bins)
        summed = self.drawn[:n_replicates] @ grouped.reshape(n_groups, n_columns * n_bins)
        return np.asarray(summed.reshape(-1, n_columns, n_bins))


def resampling(n_items: int, n_bootstrap: int, rng: np.random.Generator) -> Resampling:
    """Draw ``n_bootstrap`` samples with replacement, of as many items (or groups) as there are."""
    n_groups = min(n_items, GROUPS)
    group = np.arange(n_items) if n_items <= GROUPS else rng.permutation(n_items) % n_groups
    drawn = np.empty((n_bootstrap, n_groups))
    for row in drawn:
        row[:] = np.bincount(rng.integers(0, n_groups, n_groups), minlength=n_groups)
    return Resampling(group, drawn)


def mean_score(values: Floats, weight: Floats, replicates: Resampling) -> Score:
    """Weighted mean with its percentile interval."""
    value = scores.weighted_mean(values, weight)
    if len(values) < _MIN_ITEMS:
        return Score(value, None, None)
    low, high = percentiles(replicates.means(values, weight))
    return Score(value, min(low, value), max(high, value))


def share_score(wrong: Floats, weight: Floats, replicates: Resampling) -> Score:
    """Weighted share of errors with its percentile interval.

    Resampling three items without an error never gives one: with fewer than ten wrong (or right) the interval is
    widened to Wilson's, with Kish's effective number of items.
    """
    value = scores.weighted_mean(wrong, weight)
    low, high = percentiles(replicates.means(wrong, weight))
    n_wrong = float(wrong[weight > 0].sum())
    if min(n_wrong, len(wrong) - n_wrong) < _FEW:
        effective = np.array([weight.sum() ** 2 / (weight**2).sum()])
        below, above = scores.wilson_interval(np.array([value]), effective, Z_95)
        low, high = min(low, float(below[0])), max(high, float(above[0]))
    return Score(value, min(low, value), max(high, value))


def difference_score(difference: Floats, weight: Floats, replicates: Resampling) -> Score:
    """Weighted mean of paired differences of errors, each from -1 to 1, with its percentile interval.

    If fewer than ten items differ it is widened to the interval of Bonett and Price (2012), which adds one item to
    either side.
    """
    value = scores.weighted_mean(difference, weight)
    low, high = percentiles(replicates.means(difference, weight))
    if np.count_nonzero(difference) < _FEW:
        total = len(difference) + 2.0
        more, less = ((float(np.maximum(side, 0).sum()) + 1) / total for side in (difference, -difference))
        half = Z_95 * float(np.sqrt((more + less - (more - less) ** 2) / total))
        low, high = min(low, more - less - half), max(high, more - less + half)
    return Score(value, max(-1.0, min(low, value)), min(1.0, max(high, value)))


def calibration_score(
    predicted: Floats, outcome: Floats, weight: Floats, replicates: Resampling, *, n_bins: int = 15
) -> Score:
    """Calibration error of one probability (equal-mass bins) with its interval; see `classwise_calibration_score`.

    predicted, outcome  (n_items,)
    """
    return classwise_calibration_score(predicted[None], outcome[None], weight, replicates, n_bins=n_bins)


def classwise_calibration_score(
    proba: Floats, outcome: Floats, weight: Floats, replicates: Resampling, *, n_bins: int = 15
) -> Score:
    """Mean over classes of the calibration error, with its interval.

    The bins are those of the whole sample in every replicate, whose excesses are then sums over items. Chance within
    bins makes a resampled error larger than the sample's: the percentiles are shifted by the difference of the
    replicates' mean from it, so that the interval is about what other samples as large would show. If a calibrated
    forecaster would show as much by chance (the replicates' excesses about their own mean) it begins at 0. With more
    than 20 classes there are fewer replicates, 200 at least.

    proba, outcome  (n_classes, n_items)
    """
    n_classes, n_items = proba.shape
    n_replicates = max(200, min(len(replicates.drawn), 40_000 // n_classes))
    n_replicates = min(n_replicates, len(replicates.drawn))
    total, totals = weight.sum(), replicates.sums(weight)[:n_replicates]
    usable = totals > 0
    value, resampled, noise = 0.0, np.zeros(n_replicates), np.zeros(n_replicates)
    for start in range(0, n_classes, _CLASSES_AT_ONCE):
        columns = proba[start : start + _CLASSES_AT_ONCE]
        bins = np.stack([scores.bin_codes(p, scores.equal_mass_boundaries(p, weight, n_bins)) for p in columns])
        excess = weight * (columns - outcome[start : start + _CLASSES_AT_ONCE])
        own = np.stack([np.bincount(b, e, n_bins) for b, e in zip(bins, excess, strict=True)]) / total
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = replicates.bin_sums(bins, excess, n_bins, n_replicates) / totals[:, None, None]
        value += float(np.abs(own).sum())
        resampled += np.abs(drawn).sum(axis=(1, 2))
        noise += np.abs(drawn - own).sum(axis=(1, 2))
    value /= n_classes
    if n_items < _MIN_ITEMS:
        return Score(value, None, None)
    resampled = resampled[usable] / n_classes
    low, high = percentiles(resampled - resampled.mean() + value)
    calibrated = value <= float(np.quantile(noise[usable] / n_classes, 0.975))
    return Score(value, 0.0 if calibrated else max(0.0, min(low, value)), max(high, value))


def percentiles(replicates: Floats) -> tuple[float, float]:
    """2.5 and 97.5 per cent of the finite replicates."""
    known = replicates[np.isfinite(replicates)]
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
