"""Scores as levels: where to cut them, and the likelihood of each level given the true class.

A score is any number that rises with the class, of two classes or of more in their order. Only its rank matters: it is
cut into at most ten levels, and the first of these that mean the second class, the third and so on split the levels
into sides, one per class, the member's answer. Then ``P(level l | j) = phi_(side of l, j) w_lj``: phi is the member's
matrix, as of anyone who answers, and w the share of the level among those of its side. With fewer levels than classes
some sides have no level: these classes are never the answer.

Scores that fall as the class rises are the same scores: all here is mirrored where they are reversed.
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
#: Weight of the member's own distribution of levels, which is the same for all classes.
MARGINAL_WEIGHT = 8.0
#: Members agree where they err together, too: without truth, levels count as those of so many labels.
SOFT_WEIGHT = 30.0


@dataclass(frozen=True, eq=False)
class ScoreCuts:
    """Where one member's scores are cut.

    bounds  lower bounds of all levels but the first
    cuts    (n_classes - 1,) the first level whose answer is the second class, the third and so on; it rises
    silent  (2,) scores from the first of these up to, not at, the second are on no side; (0, 0) where all are on one
    """

    bounds: Floats
    cuts: Codes
    silent: Floats


def score_cuts(scores: Floats, ranks: Callable[[], Floats], shares: Floats, weight: Floats | None = None) -> ScoreCuts:
    """Cut scores into levels, and these into sides.

    Few distinct values are a level each, else cuts are where they are nearest to tenths. Sides are cut where the share
    of scores below is nearest to the share of the classes below, with a level for each side if there are enough; of two
    cuts that are as near, that towards the middle. In the middle itself the shares decide, then ``ranks`` of the scores
    between the two. If that does not decide either, what is in the middle says nothing, unless it is of the middle
    class.

    scores  (n_scores,)
    ranks   what gives the rank of the class by what is known about each item, from 0 to 1, (n_scores,), NaN where
            nothing is: it takes long, and is seldom needed
    shares  (n_classes,) of the classes among items
    weight  (n_scores,) of the scores' items; None for 1
    """
    values, mass = _masses(scores, weight)
    n_classes = len(shares)
    if len(values) < 2:
        return ScoreCuts(np.empty(0), np.ones(n_classes - 1, dtype=np.intp), np.zeros(2))
    below = np.round(mass.cumsum()[:-1] / mass.sum(), 9)  # share of the scores up to each value but the last
    tenths = np.arange(1, N_LEVELS) / N_LEVELS
    middle, few = _nearest(below, 0.5), len(values) <= N_LEVELS
    lean = float(np.round(_upper_half(shares) - 0.5, 9))
    if not lean and len(middle) > 1:
        lean = _lean(ranks(), scores == values[middle[-1]], weight)
    if few:
        gaps = np.arange(len(below))
    else:  # of two that are as near, the one nearer to the middle
        upward = (tenths < 0.5) | ((tenths == 0.5) & (lean < 0))
        gaps = np.unique([_nearest(below, tenth)[-up] for tenth, up in zip(tenths, upward.astype(int), strict=True)])
    silent = bool(not lean and (len(middle) > 1 or below[middle[0]] == 0.5))
    if silent and n_classes % 2 == 0:
        gaps = np.union1d(np.setdiff1d(gaps, middle), middle[-1])
    elif silent:  # the middle class has what is in the middle, which must not lean to a side
        gaps = gaps if few else _with_or_without(gaps, middle)
        silent = bool(len(middle) == 1 and middle[0] in gaps)
    halved = np.where(gaps == middle[-1], 0.5, below[gaps]) if silent else below[gaps]
    cuts = _sides(halved, shares, lean)
    # What is new between two values goes towards the middle.
    rises = (below[gaps] < 0.5) | ((below[gaps] == 0.5) & (lean > 0))
    bounds = np.where(rises, np.nextafter(values[gaps], np.inf), values[gaps + 1])
    ends = np.array([np.nextafter(values[middle[0]], np.inf), values[middle[-1] + 1]])
    return ScoreCuts(bounds, cuts, ends if silent else np.zeros(2))


def _sides(below: Floats, shares: Floats, lean: float) -> Codes:
    """The first level of each side but the lowest, (n_classes - 1,).

    below  (n_levels - 1,) share of the scores below each level but the first
    """
    n_classes, found = len(shares), []
    target = 1.0 - shares[::-1].cumsum()[::-1][1:]
    for at, share in enumerate(target.tolist(), start=1):
        near = _nearest(below, share)
        lower = 2 * at > n_classes or (2 * at == n_classes and lean > 0)
        found.append(int(near[0 if lower else -1]) + 1)
    cuts = np.sort(np.array(found, dtype=np.intp))
    spare = len(below) + 1 - n_classes  # levels beyond one per class
    return cuts if spare < 0 or n_classes == 2 else _apart(cuts, spare, below, target, lean)


def _apart(cuts: Codes, spare: int, below: Floats, target: Floats, lean: float) -> Codes:
    """The cuts with a level at least between each two, moved away from the middle: no class is without one."""
    first = np.arange(1, len(cuts) + 1)
    cuts = np.clip(cuts, first, first + spare)
    low, high = (len(cuts) - 1) // 2, len(cuts) // 2  # the two in the middle; one and the same of an odd number
    if low < high and cuts[low] == cuts[high]:
        at = int(cuts[low])
        down = abs(below[at - 2] - target[low]) - abs(below[at - 1] - target[low])
        up = abs(below[at] - target[high]) - abs(below[at - 1] - target[high])
        gain = float(np.round(up - down, 9)) or lean
        if gain:  # else nothing decides, and the middle class keeps no level
            cuts[low], cuts[high] = (at - 1, at) if gain > 0 else (at, at + 1)
    for each in range(high + 1, len(cuts)):
        cuts[each] = max(cuts[each], cuts[each - 1] + 1)
    for each in range(low - 1, -1, -1):
        cuts[each] = min(cuts[each], cuts[each + 1] - 1)
    return cuts


def _upper_half(shares: Floats) -> float:
    """The share of the upper half of the classes, with half of the middle class."""
    half = len(shares) // 2
    upper = shares[len(shares) - half :].sum()
    return float(upper + 0.5 * shares[half] if len(shares) % 2 else upper)


def _with_or_without(gaps: Codes, middle: Codes) -> Codes:
    """The gaps with all of those in the middle, or with none where these would be too many."""
    both = np.union1d(gaps, middle)
    return both if len(both) < N_LEVELS else np.setdiff1d(gaps, middle)


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


def _lean(ranks: Floats, here: Codes, weight: Floats | None) -> float:
    """Above 0 where what is known about the items here is rather the greater classes, below 0 where the smaller."""
    known = here & ~np.isnan(ranks)
    share = ranks[known] - 0.5
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


def sides_of(level: Codes, cuts: Codes) -> Codes:
    """The side of each level, from 0: how many cuts are at the level or below.

    level  (n,)
    cuts   (n_classes - 1,) of one member, or (n_classes - 1, n) of each level's own
    """
    return np.asarray((cuts.reshape(len(cuts), -1) <= level).sum(axis=0), dtype=np.intp)


def middle_cut(cuts: Codes) -> Floats:
    """The cut in the middle, or halfway between the two that bound the middle class.

    cuts  (n_classes - 1,) of one member, or (n_classes - 1, n_members)
    """
    return np.asarray(0.5 * (cuts[(len(cuts) - 1) // 2] + cuts[len(cuts) // 2]))


def from_the_cut(level: Codes, middle: Floats | float) -> Floats:
    """Levels counted from the `middle_cut`: .5, 1.5 and so on above it, -.5 and so on below; negative in the mirror."""
    return np.asarray(level - (np.asarray(middle) - 0.5))


def level_at(steps: Floats, middle: Floats | float) -> Codes:
    """`from_the_cut`, undone."""
    return (steps + (np.asarray(middle) - 0.5)).astype(np.intp)


def level_shares(counts: Floats, sizes: Codes, cuts: Codes) -> Floats:
    """w, the probability of each level given its side and the truth, (n_members, n_levels, n_classes).

    ``P_lj = (C_lj + s Q_lj) / (C_j + s)`` and w is P over its sum on the level's side. Q shares strength between levels
    and classes: counts smoothed over neighbouring levels by a Gaussian kernel of one level, shrunk with weight 8 to
    their distribution over all classes. s, the same for all members, has most evidence, ``log s ~ Normal(log 100,
    1.5^2)``. Without counts a level carries no information beyond its side.

    counts  (n_members, n_levels, n_classes) how often a member's score was at level l where j is true
    sizes   (n_members,) how many of the levels each member has
    cuts    (n_classes - 1, n_members) the first level of each side but the lowest
    """
    mean = np.stack([_smoothed(each, n) for each, n in zip(counts, sizes, strict=True)])
    strength = dirichlet_strength(counts, mean, LEVELS_STRENGTH)
    given = counts + strength * mean
    side = (np.arange(counts.shape[1]) >= cuts[:, :, None]).sum(axis=0)[:, :, None]
    of_side = np.zeros_like(given)
    for at in range(len(cuts) + 1):
        total = np.where(side == at, given, 0.0).sum(axis=1, keepdims=True)
        of_side = np.where(side == at, total, of_side)
    there = np.arange(counts.shape[1])[:, None] < np.asarray(sizes)[:, None, None]
    shares: Floats = np.divide(given, of_side, out=np.ones_like(given), where=there)
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
