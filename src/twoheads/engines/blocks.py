"""Sequences of blocks of items, and maps and sums over them.

Blocks are added up in the same order for any number of threads: sums are the same to the bit. Callers use `map_blocks`,
`sum_blocks` and `transform_blocks`, which also take a plain sequence: it is a sequence of stored blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from twoheads.engines.threads import map_in_threads

Item = TypeVar("Item", covariant=True)
In = TypeVar("In")
Out = TypeVar("Out")

#: Numbers in one array of a block: 30,000 items of 10 classes. Smaller blocks compete for the interpreter's lock.
BLOCK_NUMBERS = 300_000


class Blocks(Sequence[Item], ABC):
    """A sequence of blocks, wherever they are: in memory, made when needed, on disk or on a cluster."""

    @property
    @abstractmethod
    def n_items(self) -> int:
        """How many items all blocks have together."""

    @abstractmethod
    def map(self, kernel: Callable[[Item], Out]) -> Iterator[Out]:
        """``kernel(block)`` for each block, in order."""

    def sum(self, kernel: Callable[[Item], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum over the blocks, entry by entry, of the tuple of numbers or arrays that ``kernel`` returns."""
        return add_up(self.map(kernel))

    @abstractmethod
    def transform(self, function: Callable[[Item], Out]) -> Blocks[Out]:
        """The blocks with ``function(block)`` in place of each; transformations compose."""

    @abstractmethod
    def stored(self) -> Blocks[Item]:
        """The same blocks for many passes: those that each pass would make again are kept in memory."""


class StoredBlocks(Blocks[Item]):
    """Blocks in memory."""

    def __init__(self, blocks: Sequence[Item]) -> None:
        self._blocks = blocks

    @property
    def n_items(self) -> int:
        """How many items all blocks have together."""
        return sum(block.n_items for block in self._blocks)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, index: Any) -> Any:
        return self._blocks[index]

    def map(self, kernel: Callable[[Item], Out]) -> Iterator[Out]:
        """``kernel(block)`` for each block; in threads if there are several."""
        return map(kernel, self._blocks) if len(self._blocks) < 2 else map_in_threads(kernel, self._blocks)

    def transform(self, function: Callable[[Item], Out]) -> StoredBlocks[Out]:
        """Transformed now, once for all passes."""
        return StoredBlocks(list(self.map(function)))

    def stored(self) -> StoredBlocks[Item]:
        """They are stored."""
        return self


class LazyBlocks(Blocks[Item]):
    """Blocks that each pass makes again and does not keep.

    Parameters
    ----------
    make : callable
        From a part to its block.
    parts : sequence
        What each block is made of, such as a slice of the rows.
    n_items : int
        How many items all blocks have together.
    """

    def __init__(self, make: Callable[[Any], Item], parts: Sequence[Any], n_items: int) -> None:
        self._make, self._parts, self._n_items = make, parts, n_items

    @property
    def n_items(self) -> int:
        """How many items all blocks have together."""
        return self._n_items

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, index: Any) -> Any:
        return self._make(self._parts[index])

    def map(self, kernel: Callable[[Item], Out]) -> Iterator[Out]:
        """``kernel(block)`` for each block, which is made in the same thread."""
        make = self._make
        return map_in_threads(lambda part: kernel(make(part)), self._parts)

    def transform(self, function: Callable[[Item], Out]) -> LazyBlocks[Out]:
        """Transformed when they are made."""
        make = self._make
        return LazyBlocks(lambda part: function(make(part)), self._parts, self._n_items)

    def stored(self) -> StoredBlocks[Item]:
        """All blocks, made once."""
        return StoredBlocks(list(map_in_threads(self._make, self._parts)))


def add_up(terms: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sum of tuples of numbers or arrays, entry by entry, in order."""
    total: list[Any] = []
    for term in terms:
        if not total:
            total = [np.array(entry) if isinstance(entry, np.ndarray) else entry for entry in term]
            continue
        for index, entry in enumerate(term):
            total[index] += entry
    return tuple(total)


def block_slices(n_items: int, n_classes: int, least: int = 64) -> list[slice]:
    """Consecutive slices that cover ``range(n_items)``, of at most about ``BLOCK_NUMBERS`` numbers each.

    They may have ``least`` items, and as many as there are classes, within reason: each block comes with a table of
    classes by classes, which should not cost more than the block. Their sizes are nearly equal, so that no thread waits
    for another.
    """
    most = max(least, BLOCK_NUMBERS // n_classes, min(n_classes, 8 * BLOCK_NUMBERS // n_classes))
    size = -(-n_items // max(1, -(-n_items // most))) or 1
    return [slice(start, min(start + size, n_items)) for start in range(0, n_items, size)]


def as_blocks(blocks: Sequence[In]) -> Blocks[In]:
    """The blocks themselves; a plain sequence as stored blocks."""
    return blocks if isinstance(blocks, Blocks) else StoredBlocks(blocks)


def map_blocks(kernel: Callable[[In], Out], blocks: Sequence[In]) -> Iterator[Out]:
    """``kernel(block)`` for each block, in order."""
    return as_blocks(blocks).map(kernel)


def sum_blocks(kernel: Callable[[In], tuple[Any, ...]], blocks: Sequence[In]) -> tuple[Any, ...]:
    """Sum, entry by entry, of the tuples of numbers or arrays that ``kernel`` returns for each block."""
    return as_blocks(blocks).sum(kernel)


def transform_blocks(function: Callable[[In], Out], blocks: Sequence[In]) -> Blocks[Out]:
    """``function(block)`` in place of each block."""
    return as_blocks(blocks).transform(function)


def count_items(blocks: Sequence[Any]) -> int:
    """How many items all blocks have together."""
    return as_blocks(blocks).n_items
