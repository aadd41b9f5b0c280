"""A table in memory in place of a file: a part of an export that is not a table itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twoheads.tables.formats.data_file import DataFile, Span, Wanted


class MemoryFile(DataFile):
    """An Arrow table; numbers are floats already.

    Parameters
    ----------
    path : Path
        The file that it was made from, which messages name.
    table : pyarrow.Table
        The table.
    """

    def __init__(self, path: Path, table: Any) -> None:
        #: The rows.
        self.table = table
        super().__init__(path)

    def _read_columns(self) -> list[str]:
        return list(self.table.column_names)

    def type_of(self, column: str) -> Any:
        """The column's type."""
        return self.table.schema.field(column).type

    def count(self) -> int:
        """The number of rows."""
        return len(self.table)

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Batches in the order of the table."""
        yield from self.table.select(wanted.columns).to_batches(rows)
