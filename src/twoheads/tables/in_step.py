"""Rows of several tables in the order of their ids, read in step: memory is that of a block, not of a table.

The order is that of the lengths of ids, then of their texts: 2 comes before 10.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from twoheads.tables.duckdb import Database, pa

#: Rows of a table that are held at once, and those that DuckDB gives at once: it has little memory left when it sorts.
ROWS = 131_072
_SORTED_ROWS = 16_384
_PACKED = pa.ipc.IpcWriteOptions(compression="lz4")


def sorted_by_id(database: Database, table: str, columns: Iterable[str]) -> Iterator[Any]:
    """Columns of a table, the first of them ids, as record batches in order.

    DuckDB sorts on disk, one table at a time: until all sorted rows are read, it holds memory that another sort lacks.
    So they are written to a file at once.
    """
    first, *others = columns
    query = f"SELECT {', '.join([first, *others])} FROM {table} ORDER BY length({first}), {first}"
    path = os.path.join(database.folder, f"{table}.arrows")
    reader = database.connection.cursor().sql(query).to_arrow_reader(_SORTED_ROWS)
    with pa.ipc.new_stream(path, reader.schema, options=_PACKED) as file:
        for batch in reader:
            file.write_batch(batch)
    return read_batches(path)


def read_batches(path: str) -> Iterator[Any]:
    """The record batches of a file, which is not mapped into memory."""
    with pa.OSFile(path) as file, pa.ipc.open_stream(file) as batches:
        yield from batches


def in_step(tables: Mapping[str, tuple[Any, Iterable[Any]]]) -> Iterator[dict[str, Any]]:
    """Blocks of consecutive ids: of each table, all rows of these ids, as Arrow tables.

    tables  for each table its schema and its record batches, whose first column holds ids, in order
    """
    streams = {name: _Stream(schema, batches) for name, (schema, batches) in tables.items()}
    while sum(stream.read_on() for stream in streams.values()):
        end = min((stream.last for stream in streams.values() if not stream.ended), default=None)
        yield {name: stream.until(end) for name, stream in streams.items()}


class _Stream:
    """The rows of a table that are held: those that were read and belong to no block yet."""

    def __init__(self, schema: Any, batches: Iterable[Any]) -> None:
        self._batches = iter(batches)
        self._held = schema.empty_table()
        self._done: tuple[int, str] | None = None
        self.ended = False

    @property
    def last(self) -> tuple[int, str]:
        """The id of the last row held, as it is ordered; more rows of it may follow."""
        return _key(self._held.column(0)[-1])

    def read_on(self) -> int:
        """Read on, for the next block; returns how many rows are held."""
        while not self.ended and (len(self._held) < ROWS or self.last == self._done):
            batch = next(self._batches, None)
            if batch is None:
                self.ended = True
            else:
                self._held = pa.concat_tables(
                    [self._held, pa.Table.from_arrays(batch.columns, schema=self._held.schema)]
                )
        return len(self._held)

    def until(self, end: tuple[int, str] | None) -> Any:
        """The rows with ids before ``end``; all that are held if it is None."""
        ids, self._done = self._held.column(0), end
        cut = len(ids) if end is None else bisect_left(range(len(ids)), end, key=lambda at: _key(ids[at]))
        found, self._held = self._held.slice(0, cut), self._held.slice(cut)
        return found


def _key(item: Any) -> tuple[int, str]:
    text = item.as_py()
    return len(text), text
