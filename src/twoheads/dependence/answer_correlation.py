"""The correlation s of several answers on one item, given its true class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import expit, logit

from twoheads.dependence.evidence import Evidence, KeptEvidence
from twoheads.kernels.dependence.fewer_answers import effective_answers
from twoheads.kernels.dependence.grid import model_alone_weight
from twoheads.kernels.dependence.mode import DependencePrior, Posterior, dependence_mode, start_between
from twoheads.kernels.dependence.witnesses import StrengthRatio
from twoheads.kernels.numerics.quadrature import steady_maximum
from twoheads.kernels.priors import MEAN_ANSWERS_LABELS

#: With fewer labels than this, the correlation of answers on one item is that of its prior.
FEW_LABELS = 5


def answer_correlation(
    labelled: Sequence[Evidence],
    n: float,
    prior: DependencePrior,
    ratio_at: Callable[[float], StrengthRatio],
    n_classes: int,
    *,
    expected: float,
    logit_sd: float,
) -> float:
    """The mode of s, with (tau, r) at theirs; as expected where labels are few or no item has several answers.

    n         weight of the labelled items
    expected  s without labels
    logit_sd  standard deviation of logit s in its prior
    """
    if n < FEW_LABELS or all(evidence.more_answers is None for evidence in labelled):
        return expected
    middle, first = float(logit(expected)), (prior.log_temperature_mean, prior.correlation_mean)
    modes: dict[float, tuple[float, float]] = {}

    def log_posterior(at: float) -> float:
        correlation = float(expit(middle + logit_sd * at))
        kept = KeptEvidence([evidence.discounted(correlation) for evidence in labelled])
        posterior = Posterior(kept.sums, model_alone_weight(n), prior, ratio_at(correlation))
        mode = dependence_mode(posterior, start_between(modes, at) if modes else first, n_classes)
        modes[at] = mode.log_temperature, mode.correlation
        return mode.log_posterior - 0.5 * at**2

    return float(expit(middle + logit_sd * steady_maximum(log_posterior, -4.0, 4.0)))


def mean_effective_answers(labelled: Sequence[Evidence], correlation: float, answers_per_item: float) -> float:
    """Mean over labelled items of the independent answers that the n on an item are worth, n / (1 + (n - 1) s).

    ``answers_per_item`` answers on an item count as ten labels: without labels they are all that is known.
    """
    total, weight = MEAN_ANSWERS_LABELS * float(effective_answers(answers_per_item, correlation)), MEAN_ANSWERS_LABELS
    for evidence in labelled:
        own, more = evidence.item_weight(), evidence.more_answers
        effective = effective_answers(np.ones(len(own)) if more is None else more + 1.0, correlation)
        total, weight = total + float(own @ effective), weight + float(own.sum())
    return total / weight
