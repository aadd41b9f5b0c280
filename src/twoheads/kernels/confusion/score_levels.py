"""Scores as levels: where to cut them, and the likelihood of each level given the true class of two.

A score is any number that rises with the chance of the second class. Only its rank matters: it is cut into at most ten
levels, and the first of these that means the second class splits the levels into two sides, the member's answer. Then
``P(level l | j) = phi_(side of l, j) w_lj``: phi is the member's matrix, as of anyone who answers, and w the share of
the level among those of its side.
"""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.confusion.response import dirichlet_strength
from twoheads.kernels.numerics.quantiles import higher_quantiles

N_LEVELS = 10
#: Weight of the member's own distribution of levels, which is the same for both classes.
MARGINAL_WEIGHT = 8.0
#: Members agree where they err together, too: without truth, levels count as those of so many labels.
SOFT_WEIGHT = 30.0


def score_bounds(scores: Floats, weight: Floats | None = None) -> Floats:
    """Lower bounds of all levels but the first: of few distinct values each is a level, else tenths, ties merged.

    weight  (n_scores,) of the scores' items; None for 1
    """
    values = np.unique(scores)
    if len(values) <= N_LEVELS:
        return values[1:]
    tenths = np.unique(higher_quantiles(scores, np.arange(1, N_LEVELS) / N_LEVELS, weight))
    return np.asarray(tenths[tenths > values[0]])


def score_levels(scores: Floats, bounds: Floats) -> Codes:
    """The level of each score, from 0."""
    return np.asarray(np.searchsorted(bounds, scores, side="right"))


def first_upper_level(scores: Floats, bounds: Floats, share: float, weight: Floats | None = None) -> int:
    """The first level that means the second class: as many scores are there as that class has items, or nearly.

    share   of the second class among items
    weight  (n_scores,) of the scores' items; None for 1
    """
    if not len(bounds):
        return 1
    counts = np.bincount(score_levels(scores, bounds), weight, len(bounds) + 1)
    above = counts[::-1].cumsum()[::-1] / counts.sum()  # share of the scores at this level or above
    return int(1 + np.abs(above[1:] - share).argmin())


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
    strength = dirichlet_strength(counts, mean, np.log(100.0))
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
