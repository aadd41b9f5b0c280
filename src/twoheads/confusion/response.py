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
from twoheads.storage.artifact import register

#: Log-likelihood of a block's confidences and "unsure", (n_classes, n_items), from the block and its items' folds.
OutOfFoldResponse = Callable[[Block, Codes], Floats]


@register
class ResponseModel(BaseEstimator):
    r"""Likelihood of an answer's confidence and of "unsure", learnt from counts; the same for all annotators.

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
    """

    def start(self, confidence: Floats, n_classes: int) -> Self:
        """Cut the confidences into levels, which start without any evidence, as does "unsure"."""
        self.bounds_ = level_bounds(confidence[np.isfinite(confidence)])
        return self.fit_counts(np.zeros((n_classes * self.n_symbols + 1, n_classes)))

    def start_at(self, bounds: Floats, n_classes: int) -> Self:
        """The same with the levels of an earlier fit."""
        self.bounds_ = bounds
        return self.fit_counts(np.zeros((n_classes * self.n_symbols + 1, n_classes)))

    @property
    def n_symbols(self) -> int:
        """Number of ways to give one answer: one per level, and one without any confidence."""
        return len(self.bounds_) + 2

    def counts(self, block: Block, share: Floats) -> Floats:
        """Counts of each way of answering under each true class, (n_classes * n_symbols + 1, n_classes).

        share  (n_classes, n_items) probability of each class, times the items' weights
        """
        assert block.answers is not None
        n_classes = len(share)
        symbols = Answers(self._symbols(block), block.answers.start)
        counts = np.zeros((n_classes * self.n_symbols + 1, n_classes))
        counts[:-1] = soft_counts(symbols, share, n_classes * self.n_symbols)
        if block.unsure is not None:
            counts[-1] = share @ block.unsure.per_item().astype(np.float64)
        return counts

    def fit_counts(self, counts: Floats) -> Self:
        """Learn from `counts`, summed over blocks."""
        self.counts_ = counts
        self.level_given_, self.unsure_given_true_ = self._fitted(counts)
        return self

    def log_likelihood(self, block: Block) -> Floats:
        """Log-likelihood of the confidences and of "unsure" under each class, (n_classes, n_items)."""
        return self._log_likelihood(block, self._table(self.level_given_, self.unsure_given_true_)[None], None)

    def out_of_fold(self, fold_counts: Floats) -> OutOfFoldResponse:
        """`log_likelihood` as a function of a block and its items' folds, fitted without each item's fold.

        fold_counts  (n_folds, n_classes * n_symbols + 1, n_classes)
        """
        rest = (np.maximum(self.counts_ - fold, 0.0) for fold in fold_counts)
        tables = np.stack([self._table(*self._fitted(counts)) for counts in rest])
        return lambda block, fold: self._log_likelihood(block, tables, fold)

    def _fitted(self, counts: Floats) -> tuple[Floats, Floats]:
        n_classes = counts.shape[1]
        by_symbol = counts[:-1].reshape(n_classes, self.n_symbols, n_classes)
        return level_probabilities(by_symbol[:, :-1]), unsure_probabilities(counts[-1], counts[:-1].sum(axis=0))

    def _table(self, level_given: Floats, unsure_given_true: Floats) -> Floats:
        """Log-probabilities, a row per (answer, level or none), the row of "unsure" last."""
        n_classes = len(unsure_given_true)
        table = np.zeros((n_classes, self.n_symbols, n_classes))
        table[:, :-1] = np.log(level_given)
        table += np.log1p(-unsure_given_true)
        return np.concatenate([table.reshape(-1, n_classes), np.log(unsure_given_true)[None]])

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
        """Code of each answer and its level, ``answer * n_symbols + level``; MISSING where there is no answer."""
        assert block.answers is not None
        column, n_classes = block.answers.column, len(block.log_proba)
        if block.confidence is None:
            level = np.full(len(column), len(self.bounds_) + 1)
        else:
            level = levels_of(block.confidence, self.bounds_)
        return np.where(column == MISSING, MISSING, column % n_classes * self.n_symbols + level)
