"""A table of labels by item: people's answers, long or wide, or the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes
from twoheads.observations.checks import as_confidence
from twoheads.observations.labels import is_missing, label_text
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.messages import located
from twoheads.tables.schema.coding import code_by
from twoheads.tables.schema.ids import as_text, blanks

_ROWS = 131_072


def kinds_of_labels(*tables: LabelTable | None) -> list[Any]:
    """The Arrow types of the columns of labels of some tables."""
    return [kind for table in tables if table for kind in table.kinds()]


class LabelTable:
    """Labels by item and person, read once in batches of numbers; the names gather beside them.

    Parameters
    ----------
    source : Source
        The table.
    item : str
        The column of ids.
    people : dict of str to str
        A column of labels by the name of the person; of a long table, the one column of labels by any name.
    annotator : str, optional
        The column that names the person, in a long table.
    sure : dict of str to str, optional
        A column of how sure they were, as ``people``.
    """

    def __init__(
        self,
        source: Source,
        item: str,
        people: dict[str, str],
        annotator: str | None = None,
        sure: dict[str, str] | None = None,
    ) -> None:
        self.source, self.item, self.annotator = source, item, annotator
        self._columns = people
        self.sure = sure or {}
        #: Each different person and label, by its text, with its number: that of its first row.
        self.people: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        #: How often each label stands there, and where first.
        self.times: list[int] = []
        self._first: list[int] = []
        self.n_rows = 0

    @staticmethod
    def schema() -> Any:
        """The columns of the batches."""
        numbers = [(name, pa.int64()) for name in ("person", "label", "row")]
        return pa.schema([("id", pa.string()), *numbers, ("sure", pa.float64())])

    @property
    def label_column(self) -> str:
        """The (first) column of labels."""
        return next(iter(self._columns.values()))

    @property
    def people_columns(self) -> dict[str, str]:
        """The columns of labels by the name of the person."""
        return self._columns

    def kinds(self) -> Sequence[Any]:
        """The Arrow types of the columns of labels; none where the file has no types."""
        return self.source.kinds_of(self._columns.values())

    def first_row(self, label: int) -> int:
        """The row in which the label of this number stands first, from 0."""
        return self._first[label]

    def batches(self) -> Iterator[Any]:
        """Record batches (id, person, label, row, sure)."""
        columns = tuple(self._columns.values())
        labels = (*columns, *([self.annotator] if self.annotator else []))
        # A name or a class may be "NA": what says nothing is decided once all classes are known.
        wanted = Wanted(item=self.item, labels=labels, numbers=tuple(self.sure.values()), nothing=())
        for batch in self.source.batches(wanted, _ROWS):
            n_rows = len(batch)
            ids = batch.column(0)
            self._refuse_blank(ids, self.item, "item")
            text, rows = as_text(ids), np.arange(self.n_rows, self.n_rows + n_rows)
            for name, column in self._columns.items():
                person = np.full(n_rows, self._number(self.people, name)) if not self.annotator else self._people(batch)
                numbers = map(pa.array, (person, self._labels(batch.column(column)), rows))
                sure = self._confidence(batch, name)
                yield pa.RecordBatch.from_arrays([text, *numbers, sure], schema=self.schema())
            self.n_rows += n_rows
        if self.n_rows == 0:
            raise self.source.need_rows()

    def _people(self, batch: Any) -> Codes:
        assert self.annotator
        names = batch.column(self.annotator)
        person = code_by([names], lambda name: -1 if is_missing(name) else self._number(self.people, label_text(name)))
        if (person < 0).any():
            self._refuse_blank(names, self.annotator, "person", int((person < 0).argmax()))
        return person

    def _confidence(self, batch: Any, name: str) -> Any:
        if name not in self.sure:
            return pa.nulls(len(batch), pa.float64())
        column = self.sure[name]
        numbers = batch.column(column).to_numpy(zero_copy_only=False)
        with located(lambda row: self.source.where(self.n_rows + row), lambda n_off: f"{n_off:,} rows are off"):
            return pa.array(as_confidence(numbers, f"column {column!r}"), from_pandas=True)

    def _labels(self, column: Any) -> Codes:
        numbers = code_by([column], lambda label: self._number(self.labels, "" if label is None else label_text(label)))
        counts = np.bincount(numbers, minlength=len(self.labels))
        new = range(len(self._first), len(self.labels))
        self._first += [self.n_rows + int((numbers == number).argmax()) for number in new]
        self.times += [0] * len(new)
        self.times = [before + int(more) for before, more in zip(self.times, counts, strict=True)]
        return numbers

    def _refuse_blank(self, names: Any, column: str, what: str, row: int | None = None) -> None:
        if row is None:
            blank = blanks(names)
            if not blank.any():
                return
            row = int(blank.argmax())
        raise InvalidObservations(
            f"column {column!r} must name the {what} in every row; {self.source.where(self.n_rows + row)} is blank. "
            "Name it, or drop the row."
        )

    @staticmethod
    def _number(known: dict[str, int], name: str) -> int:
        return known.setdefault(name, len(known))
