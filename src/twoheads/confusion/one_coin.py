"""A confusion matrix of one parameter: the person's accuracy."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from twoheads.confusion.base import Confusion
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.matrices import one_coin
from twoheads.storage.artifact import register


@register
class OneCoinConfusion(Confusion):
    r"""One accuracy for all classes: a on the diagonal, (1 - a) / (K - 1) off it.

    .. math:: a = (\#\{h = y\} + A) / (n + A + B)

    with pseudo-counts A = ``prior_strength * prior_accuracy`` of right answers and B of wrong ones; one more of each
    for the posterior's mean, none for maximum likelihood. `ProbabilityLabelCombiner` with this confusion is the
    paper's SP.

    Parameters
    ----------
    prior_accuracy : float
        Mode of the prior of the accuracy, between 0 and 1.
    prior_strength : float
        Number of answers that the prior counts as.
    estimate : {"mode", "mean", "likelihood"}
        The posterior's mode or mean, or the most likely accuracy without a prior.

    Examples
    --------
    >>> X = [[0, 0.5, 0.5], [1, 0.5, 0.5], [0, 0.5, 0.5]]
    >>> OneCoinConfusion(prior_strength=0).fit(X, [0, 1, 1]).accuracy_.round(3)
    array([0.667])
    """

    def __init__(self, *, prior_accuracy: float = 0.75, prior_strength: float = 4.0, estimate: str = "mode") -> None:
        self.prior_accuracy = prior_accuracy
        self.prior_strength = prior_strength
        self.estimate = estimate

    def _pseudo_counts(self) -> tuple[float, float]:
        if not 0 < self.prior_accuracy < 1:
            raise InvalidParameter(f"prior_accuracy must be between 0 and 1; it is {self.prior_accuracy!r}.")
        if not self.prior_strength >= 0:
            raise InvalidParameter(f"prior_strength must not be negative; it is {self.prior_strength!r}.")
        if self.estimate not in ("mode", "mean", "likelihood"):
            raise InvalidParameter(f"estimate must be 'mode', 'mean' or 'likelihood'; it is {self.estimate!r}.")
        if self.estimate == "likelihood":
            return 0.0, 0.0
        extra = 1.0 if self.estimate == "mean" else 0.0
        return self.prior_strength * self.prior_accuracy + extra, self.prior_strength * (
            1 - self.prior_accuracy
        ) + extra

    def given_true(self, counts: Floats) -> Floats:
        """The one-coin matrix of the estimated accuracy, for each person."""
        right, wrong = self._pseudo_counts()
        people = counts.reshape(-1, *counts.shape[-2:])
        right_answers = np.trace(people, axis1=1, axis2=2) + right
        answers = people.sum(axis=(1, 2)) + right + wrong
        accuracy = np.divide(
            right_answers, answers, out=np.full_like(right_answers, self.prior_accuracy), where=answers > 0
        )
        return np.stack([one_coin(a, counts.shape[-1]) for a in accuracy]).reshape(counts.shape)

    @property
    def accuracy_(self) -> Floats:
        """The accuracy of each person, (n_annotators,)."""
        return np.atleast_1d(self.human_given_true_[..., 0, 0])

    def accuracy_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Credible interval of the accuracy of all people together, the same for every class: that of a Beta."""
        right, wrong = self._pseudo_counts()
        extra = 0.0 if self.estimate == "mean" else 1.0
        counts = self.counts_.sum(axis=0)
        hits = float(np.trace(counts))
        low, high = beta.interval(level, hits + right + extra, counts.sum() - hits + wrong + extra)
        return np.full(counts.shape[1], low), np.full(counts.shape[1], high)

    def log_prior(self) -> float:
        """Log-density of the accuracies, up to a constant."""
        right, wrong = self._pseudo_counts()
        with np.errstate(divide="ignore", invalid="ignore"):
            density = np.nan_to_num(right * np.log(self.accuracy_), nan=0.0, neginf=-np.inf)
            density += np.nan_to_num(wrong * np.log1p(-self.accuracy_), nan=0.0, neginf=-np.inf)
        return float(density.sum())
