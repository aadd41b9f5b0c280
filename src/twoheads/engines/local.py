"""Sums and maps over blocks of items, in threads.

NumPy releases the interpreter's lock inside its loops, so blocks that fit the cache run on all cores. Blocks are cut
and summed in the same order whatever the number of threads: the result is the same to the bit.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

In = TypeVar("In")
Out = TypeVar("Out")

#: Numbers in one array of a block: 30,000 items of 10 classes. Smaller blocks fight for the interpreter's lock.
BLOCK_NUMBERS = 300_000


#: Numbers of settings in malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def _keep_freed_memory() -> None:
    """Have the C library of Linux keep the memory of freed arrays: up to 64 MiB at the end of its heap.

    It would hand memory of arrays the size of a block back to the system, and fetching it again costs as much as the
    arithmetic done in it; on Dask's workers, which are told to hand back all they can, more than that.
    """
    set_up = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if set_up is not None:
        set_up(_M_MMAP_THRESHOLD, 32 * 2**20)
        set_up(_M_TRIM_THRESHOLD, 64 * 2**20)


_keep_freed_memory()


def block_slices(n_items: int, n_classes: int, least: int = 64) -> list[slice]:
    """Consecutive slices that cover ``range(n_items)``, of about ``BLOCK_NUMBERS`` numbers each at the most.

    They may have ``least`` items, and as many as there are classes, within reason: each block comes with a table of
    classes by classes, which should not cost more than the block. They are alike in size: no thread waits for another.
    """
    most = max(least, BLOCK_NUMBERS // n_classes, min(n_classes, 8 * BLOCK_NUMBERS // n_classes))
    size = -(-n_items // max(1, -(-n_items // most))) or 1
    return [slice(start, min(start + size, n_items)) for start in range(0, n_items, size)]


def n_threads() -> int:
    """How many threads this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_here = threading.local()


def _mark_worker() -> None:
    _here.is_worker = True


@contextmanager
def alone() -> Iterator[None]:
    """Maps that are begun in here, in this thread, run in it: others use the cores already."""
    before, _here.is_worker = getattr(_here, "is_worker", False), True
    try:
        yield
    finally:
        _here.is_worker = before


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="twoheads", initializer=_mark_worker)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class _SingleBlas:
    """BLAS held to one thread while any map is under way, whichever thread began it, and then let go."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.limit: Any = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.limit = _blas().limit(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if self.users == 0:
                    self.limit.restore_original_limits()


_single_blas = _SingleBlas()


def _after_fork() -> None:
    """Begin anew in a forked child, which inherits the pool but not its threads, and perhaps a lock that is held."""
    global _single_blas
    _pool.cache_clear()
    _single_blas = _SingleBlas()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Passing(Sequence[Out]):
    """Blocks that are made when they are needed and never kept, in each pass anew."""

    def __init__(self, make: Callable[[Any], Out], slices: Sequence[Any], n_items: int) -> None:
        self._make = make
        self._slices = slices
        self.n_items = n_items

    def __len__(self) -> int:
        return len(self._slices)

    def __getitem__(self, at: Any) -> Any:
        return self._make(self._slices[at])


class Elsewhere(Sequence[Out], ABC):
    """Blocks that live on disk or on other machines: kernels go to them, and only what these return comes back."""

    #: How many items stand in all blocks.
    n_items: int

    @abstractmethod
    def map(self, kernel: Callable[[Out], Any]) -> Iterator[Any]:
        """``kernel(block)`` for each block, in order."""

    @abstractmethod
    def sum(self, kernel: Callable[[Out], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum over the blocks of what ``kernel`` returns."""

    @abstractmethod
    def mapped(self, make: Callable[[Out], Out]) -> Elsewhere[Out]:
        """``make(block)`` in place of each block, made where it is and when it is needed."""


def mapped(make: Callable[[Any], Any], blocks: Sequence[Any]) -> Sequence[Any]:
    """``make(block)`` in place of each block: now where blocks are kept, in each pass where they are not."""
    if isinstance(blocks, Elsewhere):
        return blocks.mapped(make)
    if isinstance(blocks, Passing):
        return Passing(lambda at: make(blocks[at]), range(len(blocks)), blocks.n_items)
    return [make(block) for block in blocks]


def n_items_of(blocks: Sequence[Any]) -> int:
    """How many items stand in all blocks."""
    if isinstance(blocks, Elsewhere | Passing):
        return blocks.n_items
    return sum(block.n_items for block in blocks)


def map_blocks(kernel: Callable[[In], Out], blocks: Iterable[In]) -> Iterator[Out]:
    """``kernel(block)`` for each block, in order; at most two blocks per thread are under way at once.

    A kernel may map blocks itself: it does so in its own thread. When a kernel fails, blocks that have not begun are
    left, and the error comes once those that have are done.
    """
    if isinstance(blocks, Elsewhere):
        yield from blocks.map(kernel)
        return
    threads = n_threads()
    waiting = iter(blocks)
    if threads == 1 or getattr(_here, "is_worker", False) or (isinstance(blocks, Sequence) and len(blocks) < 2):
        yield from map(kernel, waiting)
        return
    pool = _pool(threads)
    under_way: deque[Future[Out]] = deque()
    with _single_blas.held():  # its threads and ours would wait for each other
        try:
            under_way.extend(pool.submit(kernel, block) for block in islice(waiting, 2 * threads))
            while under_way:
                result = under_way.popleft().result()
                under_way.extend(pool.submit(kernel, block) for block in islice(waiting, 1))
                yield result
        finally:
            wait([future for future in under_way if not future.cancel()])


def sum_blocks(kernel: Callable[[In], tuple[Any, ...]], blocks: Iterable[In]) -> tuple[Any, ...]:
    """Sum, entry by entry, of the tuples of numbers or arrays that ``kernel`` returns for each block."""
    return blocks.sum(kernel) if isinstance(blocks, Elsewhere) else added(map_blocks(kernel, blocks))


def added(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sum of tuples of numbers or arrays, entry by entry, one after the other."""
    total: list[Any] = []
    for part in parts:
        if not total:
            total = [np.array(first) if isinstance(first, np.ndarray) else first for first in part]
            continue
        for at, more in enumerate(part):
            total[at] += more
    return tuple(total)
