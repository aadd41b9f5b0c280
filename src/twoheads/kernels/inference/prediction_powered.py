"""Prediction-powered inference: means of what is labelled, narrowed by beliefs about what is not.

The beliefs may be wrong in any way: the mean of their errors on the labelled rows is taken off again. They must come
from a model that has not used the labels of the rows they are about (out of fold), and the labelled items must be a
random part of all.

Angelopoulos, Duchi & Zrnic, *PPI++: Efficient Prediction-Powered Inference*, 2023.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.grouped_rows import (
    Rows,
    cluster_count,
    clusters_per_group,
    group_means,
    influence,
    mean_variances,
    ratio,
    sandwich,
)


class Means(NamedTuple):
    """Estimated means, (n_groups,) each.

    value     the estimate; not forced into the range of the outcomes
    variance  its variance
    share     its variance over that of the labelled rows alone: at most 1
    tuning    lambda, how far the beliefs are used: 0 not at all, 1 in full
    """

    value: Floats
    variance: Floats
    share: Floats
    tuning: Floats


class Moments(NamedTuple):
    """Variances and covariances of one cluster's part of the means, (n_groups,) each.

    outcome, both, belief  of the labelled rows
    elsewhere              of the beliefs about unlabelled rows
    """

    outcome: Floats
    both: Floats
    belief: Floats
    elsewhere: Floats


def powered_means(outcome: Floats, belief: Floats, labelled: Rows, belief_elsewhere: Floats, unlabelled: Rows) -> Means:
    """Means by group, ``mean(y) + lambda (mean(f) without labels - mean(f) with)``.

    ``lambda = Cov(y, f) / (Var(f) with + Var(f) without)`` of the means, clipped to [0, 1]; with one row per cluster
    and as much spread in both parts it is ``cov(y, f) / ((1 + n/N) var(f))``. Where the variance would not be smaller
    than that of the labelled rows alone, lambda is 0.

    outcome, belief   (n_labelled,)
    belief_elsewhere  (n_unlabelled,)
    """
    moments = unit_moments(outcome, belief, labelled, belief_elsewhere, unlabelled)
    here, there = cluster_count(labelled), cluster_count(unlabelled)
    tuning, share = tuned(moments, here, there, clusters_per_group(labelled))
    value = group_means(outcome, labelled)
    value = value + tuning * (group_means(belief_elsewhere, unlabelled) - group_means(belief, labelled))
    return Means(value, share * mean_variances(outcome, labelled), share, tuning)


def unit_moments(
    outcome: Floats, belief: Floats, labelled: Rows, belief_elsewhere: Floats, unlabelled: Rows
) -> Moments:
    """Sandwich covariances of the means times the effective number of clusters; arguments as in `powered_means`.

    The labelled items are a random part of all, so beliefs spread alike with and without labels: a few unlabelled
    clusters, of which one shows no spread at all, borrow that of the labelled ones, by their degrees of freedom.
    """
    y, f, g = influence(outcome, labelled), influence(belief, labelled), influence(belief_elsewhere, unlabelled)
    here, there = cluster_count(labelled), cluster_count(unlabelled)
    yy, yf, ff = (here * sandwich(one, other, labelled) for one, other in ((y, y), (y, f), (f, f)))
    with_label, without = (np.maximum(clusters_per_group(rows) - 1.0, 0.0) for rows in (labelled, unlabelled))
    elsewhere = without * there * sandwich(g, g, unlabelled) + with_label * ff
    return Moments(yy, yf, ff, ratio(elsewhere, without + with_label))


def pooled(moments: Moments, labelled: Rows, unlabelled: Rows, pooling: float) -> Moments:
    """Each group's moments mixed with the average over groups, ``((C - 1) M_g + pooling M) / (C - 1 + pooling)``.

    Groups with few rows cannot tell their own lambda.
    """
    freedom = [np.maximum(clusters_per_group(rows) - 1.0, 0.0) for rows in (labelled, unlabelled)]
    mixed = []
    for own, count in zip(moments, (freedom[0], freedom[0], freedom[0], freedom[1]), strict=True):
        average = float(count @ own) / max(float(count.sum()), 1.0)
        mixed.append((count * own + pooling * average) / (count + pooling))
    return Moments(*mixed)


def tuned(moments: Moments, here: Floats, there: Floats, clusters: Floats) -> tuple[Floats, Floats]:
    """Lambda, and the variance that it leaves over that of the labelled rows alone; (n_groups,) each.

    ``V(lambda) / V(0)`` with ``V = (M_yy - 2 lambda M_yf + lambda^2 M_ff) / n (C - 1)/(C - 2) + lambda^2 M_gg / N``:
    one degree of freedom goes to lambda.

    here, there  (n_groups,) effective numbers of clusters with and without labels
    clusters     (n_groups,) how many clusters the moments rest on
    """
    outcome, both, belief, elsewhere = moments
    fraction = ratio(here, there)
    tuning = np.clip(ratio(both, belief + fraction * elsewhere), 0.0, 1.0) * (there > 0)
    lost = ratio(clusters - 1.0, clusters - 2.0, np.inf)
    left = np.maximum(outcome - 2.0 * tuning * both + tuning**2 * belief, 0.0)
    with np.errstate(invalid="ignore"):
        share = ratio(left * lost + tuning**2 * fraction * elsewhere, outcome, np.inf)
    better = share < 1.0
    return np.where(better, tuning, 0.0), np.where(better, share, 1.0)
