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


class SpilledWords:
    """64-bit words in parts by their first bits: equal ones are in one part, and each part is sorted by itself."""

    def __init__(self) -> None:
        self._parts = [tempfile.SpooledTemporaryFile(_HELD) for _ in range(_PARTS)]  # noqa: SIM115, closed below
        self.discard = weakref.finalize(self, _close, *self._parts)

    def add(self, words: NDArray[np.uint64]) -> None:
        """Keep more words."""
        part = (words >> np.uint64(58)).astype(np.uint8)
        ends = np.cumsum(np.bincount(part, minlength=_PARTS))[:-1]
        for file, own in zip(self._parts, np.split(words[np.argsort(part, kind="stable")], ends), strict=True):
            file.write(own.tobytes())

    def twice(self) -> NDArray[np.uint64]:
        """The words that occur at least twice."""
        found = []
        for file in self._parts:
            file.seek(0)
            words = np.sort(np.frombuffer(file.read(), dtype=np.uint64))
            found.append(np.unique(words[1:][words[1:] == words[:-1]]))
        return np.concatenate(found)


class IdHashes:
    """Hashes of ids, by DuckDB."""

    def __init__(self) -> None:
        self._connection = connect(memory_limit="100MB")
        self._connection.execute("SET threads = 1")
        self._words = SpilledWords()
        self.discard = weakref.finalize(self, _close, self._connection)

    def add(self, texts: Any) -> None:
        """Keep the hashes of an Arrow array of texts."""
        with room("ids could not be checked for repeats"):
            self._connection.register("texts", pa.table({"id": texts}))
            self._words.add(self._connection.execute("SELECT hash(id) AS hash FROM texts").fetchnumpy()["hash"])

    def twice(self) -> NDArray[np.uint64]:
        """The hashes that occur at least twice."""
        return self._words.twice()


def _close(*things: Any) -> None:
    for thing in things:
        thing.close()
