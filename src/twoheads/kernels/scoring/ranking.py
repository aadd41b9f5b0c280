"""The area under the ROC curve, and what each item adds to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri, stdtrit

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring.scores import ROUNDING, wilson_interval

_UNSEEN = 0.03
#: Parts of an area that differ by less are rounding.
_ALIKE = 1e-9


def weight_below(scores: Floats, among: Floats, weight: Floats) -> Floats:
    """Share of the weight of ``among`` that is below each score, ties (but for rounding) counted half, (n_scores,).

    scores  (n_scores,)
    among   (n_among,) of weights (n_among,)
    """
    order = np.argsort(among, kind="stable")
    reached = np.concatenate([[0.0], np.cumsum(weight[order])])
    rounding = ROUNDING * np.abs(scores)
    low = np.searchsorted(among[order], scores - rounding, side="left")
    high = np.searchsorted(among[order], scores + rounding, side="right")
    return np.asarray((reached[low] + reached[high]) / (2.0 * reached[-1]))


def placements(scores: Floats, positive: NDArray[np.bool_], weight: Floats) -> Floats:
    """Share of the other side that each item is ranked rightly against, (n_items,): AUC is its mean on either side."""
    found = np.empty(len(scores))
    found[positive] = weight_below(scores[positive], scores[~positive], weight[~positive])
    found[~positive] = 1.0 - weight_below(scores[~positive], scores[positive], weight[positive])
    return found


def auc_parts(scores: Floats, positive: NDArray[np.bool_], weight: Floats) -> Floats:
    """The area as numbers whose weighted mean it is, (n_items,).

    Item i moves it by ``(placement_i - AUC) / share of its side`` (DeLong, DeLong & Clarke-Pearson 1988).

    scores    (n_items,)
    positive  (n_items,), some of each
    """
    share = float(weight[positive].sum() / weight.sum())
    placed = placements(scores, positive, weight)
    area = float(weight[positive] @ placed[positive] / weight[positive].sum())
    return np.asarray(area + (placed - area) / np.where(positive, share, 1.0 - share))


def auc_interval(parts: Floats, true_label: Codes, weight: Floats, level: float) -> tuple[float, float]:
    """Interval of an area, or of a mean of areas, from its parts: Student's t on the scale of the log-odds.

    The variance is that of the parts within each true class, with its own degrees of freedom (Satterthwaite). To each
    class `_UNSEEN` of an item is added that is ranked at random: with few items, the badly ranked ones may not have
    been seen. An area of 0 or 1, or of items that are all ranked alike, has Wilson's interval of a share of as many as
    the smallest class has (Kish's number, by their weights).

    parts, true_label, weight  (n_items,)
    """
    area = float(weight @ parts / weight.sum())
    if not 0.0 < area < 1.0 or np.ptp(parts) < _ALIKE:
        total, squares = np.bincount(true_label, weight), np.bincount(true_label, weight**2)
        z, least = float(ndtri((1.0 + level) / 2.0)), float((total[total > 0] ** 2 / squares[total > 0]).min())
        low, high = wilson_interval(np.clip([area], 0.0, 1.0), np.array([least]), z)
        return float(low[0]), float(high[0])
    variance, freedom = _within_classes(parts, true_label, weight, area)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * np.sqrt(variance) / (area * (1.0 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


def _within_classes(parts: Floats, true_label: Codes, weight: Floats, area: float) -> tuple[float, float]:
    """Variance of the mean of the parts, and its degrees of freedom."""
    codes = np.unique(true_label)
    sizes = [weight[true_label == code] / weight.sum() for code in codes]
    shares = np.array([size.sum() for size in sizes])
    found = []
    for at, (code, size) in enumerate(zip(codes, sizes, strict=True)):
        own, share = parts[true_label == code], shares[at]
        squares = (size**2) @ (own - size @ own / share) ** 2
        unseen = _UNSEEN * (share / len(own)) ** 2 * ((0.5 - area) * _move(shares, at)) ** 2
        found.append((float(squares + unseen) * len(own) / max(1, len(own) - 1), max(1, len(own) - 1)))
    variance = sum(each for each, _ in found)
    return variance, variance**2 / sum(each**2 / freedom for each, freedom in found)


def _move(shares: Floats, at: int) -> float:
    """How much one placement of an item of a class moves the area, or with three classes and more the mean of areas."""
    if len(shares) == 2:
        return float(1.0 / shares[at])
    sides = np.where(np.arange(len(shares)) == at, shares, 1.0 - shares)
    return float((1.0 / sides).mean())
