"""Out-of-fold likelihood of answers: each item's comes from a matrix fitted without it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from twoheads.combination.statistics.folds import fold_of, response_counts_by_fold
from twoheads.confusion.base import Confusion, Rows
from twoheads.confusion.response import ResponseModel
from twoheads.dependence.evidence import OutOfFoldLikelihood
from twoheads.kernels.answers import item_of_answers, sum_by_item
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, without_annotators
from twoheads.kernels.simplex import FLOOR

#: Leave-one-out rows are tabulated once if they have fewer numbers than this together (32 MB).
TABLE_NUMBERS = 4_000_000


def out_of_fold_likelihood(
    confusion: Confusion,
    response: ResponseModel | None,
    blocks: Sequence[Block],
    *,
    weight: float,
    fold_counts: Floats | None,
) -> OutOfFoldLikelihood:
    """A function of labelled blocks: the log-likelihood of their answers, confidences and "unsure".

    weight       the weight of one answer
    fold_counts  (n_folds, n_answers, n_classes) the crowd's counts by fold; None for one annotator with one answer per
                 item, whose matrix without an item needs no folds
    """
    log_rows = _log_rows(confusion, weight, fold_counts)
    answers = partial(_answer_likelihood, log_rows, fold_counts is not None)
    if response is None:
        return answers
    responses = response.out_of_fold(response_counts_by_fold(blocks, response))
    return lambda block: answers(block) + responses(block, fold_of(block))


def apart(blocks: Sequence[Block], machines: Sequence[int], people: Sequence[int]) -> list[list[Block]]:
    """The blocks with the answers of people only, and with those of machines only."""
    return [[without_annotators(block, others) for block in blocks] for others in (machines, people)]


def _answer_likelihood(log_rows: Rows, by_fold: bool, block: Block) -> Floats:
    """Log-likelihood of a block's answers, (n_classes, n_items)."""
    assert block.answers is not None
    assert block.true_label is not None
    answers, truth = block.answers, block.true_label
    fold = fold_of(block) if by_fold else None
    if answers.start is None and (answers.column != MISSING).all():
        return log_rows(answers.column, truth, fold)
    there = answers.column != MISSING
    item = item_of_answers(answers)[there]
    rows = log_rows(answers.column[there], truth[item], None if fold is None else fold[item])
    return sum_by_item(answers, rows)


def _log_rows(confusion: Confusion, weight: float, fold_counts: Floats | None) -> Rows:
    """Log of the confusion's `leave_one_out_rows`: from a table where few pairs (answer, truth) occur."""
    rows, n_classes = confusion.leave_one_out_rows(weight, fold_counts), confusion.counts_.shape[2]

    def log_rows(column: Codes, true_label: Codes, fold: Codes | None = None) -> Floats:
        proba = np.maximum(rows(column, true_label, fold), FLOOR)
        return np.log(proba, out=proba)

    cell, truth = np.nonzero(confusion.counts_.reshape(-1, n_classes))
    n_folds = 1 if fold_counts is None else len(fold_counts)
    if len(cell) * n_folds * n_classes > TABLE_NUMBERS:
        return log_rows
    folds = [None] if fold_counts is None else [np.full(len(cell), at) for at in range(n_folds)]
    table = np.concatenate([log_rows(cell, truth, fold) for fold in folds], axis=1)
    position = np.zeros(confusion.counts_.size, dtype=np.intp)
    position[cell * n_classes + truth] = np.arange(len(cell))

    def gathered(column: Codes, true_label: Codes, fold: Codes | None = None) -> Floats:
        at = position[column * n_classes + true_label]
        return np.asarray(np.take(table, at if fold is None else at + len(cell) * fold, axis=1))

    return gathered
