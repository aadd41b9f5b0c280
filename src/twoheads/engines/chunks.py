"""Blocks in chunks that a store keeps: in memory, on disk, on a cluster."""

from __future__ import annotations

import pickle
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from twoheads.engines.blocks import Blocks, add_up
from twoheads.engines.progress import current_callback
from twoheads.engines.room import room
from twoheads.engines.temporary import remove_folder, temporary_folder
from twoheads.engines.threads import map_in_threads
from twoheads.kernels.blocks import Block

Item = TypeVar("Item", covariant=True)
Out = TypeVar("Out")

#: From a chunk and an argument to a result.
ChunkFunction = Callable[[list[Block], Any], Any]


class Store(ABC):
    """Where chunks, which are lists of blocks, are kept. A new store writes `__len__` and `results`.

    `twoheads.testing.check_store` checks that it keeps this contract.
    """

    @abstractmethod
    def __len__(self) -> int:
        """How many chunks there are."""

    @abstractmethod
    def results(self, function: ChunkFunction, arguments: dict[int, Any]) -> Iterator[Any]:
        """``function(chunk, argument)`` for the chunks whose numbers are the keys, in the order of the keys."""


class MemoryStore(Store):
    """Chunks in memory."""

    def __init__(self, chunks: Sequence[list[Block]]) -> None:
        self._chunks = chunks

    def __len__(self) -> int:
        return len(self._chunks)

    def results(self, function: ChunkFunction, arguments: dict[int, Any]) -> Iterator[Any]:
        """In threads."""
        return map_in_threads(lambda number: function(self._chunks[number], arguments[number]), list(arguments))


class DiskStore(Store):
    """Chunks in files of a temporary folder (in ``TMPDIR``), deleted when the store is closed or no longer used.

    Only this process writes and reads the files.
    """

    def __init__(self) -> None:
        folder = temporary_folder()
        self._folder, self._n_chunks = Path(folder), 0
        self.close = weakref.finalize(self, remove_folder, folder)

    def __len__(self) -> int:
        return self._n_chunks

    def add(self, chunk: list[Block]) -> None:
        """Keep one more chunk."""
        with room("the table could not be kept on disk"), open(self._folder / str(self._n_chunks), "wb") as file:
            pickle.dump(chunk, file, protocol=5)
        self._n_chunks += 1

    def results(self, function: ChunkFunction, arguments: dict[int, Any]) -> Iterator[Any]:
        """In threads, each of which reads and processes one chunk at a time."""

        def process(number: int) -> Any:
            with open(self._folder / str(number), "rb") as file:
                return function(pickle.load(file), arguments[number])

        return map_in_threads(process, list(arguments))


#: From a chunk to those of its blocks that are meant, each transformed.
Selection = Callable[[list[Block]], list[Any]]


class ChunkedBlocks(Blocks[Item]):
    """Blocks of the chunks of a store: kernels are sent to the chunks, and only their results come back.

    Parameters
    ----------
    store : Store
        Where the chunks are.
    sizes : dict of int to list of int
        The chunks that have any of the blocks, by number, and how many items each of these blocks has.
    select : callable
        From a chunk to those blocks.
    """

    def __init__(self, store: Store, sizes: dict[int, list[int]], select: Selection) -> None:
        self._store, self._sizes, self._select = store, sizes, select
        self._n_items = sum(map(sum, sizes.values()))

    @property
    def n_items(self) -> int:
        """How many items all blocks have together."""
        return self._n_items

    def __len__(self) -> int:
        return sum(map(len, self._sizes.values()))

    def __getitem__(self, index: Any) -> Any:
        for number, sizes in self._sizes.items():
            if index < len(sizes):
                (block,) = self._store.results(partial(_one, self._select), {number: index})
                return block
            index -= len(sizes)
        raise IndexError(index)

    def __iter__(self) -> Iterator[Item]:
        return self.map(_identity)

    def map(self, kernel: Callable[[Item], Out]) -> Iterator[Out]:
        """Run the kernel where the blocks are; its results come here."""
        for results in self._pass(partial(_each, kernel, self._select)):
            yield from results

    def sum(self, kernel: Callable[[Item], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum within each chunk, then over chunks."""
        return add_up(self._pass(partial(_sum, kernel, self._select)))

    def transform(self, function: Callable[[Item], Out]) -> ChunkedBlocks[Out]:
        """Transformed in each pass, where the blocks are."""
        return ChunkedBlocks(self._store, self._sizes, partial(_each, function, self._select))

    def stored(self) -> ChunkedBlocks[Item]:
        """They are stored, in chunks."""
        return self

    def _pass(self, function: ChunkFunction) -> Iterator[Any]:
        current_callback().begin(self.n_items)
        results = self._store.results(function, dict.fromkeys(self._sizes))
        for sizes, result in zip(self._sizes.values(), results, strict=True):
            current_callback().advance(sum(sizes))
            yield result


def _identity(block: Any) -> Any:
    return block


def _one(select: Selection, chunk: list[Block], index: int) -> Any:
    return select(chunk)[index]


def _each(kernel: Callable[[Any], Any], select: Selection, chunk: list[Block], _: Any = None) -> list[Any]:
    return [kernel(block) for block in select(chunk)]


def _sum(kernel: Callable[[Any], tuple[Any, ...]], select: Selection, chunk: list[Block], _: Any) -> tuple[Any, ...]:
    return add_up(map(kernel, select(chunk)))
