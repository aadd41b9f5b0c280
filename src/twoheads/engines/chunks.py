"""Blocks in chunks that are kept somewhere: in memory, on disk, on a cluster."""

from __future__ import annotations

import pickle
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from twoheads.engines.local import Elsewhere, added, map_blocks
from twoheads.engines.progress import listener
from twoheads.kernels.blocks import Block


class Store(ABC):
    """Where chunks, lists of blocks, are kept. A new place writes `__len__` and `results`."""

    @abstractmethod
    def __len__(self) -> int:
        """How many chunks there are."""

    @abstractmethod
    def results(self, function: Callable[[list[Block], Any], Any], arguments: dict[int, Any]) -> Iterator[Any]:
        """``function(chunk, argument)`` of some of the chunks, by their numbers, in the order of these."""


class Kept(Store):
    """Chunks in memory."""

    def __init__(self, chunks: Sequence[list[Block]]) -> None:
        self._chunks = chunks

    def __len__(self) -> int:
        return len(self._chunks)

    def results(self, function: Callable[[list[Block], Any], Any], arguments: dict[int, Any]) -> Iterator[Any]:
        """In threads."""
        return map_blocks(lambda at: function(self._chunks[at], arguments[at]), list(arguments))


class Spilled(Store):
    """Chunks in files of a temporary folder (in ``TMPDIR``), which goes when it is closed or no longer used.

    The files are this process's own and are read by it alone.
    """

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="twoheads-")
        self._folder, self._n = Path(folder), 0
        self.close = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def __len__(self) -> int:
        return self._n

    def add(self, chunk: list[Block]) -> None:
        """Keep one more chunk."""
        with open(self._folder / str(self._n), "wb") as file:
            pickle.dump(chunk, file, protocol=5)
        self._n += 1

    def results(self, function: Callable[[list[Block], Any], Any], arguments: dict[int, Any]) -> Iterator[Any]:
        """In threads, each of which reads and works on one chunk at a time."""

        def work(at: int) -> Any:
            with open(self._folder / str(at), "rb") as file:
                return function(pickle.load(file), arguments[at])

        return map_blocks(work, list(arguments))


class OnCluster(ABC):
    """A table whose chunks are to be kept on a cluster; else it is what the table is."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    @abstractmethod
    def hold(self, read: Callable[[Any, tuple[int, int]], list[Block]]) -> Store:
        """Chunks that ``read(table, (first row, end row))`` makes where they are to stay."""


#: Which blocks of a chunk are meant, and what is made of each before a kernel sees it.
Choice = Callable[[list[Block]], list[Block]]


class ChunkedBlocks(Elsewhere[Block]):
    """The blocks of some chunks of a store.

    Parameters
    ----------
    store : Store
        Where they are.
    sizes : dict of int to list of int
        The chunks that have any of them, by number, and how many items each of these blocks has.
    choice : callable
        From a chunk to those blocks.
    """

    def __init__(self, store: Store, sizes: dict[int, list[int]], choice: Choice) -> None:
        self._store, self._sizes, self._choice = store, sizes, choice
        self.n_items = sum(map(sum, sizes.values()))

    def __len__(self) -> int:
        return sum(map(len, self._sizes.values()))

    def __getitem__(self, at: Any) -> Any:
        for chunk, sizes in self._sizes.items():
            if at < len(sizes):
                (block,) = self._store.results(partial(_one, self._choice), {chunk: at})
                return block
            at -= len(sizes)
        raise IndexError(at)

    def __iter__(self) -> Iterator[Block]:
        return self.map(_same)

    def map(self, kernel: Callable[[Block], Any]) -> Iterator[Any]:
        """What the kernel returns comes here; blocks stay where they are."""
        for results in self._pass(partial(_each, kernel, self._choice)):
            yield from results

    def sum(self, kernel: Callable[[Block], tuple[Any, ...]]) -> tuple[Any, ...]:
        """One sum per chunk comes here."""
        return added(self._pass(partial(_sum, kernel, self._choice)))

    def mapped(self, make: Callable[[Block], Block]) -> ChunkedBlocks:
        """With one more step before the kernel."""
        return ChunkedBlocks(self._store, self._sizes, partial(_each, make, self._choice))

    def _pass(self, function: Callable[[list[Block], Any], Any]) -> Iterator[Any]:
        listener().begin(self.n_items)
        results = self._store.results(function, dict.fromkeys(self._sizes))
        for sizes, result in zip(self._sizes.values(), results, strict=True):
            listener().advance(sum(sizes))
            yield result


def _same(block: Block) -> Block:
    return block


def _one(choice: Choice, chunk: list[Block], at: int) -> Block:
    return choice(chunk)[at]


def _each(kernel: Callable[[Block], Any], choice: Choice, chunk: list[Block], _: Any = None) -> list[Any]:
    return [kernel(block) for block in choice(chunk)]


def _sum(kernel: Callable[[Block], tuple[Any, ...]], choice: Choice, chunk: list[Block], _: Any) -> tuple[Any, ...]:
    return added(map(kernel, choice(chunk)))
