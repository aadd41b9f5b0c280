"""Rows and ids that may occur more than once in a table, found in a pass of its own whose memory does not grow with it.

Only these have to be remembered when rows are cleaned one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from twoheads.engines.room import room
from twoheads.tables.checking.table_rows import TableRows
from twoheads.tables.schema.id_hashes import SpilledWords


def row_digest(row: Sequence[str | None]) -> bytes:
    """A digest of all cells of a row; rows of the same digest are taken to be the same."""
    text = "\x1f".join("\x00" if cell is None else cell for cell in row)
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def text_digest(text: str) -> bytes:
    """A digest of one text, apart from blanks around it."""
    return blake2b(text.strip().encode(errors="surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True)
class Repeats:
    """The first 64 bits of digests that at least two rows, or two ids, have."""

    rows: frozenset[int]
    ids: frozenset[int]

    @classmethod
    def of(cls, table: TableRows, item: str | None) -> Repeats:
        """Those of a table; ``item`` is its column of ids, None where they may repeat."""
        place = None if item is None else table.columns.index(item)
        rows, ids = SpilledWords(), SpilledWords()
        with room("rows could not be checked for repeats"):
            for batch in table:
                rows.add(_words(map(row_digest, batch)))
                if place is not None:
                    ids.add(_words(text_digest(row[place] or "") for row in batch))
            return cls(*(frozenset(each.twice().tolist()) for each in (rows, ids)))

    def has_row(self, digest: bytes) -> bool:
        """Whether another row may have this digest."""
        return _word(digest) in self.rows

    def has_id(self, text: str) -> bool:
        """Whether another row may have this id."""
        return _word(text_digest(text)) in self.ids


def _words(digests: Iterable[bytes]) -> NDArray[np.uint64]:
    return np.fromiter(map(_word, digests), dtype=np.uint64)


def _word(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "little")
