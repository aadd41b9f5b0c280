"""Likelihood of an answer's confidence level, and of "unsure", given the true class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.kernels.answers import Answers, soft_counts, sum_by_item
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.confusion.response import level_bounds, level_probabilities, levels_of, unsure_probabilities
from twoheads.kernels.confusion.score_levels import N_LEVELS, level_shares, limited_counts, middle_cut
from twoheads.storage.artifact import register

#: Log-likelihood of a block's confidences and "unsure", (n_classes, n_items), from the block and its items' folds.
OutOfFoldResponse = Callable[[Block, Codes], Floats]


@register
class ResponseModel(BaseEstimator):
    r"""Likelihood of an answer's confidence and of "unsure", learnt from counts; the same for all annotators.

    Where an annotator gives scores, the level of a score is in place of a confidence; it has a likelihood of its own,
    and each such annotator another (`twoheads.kernels.confusion.score_levels`).

    .. math:: P(\text{answer } i \text{ at level } l \mid j) = \varphi_{ij}\,(1 - u_j)\,w_{ijl}, \qquad
              P(\text{unsure} \mid j) = u_j

    Confidence is cut into at most four levels at its quartiles. A level is evidence only as far as the counts support
    it: where annotators are as confident when wrong as when right, it changes nothing.

    Attributes
    ----------
    bounds_ : ndarray of shape (n_levels - 1,)
        Lower bounds of the levels of confidence, except the first.
    level_given_ : ndarray of shape (n_classes, n_levels, n_classes)
        w, the probability of each level given the answer and the truth.
    unsure_given_true_ : ndarray of shape (n_classes,)
        u, the probability of "unsure" given the truth.
    scored_ : ndarray of shape (n_classes + 1, n_scored)
        Of each annotator who gives scores the number, how many levels there are, and the first level of each class but
        the first.
    score_level_given_ : ndarray of shape (n_scored, 10, n_classes)
        The probability of each level of a score given its side and the truth.
    """

    def start(
        self, confidence: Floats, n_classes: int, scored: Codes | None = None, weight: Floats | None = None
    ) -> Self:
        """Cut the confidences into levels, which start without any evidence, as do "unsure" and levels of scores.

        weight  of the item of each confidence; None for 1
        """
        known = np.isfinite(confidence)
        bounds = level_bounds(confidence[known], None if weight is None else weight[known])
        return self.start_at(bounds, n_classes, scored)

    def start_at(self, bounds: Floats, n_classes: int, scored: Codes | None = None) -> Self:
        """The same with the levels of an earlier fit."""
        self.bounds_ = bounds
        self.scored_ = np.zeros((n_classes + 1, 0), dtype=np.intp) if scored is None else scored
        return self.fit_labelled_counts(np.zeros((self.n_score_rows + n_classes * self.n_symbols + 1, n_classes)))

    @property
    def n_symbols(self) -> int:
        """Number of ways to give one answer: one per level, and one without any confidence."""
        return len(self.bounds_) + 2

    @property
    def n_score_rows(self) -> int:
        """Number of the rows of scores, the first of `counts`: one per annotator who gives scores and level."""
        return int(self.scored_.shape[1]) * N_LEVELS

    @property
    def of_people(self) -> bool:
        """Whether there are confidences or "unsure", not only scores."""
        return bool(len(self.bounds_) or self.counts_[-1].any() or not self.n_score_rows)

    def counts(self, block: Block, share: Floats) -> Floats:
        """Counts of each way of answering under each true class, (n_score_rows + n_classes * n_symbols + 1, n_classes).

        share  (n_classes, n_items) probability of each class, times the items' weights
        """
        assert block.answers is not None
        symbols = Answers(self._symbols(block), block.answers.start)
        counts = np.zeros_like(self.counts_)
        counts[:-1] = soft_counts(symbols, share, len(counts) - 1)
        if block.unsure is not None:
            counts[-1] = share @ block.unsure.per_item().astype(np.float64)
        return counts

    def fit_counts(self, counts: Floats) -> Self:
        """Learn from `counts`, summed over blocks."""
        self.counts_ = counts
        self.level_given_, self.unsure_given_true_, self.score_level_given_ = self._fitted(counts)
        return self

    def fit_labelled_counts(self, counts: Floats) -> Self:
        """Learn from the `counts` of labelled items, on which `fit_soft_counts` builds."""
        self.labelled_scores_ = counts[: self.n_score_rows]
        return self.fit_counts(counts)

    def fit_soft_counts(self, counts: Floats) -> Self:
        """Learn from the `counts` of an E-step; those of scores on unlabelled items weigh no more than a few labels."""
        counts = counts.copy()
        counts[: self.n_score_rows] = limited_counts(counts[: self.n_score_rows], self.labelled_scores_)
        return self.fit_counts(counts)

    def answer_counts(self) -> Floats:
        """How often each answer was given at each level of confidence, or none, (n_classes, n_symbols, n_classes)."""
        return self._by_symbol(self.counts_)

    def log_likelihood(self, block: Block) -> Floats:
        """Log-likelihood of the confidences and of "unsure" under each class, (n_classes, n_items)."""
        table = self._table(self.level_given_, self.unsure_given_true_, self.score_level_given_)
        return self._log_likelihood(block, table[None], None)

    def out_of_fold(self, fold_counts: Floats) -> OutOfFoldResponse:
        """`log_likelihood` as a function of a block and its items' folds, fitted without each item's fold.

        fold_counts  (n_folds, n_rows, n_classes), as `counts`
        """
        rest = (np.maximum(self.counts_ - fold, 0.0) for fold in fold_counts)
        tables = np.stack([self._table(*self._fitted(counts)) for counts in rest])
        return lambda block, fold: self._log_likelihood(block, tables, fold)

    def _by_symbol(self, counts: Floats) -> Floats:
        n_classes = counts.shape[1]
        return counts[self.n_score_rows : -1].reshape(n_classes, self.n_symbols, n_classes)

    def _fitted(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        by_symbol = self._by_symbol(counts)
        unsure = unsure_probabilities(counts[-1], by_symbol.sum(axis=(0, 1)))
        scores = counts[: self.n_score_rows].reshape(-1, N_LEVELS, counts.shape[1])
        shares = level_shares(scores, self.scored_[1], self.scored_[2:]) if len(scores) else scores
        return level_probabilities(by_symbol[:, :-1]), unsure, shares

    def _table(self, level_given: Floats, unsure_given_true: Floats, score_level_given: Floats) -> Floats:
        """Log-probabilities: levels of scores, a row per (answer, level or none), and "unsure" last."""
        n_classes = len(unsure_given_true)
        table = np.zeros((n_classes, self.n_symbols, n_classes))
        table[:, :-1] = np.log(level_given)
        table += np.log1p(-unsure_given_true)
        scores = np.log(score_level_given).reshape(-1, n_classes)
        return np.concatenate([scores, table.reshape(-1, n_classes), np.log(unsure_given_true)[None]])

    def _log_likelihood(self, block: Block, tables: Floats, fold: Codes | None) -> Floats:
        assert block.answers is not None
        symbol = self._symbols(block)
        symbol = symbol[symbol != MISSING]
        item = np.repeat(np.arange(block.n_items), block.answers.per_item())
        rows = tables[0][symbol] if fold is None else tables[fold[item], symbol]
        total = sum_by_item(block.answers, rows.T)
        if block.unsure is not None:
            last = tables[0][-1][:, None] if fold is None else tables[fold, -1].T
            total += last * block.unsure.per_item()
        return total

    def _symbols(self, block: Block) -> Codes:
        """The row of each answer and its level in `counts`; MISSING where there is no answer."""
        assert block.answers is not None
        column, n_classes = block.answers.column, len(block.log_proba)
        if block.confidence is None:
            level = np.full(len(column), len(self.bounds_) + 1)
        else:
            level = levels_of(block.confidence, self.bounds_)
        symbol = self.n_score_rows + column % n_classes * self.n_symbols + level
        if self.n_score_rows and block.confidence is not None:
            rank = scored_rank(self.scored_[0], column // n_classes)
            scored = np.flatnonzero((rank >= 0) & ~np.isnan(block.confidence))
            first = N_LEVELS * np.arange(self.scored_.shape[1])  # row of each member
            cut = first + middle_cut(self.scored_[2:]) - 0.5  # as in `level_at`, once per member and not per answer
            symbol[scored] = (block.confidence[scored] + cut[rank[scored]]).astype(np.intp)
        return np.where(column == MISSING, MISSING, symbol)


def scored_rank(scored: Codes, annotator: Codes) -> Codes:
    """The position of each annotator among those who give scores, -1 for others."""
    if not len(scored):
        return np.full(len(annotator), -1)
    order = np.argsort(scored)
    place = order[np.minimum(np.searchsorted(scored, annotator, sorter=order), len(scored) - 1)]
    return np.where(scored[place] == annotator, place, -1)
