"""Rows sorted by the position of their item, read in step with blocks of items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.tables.duckdb import pa


class SortedRows:
    """Columns of numbers of a table sorted by the first, read up to a position at a time."""

    def __init__(self, connection: Any, sql: str) -> None:
        reader = connection.cursor().sql(sql).to_arrow_reader(131_072)
        nothing = pa.RecordBatch.from_pylist([], schema=reader.schema)
        self._batches = iter(reader)
        self._held = _numbers(nothing)

    def until(self, end: int) -> list[NDArray[Any]]:
        """The rows not read yet whose first column is less than ``end``, column by column."""
        parts = [self._held]
        while len(parts[-1][0]) == 0 or parts[-1][0][-1] < end:
            batch = next(self._batches, None)
            if batch is None:
                break
            parts.append(_numbers(batch))
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        cut = int(np.searchsorted(columns[0], end))
        self._held = [column[cut:] for column in columns]
        return [column[:cut] for column in columns]


def _numbers(batch: Any) -> list[NDArray[Any]]:
    """The columns of a batch: whole numbers as indices, other numbers with NaN for gaps."""
    columns = [np.asarray(column.to_numpy(zero_copy_only=False)) for column in batch.columns]
    return [column if column.dtype.kind == "f" else column.astype(np.intp, copy=False) for column in columns]
