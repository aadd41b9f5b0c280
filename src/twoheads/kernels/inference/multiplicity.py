"""P-values of several tests together, and intervals of what was picked from several."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Floats


def picked_level(level: float, n_choices: int) -> float:
    """The level at which an interval covers whatever is picked from so many at ``level`` (Bonferroni's correction)."""
    return 1.0 - (1.0 - level) / n_choices


def holm(p_values: Floats) -> Floats:
    """Holm's (1979) correction for the number of tests, ``max_{j <= i} min(1, (m - j + 1) p_(j))``, p ascending.

    p_values  (n_tests,); NaN where there is no test, which is not counted
    """
    found = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")[: np.count_nonzero(~np.isnan(p_values))]
    steps = np.minimum(1.0, p_values[order] * np.arange(len(order), 0, -1))
    found[order] = np.maximum.accumulate(steps)
    return found
