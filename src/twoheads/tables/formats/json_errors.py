"""What is wrong with JSON lines that could not be read: a slow second pass that finds the row and counts."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.formats.data_file import Wanted, is_number, not_a_number
from twoheads.tables.formats.detect import head_of, lines_of, open_bytes, unreadable


def explain_json(path: Path, wanted: Wanted, whole: str | None) -> InvalidObservations | None:
    """The first error as a sentence: a line that is not an object, an id of another kind, a text among numbers.

    Parameters
    ----------
    path : Path
        The file.
    wanted : Wanted
        The columns to read.
    whole : str, optional
        The column of ids, if it begins with whole numbers.
    """
    rows = _Rows(wanted, whole)
    try:
        with open_bytes(path) as file:
            for line in filter(bytes.strip, lines_of(file)):
                rows.look(line)
    except _OtherId as other:
        return InvalidObservations(
            f"column {whole!r} must hold ids of one kind; it begins with whole numbers, and row {rows.n_rows} of "
            f"{path} has {other.args[0]!r}. Write all of them as text, in quotation marks."
        )
    except (OSError, EOFError, zlib.error) as error:
        return unreadable(str(path), error)
    except UnicodeDecodeError:
        return InvalidObservations(f"{path} must be text in UTF-8; row {rows.n_rows} is not. Save it as UTF-8.")
    except ValueError as error:
        return InvalidObservations(
            f"every line of {path} must be a JSON object; row {rows.n_rows} is not ({getattr(error, 'msg', error)}). "
            "Write one object per item, each on its own line."
        )
    if rows.first is None:
        return None
    column, row, value = rows.first
    return not_a_number(column, row, path, value, rows.n_off, rows.n_rows)


class _OtherId(Exception):
    """An id that is not a whole number, where others are."""


class _Rows:
    """The rows so far, and the first text in a column of numbers as (column, row, value)."""

    def __init__(self, wanted: Wanted, whole: str | None) -> None:
        self._wanted, self._whole = wanted, whole
        self.n_rows, self.n_off = 0, 0
        self.first: tuple[str, int, Any] | None = None

    def look(self, line: bytes) -> None:
        """Look at the next line."""
        self.n_rows += 1
        values = json.loads(line)
        if not isinstance(values, dict):
            raise ValueError(f"it is a {type(values).__name__}")
        if self._whole is not None and not _is_whole(values.get(self._whole)):
            raise _OtherId(values[self._whole])
        off = [name for name in self._wanted.numbers if not _is_entry(values.get(name))]
        if off:
            self.n_off += 1
            self.first = self.first or (off[0], self.n_rows, values[off[0]])


def refuse_same_keys(path: Path) -> None:
    """Refuse keys that differ only in case: DuckDB is case-insensitive and would rename one of them."""
    head, _ = head_of(path)
    try:
        keys = list(json.loads(head.splitlines()[0]))
    except ValueError:
        return
    if all(isinstance(key, str) for key in keys) and len({key.lower() for key in keys}) < len(keys):
        raise InvalidObservations(
            f"{path} has columns whose names differ only in case, which cannot be read from JSON lines. "
            "Write the table as CSV or Parquet."
        )


def _is_entry(value: Any) -> bool:
    return value is None or isinstance(value, int | float) or (isinstance(value, str) and is_number(value))


def _is_whole(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))
