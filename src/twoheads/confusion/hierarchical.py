"""A confusion matrix with a hierarchical prior, whose strength is estimated from the data."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from twoheads.confusion.base import Confusion, Rows
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.confusion.abilities import abilities_of
from twoheads.kernels.confusion.accuracies import accuracy_interval, accuracy_posterior
from twoheads.kernels.confusion.annotators import (
    Annotators,
    annotator_matrices,
    fit_annotators,
    leave_one_out_annotator_rows,
)
from twoheads.kernels.confusion.hierarchical import (
    ACCURACY,
    HierarchicalPosterior,
    hierarchical_posterior,
    leave_one_out,
    leave_one_out_rows,
    posterior_mean,
)
from twoheads.kernels.confusion.matrices import MANY_CLASSES, few_digits
from twoheads.kernels.confusion.shapes import error_shapes, shape_of_errors
from twoheads.kernels.priors import ONE_MATRIX_SHRINKAGE
from twoheads.storage.artifact import register


@register
class HierarchicalConfusion(Confusion):
    r"""Dirichlet columns whose accuracy, strength and shape of errors are integrated out.

    .. math:: \varphi_{\cdot j} \sim \mathrm{Dirichlet}(s\,\pi_j)

    .. math:: \pi_j = a\,e_j + (1 - a)\,o_j, \qquad a \sim \mathrm{Beta}(3, 1), \quad \log s \sim N(\log 15, 1.2^2)

    with errors :math:`o_j` spread evenly, towards the classes that the model confuses, or towards answers that are
    common, with equal prior probability. All three are summed over on a grid: with ten labels the prior dominates,
    with a thousand the counts do, and nothing has to be set. The matrix of one person is shrunk with the strength
    :math:`3s`, which lowers the log loss of combinations.

    This is the crowd's matrix, and that of a person not seen at fit. With several people, each has an ability, and
    columns of their own that are shrunk towards it:

    .. math:: \mathrm{logit}\,\mathrm{acc}_{pj} = \mathrm{logit}\,\varphi_{jj} + g_p, \quad g_p \sim N(0, \sigma^2)

    with :math:`\sigma` and the columns' strength learnt from the data.

    Attributes
    ----------
    crowd_counts_ : ndarray of shape (n_answers, n_classes)
        The counts of all people together, several answers on one item divided by their design effect; of one person
        with few labels also soft counts of unlabelled items.
    spread_, strength_ : float
        Standard deviation of abilities, and number of answers that the prior of a person's column counts as; with
        several people.
    ability_, ability_sd_ : ndarray of shape (n_annotators,)
        Each person's ability :math:`g_p`, where 0 is the crowd's, as the mean and the standard deviation of its
        posterior; with several people.
    node_weight_ : ndarray of shape (n_shapes, 24, 11)
        Posterior probability of each shape, accuracy and strength.
    shapes_ : ndarray of shape (n_shapes, n_answers, n_classes)
        The shapes that errors may have.
    log_evidence_ : float
        Log-probability of the answers given the truth, all parameters integrated out.
    machines_, groups_ : tuple
        The annotators that were set `apart`, and the estimates of the people and of them, during a fit; all else is
        of the people.
    overlap_, expected_accuracy_ : ndarray
        Only with more than 300 classes: what the matrices are computed from when a team is read.

    Examples
    --------
    >>> confusion = HierarchicalConfusion().fit([[0, 0.5, 0.5], [0, 0.5, 0.5], [1, 0.5, 0.5]], [0, 0, 1])
    >>> confusion.human_given_true_.round(2).tolist()
    [[0.86, 0.14], [0.14, 0.86]]
    """

    uses_overlap = True
    #: Attributes that follow from the others: with many classes they are not saved.
    _derived = ("shapes_", "crowd_given_true_", "human_given_true_")

    def given_true(self, counts: Floats) -> Floats:
        """The posterior mean from counts alone, (..., n_answers, n_classes): what the model confuses is not known."""
        people = counts.reshape(-1, *counts.shape[-2:])
        shapes = [error_shapes(np.zeros_like(each), each.sum(axis=1)) for each in people]
        found = (hierarchical_posterior(*each, ONE_MATRIX_SHRINKAGE) for each in zip(people, shapes, strict=True))
        return np.stack([posterior_mean(each) for each in found]).reshape(counts.shape)

    def fit_counts(self, counts: Floats, overlap: Floats | None = None, *, crowd_counts: Floats | None = None) -> Self:
        """Learn the crowd's matrix and everyone's own from counts, (n_annotators, n_answers, n_classes).

        crowd_counts  (n_answers, n_classes) of all people, where several answers on an item do not count in full
        """
        self.counts_ = counts
        if self._has_groups:
            return self._fit_groups(overlap, crowd_counts)
        self.crowd_counts_ = counts.sum(axis=0) if crowd_counts is None else crowd_counts
        self._forget_overlap()
        overlap = np.zeros_like(self.crowd_counts_) if overlap is None else overlap
        if counts.shape[-1] > MANY_CLASSES:
            overlap = self.overlap_ = few_digits(overlap)
        return self._set(error_shapes(overlap, self.crowd_counts_.sum(axis=1)))

    def apart(self, machines: tuple[int, ...]) -> Self:
        """The estimate with a crowd of these annotators, and one of the others."""
        chosen = copy(self)
        chosen.machines_ = machines
        return chosen

    @property
    def _has_groups(self) -> bool:
        return "machines_" in vars(self)

    def _fit_groups(self, overlap: Floats | None, crowd_counts: Floats | None) -> Self:
        """Learn people and machines apart; the counts of each crowd are discounted as those of all are."""
        total = self.counts_.sum()
        share = 1.0 if crowd_counts is None or not total else float(crowd_counts.sum() / total)
        fitted = []
        for who in self._members():
            counts = self.counts_[who]
            crowd = counts.sum(axis=0) * (share if len(who) > 1 else 1.0)
            fitted.append(HierarchicalConfusion().fit_counts(counts, overlap, crowd_counts=crowd))
        return self._join(fitted[0], fitted[1])

    def with_counts_of(self, people: list[int], counts: Floats) -> Self:
        """The same with other counts of the people, machines being `apart`; the shapes of errors stay."""
        assert self._has_groups
        chosen, own = copy(self), copy(self.groups_[0])
        chosen.counts_ = self.counts_.copy()
        chosen.counts_[people] = counts
        own.crowd_counts_ = counts.sum(axis=0) * (own.crowd_counts_.sum() / max(own.counts_.sum(), 1e-300))
        own.counts_ = counts
        own._set(own.shapes_)
        return chosen._join(own, self.groups_[1])

    def _members(self) -> tuple[Codes, Codes]:
        """The people, and the machines, by their number."""
        is_machine = np.isin(np.arange(len(self.counts_)), self.machines_)
        return np.flatnonzero(~is_machine), np.flatnonzero(is_machine)

    def _join(self, people: HierarchicalConfusion, machines: HierarchicalConfusion) -> Self:
        self.groups_ = people, machines
        for name in ("shapes_", "node_weight_", "log_evidence_", "crowd_counts_", "crowd_given_true_"):
            setattr(self, name, getattr(people, name))
        self.human_given_true_ = np.empty_like(self.counts_)
        for who, group in zip(self._members(), self.groups_, strict=True):
            self.human_given_true_[who] = group.people()[:-1]
        return self

    def with_errors_of(self, other: Self) -> Self:
        """Learn again from the same counts, with errors distributed as in the crowd's matrix of another estimate."""
        if self._has_groups:
            people, machines = (own.with_errors_of(its) for own, its in zip(self.groups_, other.groups_, strict=True))
            return copy(self)._join(people, machines)
        shapes, learnt = shape_of_errors(other.crowd_given_true_), copy(self)
        learnt._forget_overlap()
        return learnt._set(shapes[None])

    def backed(self, soft: Floats, weight: float, share: float) -> Self:
        """The estimate of one person with soft counts added, which also inform the shape of errors; see `Confusion`."""
        whole = hierarchical_posterior(soft, self.shapes_, self._shrinkage)
        learnt = copy(self)
        learnt.crowd_counts_ = self.crowd_counts_ + weight * soft
        return learnt._set((1.0 - share) * self.shapes_ + share * shape_of_errors(posterior_mean(whole)))

    @property
    def _shrinkage(self) -> float:
        return ONE_MATRIX_SHRINKAGE if len(self.counts_) == 1 else 1.0

    def _set(self, shapes: Floats) -> Self:
        counts, posterior = self.counts_, hierarchical_posterior(self.crowd_counts_, shapes, self._shrinkage)
        self.shapes_, self.node_weight_, self.log_evidence_ = posterior.shapes, posterior.weight, posterior.log_evidence
        self.crowd_given_true_ = posterior_mean(posterior)
        if len(counts) == 1:
            self.human_given_true_ = self.crowd_given_true_
        else:
            people = fit_annotators(counts, self.crowd_given_true_)
            self.spread_, self.strength_ = people.spread, people.strength
            self.ability_, self.ability_sd_ = people.ability, people.sd
            if counts.shape[-1] > MANY_CLASSES:
                self.expected_accuracy_ = people.accuracy
            self.human_given_true_ = annotator_matrices(counts, self.crowd_given_true_, people)
        return self

    def saved_state(self) -> dict[str, Any]:
        """The attributes to save: with many classes not those that follow from the others."""
        left_out = ("machines_", "groups_", *(self._derived if "overlap_" in vars(self) else ()))
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def restore(self) -> None:
        """Compute the attributes that were not saved."""
        if "overlap_" not in vars(self):
            return
        self.shapes_ = error_shapes(self.overlap_, self.crowd_counts_.sum(axis=1))
        self.crowd_given_true_ = posterior_mean(self._posterior())
        self.human_given_true_ = self.crowd_given_true_
        if len(self.counts_) > 1:
            people = Annotators(self.spread_, self.strength_, self.ability_, self.ability_sd_, self.expected_accuracy_)
            self.human_given_true_ = annotator_matrices(self.counts_, self.crowd_given_true_, people)

    def of(self, who: list[int]) -> Self:
        """The estimate of some annotators only; its matrices no longer follow from what it keeps."""
        chosen = super().of(who)
        if chosen is not self:
            if self._has_groups:
                del chosen.machines_
            chosen._forget_overlap()
        return chosen

    def _forget_overlap(self) -> None:
        if "overlap_" in vars(self):
            del self.overlap_

    def leave_one_out_rows(
        self, column: Codes, truth: Codes, weight: Floats, fold_counts: Floats | None = None
    ) -> Rows:
        """Rows of matrices fitted without one answer, exactly and without a refit (the shapes are held).

        Where several people share the crowd's matrix, it is fitted without the answer's fold, and so without the item.
        """
        if self._has_groups:
            return self._rows_of_groups(column, truth, weight, fold_counts)
        if fold_counts is not None or len(self.counts_) > 1:
            nothing = np.zeros((1, *self.crowd_counts_.shape))
            return self._rows_by_fold(column, truth, weight, nothing if fold_counts is None else fold_counts)
        posterior = self._posterior()
        left_out = leave_one_out(posterior, column % self.counts_.shape[1], truth, weight)

        def rows(point: Codes, fold: Codes | None) -> Floats:
            return leave_one_out_rows(posterior, left_out, point)

        return rows

    def _rows_of_groups(self, column: Codes, truth: Codes, weight: Floats, fold_counts: Floats | None) -> Rows:
        """A person alone needs no folds: no answer of a machine is in the matrix."""
        n_answers, n_classes = self.counts_.shape[1:]
        rows_of, group_of, place = [], np.zeros(len(column), dtype=np.intp), np.zeros(len(column), dtype=np.intp)
        for at, (who, group) in enumerate(zip(self._members(), self.groups_, strict=True)):
            own = np.flatnonzero(np.isin(column // n_answers, who))
            group_of[own], place[own] = at, np.arange(len(own))
            own_column = np.searchsorted(who, column[own] // n_answers) * n_answers + column[own] % n_answers
            folds = None if fold_counts is None or len(who) == 1 else fold_counts[:, at]
            rows_of.append(group.leave_one_out_rows(own_column, truth[own], weight[own], folds))

        def rows(point: Codes, fold: Codes | None) -> Floats:
            known = np.empty((n_classes, len(point)))
            for at, own_rows in enumerate(rows_of):
                own = np.flatnonzero(group_of[point] == at)
                known[:, own] = own_rows(place[point[own]], None if fold is None else fold[own])
            return known

        return rows

    def _rows_by_fold(self, column: Codes, truth: Codes, weight: Floats, fold_counts: Floats) -> Rows:
        n_answers, n_classes = self.crowd_counts_.shape
        others = [np.maximum(self.crowd_counts_ - fold, 0.0) for fold in fold_counts]
        crowds = [posterior_mean(hierarchical_posterior(each, self.shapes_, self._shrinkage)) for each in others]
        alone = len(self.counts_) == 1
        abilities = [] if alone else [abilities_of(self.counts_, crowd, self.spread_) for crowd in crowds]

        def rows(point: Codes, fold: Codes | None) -> Floats:
            known = np.empty((n_classes, len(point)))
            for at, crowd in enumerate(crowds):
                subset = np.arange(len(point)) if fold is None else np.flatnonzero(fold == at)
                own = point[subset]
                if alone:
                    known[:, subset] = crowd[column[own] % n_answers].T
                else:
                    prior, answers = (self.spread_, self.strength_), (column[own], truth[own], weight[own])
                    known[:, subset] = leave_one_out_annotator_rows(self.counts_, crowd, prior, abilities[at], *answers)
            return known

        return rows

    def accuracy_posterior(self) -> tuple[Floats, Floats]:
        """Values of the accuracy over all classes, and the posterior probability of each."""
        return ACCURACY, accuracy_posterior(self.node_weight_)

    def accuracy_interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Credible interval of ``P(the right answer | truth j)`` for each class j: quantiles of a mixture of Betas.

        Soft counts of unlabelled items beside few labels are no evidence here: they hold beliefs, not truths.
        """
        weight, counts = self.node_weight_, self.crowd_counts_
        if len(self.counts_) == 1 and not np.array_equal(counts, self.counts_[0]):
            counts = self.counts_[0]
            weight = hierarchical_posterior(counts, self.shapes_).weight
        low, high = accuracy_interval(weight, counts, level)
        estimate = np.diagonal(self.crowd_given_true_)  # of one person it is shrunk harder, and may lie beyond
        return np.minimum(low, estimate), np.maximum(high, estimate)

    def _posterior(self) -> HierarchicalPosterior:
        fitted = self.crowd_counts_, self.shapes_, self.node_weight_, self.log_evidence_
        return HierarchicalPosterior(*fitted, self._shrinkage)
