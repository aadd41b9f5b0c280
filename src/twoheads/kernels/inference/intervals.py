"""Intervals of shares from effective counts, and what these are."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, stdtrit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.grouped_rows import (
    Rows,
    group_means,
    heavy,
    item_count,
    kish_count,
    mean_variances,
    ratio,
    uneven,
)
from twoheads.kernels.inference.prediction_powered import Means


def jeffreys_interval(right: Floats, count: Floats, level: float) -> tuple[Floats, Floats]:
    """Equal-tailed interval of ``Beta(right + 1/2, count - right + 1/2)``; an end is 0 or 1 where nothing is beyond it.

    right, count  any shape; effective counts need not be whole
    """
    tail = (1.0 - level) / 2.0
    low = betaincinv(right + 0.5, count - right + 0.5, tail)
    high = betaincinv(right + 0.5, count - right + 0.5, 1.0 - tail)
    return np.where(right <= 0, 0.0, low), np.where(right >= count, 1.0, high)


def design_effect(outcome: Floats, rows: Rows) -> Floats:
    """How many times the variance of a share is that of as many independent rows: from 1 to the rows per cluster.

    ``V n / (share (1 - share)) (t_{C-1} / t_{n-1})^2``: V is the sandwich variance of C clusters, which is itself
    uncertain where they are few, n and C are Kish's numbers, and t are Student's quantiles (Korn & Graubard 1998,
    Survey Methodology 24). Where all outcomes are the same it is the upper end. Where weights go with outcomes, it may
    be as many times more as `uneven` says.

    outcome  (n_rows,) 0 or 1
    returns  (n_groups,)
    """
    share, count = group_means(outcome, rows), kish_count(rows)
    variance = mean_variances(outcome, rows)
    clusters = item_count(rows)
    most = np.maximum(ratio(count, clusters, 1.0), 1.0) * uneven(outcome, rows)
    few, many = (stdtrit(np.maximum(each - 1.0, 1.0), 0.975) for each in (np.minimum(clusters, count), count))
    seen = ratio(variance * count, share * (1.0 - share), np.inf) * (few / many) ** 2
    return np.clip(seen * heavy(rows), 1.0, most)


def effective_counts(outcome: Floats, labelled: Rows, means: Means) -> tuple[Floats, Floats]:
    """Right answers, and answers, that would tell as much as the means do; (n_groups,) each.

    ``n / (design effect * share)`` answers, of which the estimated share, cut to [0, 1], is right.

    outcome  (n_labelled,) 0 or 1
    means    of these outcomes
    """
    count = kish_count(labelled) / (design_effect(outcome, labelled) * means.share)
    return np.clip(means.value, 0.0, 1.0) * count, count
