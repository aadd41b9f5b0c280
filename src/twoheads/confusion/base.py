"""Base class of confusion estimates: probabilities of answers given the truth, learnt from counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from twoheads.kernels.answers import hard_counts
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.confusion.hierarchical import ACCURACY
from twoheads.kernels.confusion.matrices import log_table
from twoheads.kernels.confusion.shapes import model_overlap
from twoheads.kernels.inference.intervals import jeffreys_interval
from twoheads.kernels.numerics.quadrature import normalised_weights
from twoheads.kernels.priors import ACCURACY_RIGHT, ACCURACY_WRONG
from twoheads.observations import OBSERVATIONS_TERMS, as_observations, as_truth, as_weight
from twoheads.tables.scanned import read_labelled

#: Rows ``P(answer | each class)``, (n_classes, n), of numbered points (n,) and their folds.
Rows = Callable[[Codes, Codes | None], Floats]


class Confusion(BaseEstimator, ABC):
    """Probabilities of a person's answers given the truth.

    A new one implements `given_true`: conditional probabilities from counts. It needs only counts, so the same code
    works with known truth, inside EM (where counts are soft), and as answers arrive.
    `twoheads.testing.check_confusion` tests the whole contract.

    Attributes
    ----------
    human_given_true_ : ndarray of shape (n_answers, n_classes) or (n_annotators, n_answers, n_classes)
        ``human_given_true_[i, j]`` is P(answer i | truth j); columns sum to 1. With several people each has a matrix.
    crowd_given_true_ : ndarray of shape (n_answers, n_classes)
        The same from all people's answers together: used for people not known at fit.
    counts_ : ndarray of shape (n_annotators, n_answers, n_classes)
        Number of times each answer was given under each true class.
    """

    human_given_true_: Floats
    crowd_given_true_: Floats
    counts_: Floats

    @abstractmethod
    def given_true(self, counts: Floats) -> Floats:
        """Conditional probabilities from counts, (..., n_answers, n_classes) to the same shape."""

    def log_prior(self) -> float:
        """Log-density of the fitted matrices under their prior, up to a constant: 0 where there is none."""
        return 0.0

    def start(self, n_annotators: int, n_classes: int) -> Self:
        """Set the matrices to the prior estimate, from which EM starts."""
        return self.fit_counts(np.zeros((n_annotators, n_classes, n_classes)))

    #: Whether `fit_counts` uses which classes the model confuses; errors then have a shape, see `with_errors_of`.
    uses_overlap: bool = False

    def fit_counts(self, counts: Floats, overlap: Floats | None = None, *, crowd_counts: Floats | None = None) -> Self:
        """Learn from counts, (n_annotators, n_answers, n_classes).

        overlap       (n_classes, n_classes) which classes the model confuses, `model_overlap`; None where not known
        crowd_counts  (n_answers, n_classes) of all people, where several answers on an item do not count in full
        """
        self.counts_ = counts
        self.crowd_given_true_ = self.given_true(counts.sum(axis=0) if crowd_counts is None else crowd_counts)
        self.human_given_true_ = self.crowd_given_true_ if len(counts) == 1 else self.given_true(counts)
        return self

    def apart(self, machines: tuple[int, ...]) -> Self:
        """The estimate that shrinks these annotators to each other, not to people; the same where it shrinks nobody."""
        return self

    def with_counts_of(self, people: list[int], counts: Floats) -> Self:
        """The same with other counts of some annotators."""
        changed = self.counts_.copy()
        changed[people] = counts
        return copy(self).fit_counts(changed)

    def with_errors_of(self, other: Self) -> Self:
        """The same counts with errors distributed as in another estimate; unchanged where errors have no shape."""
        return self

    def backed(self, soft: Floats, weight: float, share: float) -> Self:
        """The estimate of one person with soft counts added; the same where errors have no shape.

        soft    (n_answers, n_classes)
        weight  of the soft counts
        share   of the shape that errors have if the soft counts have the weight 1, in the prior's
        """
        return self

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from observations and the truth; items of unknown truth do not count.

        A scanned table contains its truth.
        """
        X, y, sample_weight = read_labelled(X, y, sample_weight)
        observations = as_observations(X, y=y, terms=OBSERVATIONS_TERMS)
        truth, weight = as_truth(y, observations), as_weight(sample_weight, len(observations))
        n_classes = observations.n_classes
        n_columns = len(observations.annotators) * n_classes
        counts = hard_counts(observations.answers, truth, weight, n_columns, n_classes)
        self.classes_, self.annotators_ = observations.classes, observations.annotators
        overlap = None
        if self.uses_overlap:
            overlap = model_overlap(observations.block(slice(0, len(observations))).log_proba, weight)
        return self.fit_counts(counts.reshape(len(self.annotators_), -1, n_classes), overlap)

    def leave_one_out_rows(
        self, column: Codes, truth: Codes, weight: Floats, fold_counts: Floats | None = None
    ) -> Rows:
        """A function that gives rows ``P(answer | each class)`` of matrices fitted without that answer.

        For what is fitted on top: each item is predicted from a matrix fitted without it. The answer is removed with
        the whole weight of its item.

        column, truth, weight  (n_points,) of the answers for which rows are needed: the column, ``annotator *
                               n_answers + answer``, the true label, and the weight of the item
        fold_counts            (n_folds, n_answers, n_classes) the contribution of each fold of items to the crowd's
                               counts; where people share a matrix, it is fitted without the fold; of an estimate of
                               people `apart` from machines (n_folds, 2, n_answers, n_classes)
        returns                from the numbers (n,) of points, and their folds, to (n_classes, n)
        """
        n_answers, n_classes = self.counts_.shape[1:]
        known = np.empty((n_classes, len(column)))
        for at, (place, true_label) in enumerate(zip(column.tolist(), truth.tolist(), strict=True)):
            person, answer = divmod(place, n_answers)
            counts = self.counts_[person].copy()
            counts[answer, true_label] = max(counts[answer, true_label] - weight[at], 0.0)
            known[:, at] = self.given_true(counts)[answer]
        return rows_of(known)

    def accuracy_posterior(self) -> tuple[Floats, Floats]:
        """Values of the accuracy over all classes, and the posterior probability of each, from a Beta(3, 1) prior."""
        counts = self.counts_.sum(axis=0)
        right = np.trace(counts)
        wrong = counts.sum() - right
        log_weight = (right + ACCURACY_RIGHT) * np.log(ACCURACY) + (wrong + ACCURACY_WRONG) * np.log1p(-ACCURACY)
        return ACCURACY, normalised_weights(log_weight)

    def accuracy_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Interval of ``P(the right answer | truth j)`` for each class j, all people together.

        Jeffreys' interval of the estimate, as if it were the share of right ones among as many answers as there are.
        """
        check_is_fitted(self, "counts_")
        n_answers = self.counts_.sum(axis=(0, 1))
        return jeffreys_interval(np.diagonal(self.crowd_given_true_) * n_answers, n_answers, level)

    def people(self) -> Floats:
        """Matrices of all people known, then the crowd's, (n_annotators + 1, n_answers, n_classes)."""
        check_is_fitted(self, "human_given_true_")
        known = self.human_given_true_.reshape(-1, *self.crowd_given_true_.shape)
        return np.concatenate([known, self.crowd_given_true_[None]])

    def of(self, who: list[int]) -> Self:
        """The estimate of some annotators only, those with these numbers; the crowd is theirs."""
        if len(who) == len(self.counts_):
            return self
        chosen = copy(self)
        chosen.counts_ = self.counts_[who]
        chosen.human_given_true_ = self.people()[:-1][who]
        chosen.crowd_given_true_ = self.given_true(chosen.counts_.sum(axis=0))
        return chosen

    def log_table(self) -> Floats:
        """Log of `people` as one table, a row per (person, answer), the crowd's rows last."""
        return log_table(self.people())


def rows_of(known: Floats) -> Rows:
    """Rows of points, (n_classes, n_points), as a function; they are the same in every fold."""

    def rows(point: Codes, fold: Codes | None) -> Floats:
        return np.asarray(np.take(known, point, axis=1))

    return rows


def columns_of(column: Codes, place: Codes, n_answers: int) -> Codes:
    """Columns of answers under another numbering of the people: person ``p`` becomes ``place[p]``."""
    person, answer = np.divmod(column, n_answers)
    return np.where(column < 0, column, place[person] * n_answers + answer)
