"""What is wrong with a CSV that could not be read: a slow second pass that finds the row and counts."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator
from pathlib import Path

from twoheads.errors import InvalidObservations
from twoheads.tables.formats.data_file import Wanted, is_number, not_a_number
from twoheads.tables.formats.detect import lines_of, open_bytes, unreadable


class _NotUtf8(Exception):
    """A line that is not UTF-8."""


def explain_csv(
    path: Path, separator: str, decimal: str, columns: tuple[str, ...], wanted: Wanted
) -> InvalidObservations | None:
    """The first error as a sentence: encoding, quotation marks, numbers of columns, texts in columns of numbers.

    Rows are counted from 1, the first below the column names.
    """
    lines, rows = _Lines(path), _Rows(columns, wanted, decimal)
    try:
        records = csv.reader(lines, delimiter=separator, strict=True)
        next(records)
        for values in filter(None, records):
            rows.look(values)
    except _NotUtf8:
        return not_utf8(path, rows.n_rows + 1 if lines.number > 1 else 0, lines.line)
    except (csv.Error, StopIteration) as error:
        if "field larger than field limit" in str(error):
            return _long_value(path, rows.n_rows + 1)
        return InvalidObservations(
            f"{path} must close every quotation mark; one that begins in row {rows.n_rows + 1} is not closed, or has "
            'text right after it. Write a quotation mark inside a value twice ("").'
        )
    except (OSError, EOFError, ValueError, zlib.error) as error:
        return unreadable(str(path), error)
    if rows.ragged:
        row, n_columns = rows.ragged
        return InvalidObservations(
            f"every row of {path} must have {len(columns)} columns, like its first line; row {row} has "
            f"{n_columns} ({rows.n_ragged:,} of {rows.n_rows:,} rows are off). "
            f"Put values that hold {separator!r} in quotation marks."
        )
    if rows.text:
        column, row, value = rows.text
        if decimal != "." and "." in value:
            return InvalidObservations(
                f"column {column!r} must have decimal commas in every row, as the first rows of {path} do; row {row} "
                f"has {value!r} ({rows.n_texts:,} of {rows.n_rows:,} rows are off). Write all numbers alike."
            )
        return not_a_number(column, row, path, value, rows.n_texts, rows.n_rows)
    if lines.ends_differ:
        return InvalidObservations(
            f"{path} must end all its lines alike; some end in CR LF and some in LF. Save it again with one of them."
        )
    return None


class _Rows:
    """The rows so far: the first with another number of columns, and the first text in a column of numbers."""

    def __init__(self, columns: tuple[str, ...], wanted: Wanted, decimal: str) -> None:
        self._n_columns, self._decimal, self._nothing = len(columns), decimal, {"", *wanted.nothing}
        self._numbers = [(columns.index(name), name) for name in wanted.numbers]
        self.n_rows, self.n_ragged, self.n_texts = 0, 0, 0
        self.ragged: tuple[int, int] | None = None
        self.text: tuple[str, int, str] | None = None

    def look(self, values: list[str]) -> None:
        """Look at the next row."""
        self.n_rows += 1
        if len(values) != self._n_columns:
            self.n_ragged += 1
            self.ragged = self.ragged or (self.n_rows, len(values))
            return
        off = next(((at, name) for at, name in self._numbers if not self._is_entry(values[at])), None)
        if off:
            self.n_texts += 1
            self.text = self.text or (off[1], self.n_rows, values[off[0]])

    def _is_entry(self, value: str) -> bool:
        if value in self._nothing:
            return True
        if self._decimal == ".":
            return is_number(value)
        return "." not in value and is_number(value.replace(self._decimal, "."))


def _long_value(path: Path, row: int) -> InvalidObservations:
    where = f"row {row}" if row else "the line of its column names"
    return InvalidObservations(
        f"{path} must have values of at most {csv.field_size_limit():,} characters; {where} has a longer one. "
        "Shorten it, or close the quotation mark before it."
    )


def not_utf8(path: Path, row: int, text: bytes) -> InvalidObservations:
    """A text in another encoding, as a sentence; row 0 is that of the column names."""
    byte = "a byte"
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"the byte 0x{text[error.start]:02x}"
    where = f"row {row}" if row else "the line of its column names"
    return InvalidObservations(
        f"{path} must be text in UTF-8; {where} has {byte}, which is not. "
        "If it was saved on Windows, name its encoding (--encoding cp1252 in Western Europe); "
        "or save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')."
    )


class _Lines:
    """The lines of a file as text; remembers the last one and how lines ended."""

    def __init__(self, path: Path) -> None:
        self.path, self.line, self.number = path, b"", 0
        self.ends_differ = False

    def __iter__(self) -> Iterator[str]:
        ends: set[bool] = set()
        with open_bytes(self.path) as file:
            for line in lines_of(file):
                self.line, self.number = line, self.number + 1
                ends.add(line.endswith(b"\r\n"))
                self.ends_differ = len(ends) > 1
                try:
                    yield line.decode("utf-8-sig" if self.number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise _NotUtf8 from None
