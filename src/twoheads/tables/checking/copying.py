"""The clean copy of a table, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.checking.cleaning import Cell, Cleaner
from twoheads.tables.checking.profile import MOST_ROWS
from twoheads.tables.checking.table_rows import TableRows
from twoheads.tables.duckdb import pa


def clean_batches(table: TableRows, cleaner: Cleaner, schema: Any) -> Iterator[Any]:
    """The clean rows as record batches, at least one."""
    wrote = False
    for rows in table:
        cleaned = list(cleaner.clean(rows))
        if cleaned or not wrote:
            wrote = True
            columns = zip(*cleaned, strict=True) if cleaned else ([] for _ in schema)
            arrays = [_array(cells, field) for cells, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(cells: Iterable[Cell], field: Any) -> Any:
    if field.type == pa.string():
        return pa.array([None if cell is None else str(cell) for cell in cells], field.type)
    found = list(cells)
    text = next((cell for cell in found if isinstance(cell, str)), None)
    if text is not None:  # further down than the rows that were looked at
        raise InvalidObservations(
            f"column {field.name!r} must hold numbers; a row after the first {MOST_ROWS:,} has {text[:80]!r}. Mend it."
        )
    return pa.array(found, field.type)
