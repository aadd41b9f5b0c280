"""Maps in threads, with results in order.

NumPy releases the interpreter's lock inside its loops, so blocks that fit the cache run on all cores. Results come in
the same order for any number of threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from twoheads.engines.memory import has_little_memory

In = TypeVar("In")
Out = TypeVar("Out")


def n_threads() -> int:
    """How many threads this process may use: one where little memory is allowed."""
    if has_little_memory():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_in_threads(function: Callable[[In], Out], arguments: Iterable[In]) -> Iterator[Out]:
    """``function(argument)`` for each argument, in order; at most two per thread are computed ahead.

    A function may itself map in threads: it then runs in its own thread. If a call fails, calls that have not started
    are cancelled, and the error is raised once those that have are finished.
    """
    threads, remaining = n_threads(), iter(arguments)
    if threads == 1 or _is_single_threaded() or (isinstance(arguments, Sequence) and len(arguments) < 2):
        yield from map(function, remaining)
        return
    _reset_in_forked_children()
    pool = _pool(threads)
    started: deque[Future[Out]] = deque()
    with _single_threaded_blas.limited():  # BLAS threads would compete with ours for the cores
        try:
            started.extend(pool.submit(function, argument) for argument in islice(remaining, 2 * threads))
            while started:
                result = started.popleft().result()
                started.extend(pool.submit(function, argument) for argument in islice(remaining, 1))
                yield result
        finally:
            wait([future for future in started if not future.cancel()])


_thread = threading.local()


def _is_single_threaded() -> bool:
    return getattr(_thread, "single", False)


def _set_single_threaded() -> None:
    _thread.single = True


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run maps in the calling thread; for workers that already occupy the cores."""
    before, _thread.single = _is_single_threaded(), True
    try:
        yield
    finally:
        _thread.single = before


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="twoheads", initializer=_set_single_threaded)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class _SingleThreadedBlas:
    """Limits BLAS to one thread while any map runs, in whichever thread it was started, and restores it after."""

    def __init__(self) -> None:
        self.lock, self.users = threading.Lock(), 0
        self.limit: Any = None

    @contextmanager
    def limited(self) -> Iterator[None]:
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


_single_threaded_blas = _SingleThreadedBlas()


def _after_fork() -> None:
    """Reset a forked child, which inherits the pool but not its threads, and perhaps a lock that is held."""
    global _single_threaded_blas
    _pool.cache_clear()
    _single_threaded_blas = _SingleThreadedBlas()


@cache
def _reset_in_forked_children() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)
