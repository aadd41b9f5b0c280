"""A table of labels by item: annotators' answers, long or wide, or the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes
from twoheads.observations.checks import as_confidence
from twoheads.observations.labels import label_text
from twoheads.tables.duckdb import BATCH_ROWS, pa
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.schema.coding import UNKNOWN, Coder, code_by
from twoheads.tables.schema.ids import as_text, numbered_names, refuse_blanks
from twoheads.tables.schema.plan import LabelColumns
from twoheads.tables.schema.row_names import TableRows, located
from twoheads.tables.schema.unknown_labels import not_a_class


def kinds_of_labels(*tables: LabelTable | None) -> list[Any]:
    """The Arrow types of the columns of labels of tables."""
    return [kind for table in tables if table for kind in table.kinds()]


class LabelTable:
    """Labels by item and annotator, read once in batches of numbers; the names are collected beside them.

    Parameters
    ----------
    source : Source
        The table.
    columns : LabelColumns
        Its columns.
    """

    def __init__(self, source: Source, columns: LabelColumns) -> None:
        self.source, self.columns = source, columns
        #: Each distinct annotator and label, by its text, with its number, in the order of first rows.
        self.annotators: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        #: How often each label occurs, and in which row first.
        self.times: list[int] = []
        self._first: list[int] = []
        self.n_rows = 0

    @staticmethod
    def schema() -> Any:
        """The columns of the batches."""
        numbers = [(name, pa.int64()) for name in ("annotator", "label", "row")]
        return pa.schema([("id", pa.string()), *numbers, ("sure", pa.float64())])

    @property
    def label_column(self) -> str:
        """The (first) column of labels."""
        return next(iter(self.columns.labels.values()))

    def kinds(self) -> Sequence[Any]:
        """The Arrow types of the columns of labels; none if the file has no types."""
        return self.source.kinds_of(self.columns.labels.values())

    def batches(self) -> Iterator[Any]:
        """Record batches (id, annotator, label, row, sure)."""
        for batch in self.source.batches(self._wanted(), BATCH_ROWS):
            ids = batch.column(0)
            refuse_blanks(self.source, self.columns.item, ids, self.n_rows)
            text, rows = as_text(ids), np.arange(self.n_rows, self.n_rows + len(batch))
            for name, column in self.columns.labels.items():
                numbers = map(pa.array, (self._annotators(batch, name), self._labels(batch.column(column)), rows))
                sure = self._confidence(batch, name)
                yield pa.RecordBatch.from_arrays([text, *numbers, sure], schema=self.schema())
            self.n_rows += len(batch)
        if self.n_rows == 0:
            raise self.source.need_rows()

    def refuse_unknown(self, codes: Sequence[int], classes: Sequence[str]) -> None:
        """Refuse labels that are not classes; ``codes`` are those of `labels`, in their order."""
        if UNKNOWN not in codes:
            return
        labels, first = list(self.labels), list(codes).index(UNKNOWN)
        off = {labels[at]: self.times[at] for at, code in enumerate(codes) if code == UNKNOWN}
        problem = not_a_class(self.label_column, labels[first], self._first[first], off, self.n_rows, classes)
        raise InvalidObservations(problem, TableRows(self.source, whole=self))

    def loose_labels(self, coder: Coder) -> Counter[str]:
        """How often each label occurs that a coder matches only loosely."""
        return Counter({label: self.times[at] for label, at in self.labels.items() if coder.matches_loosely(label)})

    def _wanted(self) -> Wanted:
        """The columns; a name or a class may be "NA", so that no text means "no value" until classes are known."""
        columns = self.columns
        labels = (*columns.labels.values(), *([columns.annotator] if columns.annotator else []))
        return Wanted(item=columns.item, labels=labels, numbers=tuple(columns.confidence.values()), nothing=())

    def _annotators(self, batch: Any, name: str) -> Codes:
        """The number of each row's annotator: the one that a column names, or the one whose column of labels it is."""
        column = self.columns.annotator
        if not column:
            return np.full(len(batch), self._number(self.annotators, name))
        return numbered_names(self.source, column, batch.column(column), self.annotators, self.n_rows, "person")

    def _confidence(self, batch: Any, name: str) -> Any:
        column = self.columns.confidence.get(name)
        if column is None:
            return pa.nulls(len(batch), pa.float64())
        numbers = batch.column(column).to_numpy(zero_copy_only=False)
        with located(TableRows(self.source, self.n_rows)):
            return pa.array(as_confidence(numbers, f"column {column!r}"), from_pandas=True)

    def _labels(self, column: Any) -> Codes:
        numbers = code_by([column], lambda label: self._number(self.labels, "" if label is None else label_text(label)))
        counts = np.bincount(numbers, minlength=len(self.labels))
        new = range(len(self._first), len(self.labels))
        self._first += [self.n_rows + int((numbers == number).argmax()) for number in new]
        self.times += [0] * len(new)
        self.times = [before + int(more) for before, more in zip(self.times, counts, strict=True)]
        return numbers

    @staticmethod
    def _number(known: dict[str, int], name: str) -> int:
        return known.setdefault(name, len(known))
