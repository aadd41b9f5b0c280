"""Rows sorted by the position of their item, read in step with blocks of items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Codes
from twoheads.tables.duckdb import BATCH_ROWS, pa


class SortedRows:
    """Columns of numbers of a table sorted by the first, read up to a position at a time.

    Parameters
    ----------
    connection : DuckDB connection
    sql : str
        What to read.
    ranks : Ranks, optional
        What makes the positions in the table those of items.
    """

    def __init__(self, connection: Any, sql: str, ranks: Ranks | None = None) -> None:
        reader = connection.cursor().sql(sql).to_arrow_reader(BATCH_ROWS)
        nothing = pa.RecordBatch.from_pylist([], schema=reader.schema)
        self._batches, self._ranks = iter(reader), ranks
        self._held = _numbers(nothing)

    def until(self, end: int) -> list[NDArray[Any]]:
        """The rows not read yet whose first column is less than ``end``, column by column."""
        parts = [self._held]
        while len(parts[-1][0]) == 0 or parts[-1][0][-1] < end:
            batch = next(self._batches, None)
            if batch is None:
                break
            at, *others = _numbers(batch)
            parts.append([at if self._ranks is None else self._ranks.of(at), *others])
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        cut = int(np.searchsorted(columns[0], end))
        self._held = [column[cut:] for column in columns]
        return [column[:cut] for column in columns]


class Ranks:
    """Turns positions with gaps between them, from ``start`` on, into ranks; asked for ever larger ones.

    Parameters
    ----------
    positions : SortedRows
        All of these positions.
    start : int
        The first rank.
    """

    def __init__(self, positions: SortedRows, start: int) -> None:
        self._positions, self._start = positions, start
        self._held, self._rank = np.empty(0, dtype=np.intp), start

    def of(self, at: Codes) -> Codes:
        """The ranks of positions, which are sorted; those before ``start`` are as they are."""
        if len(at) == 0 or at[-1] < self._start:
            return at
        last = self._held[-1:]  # the next position may be the same
        self._rank += len(self._held) - len(last)
        self._held = np.concatenate([last, *self._positions.until(int(at[-1]) + 1)])
        return np.where(at < self._start, at, self._rank + np.searchsorted(self._held, at))


def _numbers(batch: Any) -> list[NDArray[Any]]:
    """The columns of a batch: whole numbers as indices, other numbers with NaN for gaps."""
    columns = [np.asarray(column.to_numpy(zero_copy_only=False)) for column in batch.columns]
    return [column if column.dtype.kind == "f" else column.astype(np.intp, copy=False) for column in columns]
