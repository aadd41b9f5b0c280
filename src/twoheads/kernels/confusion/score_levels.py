"""Scores as levels: where to cut them, and the likelihood of each level given the true class of two.

A score is any number that rises with the chance of the second class. Only its rank matters: it is cut into at most ten
levels, and the first of these that means the second class splits the levels into two sides, the member's answer. Then
``P(level l | j) = phi_(side of l, j) w_lj``: phi is the member's matrix, as of anyone who answers, and w the share of
the level among those of its side.

Scores that fall with the chance of the first class are the same scores: all here is mirrored where they are reversed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.confusion.response import dirichlet_strength
from twoheads.kernels.priors import LEVELS_STRENGTH

N_LEVELS = 10
#: Weight of the member's own distribution of levels, which is the same for both classes.
MARGINAL_WEIGHT = 8.0
#: Members agree where they err together, too: without truth, levels count as those of so many labels.
SOFT_WEIGHT = 30.0


@dataclass(frozen=True, eq=False)
class ScoreCuts:
    """Where one member's scores are cut.

    bounds  lower bounds of all levels but the first
    upper   the first level that means the second class
    silent  (2,) scores from the first of these up to, not at, the second are on no side; (0, 0) where all are on one
    """

    bounds: Floats
    upper: int
    silent: Floats


def score_cuts(scores: Floats, second: Callable[[], Floats], share: float, weight: Floats | None = None) -> ScoreCuts:
    """Cut scores into levels, and these into two sides.

    Few distinct values are a level each, else cuts are where they are nearest to tenths. The sides are cut where as
    many scores are above as the second class has items, or nearly; of two cuts that are as near, by the share, then by
    ``second`` of the scores between them. If that does not decide either, what is in the middle says nothing.

    scores  (n_scores,)
    second  what gives the share of the second class in what is known about each item, (n_scores,), NaN where nothing
            is: it takes long, and is seldom needed
    share   of the second class among items
    weight  (n_scores,) of the scores' items; None for 1
    """
    values, mass = _masses(scores, weight)
    if len(values) < 2:
        return ScoreCuts(np.empty(0), 1, np.zeros(2))
    below = np.round(mass.cumsum()[:-1] / mass.sum(), 9)  # share of the scores up to each value but the last
    tenths = np.arange(1, N_LEVELS) / N_LEVELS
    middle = _nearest(below, 0.5)
    lean = float(np.round(share - 0.5, 9))
    if not lean and len(middle) > 1:
        lean = _lean(second(), scores == values[middle[-1]], weight)
    if len(values) <= N_LEVELS:
        gaps = np.arange(len(below))
    else:  # of two that are as near, the one nearer to the middle
        upward = (tenths < 0.5) | ((tenths == 0.5) & (lean < 0))
        gaps = np.unique([_nearest(below, tenth)[-up] for tenth, up in zip(tenths, upward.astype(int), strict=True)])
    silent = bool(not lean and (len(middle) > 1 or below[middle[0]] == 0.5))
    if silent:
        gaps = np.union1d(np.setdiff1d(gaps, middle), middle[-1])
    at = _nearest(below[gaps], 1.0 - share)
    cut = int(at[0 if lean > 0 else -1])
    # What is new between two values goes towards the middle.
    rises = (below[gaps] < 0.5) | ((below[gaps] == 0.5) & (lean > 0))
    bounds = np.where(rises, np.nextafter(values[gaps], np.inf), values[gaps + 1])
    ends = np.array([np.nextafter(values[middle[0]], np.inf), values[middle[-1] + 1]])
    return ScoreCuts(bounds, cut + 1, ends if silent else np.zeros(2))


def _masses(scores: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """The distinct scores, ascending, and how many there are of each."""
    values, count = np.unique(scores, return_counts=True)
    if weight is not None:
        count = np.bincount(np.searchsorted(values, scores), weight, len(values))
    return values, count.astype(np.float64)


def _nearest(values: Floats, target: float) -> Codes:
    """The positions of the values, ascending, that are nearest: one, or two of which neither is nearer."""
    at = int(np.searchsorted(values, target))
    reach = np.abs(values[max(at - 1, 0) : at + 1] - target).min() + 2e-9
    first, last = np.searchsorted(values, [target - reach, target + reach])
    distance = np.round(np.abs(values[first:last] - target), 9)
    return np.asarray(first + np.flatnonzero(distance == distance.min()))


def _lean(second: Floats, here: Codes, weight: Floats | None) -> float:
    """Above 0 where what is known about the items here is rather the second class, below 0 where the first."""
    known = here & ~np.isnan(second)
    share = second[known] - 0.5
    return float(np.round(share.sum() if weight is None else weight[known] @ share, 9))


def middle_ranks(scores: Floats, weight: Floats | None = None) -> Floats:
    """The share of all scores below each, and half of those like it, (n_scores,); NaN for NaN.

    weight  (n_scores,) of the scores' items; None for 1
    """
    given, ranks = ~np.isnan(scores), np.full(len(scores), np.nan)
    if given.any():
        values, mass = _masses(scores[given], None if weight is None else weight[given])
        ranks[given] = ((mass.cumsum() - 0.5 * mass) / mass.sum())[np.searchsorted(values, scores[given])]
    return ranks


def score_levels(scores: Floats, bounds: Floats) -> Codes:
    """The level of each score, from 0."""
    return np.asarray(np.searchsorted(bounds, scores, side="right"))


def is_silent(scores: Floats, silent: Floats) -> NDArray[np.bool_]:
    """Which scores are on no side; silent is that of `ScoreCuts`."""
    return np.asarray((scores >= silent[0]) & (scores < silent[1]))


def from_the_cut(level: Codes, upper: Codes | int) -> Floats:
    """Levels counted from the cut between the sides: .5, 1.5 and so on above it, -.5 and so on below."""
    return np.asarray(level - (np.asarray(upper) - 0.5))


def level_at(steps: Floats, upper: Codes | int) -> Codes:
    """`from_the_cut`, undone."""
    return (steps + (np.asarray(upper) - 0.5)).astype(np.intp)


def level_shares(counts: Floats, sizes: Codes, upper: Codes) -> Floats:
    """w, the probability of each level given its side and the truth, (n_members, n_levels, n_classes).

    ``P_lj = (C_lj + s Q_lj) / (C_j + s)`` and w is P over its sum on the level's side. Q shares strength between levels
    and classes: counts smoothed over neighbouring levels by a Gaussian kernel of one level, shrunk with weight 8 to
    their distribution over both classes. s, the same for all members, has most evidence, ``log s ~ Normal(log 100,
    1.5^2)``. Without counts a level carries no information beyond its side.

    counts  (n_members, n_levels, n_classes) how often a member's score was at level l where j is true
    sizes   (n_members,) how many of the levels each member has
    upper   (n_members,) the first level of the upper side
    """
    mean = np.stack([_smoothed(each, n) for each, n in zip(counts, sizes, strict=True)])
    strength = dirichlet_strength(counts, mean, LEVELS_STRENGTH)
    given = counts + strength * mean
    is_upper = (np.arange(counts.shape[1]) >= np.asarray(upper)[:, None])[:, :, None]
    sides = [np.where(side, given, 0.0).sum(axis=1, keepdims=True) for side in (~is_upper, is_upper)]
    there = np.arange(counts.shape[1])[:, None] < np.asarray(sizes)[:, None, None]
    shares: Floats = np.divide(given, np.where(is_upper, *sides[::-1]), out=np.ones_like(given), where=there)
    return shares


def limited_counts(counts: Floats, labelled: Floats) -> Floats:
    """Counts of levels in which each member's soft ones weigh at most `SOFT_WEIGHT` labels together.

    counts, labelled  (n_members * n_levels, n_classes) of all items, and of the labelled ones among them
    """
    soft = np.maximum(counts - labelled, 0.0).reshape(-1, N_LEVELS, counts.shape[1])
    total = soft.sum(axis=(1, 2), keepdims=True)
    limited = soft * np.minimum(1.0, SOFT_WEIGHT / np.maximum(total, SOFT_WEIGHT))
    return np.asarray(labelled + limited.reshape(counts.shape))


def _smoothed(counts: Floats, size: int) -> Floats:
    """Q of one member, (n_levels, n_classes); 0 at levels that it does not have."""
    smoothed = _kernel(size) @ counts[:size]
    total = smoothed.sum(axis=1, keepdims=True) + 1.0 / size
    shrunk = smoothed + MARGINAL_WEIGHT * total / total.sum()
    out = np.zeros_like(counts)
    out[:size] = shrunk / shrunk.sum(axis=0)
    return out


def _kernel(n_levels: int) -> Floats:
    """Weights of a Gaussian kernel of one level, (n_levels, n_levels); those of a count, a column, sum to 1."""
    distance = np.arange(n_levels)[:, None] - np.arange(n_levels)
    weight = np.exp(-0.5 * distance**2)
    return np.asarray(weight / weight.sum(axis=0))
