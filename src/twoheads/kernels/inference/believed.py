"""People's accuracies without any truth: what the team believes of them, and how far that may be off.

Without truth nobody can see that people err together, or that an item is hard for all of them: the whole crowd may be
better or worse than its agreement makes it look. On sets with known truth the logit of a person's mean belief was off
by about a half, whatever the number of answers; that goes into every interval.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, ndtri

from twoheads.kernels.arrays import Floats
from twoheads.kernels.inference.grouped_rows import Rows, group_sums, kish_count, ratio

#: Standard deviation of what agreement cannot show (shared difficulty, shared habits), on the logit scale.
SHARED_SD = 0.5
#: As many answers' worth of the crowd's mean belief goes into each person's.
STEADY = 2.0


def believed_means(belief: Floats, rows: Rows) -> Floats:
    """Mean belief that a person's answers are right, steadied by the crowd's mean; (n_groups,).

    ``(sum_i f_i + 2 f) / (n + 2)``.

    belief  (n_answers,) posterior of the class answered
    """
    total, count = group_sums(belief, rows), group_sums(np.ones(len(belief)), rows)
    crowd = ratio(total.sum(), count.sum(), 0.5)
    return np.clip((total + STEADY * crowd) / (count + STEADY), 1e-6, 1.0 - 1e-6)


def believed_interval(
    belief: Floats, rows: Rows, level: float, *, refits: Floats | None = None, shared_sd: float = SHARED_SD
) -> tuple[Floats, Floats]:
    """``expit(logit v -+ z sqrt(1 / (n v (1 - v)) + var(refits) + shared_sd^2))``, v the mean belief; (n_groups,) each.

    The first term is what n answers can show of a share, the second how far it moves when the team is fitted again to
    items drawn anew, the third what no number of answers shows. An end less than half an answer from 0 or 1 is 0 or 1.

    refits  (n_refits, n_groups) mean beliefs of teams fitted to items drawn with replacement
    """
    value, answers = believed_means(belief, rows), kish_count(rows)
    variance = 1.0 / ((answers + STEADY) * value * (1.0 - value)) + shared_sd**2
    if refits is not None:
        variance = variance + refit_variance(refits)
    half = float(ndtri((1.0 + level) / 2.0)) * np.sqrt(variance)
    low, high, edge = expit(logit(value) - half), expit(logit(value) + half), 0.5 / np.maximum(answers, 1.0)
    return np.where(low < edge, 0.0, low), np.where(high > 1.0 - edge, 1.0, high)


def refit_variance(refits: Floats) -> Floats:
    """Variance of the logit over refits, (n_groups,); refits (n_refits, n_groups), NaN where a person was not drawn."""
    with np.errstate(invalid="ignore"):
        at = logit(np.clip(refits, 0.005, 0.995))
    known = ~np.isnan(at)
    count = known.sum(axis=0)
    mean = ratio(np.where(known, at, 0.0).sum(axis=0), count)
    squared = np.where(known, (at - mean) ** 2, 0.0).sum(axis=0)
    return ratio(squared, count - 1.0)
