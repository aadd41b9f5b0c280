"""CSV and its relatives, read by DuckDB with a dialect that is found in the first rows."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import connected, lacks_room, pa, quoted
from twoheads.tables.formats.csv_errors import explain_csv, not_utf8
from twoheads.tables.formats.data_file import NO_VALUE, DataFile, Wanted, is_number
from twoheads.tables.formats.detect import COMPRESSIONS, first_line, head_of, suffixes

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 50
_DECIMAL_COMMA = re.compile(r"-?\d*,\d+([eE][-+]?\d+)?")

#: What reading a file in order may hold in memory: left to itself, DuckDB runs far ahead of whoever takes the rows.
#: Each thread also holds some rows of every column.
STREAM_MEMORY = 100 << 20
_COLUMN_MEMORY = 64 << 10
_THREADS = 4
_BUFFER = 8 << 20


@dataclass(frozen=True)
class Dialect:
    """How a text is cut into rows and columns."""

    separator: str
    columns: tuple[str, ...]
    decimal: str = "."
    has_words: bool = False


class CsvFile(DataFile):
    """A text with a row of column names and one row per item; every value is text until it is wanted as a number."""

    typed = False

    def __init__(self, path: Path) -> None:
        self._dialect = find_dialect(path)
        # Whether words such as NA stand for numbers: looking for them takes time, and an id may be one of them.
        self._has_words = self._dialect.has_words
        super().__init__(path)

    def _read_columns(self) -> tuple[str, ...]:
        return self._dialect.columns

    def type_of(self, column: str) -> Any:
        """Text."""
        return pa.string()

    def count(self) -> int:
        """How many rows there are, by reading them."""
        with self._connected() as connection:
            try:
                return int(connection.sql(f"SELECT count(*) FROM {self._source(Wanted())}").fetchall()[0][0])
            except _errors() as error:
                if lacks_room(error):
                    raise
                dialect = self._dialect
                trouble = explain_csv(self.path, dialect.separator, dialect.decimal, self.columns, Wanted())
                raise trouble or self._unexplained(error) from None

    def batches(self, wanted: Wanted, rows: int) -> Iterator[Any]:
        """Batches in the order of the file."""
        place = {name: at for at, name in enumerate(self.columns)}
        names = wanted.columns
        chosen = ", ".join(f"c{place[name]}" for name in names)
        n_read = 0
        while True:
            with self._connected() as connection:
                try:
                    skip = n_read
                    for batch in connection.sql(f"SELECT {chosen} FROM {self._source(wanted)}").to_arrow_reader(rows):
                        if skip < len(batch):
                            n_read += len(batch) - skip
                            yield batch.slice(skip).rename_columns(names)
                        skip = max(0, skip - len(batch))
                    return
                except _errors() as error:
                    if lacks_room(error):
                        raise
                    trouble = explain_csv(
                        self.path, self._dialect.separator, self._dialect.decimal, self.columns, wanted
                    )
                    if trouble is not None or self._has_words:
                        raise trouble or self._unexplained(error) from None
            self._has_words = True

    def _connected(self) -> Any:
        threads = min(_THREADS, os.cpu_count() or 1)
        return connected(f"{STREAM_MEMORY + threads * len(self.columns) * _COLUMN_MEMORY}B", threads=threads)

    def _source(self, wanted: Wanted) -> str:
        # Columns are called c0, c1, ...: DuckDB holds p_A and p_a for one name.
        numbers = set(wanted.numbers)
        types = ", ".join(
            f"c{at}: '{'DOUBLE' if name in numbers else 'VARCHAR'}'" for at, name in enumerate(self.columns)
        )
        nothing = ", ".join(map(quoted, ("", *(wanted.nothing if self._has_words else ()))))
        compression = COMPRESSIONS.get(suffixes(self.path.name)[1], "none")
        return (
            f"read_csv({quoted(literal(self.path))}, auto_detect = false, header = true, columns = {{{types}}}, "
            f"delim = {quoted(self._dialect.separator)}, quote = '\"', escape = '\"', nullstr = [{nothing}], "
            f"decimal_separator = {quoted(self._dialect.decimal)}, compression = {quoted(compression)}, "
            f"buffer_size = {_BUFFER})"
        )

    def _unexplained(self, error: Exception) -> InvalidObservations:
        return InvalidObservations(
            f"{self.path} cannot be read as CSV ({first_line(error)}). Save it again as plain CSV in UTF-8."
        )


def literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def find_dialect(path: Path) -> Dialect:
    """The separator under which the first rows have the same number of columns, and the most of them."""
    head, whole = head_of(path)
    if not whole:
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, head.count(b"\n", 0, error.start), head) from None
    best: tuple[tuple[bool, int], str, list[list[str]]] | None = None
    first = "\t" if suffixes(path.name)[0] in (".tsv", ".tab") else ","
    for separator in sorted(_SEPARATORS, key=lambda some: some != first):
        rows = _first_rows(text, separator)
        same = len({len(row) for row in rows}) == 1 or len(rows[0]) == 1
        score = (same and len(rows[0]) > 1, len(rows[0]))
        if best is None or score > best[0]:
            best = score, separator, rows
    assert best is not None
    _, separator, rows = best
    if len(rows[0]) > 1 and all(is_number(name) for name in rows[0]):
        raise InvalidObservations(
            f"{path} must begin with a line of column names; its first line holds only numbers "
            f"({rows[0][0]}, {rows[0][1]}, ...). Put names above it: item, human, p_<class>, truth."
        )
    names = [name.strip() or f"column {at}" for at, name in enumerate(rows[0], 1)]
    comma = separator != "," and any(_DECIMAL_COMMA.fullmatch(value.strip()) for row in rows[1:] for value in row)
    point = any("." in value and value.strip().replace(".", "", 1).isdigit() for row in rows[1:] for value in row)
    words = any(value in NO_VALUE for row in rows[1:] for value in row)
    return Dialect(separator, tuple(names), "," if comma and not point else ".", words)


def _first_rows(text: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == _SAMPLE:
                break
    except csv.Error:  # an unbalanced quotation mark: reading the rows says where
        pass
    return rows or [[text.partition("\n")[0].strip()]]


def _errors() -> tuple[type[Exception], ...]:
    import duckdb

    return duckdb.Error, pa.ArrowException, OSError
