"""A source: the files of one table, as one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.csv import CsvFile
from twoheads.tables.formats.data_file import DataFile, Wanted
from twoheads.tables.formats.detect import find_files, format_of
from twoheads.tables.formats.json import JsonFile
from twoheads.tables.formats.parquet import ParquetFile

_READERS: dict[str, type[DataFile]] = {"csv": CsvFile, "json": JsonFile, "parquet": ParquetFile}


class Source:
    """The rows of one or several files with the same columns, one after the other.

    Parameters
    ----------
    path : str or path
        A file, a folder or a pattern.
    argument : str
        What the table is called in messages.
    """

    def __init__(self, path: str | os.PathLike[str], argument: str) -> None:
        self.name, self.argument = os.fspath(path), argument
        self.files = [_READERS[format_of(file)](file) for file in find_files(path, argument)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the first file."""
        return self.files[0].columns

    @property
    def typed(self) -> bool:
        """Whether columns have types of their own; in CSV they have not."""
        return self.files[0].typed

    def kinds_of(self, columns: Iterable[str]) -> list[Any]:
        """The Arrow types of some columns in each file; none where files have no types."""
        return [file.type_of(name) for name in columns for file in self.files] if self.typed else []

    def type_of(self, column: str) -> Any:
        """The Arrow type of a column; text where files differ."""
        kinds = {file.type_of(column) for file in self.files}
        return kinds.pop() if len(kinds) == 1 else pa.string()

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are: as Parquet says, else by counting."""
        return sum(file.count() for file in self.files)

    def batches(self, wanted: Wanted, rows: int, span: tuple[int, int] | None = None) -> Iterator[Any]:
        """Record batches in the order of the files and of their rows; of one of `spans`, or of all rows."""
        if span is None:
            for file in self.files:
                yield from file.batches(wanted, rows)
            return
        start = 0
        for file in self.files:
            first, end = (min(max(row - start, 0), file.count()) for row in span)
            if first < end:
                yield from file.batches(wanted, rows, (first, end))  # type: ignore[call-arg]
            start += file.count()

    @property
    def can_be_cut(self) -> bool:
        """Whether pieces of the files can be read without what stands before them."""
        return all(isinstance(file, ParquetFile) for file in self.files)

    def spans(self, rows: int) -> list[tuple[int, int]]:
        """First row and end of pieces of about so many rows, each of them whole row groups."""
        groups = [n for file in self.files for n in file.groups() if n]  # type: ignore[attr-defined]
        cuts = [0]
        for end in accumulate(groups):
            if end - cuts[-1] >= rows:
                cuts.append(end)
        if cuts[-1] < self.n_rows:
            cuts.append(self.n_rows)
        return list(pairwise(cuts))

    def where(self, row: int) -> str:
        """Where the row with this number, counted from 0 over all files, stands: ``row 3 of scores.csv``."""
        for file in self.files[:-1]:
            n_rows = file.count()
            if row < n_rows:
                return f"row {row + 1} of {file.path}"
            row -= n_rows
        return f"row {row + 1} of {self.files[-1].path}"

    def need_rows(self) -> InvalidObservations:
        """What to say of a table without any row."""
        return InvalidObservations(
            f"{self.name} must have at least one row; it has column names and no row below them."
        )
