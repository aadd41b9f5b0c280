"""Out-of-fold likelihood of answers: each item's comes from a matrix fitted without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from twoheads.combination.statistics.folds import fold_of, response_counts_by_fold
from twoheads.confusion.base import Confusion, Rows
from twoheads.confusion.response import ResponseModel
from twoheads.dependence.evidence import OutOfFoldLikelihood
from twoheads.engines.blocks import map_blocks
from twoheads.kernels.answers import item_of_answers, sum_by_item
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, without_annotators
from twoheads.kernels.confusion.removal import Removals
from twoheads.kernels.simplex import FLOOR

#: Leave-one-out rows are tabulated once if they have fewer numbers than this together (32 MB).
TABLE_NUMBERS = 4_000_000

#: Log of an answer's rows, (n_classes, n), from the columns, true labels, weights and folds of answers (n,).
LogRows = Callable[[Codes, Codes, Floats | None, Codes | None], Floats]


def out_of_fold_likelihood(
    confusion: Confusion,
    response: ResponseModel | None,
    blocks: Sequence[Block],
    *,
    weighted: bool,
    fold_counts: Floats | None,
) -> OutOfFoldLikelihood:
    """A function of labelled blocks: the log-likelihood of their answers, confidences and "unsure".

    weighted     whether an item of the blocks may have another weight than 1
    fold_counts  (n_folds, n_answers, n_classes) the crowd's counts by fold; None for one annotator with one answer per
                 item: a matrix without the item follows from the counts themselves
    """
    n_classes = confusion.counts_.shape[2]
    if weighted:
        removals = Removals.of_answers(list(map_blocks(partial(_weights_of_cells, n_classes), blocks)), n_classes)
    else:
        removals = Removals.of_cells(np.flatnonzero(confusion.counts_), n_classes)
    log_rows = _log_rows(confusion, removals, fold_counts)
    answers = partial(_answer_likelihood, log_rows, fold_counts is not None)
    if response is None:
        return answers
    responses = response.out_of_fold(response_counts_by_fold(blocks, response))
    return lambda block: answers(block) + responses(block, fold_of(block))


def apart(blocks: Sequence[Block], machines: Sequence[int], people: Sequence[int]) -> list[list[Block]]:
    """The blocks with the answers of people only, and with those of machines only."""
    return [[without_annotators(block, others) for block in blocks] for others in (machines, people)]


def _weights_of_cells(n_classes: int, block: Block) -> tuple[Codes, Floats]:
    """Cell and weight of each answer of a labelled block."""
    column, truth, weight, _ = _answers_of(block)
    return column * n_classes + truth, np.ones(len(column)) if weight is None else weight


def _answers_of(block: Block) -> tuple[Codes, Codes, Floats | None, Codes | slice]:
    """Column, true label, weight and item of each answer of a labelled block."""
    assert block.answers is not None
    assert block.true_label is not None
    column = block.answers.column
    weight = block.weight if block.own_weight is None else block.own_weight
    item: Codes | slice = slice(None)
    if block.answers.start is not None or (column == MISSING).any():
        there = column != MISSING
        column, item = column[there], item_of_answers(block.answers)[there]
    return column, block.true_label[item], None if weight is None else weight[item], item


def _answer_likelihood(log_rows: LogRows, by_fold: bool, block: Block) -> Floats:
    """Log-likelihood of a block's answers, (n_classes, n_items)."""
    assert block.answers is not None
    column, truth, weight, item = _answers_of(block)
    rows = log_rows(column, truth, weight, fold_of(block)[item] if by_fold else None)
    return rows if isinstance(item, slice) else sum_by_item(block.answers, rows)


def _log_rows(confusion: Confusion, removals: Removals, fold_counts: Floats | None) -> LogRows:
    """Log of the confusion's `leave_one_out_rows`: from a table where few points occur."""
    points, single = (removals.column, removals.truth, removals.weight), len(removals.number) == 1
    rows, is_log = confusion.leave_one_out_rows(*points, fold_counts), single
    n_points, n_folds = len(removals.column), 1 if fold_counts is None else len(fold_counts)
    if n_points * n_folds * removals.n_classes <= TABLE_NUMBERS:
        rows = _table(rows, n_points, None if fold_counts is None else n_folds, _log if is_log else np.asarray)
    else:
        is_log = False

    def log_rows(column: Codes, truth: Codes, weight: Floats | None, fold: Codes | None) -> Floats:
        if single:
            found = rows(removals.number[0, removals.place[column * removals.n_classes + truth]], fold)
        else:
            point, share = removals.places(column, truth, weight)
            found = np.zeros((removals.n_classes, len(column)))
            for at, part in zip(point, share, strict=True):
                found += part * rows(at, fold)
        return found if is_log else _log(found)

    return log_rows


def _table(rows: Rows, n_points: int, n_folds: int | None, function: Callable[[Floats], Floats]) -> Rows:
    """The function of rows, from a table of all points and folds."""
    folds = [None] if n_folds is None else [np.full(n_points, at) for at in range(n_folds)]
    table = np.concatenate([function(rows(np.arange(n_points), fold)) for fold in folds], axis=1)

    def from_table(point: Codes, fold: Codes | None) -> Floats:
        return np.asarray(np.take(table, point if fold is None else point + n_points * fold, axis=1))

    return from_table


def _log(proba: Floats) -> Floats:
    return np.log(np.maximum(proba, FLOOR))
