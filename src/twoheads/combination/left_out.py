"""The likelihood of answers from matrices that have not seen them, so that no item vouches for itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twoheads.combination.dependence import LeftOut
from twoheads.combination.labelled import fold_of, manner_counts_by_fold
from twoheads.confusion.base import Confusion, Rows
from twoheads.confusion.manner import Manner
from twoheads.kernels.answers import item_of_answers, sum_by_item
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import FLOOR

#: Rows of leave-one-out matrices are written down once if they have fewer numbers than this together (32 MB).
TABLE_NUMBERS = 4_000_000


def left_out_likelihood(
    confusion: Confusion,
    manner: Manner | None,
    blocks: Sequence[Block],
    *,
    weight: float,
    fold_counts: Floats | None,
) -> LeftOut:
    """A function of labelled blocks that gives the log-likelihood of their answers, and of how they were given.

    weight       what one answer counts
    fold_counts  what each fold of the items has added to the crowd's counts; None for one person, answering each item
                 once, whose matrix without an item needs no folds
    """
    answered = _answered(_log_rows(confusion, weight, fold_counts), by_fold=fold_counts is not None)
    if manner is None:
        return answered
    given = manner.left_out(manner_counts_by_fold(blocks, manner))
    return lambda block: answered(block) + given(block, fold_of(block))


def _answered(log_rows: Rows, *, by_fold: bool) -> LeftOut:
    def log_likelihood(block: Block) -> Floats:
        assert block.answers is not None
        assert block.true_label is not None
        answers, truth = block.answers, block.true_label
        fold = fold_of(block) if by_fold else None
        if answers.start is not None:
            item = item_of_answers(answers)
        elif (answers.column == MISSING).any():
            item = np.flatnonzero(answers.column != MISSING)
        else:
            return log_rows(answers.column, truth, fold)
        column = answers.column if answers.start is not None else answers.column[item]
        return sum_by_item(answers, log_rows(column, truth[item], None if fold is None else fold[item]))

    return log_likelihood


def _log_rows(confusion: Confusion, weight: float, fold_counts: Floats | None) -> Rows:
    """Log of the confusion's `left_out_rows`: a gather from a table where few pairs (answer, truth) occur."""
    rows, n_classes = confusion.left_out_rows(weight, fold_counts), confusion.counts_.shape[2]

    def log_rows(column: Codes, true_label: Codes, fold: Codes | None = None) -> Floats:
        given = np.maximum(rows(column, true_label, fold), FLOOR)
        return np.log(given, out=given)

    cell, truth = np.nonzero(confusion.counts_.reshape(-1, n_classes))
    n_folds = 1 if fold_counts is None else len(fold_counts)
    if len(cell) * n_folds * n_classes > TABLE_NUMBERS:
        return log_rows
    folds = [None] if fold_counts is None else [np.full(len(cell), at) for at in range(n_folds)]
    table = np.concatenate([log_rows(cell, truth, fold) for fold in folds], axis=1)
    number = np.zeros(confusion.counts_.size, dtype=np.intp)
    number[cell * n_classes + truth] = np.arange(len(cell))

    def gathered(column: Codes, true_label: Codes, fold: Codes | None = None) -> Floats:
        at = number[column * n_classes + true_label]
        return np.asarray(np.take(table, at if fold is None else at + len(cell) * fold, axis=1))

    return gathered
