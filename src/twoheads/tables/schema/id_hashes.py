"""Repeated ids, found from 64-bit hashes spilled to disk."""

from __future__ import annotations

import tempfile
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.tables.duckdb import connect, pa, room

_PARTS = 64
#: Bytes of a part that stay in memory; all parts together are 16 MB, two million ids.
_HELD = 1 << 18


class IdHashes:
    """64-bit hashes in parts by their first bits: equal ones are in one part, and each part is sorted by itself."""

    def __init__(self) -> None:
        self._connection = connect(memory_limit="100MB")
        self._connection.execute("SET threads = 1")
        self._parts = [tempfile.SpooledTemporaryFile(_HELD) for _ in range(_PARTS)]  # noqa: SIM115, closed below
        self.discard = weakref.finalize(self, _close, self._connection, *self._parts)

    def add(self, texts: Any) -> None:
        """Keep the hashes of an Arrow array of texts."""
        with room("ids could not be checked for repeats"):
            self._connection.register("texts", pa.table({"id": texts}))
            hashes = self._connection.execute("SELECT hash(id) AS hash FROM texts").fetchnumpy()["hash"]
            part = (hashes >> np.uint64(58)).astype(np.uint8)
            ends = np.cumsum(np.bincount(part, minlength=_PARTS))[:-1]
            for file, own in zip(self._parts, np.split(hashes[np.argsort(part, kind="stable")], ends), strict=True):
                file.write(own.tobytes())

    def twice(self) -> NDArray[np.uint64]:
        """The hashes that occur at least twice."""
        found = []
        for file in self._parts:
            file.seek(0)
            hashes = np.sort(np.frombuffer(file.read(), dtype=np.uint64))
            found.append(np.unique(hashes[1:][hashes[1:] == hashes[:-1]]))
        return np.concatenate(found)


def _close(*things: Any) -> None:
    for thing in things:
        thing.close()
