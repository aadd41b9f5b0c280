"""What is wrong with a CSV that could not be read: a slow second look that finds the row and counts."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator
from pathlib import Path

from twoheads.errors import InvalidObservations
from twoheads.tables.formats.data_file import Wanted, is_number, no_number
from twoheads.tables.formats.detect import lines_of, open_bytes, unreadable


class _NotUtf8(Exception):
    """A line that is no UTF-8."""


def explain_csv(
    path: Path, separator: str, decimal: str, columns: tuple[str, ...], wanted: Wanted
) -> InvalidObservations | None:
    """The first thing wrong, in words: encoding, quotation marks, numbers of columns, texts in columns of numbers.

    Rows are counted from 1, the first below the column names.
    """
    places = [(columns.index(name), name) for name in wanted.numbers]
    nothing = {"", *wanted.nothing}
    row, n_ragged, n_texts = 0, 0, 0
    ragged: tuple[int, int] | None = None
    text: tuple[str, int, str] | None = None
    lines = _Lines(path)
    try:
        records = csv.reader(lines, delimiter=separator, strict=True)
        next(records)
        for values in records:
            if not values:
                continue
            row += 1
            if len(values) != len(columns):
                n_ragged += 1
                ragged = ragged or (row, len(values))
                continue
            off = next((at for at in places if not _is_entry(values[at[0]], decimal, nothing)), None)
            if off:
                n_texts += 1
                text = text or (off[1], row, values[off[0]])
    except _NotUtf8:
        return not_utf8(path, row + 1 if lines.number > 1 else 0, lines.line)
    except (csv.Error, StopIteration):
        return InvalidObservations(
            f"{path} must close every quotation mark; one that begins in row {row + 1} is not closed, or has text "
            'right after it. Write a quotation mark inside a value twice ("").'
        )
    except (OSError, EOFError, ValueError, zlib.error) as error:
        return unreadable(str(path), error)
    if ragged:
        return InvalidObservations(
            f"every row of {path} must have {len(columns)} columns, as its first line has; row {ragged[0]} has "
            f"{ragged[1]} ({n_ragged:,} of {row:,} rows are off). "
            f"Put values that hold {separator!r} in quotation marks."
        )
    if text:
        return no_number(text[0], text[1], path, text[2], n_texts, row)
    if lines.ends_differ:
        return InvalidObservations(
            f"{path} must end all its lines alike; some end in CR LF and some in LF. Save it again with one of them."
        )
    return None


def not_utf8(path: Path, row: int, text: bytes) -> InvalidObservations:
    """A text in another encoding, in words; row 0 is that of the column names."""
    byte = "a byte"
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"the byte 0x{text[error.start]:02x}"
    where = f"row {row}" if row else "the line of its column names"
    return InvalidObservations(
        f"{path} must be text in UTF-8; {where} has {byte}, which is not. "
        "Save it as UTF-8 (in a spreadsheet: 'CSV UTF-8'), or convert it with iconv."
    )


class _Lines:
    """The lines of a file as text, with the last one and how lines ended at hand."""

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


def _is_entry(value: str, decimal: str, nothing: set[str]) -> bool:
    return value in nothing or is_number(value.replace(decimal, ".") if decimal != "." else value)
