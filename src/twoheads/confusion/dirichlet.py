"""A full confusion matrix with a Dirichlet prior on each column."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta
from sklearn.utils.validation import check_is_fitted

from twoheads.confusion.base import Confusion, Rows, rows_of
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.confusion.matrices import column_log_density, normalise_columns
from twoheads.storage.artifact import register


@register
class DirichletConfusion(Confusion):
    r"""Columns :math:`\varphi_{\cdot j}` with a Dirichlet prior: concentration gamma on the diagonal, beta off it.

    The prior's mode has ``prior_accuracy`` on the diagonal, and it weighs as much as its pseudo-counts

    .. math:: \beta - 1 = 0.1\,s, \qquad \gamma - 1 = 0.1\,s\,(K - 1)\,a / (1 - a)

    with a the accuracy and s the strength. The estimate is :math:`(C_{ij} + A_{ij}) / \sum_i (C_{ij} + A_{ij})`, A
    being the pseudo-counts for the posterior's mode, 1 more for its mean, and 0 for maximum likelihood.

    Parameters
    ----------
    prior_accuracy : float
        The diagonal of the prior's mode, between 0 and 1.
    prior_strength : float
        Strength of the prior.
    estimate : {"mode", "mean", "likelihood"}
        The posterior's mode or mean, or the most likely matrix without a prior.

    References
    ----------
    Kerrigan, Smyth & Steyvers, NeurIPS 2021, section 4.

    Examples
    --------
    >>> X = [[0, 0.5, 0.5], [0, 0.5, 0.5], [1, 0.5, 0.5]]
    >>> DirichletConfusion(estimate="likelihood").fit(X, [0, 1, 1]).human_given_true_.tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """

    def __init__(self, *, prior_accuracy: float = 0.75, prior_strength: float = 1.0, estimate: str = "mode") -> None:
        self.prior_accuracy = prior_accuracy
        self.prior_strength = prior_strength
        self.estimate = estimate

    def pseudo_counts(self, n_answers: int, n_classes: int) -> Floats:
        """What the prior adds to the counts, (n_answers, n_classes)."""
        if not 0 < self.prior_accuracy < 1:
            raise InvalidParameter(f"prior_accuracy must be between 0 and 1; it is {self.prior_accuracy!r}.")
        if not self.prior_strength >= 0:
            raise InvalidParameter(f"prior_strength must not be negative; it is {self.prior_strength!r}.")
        if self.estimate not in ("mode", "mean", "likelihood"):
            raise InvalidParameter(f"estimate must be 'mode', 'mean' or 'likelihood'; it is {self.estimate!r}.")
        if self.estimate == "likelihood":
            return np.zeros((n_answers, n_classes))
        off_diagonal = 0.1 * self.prior_strength
        counts = np.full((n_answers, n_classes), off_diagonal)
        np.fill_diagonal(counts, off_diagonal * (n_classes - 1) * self.prior_accuracy / (1 - self.prior_accuracy))
        return counts + (1.0 if self.estimate == "mean" else 0.0)

    def given_true(self, counts: Floats) -> Floats:
        """The estimate from counts, (..., n_answers, n_classes)."""
        return normalise_columns(counts + self.pseudo_counts(*counts.shape[-2:]))

    def start(self, n_annotators: int, n_classes: int) -> DirichletConfusion:
        """Set the matrices to the prior's mode, even if the estimate uses no prior: EM needs a starting point."""
        shape = DirichletConfusion(prior_accuracy=self.prior_accuracy).pseudo_counts(n_classes, n_classes)
        self.crowd_given_true_ = normalise_columns(shape)
        people = np.repeat(self.crowd_given_true_[None], n_annotators, axis=0)
        self.human_given_true_ = self.crowd_given_true_ if n_annotators == 1 else people
        self.counts_ = np.zeros_like(people)
        return self

    def leave_one_out_rows(
        self, column: Codes, truth: Codes, weight: Floats, fold_counts: Floats | None = None
    ) -> Rows:
        """Rows of the matrices, each without one answer in its own cell and column."""
        n_answers, n_classes = self.counts_.shape[1:]
        pseudo = self.pseudo_counts(n_answers, n_classes)
        cell = self.counts_.reshape(-1, n_classes)[column, truth]
        removed = np.minimum(weight, cell)
        own = cell - removed + pseudo[column % n_answers, truth]
        rest = (self.counts_ + pseudo).sum(axis=1)[column // n_answers, truth] - removed
        known = np.take(np.ascontiguousarray(self.people().reshape(-1, n_classes).T), column, axis=1)
        at_truth = np.divide(own, rest, out=np.full_like(own, 1.0 / n_answers), where=rest > 0)
        known[truth, np.arange(len(column))] = at_truth
        return rows_of(known)

    def accuracy_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Credible interval of ``P(the right answer | truth j)`` for each class j: that of a Beta.

        Its parameters are counts and pseudo-counts, right and wrong, so that the estimate is its mean. The mode of a
        Dirichlet is the mean of the one with 1 less in each cell (MacKay 1998); with many classes, their sum would
        put the interval far below the mode.
        """
        if self.estimate == "likelihood":
            return super().accuracy_interval(level)
        check_is_fitted(self, "counts_")
        counts = self.counts_.sum(axis=0)
        known = counts + self.pseudo_counts(*counts.shape)
        right = np.diagonal(known)
        low, high = beta.interval(level, right, known.sum(axis=0) - right)
        return np.asarray(low), np.asarray(high)

    def log_prior(self) -> float:
        """Log-density of the people's matrices, up to a constant."""
        return column_log_density(self.human_given_true_, self.pseudo_counts(*self.human_given_true_.shape[-2:]))
