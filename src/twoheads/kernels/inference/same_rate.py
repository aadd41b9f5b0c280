"""Whether an event is as frequent in some groups as in others."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from twoheads.kernels.arrays import Floats

#: Tables drawn with the margins of the one at hand; with more trials than the second, the limit is as good.
_DRAWS, _MANY = 2000, 10_000_000


def same_rate_p_value(event: Floats, trials: Floats) -> float:
    """P-value of the events of groups, if each trial were as likely to be one, whatever its group.

    Pearson's ``sum_j (e_j - E_j)^2 / E_j`` with ``E_j = n t_j / N``, beside 2,000 tables with the same t and the same
    number n of events: by how often theirs is as large or larger. 1 without any event, or where all trials are events.

    The order of the groups does not matter.

    event, trials  (n_groups,) numbers, rounded where weights make them none
    """
    events, tried = (np.rint(each).astype(np.int64) for each in (event, trials))
    here = tried > 0
    events, tried = np.minimum(events, tried)[here], tried[here]
    order = np.lexsort((events, tried))
    events, tried = events[order], tried[order]
    n, total = int(events.sum()), int(tried.sum())
    if len(tried) < 2 or n in (0, total):
        return 1.0
    expected = n * (tried / total)
    observed = float(((events - expected) ** 2 / expected).sum())
    if total > _MANY:
        return float(chi2.sf(observed / (1.0 - n / total), len(tried) - 1))
    drawn = np.random.default_rng(0).multivariate_hypergeometric(tried, n, size=_DRAWS, method="marginals")
    by_chance = ((drawn - expected) ** 2 / expected).sum(axis=1)
    return float((1 + np.count_nonzero(by_chance >= observed - 1e-9)) / (1 + _DRAWS))
