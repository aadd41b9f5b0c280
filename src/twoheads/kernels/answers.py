"""The answer matrix S: a row per item, a column per (annotator, possible answer), a 1 for each answer.

It is stored as the column numbers of its ones. With ``log_given_true`` (a row per column of S, a column per true class)
fitting and predicting need only ``S @ log_given_true`` and ``S.T @ responsibility``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twoheads.kernels.arrays import MISSING, Codes, Floats


@dataclass(frozen=True, slots=True)
class Answers:
    """The ones of S, row by row.

    column  (n_answers,) the column of each answer; if ``start`` is None, one per item, MISSING if it has no answer
    start   (n_items + 1,) answers of item i are at start[i]:start[i + 1]; None if no item has several
    """

    column: Codes
    start: Codes | None = None

    def __len__(self) -> int:
        return len(self.column) if self.start is None else len(self.start) - 1

    def rows(self, rows: slice) -> Answers:
        """The answers of consecutive items, without a copy."""
        if self.start is None:
            return Answers(self.column[rows])
        first, last, _ = rows.indices(len(self))
        start = self.start[first : last + 1]
        return Answers(self.column[start[0] : start[-1]], start - start[0])

    def take(self, items: Codes) -> Answers:
        """The answers of the given items, in the given order."""
        if self.start is None:
            return Answers(self.column[items])
        length = np.diff(self.start)[items]
        start = np.concatenate([[0], np.cumsum(length)])
        shift = np.repeat(self.start[items] - start[:-1], length)
        return Answers(self.column[np.arange(start[-1]) + shift], start)

    def without(self, items: NDArray[np.bool_]) -> Answers:
        """The same items, with the answers of those in a mask removed."""
        if self.start is None:
            return Answers(np.where(items, MISSING, self.column))
        per_item = self.per_item()
        start = np.concatenate([[0], np.cumsum(np.where(items, 0, per_item))])
        return Answers(self.column[np.repeat(~items, per_item)], start)

    def per_item(self) -> Codes:
        """How many answers each item has, (n_items,)."""
        return (self.column != MISSING).astype(np.intp) if self.start is None else np.diff(self.start)


def pack_answers(item: Codes, column: Codes, n_items: int) -> Answers:
    """Answers in any order as the ones of S: by item, then by column.

    item, column  (n_answers,) row and column of each answer
    """
    per_item = np.bincount(item, minlength=n_items)
    if per_item.max(initial=0) <= 1:
        single = np.full(n_items, MISSING)
        single[item] = column
        return Answers(single)
    return Answers(column[np.lexsort((column, item))], np.concatenate([[0], np.cumsum(per_item)]))


def pack_values(item: Codes, column: Codes, values: Floats, n_items: int) -> Floats:
    """A number per answer in the order of `pack_answers`: one per entry of its column, NaN where an item has none."""
    order = np.lexsort((column, item))
    return sorted_values(item[order], values[order], n_items)


def sorted_answers(item: Codes, column: Codes, n_items: int) -> Answers:
    """Answers that are already in the order of `pack_answers`."""
    per_item = np.bincount(item, minlength=n_items)
    if per_item.max(initial=0) <= 1:
        single = np.full(n_items, MISSING)
        single[item] = column
        return Answers(single)
    return Answers(column, np.concatenate([[0], np.cumsum(per_item)]))


def sorted_values(item: Codes, values: Floats, n_items: int) -> Floats:
    """A number per answer as `pack_values` gives them, if they are already in that order."""
    if np.bincount(item, minlength=n_items).max(initial=0) > 1:
        return values
    single = np.full(n_items, np.nan)
    single[item] = values
    return single


def rows_of_values(answers: Answers, values: Floats, rows: slice) -> Floats:
    """Numbers per entry of ``answers.column``, for consecutive items, as `Answers.rows`."""
    if answers.start is None:
        return values[rows]
    first, last, _ = rows.indices(len(answers))
    return values[answers.start[first] : answers.start[max(first, last)]]


def take_values(answers: Answers, values: Floats, items: Codes) -> Floats:
    """Numbers per entry of ``answers.column``, for the given items, as `Answers.take`."""
    return values[Answers(np.arange(len(values)), answers.start).take(items).column]


def joined_answers(parts: Sequence[Answers]) -> Answers:
    """The answers of several groups of items, concatenated."""
    if all(part.start is None for part in parts):
        return Answers(np.concatenate([part.column for part in parts]))
    per_item = np.concatenate([part.per_item() for part in parts])
    return Answers(
        np.concatenate([_present(part, part.column) for part in parts]), np.concatenate([[0], np.cumsum(per_item)])
    )


def joined_values(parts: Sequence[Answers], values: Sequence[Floats | None]) -> Floats:
    """A number per entry of the column of `joined_answers`; NaN for a group without any."""
    filled = [
        np.full(len(part.column), np.nan) if array is None else array for part, array in zip(parts, values, strict=True)
    ]
    if all(part.start is None for part in parts):
        return np.concatenate(filled)
    return np.concatenate([_present(part, array) for part, array in zip(parts, filled, strict=True)])


def _present(answers: Answers, values: NDArray[Any]) -> NDArray[Any]:
    """Values per entry of ``answers.column``, without those of missing answers."""
    return values if answers.start is not None else values[answers.column != MISSING]


def item_of_answers(answers: Answers) -> Codes:
    """The item of each entry of ``answers.column``, (n_answers,)."""
    every = np.arange(len(answers))
    return every if answers.start is None else np.repeat(every, answers.per_item())


def with_answer(answers: Answers, column: Codes) -> Answers:
    """The same answers and one more for each item, after its others."""
    if not answers.per_item().any():
        return Answers(column)
    start = np.concatenate([[0], np.cumsum(answers.per_item() + 1)])
    return Answers(_one_more(answers, answers.column, column), start)


def with_value(answers: Answers, values: Floats) -> Floats:
    """A number per entry of ``answers.column``, in the order of `with_answer`: NaN for the new ones."""
    return np.asarray(_one_more(answers, values, np.full(len(answers), np.nan)))


def _one_more(answers: Answers, old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    there = answers.column != MISSING
    item = np.concatenate([item_of_answers(answers)[there], np.arange(len(answers))])
    return np.concatenate([old[there], new])[np.argsort(item, kind="stable")]


def permute_classes(answers: Answers, place: Codes) -> Answers:
    """The same answers with class ``a`` renumbered ``place[a]``; answers are classes."""
    column = _permuted(answers, place)
    if answers.start is None:
        return Answers(column)
    return pack_answers(item_of_answers(answers), column, len(answers))


def permute_values(answers: Answers, place: Codes, values: Floats) -> Floats:
    """A number per entry of ``answers.column``, in the order of `permute_classes`."""
    if answers.start is None:
        return values
    return values[np.lexsort((_permuted(answers, place), item_of_answers(answers)))]


def _permuted(answers: Answers, place: Codes) -> Codes:
    annotator, answer = np.divmod(answers.column, len(place))
    return np.where(answers.column == MISSING, MISSING, annotator * len(place) + place[answer])


def _matrix(answers: Answers, n_columns: int, weight: Floats | None = None) -> csr_array:
    assert answers.start is not None
    assert answers.column.max(initial=0) < n_columns
    entries = np.ones(len(answers.column)) if weight is None else np.repeat(weight, answers.per_item())
    return csr_array((entries, answers.column, answers.start), shape=(len(answers), n_columns))


def answer_log_likelihood(answers: Answers, log_given_true: Floats) -> Floats:
    """Log-likelihood of each item's answers under each true class, ``(S @ log_given_true).T``.

    log_given_true  (n_columns, n_classes)
    returns         (n_classes, n_items)
    """
    if answers.start is None and len(answers) <= len(log_given_true):  # transposing only their rows costs less
        log_likelihood = np.ascontiguousarray(log_given_true[answers.column].T)
        log_likelihood[:, answers.column == MISSING] = 0.0
        return log_likelihood
    if answers.start is None:
        # MISSING is the last index: a column of zeros, which carries no information.
        table = np.concatenate([log_given_true.T, np.zeros((log_given_true.shape[1], 1))], axis=1)
        return np.take(table, answers.column, axis=1, mode="wrap")
    return np.ascontiguousarray((_matrix(answers, len(log_given_true)) @ log_given_true).T)


def design_effect(answers: Answers, correlation: float) -> Floats:
    """Kish's design effect of each item's answers, ``1 + (n_i - 1) r``, (n_items,); 1 for an item without any.

    Answers on one item are correlated given the true class: n_i of them are worth n_i over this.
    """
    return np.asarray(1.0 + np.maximum(answers.per_item() - 1.0, 0.0) * correlation)


def shared_log_likelihood(
    answers: Answers, log_given_true: Floats, correlation: float, response: Floats | None = None
) -> Floats:
    """`answer_log_likelihood`, plus that of confidence and "unsure", over the design effect, (n_classes, n_items).

    response  (n_classes, n_items) log-likelihood of confidence levels and "unsure", or None
    """
    log_likelihood = answer_log_likelihood(answers, log_given_true)
    if response is not None:
        log_likelihood += response
    if answers.start is not None and correlation:
        log_likelihood /= design_effect(answers, correlation)
    return log_likelihood


def soft_counts(answers: Answers, responsibility: Floats, n_columns: int, weight: Floats | None = None) -> Floats:
    """How often each answer was given under each true class, ``S.T @ responsibility.T``.

    responsibility  (n_classes, n_items), times the items' weights; if items have several answers, fastest if an
                    item's classes are adjacent in memory (order F)
    weight          (n_items,) weight of an answer on each item; None for 1
    returns         (n_columns, n_classes)
    """
    if answers.start is None:
        column = answers.column + 1
        responsibility = responsibility if weight is None else responsibility * weight
        counts = [np.bincount(column, share, n_columns + 1)[1:] for share in responsibility]
        return np.asarray(np.stack(counts).T, dtype=np.float64)
    return np.asarray(_matrix(answers, n_columns, weight).T @ responsibility.T)


def hard_counts(answers: Answers, true_label: Codes, weight: Floats | None, n_columns: int, n_classes: int) -> Floats:
    """How often each answer was given under each known true class; items of unknown truth are ignored.

    true_label  (n_items,) codes, MISSING where unknown
    weight      (n_items,) or None
    returns     (n_columns, n_classes)
    """
    column = answers.column
    if answers.start is not None:
        per_item = answers.per_item()
        true_label = np.repeat(true_label, per_item)
        weight = None if weight is None else np.repeat(weight, per_item)
    known = (column != MISSING) & (true_label != MISSING)
    if not known.all():
        column, true_label = column[known], true_label[known]
        weight = None if weight is None else weight[known]
    counts = np.bincount(column * n_classes + true_label, weight, n_columns * n_classes)
    return counts.astype(np.float64).reshape(n_columns, n_classes)


def as_crowd(answers: Answers, n_answers: int) -> Answers:
    """The same answers as if one annotator had given them all."""
    column = answers.column % n_answers
    if answers.start is None:
        column[answers.column == MISSING] = MISSING
    return Answers(column, answers.start)


def vote_shares(answers: Answers, n_classes: int) -> Floats:
    """Share of each class among an item's answers, (n_classes, n_items); uniform for an item without any."""
    there, per_item = answers.column != MISSING, answers.per_item()
    item, label = item_of_answers(answers)[there], answers.column[there] % n_classes
    votes = np.bincount(label * len(answers) + item, minlength=n_classes * len(answers)).reshape(n_classes, -1)
    return np.where(per_item > 0, votes / np.maximum(per_item, 1), 1.0 / n_classes)


def sum_by_item(answers: Answers, rows: Floats) -> Floats:
    """Sum over each item's answers of a column of numbers per answer; 0 for an item without any.

    rows     (n_classes, n_answers) for the answers that are not missing, in order
    returns  (n_classes, n_items)
    """
    start = answers.start
    if start is None:
        per_item = np.zeros((len(rows), len(answers)))
        per_item[:, answers.column != MISSING] = rows
        return per_item
    item = item_of_answers(answers)
    # Without any answer, bincount returns whole numbers.
    return np.stack([np.bincount(item, row, len(answers)) for row in rows]).astype(np.float64, copy=False)
