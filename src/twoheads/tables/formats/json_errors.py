"""What is wrong with JSON lines that could not be read: a slow second look that finds the row and counts."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.formats.data_file import Wanted, is_number, no_number
from twoheads.tables.formats.detect import head_of, lines_of, open_bytes, unreadable


def explain_json(path: Path, wanted: Wanted, whole: str | None) -> InvalidObservations | None:
    """The first thing wrong, in words: a line that is no object, an id of another kind, a text that is no number.

    Parameters
    ----------
    path : Path
        The file.
    wanted : Wanted
        The columns to read.
    whole : str, optional
        The column of ids, where it began with whole numbers.
    """
    row, n_off = 0, 0
    first: tuple[str, int, Any] | None = None
    try:
        with open_bytes(path) as file:
            for line in filter(bytes.strip, lines_of(file)):
                row += 1
                values = json.loads(line)
                if not isinstance(values, dict):
                    raise ValueError(f"it is a {type(values).__name__}")
                if whole is not None and not _is_whole(values.get(whole)):
                    return InvalidObservations(
                        f"column {whole!r} must hold ids of one kind; it begins with whole numbers, and row {row} of "
                        f"{path} has {values[whole]!r}. Write all of them as text, in quotation marks."
                    )
                off = [name for name in wanted.numbers if not _is_entry(values.get(name))]
                n_off += bool(off)
                first = first or ((off[0], row, values[off[0]]) if off else None)
    except (OSError, EOFError, zlib.error) as trouble:
        return unreadable(str(path), trouble)
    except UnicodeDecodeError:
        return InvalidObservations(f"{path} must be text in UTF-8; row {row} is not. Save it as UTF-8.")
    except ValueError as trouble:
        return InvalidObservations(
            f"every line of {path} must be a JSON object; row {row} is not ({getattr(trouble, 'msg', trouble)}). "
            "Write one object per item, each on its own line."
        )
    return no_number(first[0], first[1], path, first[2], n_off, row) if first else None


def told_apart(path: Path) -> None:
    """Refuse keys that differ only in capitals: DuckDB holds them for one name, and gives one of them another."""
    head, _ = head_of(path)
    try:
        keys = list(json.loads(head.splitlines()[0]))
    except ValueError:
        return
    if all(isinstance(key, str) for key in keys) and len({key.lower() for key in keys}) < len(keys):
        raise InvalidObservations(
            f"{path} has columns whose names differ only in capitals, which JSON lines do not tell apart. "
            "Write the table as CSV or Parquet."
        )


def _is_entry(value: Any) -> bool:
    return value is None or isinstance(value, int | float) or (isinstance(value, str) and is_number(value))


def _is_whole(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))
