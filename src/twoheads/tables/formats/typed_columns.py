"""Columns of files that have types, Parquet and Arrow: ids and labels of one value per row, their texts in UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa

#: Types of text other than the usual one; old programs write text as bytes.
_TEXTS = ("binary", "large_binary", "string_view", "binary_view")


def is_text(kind: Any) -> bool:
    """Whether a type is one of the usual ones of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def plain_type(kind: Any) -> Any:
    """The type of the values of a column: that of a dictionary's entries, text of any kind as text."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if str(kind) in _TEXTS else kind


def refuse_nested(kind: Any, name: str, path: Path) -> None:
    """Refuse a column of ids or labels that holds lists or records."""
    if pa.types.is_nested(kind):
        raise InvalidObservations(
            f"column {name!r} of {path} must hold one name or number per row; it is of type {kind}. "
            "Write the values themselves."
        )


def as_names(column: Any, name: str, path: Path) -> Any:
    """A column of ids or labels, its texts in UTF-8 and of the usual type."""
    try:
        if str(column.type) in _TEXTS:
            column = column.cast(pa.string())
        elif pa.types.is_float16(column.type):  # which Arrow does not compare
            column = column.cast(pa.float32())
        column.validate(full=True)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raise InvalidObservations(
            f"column {name!r} of {path} must hold text in UTF-8; some of it is not. Write it again as UTF-8."
        ) from None
    return column
