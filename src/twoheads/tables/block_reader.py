"""One pass over a table: Arrow batches in, checked observations and truth out, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations
from twoheads.observations.builders import AnswerFields, wide_answers
from twoheads.observations.checks import as_confidence
from twoheads.observations.members import read_scores
from twoheads.observations.two_classes import both_columns
from twoheads.tables.content import Content
from twoheads.tables.duckdb import BATCH_ROWS, pa
from twoheads.tables.formats.data_file import Span, Wanted
from twoheads.tables.rows import Rows, gathered, joined_answers, normalised, rows_of, stacked, with_machines
from twoheads.tables.schema.coding import UNKNOWN, UNSURE, Coder, labels_of
from twoheads.tables.schema.ids import IdCheck, as_items
from twoheads.tables.schema.row_names import TABLE_TERMS, TableRows, located
from twoheads.tables.schema.unknown_labels import not_a_class


class BlockReader:
    """Reads a table once, in blocks of consecutive items.

    Parameters
    ----------
    content : Content
        The table.
    items, truth : bool
        Whether ids and the truth are read.
    span : (int, int), optional
        The first row and the end of those to read; all by default.
    """

    def __init__(self, content: Content, *, items: bool, truth: bool, span: Span | None) -> None:
        self.content, self._span = content, span
        roles = content.roles
        self._truth_column = roles.truth if truth and not content.joins_truth else None
        labels = (*roles.answers.values(), *([self._truth_column] if self._truth_column else []))
        numbers = (*roles.numbers, *roles.confidence.values(), *roles.members.scores.values())
        self._wanted = Wanted(roles.item if items else None, labels, numbers, content.coder.nothing)
        self._reads_ids = items and content.has_ids
        self._model_columns = roles.columns_of(content.classes)
        self._id_check = self._new_id_check()
        join = content.join
        self._answered = join.answered() if join and content.joins_answers else None
        self._unsure = join.unsure() if join and content.joins_answers else None
        self._truths = join.truths() if join and content.joins_truth and truth else None
        #: How many answers of the table itself were "unsure" so far.
        self.n_unsure = 0
        #: How often each label was matched to a class apart from case and blanks so far.
        self.loose: Counter[str] = Counter()

    def _new_id_check(self) -> IdCheck | None:
        """A check for repeated ids; joining does its own, and the ids of a span do not show those of others."""
        source = self.content.source
        if self.content.join or self._span or not source or not self._wanted.item:
            return None
        return IdCheck(source, self._wanted.item)

    def blocks(self, rows: int) -> Iterator[tuple[Observations, NDArray[Any] | None]]:
        """Blocks of so many items: the observations, and the truth as labels, or None."""
        start = self._span[0] if self._span else 0
        batches = self.content.batches(self._wanted, min(rows, BATCH_ROWS), self._span)
        for block in gathered(batches, rows):
            yield self._observations(block, start), self._truth(block, start)
            start += len(block)
        if self._id_check:
            self._id_check.finish()
        if start == 0 and not self._span:
            raise self._no_rows()

    def _no_rows(self) -> InvalidObservations:
        content = self.content
        source = content.source or (content.join and content.join.answers and content.join.answers.source)
        assert source
        return source.need_rows()

    def _observations(self, block: Rows, start: int) -> Observations:
        content, end = self.content, start + len(block)
        names = self._row_names(start)
        items = self._items(block, start)
        members = content.roles.members
        answers = self._wide_answers(block, names) if content.roles.answers or not self._answered else None
        if self._answered:
            joined = joined_answers(self._answered, self._unsure, start, end)
            n_joined = len(content.annotators) - len(content.roles.answers)
            answers = with_machines(joined, answers, n_joined, len(content.classes)) if answers else joined
        assert answers is not None
        with located(names):
            proba = tuple(self._model_rows(block, columns) for columns in self._model_columns)
            observations = Observations.checked(
                classes=content.classes,
                model_proba=tuple(map(normalised, proba)) if content.normalise else proba,
                annotators=content.annotators or (() if members else ("human",)),
                items=items,
                has_ids=self._reads_ids,
                models=tuple(content.roles.models),
                machines=tuple(members.labels),
                scores=read_scores(
                    members, lambda column: stacked(block, [column])[:, 0], content.classes, content.positive
                ),
                model_scale=content.model_scale,
                terms=TABLE_TERMS,
                **answers,
            )
        if not self._answered and observations.unsure is not None:
            self.n_unsure += int(observations.unsure.per_item().sum())
        return observations

    def _model_rows(self, block: Rows, columns: list[str]) -> NDArray[Any]:
        """A model's numbers, a column per class; of two classes one is enough."""
        content = self.content
        numbers = stacked(block, columns)
        if len(columns) > 1 or len(content.classes) < 2:
            return numbers
        second = content.roles.columns_of(content.classes[1:2])
        return both_columns(numbers, columns in second, content.model_scale, columns[0])

    def _items(self, block: Rows, start: int) -> NDArray[Any]:
        """The ids of a block, checked; row numbers from 1 if there are none."""
        if not self._reads_ids:
            return np.arange(start + 1, start + len(block) + 1)
        ids = pa.chunked_array(block.ids())
        if self._id_check:
            self._id_check.look(ids, start)
        return as_items(ids)

    def _truth(self, block: Rows, start: int) -> NDArray[Any] | None:
        if self._truth_column:
            codes = self._codes(block, self._truth_column, self.content.truth_coder, self._row_names(start))
        elif self._truths:
            end = start + len(block)
            item, code = self._truths.until(end)
            codes = rows_of(item, code, start, end)
        else:
            return None
        return labels_of(codes, self.content.classes)

    def _wide_answers(self, block: Rows, names: TableRows) -> AnswerFields:
        """The answers in a block, from a column per annotator."""
        roles, coder = self.content.roles, self.content.coder
        codes = [self._codes(block, column, coder, names) for column in roles.answers.values()]
        unsure = [_mask_or_none(each == UNSURE) for each in codes]
        codes = [
            each if mask is None else np.where(mask, MISSING, each) for each, mask in zip(codes, unsure, strict=True)
        ]
        confidence = [self._confidence(block, roles.confidence.get(name), names) for name in roles.answers]
        return wide_answers(codes, unsure, confidence, len(self.content.classes), len(block))

    @staticmethod
    def _confidence(block: Rows, column: str | None, names: TableRows) -> Floats | None:
        if column is None:
            return None
        with located(names):
            return as_confidence(stacked(block, [column])[:, 0], f"column {column!r}")

    def _codes(self, block: Rows, column: str, coder: Coder, names: TableRows) -> Codes:
        codes = coder.codes(block.column(column))
        self.loose += coder.loose_labels(block.column(column))
        unknown = codes == UNKNOWN
        if unknown.any():
            row = int(unknown.argmax())
            off = coder.unknown_labels(block.column(column))
            problem = not_a_class(column, block.value(column, row), row, off, len(codes), coder.names)
            raise InvalidObservations(problem, names)
        return codes

    def _row_names(self, start: int) -> TableRows:
        return TableRows(self.content.source, start, self.content)


def _mask_or_none(mask: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return mask if mask.any() else None
