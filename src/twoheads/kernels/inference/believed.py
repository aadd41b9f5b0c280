"""People's accuracies without any truth: what the team believes of them, and how far that may be off.

Without truth nobody can see that people err together, or that an item is hard for all of them: the whole crowd may be
better or worse than its agreement makes it look. On sets with known truth the logit of a person's mean belief was off
by about a half, whatever the number of answers; that goes into every interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.grouped_rows import ratio

#: Standard deviation of what agreement cannot show (shared difficulty, shared habits), on the logit scale.
SHARED_SD = 0.5
#: As many answers' worth of the crowd's mean belief goes into each person's.
STEADY = 2.0


class BelievedShares(NamedTuple):
    """Each group's share as Normal on the logit scale, in steps of one answer.

    logit_mean, sd, step  (n_groups,)
    """

    logit_mean: Floats
    sd: Floats
    step: Floats

    @property
    def mean(self) -> Floats:
        """The share at the middle of the distribution, (n_groups,)."""
        return np.asarray(expit(self.logit_mean))

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Equal-tailed intervals, (n_groups,) each; an end less than half an answer from 0 or 1 is 0 or 1."""
        half, edge = float(ndtri((1.0 + level) / 2.0)) * self.sd, self.step / 2.0
        low, high = expit(self.logit_mean - half), expit(self.logit_mean + half)
        return np.where(low < edge, 0.0, low), np.where(high > 1.0 - edge, 1.0, high)


def believed_shares(right: Floats, count: Floats) -> BelievedShares:
    """``logit p ~ Normal(logit v, 1 / (n v (1 - v)) + SHARED_SD^2)``, v the mean belief.

    The first term is what n answers can show of a share, the second what no number of answers shows. v and n include
    as many of the crowd's answers as `STEADY` says: ``v = (sum_i f_i + 2 f) / (n + 2)``.

    right  (n_groups,) sum of the beliefs that an answer is right
    count  (n_groups,) number of answers
    """
    crowd = ratio(right.sum(), count.sum(), 0.5)
    value = np.clip((right + STEADY * crowd) / (count + STEADY), 1e-6, 1.0 - 1e-6)
    variance = 1.0 / ((count + STEADY) * value * (1.0 - value)) + SHARED_SD**2
    return BelievedShares(logit(value), np.sqrt(variance), 1.0 / np.maximum(count, 1.0))
