"""Rows that are sorted by the place of their item, met in step with blocks of items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Codes


class SortedRows:
    """Two columns of a table sorted by the first, handed out up to a place at a time."""

    def __init__(self, connection: Any, sql: str, ready: bool) -> None:
        assert ready
        self._batches = iter(connection.cursor().sql(sql).to_arrow_reader(131_072))
        self._at = self._value = np.empty(0, dtype=np.intp)

    def until(self, end: int) -> tuple[Codes, Codes]:
        """The rows not handed out yet whose first column is less than ``end``."""
        at, value = [self._at], [self._value]
        while len(at[-1]) == 0 or at[-1][-1] < end:
            batch = next(self._batches, None)
            if batch is None:
                break
            first, second = (_integers(column) for column in batch.columns)
            at.append(first)
            value.append(second)
        places, values = np.concatenate(at), np.concatenate(value)
        cut = int(np.searchsorted(places, end))
        self._at, self._value = places[cut:], values[cut:]
        return places[:cut], values[:cut]


def _integers(column: Any) -> NDArray[np.intp]:
    return np.asarray(column.to_numpy(zero_copy_only=False)).astype(np.intp, copy=False)
