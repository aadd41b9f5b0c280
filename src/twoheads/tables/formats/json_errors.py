"""What is wrong with JSON lines that could not be read: a slow second pass that finds the row and counts."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.formats.data_file import Wanted, is_number, not_a_number
from twoheads.tables.formats.detect import lines_of, open_bytes, unreadable


def explain_json(path: Path, wanted: Wanted) -> InvalidObservations | None:
    """The first error as a sentence: a line that is not an object, a key twice, a text among numbers."""
    rows = _Rows(wanted)
    try:
        with open_bytes(path) as file:
            for line in filter(bytes.strip, lines_of(file)):
                rows.look(line)
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


class _Rows:
    """The rows so far, and the first text in a column of numbers as (column, row, value)."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.n_rows, self.n_off = 0, 0
        self.first: tuple[str, int, Any] | None = None

    def look(self, line: bytes) -> None:
        """Look at the next line."""
        self.n_rows += 1
        values = json.loads(line, object_pairs_hook=_each_once)
        if not isinstance(values, dict):
            raise ValueError(f"it is a {type(values).__name__}")
        off = [name for name in self._wanted.numbers if not _is_entry(values.get(name))]
        if off:
            self.n_off += 1
            self.first = self.first or (off[0], self.n_rows, values[off[0]])


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return values


def _is_entry(value: Any) -> bool:
    return value is None or isinstance(value, int | float) or (isinstance(value, str) and is_number(value))
