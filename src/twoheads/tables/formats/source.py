"""A source: the files of one table, read as one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.data_file import DataFile, Span, Wanted
from twoheads.tables.formats.detect import find_files
from twoheads.tables.formats.opening import AS_IT_IS, Reading, open_file


class Source:
    """The rows of one or several files with the same columns, one after the other.

    Parameters
    ----------
    name : str
        The path, folder or pattern, for messages.
    files : sequence of DataFile
        At least one.
    """

    def __init__(self, name: str, files: Sequence[DataFile]) -> None:
        self.name, self.files = name, list(files)

    @classmethod
    def open(cls, path: str | os.PathLike[str], argument: str, how: Reading = AS_IT_IS) -> Source:
        """The files that a path, a folder or a pattern names; ``argument`` is what messages call it."""
        return cls(os.fspath(path), [open_file(file, how) for file in find_files(path, argument)])

    @property
    def notes(self) -> list[str]:
        """What was changed or left out in reading."""
        return [note for file in self.files for note in file.notes]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the first file."""
        return self.files[0].columns

    @property
    def typed(self) -> bool:
        """Whether columns have types of their own; those of CSV do not."""
        return self.files[0].typed

    @property
    def decimal(self) -> str:
        """The mark before decimals in texts; a point if files differ."""
        marks = {file.decimal for file in self.files}
        return marks.pop() if len(marks) == 1 else "."

    def kinds_of(self, columns: Iterable[str]) -> list[Any]:
        """The Arrow types of columns in each file; none if files have no types."""
        return [file.type_of(name) for name in columns for file in self.files] if self.typed else []

    def type_of(self, column: str) -> Any:
        """The Arrow type of a column; text if files differ."""
        kinds = {file.type_of(column) for file in self.files}
        return kinds.pop() if len(kinds) == 1 else pa.string()

    @cached_property
    def n_rows(self) -> int:
        """The number of rows: from the metadata of Parquet, else by counting."""
        return sum(file.count() for file in self.files)

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Record batches in the order of the files and of their rows; of one of `spans`, or of all rows."""
        if span is None:
            for file in self.files:
                yield from file.batches(wanted, rows)
            return
        start = 0
        for file in self.files:
            first, end = (min(max(row - start, 0), file.count()) for row in span)
            if first < end:
                yield from file.batches(wanted, rows, (first, end))
            start += file.count()

    def row_groups(self) -> list[int] | None:
        """The number of rows of each piece of each file that can be read by itself; None if any file has none."""
        groups: list[int] = []
        for file in self.files:
            own = file.row_groups()
            if own is None:
                return None
            groups += [n for n in own if n]
        return groups

    def spans(self, rows: int) -> list[Span]:
        """First row and end of pieces of about so many rows, each of them whole row groups."""
        cuts = [0]
        for end in accumulate(self.row_groups() or []):
            if end - cuts[-1] >= rows:
                cuts.append(end)
        if cuts[-1] < self.n_rows:
            cuts.append(self.n_rows)
        return list(pairwise(cuts))

    def where(self, row: int) -> str:
        """The row with this number, counted from 0 over all files, for messages: ``row 3 of scores.csv``."""
        for file in self.files[:-1]:
            n_rows = file.count()
            if row < n_rows:
                return f"row {row + 1} of {file.path}"
            row -= n_rows
        return f"row {row + 1} of {self.files[-1].path}"

    def need_rows(self) -> InvalidObservations:
        """The error for a table without any row."""
        return InvalidObservations(
            f"{self.name} must have at least one row; it has column names and no row below them."
        )
