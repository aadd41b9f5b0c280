"""Spearman's rank correlation of a table of counts, with an interval."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from twoheads.kernels.arrays import Floats

#: Variance of Fisher's z of a rank correlation, times n - 3 (Fieller, Hartley & Pearson 1957).
_VARIANCE = 1.06


def rank_correlation(counts: Floats, n: float, level: float) -> tuple[float, float, float]:
    """Spearman's correlation of rows and columns, both in order, and its interval; NaN where either does not vary.

    Ties have the mean of their ranks. The interval is that of Fisher's z, with the standard error sqrt(1.06 / (n - 3));
    with four observations or fewer it is [-1, 1].

    counts  (n_rows, n_columns) of any weight
    n       number of observations
    """
    total = counts.sum()
    if not total > 0:
        return np.nan, np.nan, np.nan
    share = counts / total
    rows, columns = (_middle_ranks(share.sum(axis=axis)) for axis in (1, 0))
    spread = [np.sqrt(share.sum(axis=axis) @ ranks**2) for axis, ranks in ((1, rows), (0, columns))]
    if min(spread) < 1e-9:
        return np.nan, np.nan, np.nan
    estimate = float(np.clip(rows @ share @ columns / (spread[0] * spread[1]), -1.0, 1.0))
    if n <= 4:
        return estimate, -1.0, 1.0
    reach = float(norm.isf((1.0 - level) / 2.0)) * np.sqrt(_VARIANCE / (n - 3.0))
    middle = np.arctanh(np.clip(estimate, -1.0 + 1e-12, 1.0 - 1e-12))
    return estimate, float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def _middle_ranks(share: Floats) -> Floats:
    """Ranks from 0 to 1 less their mean, of categories in order with these shares."""
    return np.asarray(share.cumsum() - 0.5 * share - 0.5)
