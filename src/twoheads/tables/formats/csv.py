"""CSV and its relatives, read by DuckDB with a dialect detected in the first rows."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import connected, lacks_room, pa, quoted, reading_errors
from twoheads.tables.formats.csv_errors import explain_csv, not_utf8
from twoheads.tables.formats.data_file import NO_VALUE, DataFile, Span, TableWriter, Wanted, is_number
from twoheads.tables.formats.detect import first_line, head_of
from twoheads.tables.formats.registry import compression_of, suffixes

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 50
_DECIMAL_COMMA = re.compile(r"-?\d*,\d+([eE][-+]?\d+)?")

#: Memory for reading a file in order: without a limit DuckDB reads far ahead of the rows that are taken.
#: Each thread also holds a few rows of every column.
STREAM_MEMORY = 100 << 20
_COLUMN_MEMORY = 64 << 10
_THREADS = 4
_BUFFER = 8 << 20


@dataclass(frozen=True)
class Dialect:
    """How a text is split into rows and columns."""

    separator: str
    columns: tuple[str, ...]
    decimal: str = "."
    has_words: bool = False


class CsvFile(DataFile):
    """A text with a row of column names and one row per item; every value is text until it is read as a number."""

    typed = False

    def __init__(self, path: Path) -> None:
        self._dialect = find_dialect(path)
        # Whether words such as NA appear among numbers: to look for them takes time, and an id may be one of them.
        self._has_words = self._dialect.has_words
        self.decimal = self._dialect.decimal
        super().__init__(path)

    def _read_columns(self) -> tuple[str, ...]:
        return self._dialect.columns

    def type_of(self, column: str) -> Any:
        """Text."""
        return pa.string()

    def count(self) -> int:
        """The number of rows, by reading them."""
        with self._connected() as connection:
            try:
                return int(connection.sql(f"SELECT count(*) FROM {self._source(Wanted())}").fetchall()[0][0])
            except reading_errors() as error:
                raise self._explained(error, Wanted()) or self._unexplained(error) from None

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Batches in the order of the file.

        If a word that means "no value" turns up among numbers, the file is read again from the row it has reached.
        """
        number = {name: at for at, name in enumerate(self.columns)}
        chosen = ", ".join(f"c{number[name]}" for name in wanted.columns)
        n_read = 0
        while True:
            with self._connected() as connection:
                try:
                    batches = connection.sql(f"SELECT {chosen} FROM {self._source(wanted)}").to_arrow_reader(rows)
                    for batch in _after(batches, n_read):
                        n_read += len(batch)
                        yield batch.rename_columns(wanted.columns)
                    return
                except reading_errors() as error:
                    explained = self._explained(error, wanted)
                    if explained is not None or self._has_words:
                        raise explained or self._unexplained(error) from None
            self._has_words = True

    def _explained(self, error: Exception, wanted: Wanted) -> InvalidObservations | None:
        """What is wrong with the file, as a sentence, if a second look finds it; a lack of memory is raised as is."""
        if lacks_room(error):
            raise error
        return explain_csv(self.path, self._dialect.separator, self._dialect.decimal, self.columns, wanted)

    def _connected(self) -> Any:
        threads = min(_THREADS, os.cpu_count() or 1)
        return connected(f"{STREAM_MEMORY + threads * len(self.columns) * _COLUMN_MEMORY}B", threads=threads)

    def _source(self, wanted: Wanted) -> str:
        # Columns are called c0, c1, ...: DuckDB is case-insensitive, and p_A and p_a would be one name.
        numbers = set(wanted.numbers)
        types = ", ".join(
            f"c{at}: '{'DOUBLE' if name in numbers else 'VARCHAR'}'" for at, name in enumerate(self.columns)
        )
        nothing = ", ".join(map(quoted, ("", *(wanted.nothing if self._has_words else ()))))
        compression = compression_of(self.path.name) or "none"
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


class CsvWriter(TableWriter):
    """Writes texts without quotation marks, as they are easiest to read, except in batches that need them."""

    separator = ","

    def __init__(self, file: Any, schema: Any) -> None:
        from pyarrow.csv import WriteOptions, write_csv

        self._write, self._file = write_csv, file
        self._options = [
            WriteOptions(include_header=False, delimiter=self.separator, quoting_style=style)
            for style in ("none", "needed")
        ]
        header = io.StringIO()
        csv.writer(header, delimiter=self.separator, lineterminator="\n").writerow(schema.names)
        file.write(header.getvalue().encode())

    def write(self, batch: Any) -> None:
        """Write one line per row."""
        plain = pa.RecordBatch.from_arrays([_plain(column) for column in batch.columns], names=batch.schema.names)
        for options in self._options:
            text = pa.BufferOutputStream()
            try:
                self._write(plain, text, options)
            except pa.ArrowInvalid:  # a value holds a separator, a quotation mark or the end of a line
                continue
            self._file.write(text.getvalue())
            return
        raise AssertionError("quoted values can always be written")


class TsvWriter(CsvWriter):
    """Writes columns separated by tabs."""

    separator = "\t"


def _plain(column: Any) -> Any:
    """A column without its dictionary, which Arrow does not write as CSV."""
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def literal(path: Path) -> str:
    """A path with characters escaped that DuckDB would read as a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _after(batches: Iterable[Any], n_read: int) -> Iterator[Any]:
    """Batches without the first ``n_read`` rows."""
    for batch in batches:
        if n_read < len(batch):
            yield batch.slice(n_read)
        n_read = max(0, n_read - len(batch))


def find_dialect(path: Path) -> Dialect:
    """The dialect of a CSV, from its first rows."""
    text = _first_text(path)
    preferred = "\t" if suffixes(path.name)[0] in (".tsv", ".tab") else ","
    separator, rows = _separated(text, preferred)
    header, values = rows[0], [value for row in rows[1:] for value in row]
    if len(header) > 1 and all(is_number(name) for name in header):
        raise InvalidObservations(
            f"{path} must begin with a line of column names; its first line holds only numbers "
            f"({header[0]}, {header[1]}, ...). Put names above it: item, human, p_<class>, truth."
        )
    names = tuple(name.strip() or f"column {at}" for at, name in enumerate(header, 1))
    return Dialect(separator, names, _decimal_mark(values, separator), any(value in NO_VALUE for value in values))


def _first_text(path: Path) -> str:
    """The whole lines at the beginning of a file."""
    head, is_all = head_of(path)
    if not is_all:
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, head.count(b"\n", 0, error.start), head) from None


def _separated(text: str, preferred: str) -> tuple[str, list[list[str]]]:
    """The separator that gives the first rows the same number of columns, and the most of them; and those rows."""
    candidates = [(sep, _first_rows(text, sep)) for sep in sorted(_SEPARATORS, key=lambda sep: sep != preferred)]
    return max(candidates, key=lambda candidate: _regularity(candidate[1]))


def _regularity(rows: list[list[str]]) -> tuple[bool, int]:
    n_columns = len(rows[0])
    return n_columns > 1 and len({len(row) for row in rows}) == 1, n_columns


def _decimal_mark(values: list[str], separator: str) -> str:
    """A comma if numbers have decimal commas and none has a point."""
    if separator == "," or not any(_DECIMAL_COMMA.fullmatch(value.strip()) for value in values):
        return "."
    has_point = any("." in value and value.strip().replace(".", "", 1).isdigit() for value in values)
    return "." if has_point else ","


def _first_rows(text: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == _SAMPLE:
                break
    except csv.Error:  # an unbalanced quotation mark: reading all rows finds it
        pass
    return rows or [[text.partition("\n")[0].strip()]]
