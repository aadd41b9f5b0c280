"""A sample of the items of a table that is too large to be read whole: those of the smallest hashes.

Items are hashed by their ids, so that the sample does not depend on the order of rows; by their numbers where there
are no ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, as_truth
from twoheads.observations.joining import joined_observations
from twoheads.observations.labels import label_text
from twoheads.tables.fingerprints import stirred, text_hash
from twoheads.tables.scanned import ScannedTable


@dataclass(frozen=True)
class _Part:
    """Items with their hashes and, where a column holds it, their truth as labels."""

    observations: Observations
    y: NDArray[Any] | None
    key: NDArray[np.uint64]

    def take(self, rows: NDArray[np.intp]) -> _Part:
        """The items at these positions."""
        return _Part(self.observations.take(rows), None if self.y is None else self.y[rows], self.key[rows])


def sample_table(table: ScannedTable, most: int) -> tuple[Observations, NDArray[Any] | None]:
    """At most so many of the items of known truth, and of those of unknown truth, in the order of the table."""
    known, unknown = _Smallest(most), _Smallest(most)
    for observations, y in table.blocks():
        part = _Part(observations, y, _keys(observations))
        has_truth = as_truth(y, observations) != MISSING
        known.add(part.take(np.flatnonzero(has_truth)))
        unknown.add(part.take(np.flatnonzero(~has_truth)))
    whole = _joined([*known.parts(), *unknown.parts()])
    return whole.observations, whole.y


class _Smallest:
    """The items of the smallest hashes so far; sorted out when there are twice as many as are kept."""

    def __init__(self, most: int) -> None:
        self._most, self._parts = most, list[_Part]()

    def add(self, part: _Part) -> None:
        if len(part.key):
            self._parts.append(part)
        if sum(len(each.key) for each in self._parts) > 2 * self._most:
            self._parts = self.parts()

    def parts(self) -> list[_Part]:
        """Those that are kept."""
        if sum(len(each.key) for each in self._parts) <= self._most:
            return self._parts
        whole = _joined(self._parts)
        return [whole.take(np.sort(np.argsort(whole.key, kind="stable")[: self._most]))]


def _joined(parts: Sequence[_Part]) -> _Part:
    labels = [part.y for part in parts if part.y is not None]
    return _Part(
        joined_observations([part.observations for part in parts]),
        np.concatenate(labels) if labels else None,
        np.concatenate([part.key for part in parts]),
    )


def _keys(observations: Observations) -> NDArray[np.uint64]:
    if not observations.has_ids:
        return stirred(observations.items.astype(np.uint64))
    return _hashes(map(label_text, observations.items.tolist()))


def _hashes(texts: Iterable[str]) -> NDArray[np.uint64]:
    return np.fromiter(map(text_hash, texts), dtype=np.uint64)
