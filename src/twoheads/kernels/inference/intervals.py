"""Intervals of shares, means and differences, from effective counts."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, stdtrit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.grouped_rows import (
    Rows,
    clusters_per_group,
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


def clopper_pearson_interval(right: Floats, count: Floats, level: float) -> tuple[Floats, Floats]:
    """The exact interval of a share: it covers at least at its level, at the price of width.

    right, count  any shape; effective counts need not be whole
    """
    tail, wrong = (1.0 - level) / 2.0, count - right
    low = betaincinv(np.maximum(right, 1e-12), wrong + 1.0, tail)
    high = betaincinv(right + 1.0, np.maximum(wrong, 1e-12), 1.0 - tail)
    return np.where(right <= 0, 0.0, low), np.where(wrong <= 0, 1.0, high)


def t_interval(means: Means, level: float) -> tuple[Floats, Floats]:
    """``value -+ t sqrt(variance)`` with the means' own degrees of freedom; infinite with none."""
    quantile = stdtrit(np.maximum(means.freedom, 1e-9), (1.0 + level) / 2.0)
    half = np.where(means.freedom > 0, quantile * np.sqrt(means.variance), np.inf)
    return means.value - half, means.value + half


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


def difference_interval(difference: Floats, rows: Rows, means: Means, level: float) -> tuple[Floats, Floats]:
    """Interval of a mean of paired differences, each -1, 0 or 1: one item is added to either side.

    With n effective items, c of which differ and d their mean, ``d' = n d / (n + 2)``, ``c' = (c + 2) / (n + 2)`` and
    the interval is ``d' -+ t sqrt((c' - d'^2) / (n + 2))``: that of Bonett & Price (2012), on effective counts.

    difference  (n_labelled,)
    means       of these differences
    """
    differ, plain = group_means(np.abs(difference), rows), group_means(difference, rows)
    variance = mean_variances(difference, rows)
    clusters = clusters_per_group(rows)
    alone = np.clip(ratio(differ - plain**2, variance, np.inf), clusters, None)
    count = np.minimum(alone, kish_count(rows)) / means.share
    middle = count * np.clip(means.value, -1.0, 1.0) / (count + 2.0)
    spread = np.sqrt(np.maximum((count * differ + 2.0) / (count + 2.0) - middle**2, 0.0) / (count + 2.0))
    half = stdtrit(np.maximum(means.freedom, 1.0), (1.0 + level) / 2.0) * spread
    return np.maximum(middle - half, -1.0), np.minimum(middle + half, 1.0)
