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
from twoheads.kernels.inference.grouped_rows import Rows, group_means, kish_count, ratio

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


def believed_shares(
    right: Floats, count: Floats, *, refits: Floats | None = None, shared_sd: float = SHARED_SD
) -> BelievedShares:
    """``logit p ~ Normal(logit v, 1 / (n v (1 - v)) + var(refits) + shared_sd^2)``, v the mean belief.

    The first term is what n answers can show of a share, the second how far it moves when the team is fitted again to
    items drawn anew, the third what no number of answers shows. To v and n go as many of the crowd's answers as
    `STEADY` says: ``v = (sum_i f_i + 2 f) / (n + 2)``.

    right   (n_groups,) sum of the beliefs that an answer is right
    count   (n_groups,) number of answers
    refits  (n_refits, n_groups) mean beliefs of teams fitted to items drawn with replacement
    """
    crowd = ratio(right.sum(), count.sum(), 0.5)
    value = np.clip((right + STEADY * crowd) / (count + STEADY), 1e-6, 1.0 - 1e-6)
    variance = 1.0 / ((count + STEADY) * value * (1.0 - value)) + shared_sd**2
    if refits is not None:
        variance = variance + refit_variance(refits)
    return BelievedShares(logit(value), np.sqrt(variance), 1.0 / np.maximum(count, 1.0))


def believed_interval(
    belief: Floats, rows: Rows, level: float, *, refits: Floats | None = None, shared_sd: float = SHARED_SD
) -> tuple[Floats, Floats]:
    """Intervals of `believed_shares` from beliefs by answer, as many as Kish's number; (n_groups,) each.

    belief  (n_answers,) posterior of the class answered
    """
    count = kish_count(rows)
    return believed_shares(group_means(belief, rows) * count, count, refits=refits, shared_sd=shared_sd).interval(level)


def refit_variance(refits: Floats) -> Floats:
    """Variance of the logit over refits, (n_groups,); refits (n_refits, n_groups), NaN where a person was not drawn."""
    with np.errstate(invalid="ignore"):
        at = logit(np.clip(refits, 0.005, 0.995))
    known = ~np.isnan(at)
    count = known.sum(axis=0)
    mean = ratio(np.where(known, at, 0.0).sum(axis=0), count)
    squared = np.where(known, (at - mean) ** 2, 0.0).sum(axis=0)
    return ratio(squared, count - 1.0)
