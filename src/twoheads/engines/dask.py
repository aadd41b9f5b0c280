"""Chunks on the workers of a Dask cluster: only parameters and sums are sent.

Chunks are results of pure tasks, each of which reads a piece of the table. When a worker dies, others read its pieces
again, and the result is the same.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

from twoheads.engines.chunks import ChunkFunction, Store
from twoheads.engines.cluster import Cluster, ReadChunk, Span
from twoheads.engines.memory import keep_freed_memory
from twoheads.engines.temporary import remove_folder, temporary_folder
from twoheads.engines.threads import n_threads, single_threaded
from twoheads.errors import ClusterTrouble, InvalidParameter, MissingExtra
from twoheads.kernels.blocks import Block

try:
    import cloudpickle
    import distributed
    from dask.utils import funcname
    from distributed import CancelledError
    from distributed.comm.core import CommClosedError
except ImportError as error:
    raise MissingExtra.instead_of(error, "dask and distributed", "dask", "Running on a Dask cluster") from None

#: Probabilities in one piece of a table: about 64 MB.
PIECE_NUMBERS = 1 << 23
#: Results fetched at a time: each may be large.
_FETCHED_TOGETHER = 64
#: Seconds without any worker after which a cluster is given up, by default.
_NO_WORKERS_TIMEOUT = 60.0
#: Seconds to wait for a scheduler, and between looks at whether there are workers.
_TIMEOUT, _LOOK = 5, 1
#: What reports lost connections and dead workers at length; one sentence of ours does.
_LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.comm",
    "distributed.core",
    "tornado.application",
    "asyncio",
)


class DaskCluster(Cluster):
    """A Dask cluster: a running one, given the address of its scheduler, or a new one on this machine.

    Parameters
    ----------
    scheduler : str, optional
        The scheduler's address, such as ``tcp://10.0.0.1:8786``. By default worker processes are started on this
        machine, of one thread each.
    workers : int, optional
        How many are started on this machine; by default one per core.
    timeout : float, optional
        Seconds without any worker after which the cluster is given up; 60 by default.

    Examples
    --------
    >>> with DaskCluster() as cluster:  # doctest: +SKIP
    ...     team = twoheads.recommended().fit(cluster.hold(table))
    """

    def __init__(
        self, scheduler: str | None = None, *, workers: int | None = None, timeout: float | None = None
    ) -> None:
        timeout = _NO_WORKERS_TIMEOUT if timeout is None else timeout
        if not timeout > 0:
            raise InvalidParameter(f"timeout (--timeout) must be a positive number of seconds; it is {timeout}.")
        self._local: Any = None
        self._folder = ""
        self._timeout = timeout
        self._levels = {name: logging.getLogger(name).level for name in _LOGGERS}
        _set_levels(dict.fromkeys(_LOGGERS, logging.CRITICAL + 1))
        if scheduler is None:
            self._folder = temporary_folder()
            self._local = _started(
                n_workers=workers or n_threads(),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # anybody who reaches the page sees the tasks: only this machine
                silence_logs=logging.CRITICAL,
                local_directory=self._folder,
                scheduler_kwargs={"local_directory": self._folder},
            )
        try:
            self._client = distributed.Client(self._local or scheduler, timeout=_TIMEOUT, set_as_default=False)
        except BaseException as error:
            self._stop()
            if not isinstance(error, OSError | ValueError | TimeoutError):
                raise
            raise ClusterTrouble(
                f"scheduler (--scheduler) must be the address of a running Dask scheduler; {scheduler!r} does not "
                f"answer within {_TIMEOUT} seconds ({type(error).__name__}). Start it, or let this machine reach it."
            ) from None

    def __exit__(self, *_: object) -> None:
        """Disconnect, and stop the workers that were started here."""
        with contextlib.suppress(TimeoutError):  # what was computed is there
            self._client.close()
        self._stop()

    def _stop(self) -> None:
        if self._local is not None:
            with contextlib.suppress(TimeoutError):
                self._local.close()
            remove_folder(self._folder)
        _set_levels(self._levels)

    @property
    def dashboard(self) -> str:
        """The address of the page that shows what the cluster does."""
        return str(self._client.dashboard_link)

    @property
    def n_workers(self) -> int:
        """How many threads the workers have together."""
        return max(1, int(sum(self._client.nthreads().values())))

    def spans(self, table: Any) -> list[Span]:
        """The pieces in which a table is read: large ones, but several for each worker."""
        most = PIECE_NUMBERS // len(table.classes)
        return list(table.spans(max(1, min(most, table.n_rows // (4 * self.n_workers)))))

    def submit(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Futures of ``function(...)`` for each set of arguments; repeated if a worker dies."""
        return list(self._client.map(partial(_on_worker, function), *arguments, key=funcname(function), retries=3))

    def results(self, futures: Sequence[Any]) -> Iterator[Any]:
        """The results of futures, in their order."""
        try:
            for start in range(0, len(futures), _FETCHED_TOGETHER):
                together = list(futures[start : start + _FETCHED_TOGETHER])
                self._wait(together)
                yield from self._client.gather(together)
        except distributed.KilledWorker as error:
            raise ClusterTrouble(
                f"the workers died {error.allowed_failures + 1} times on one piece of the table, most likely out of "
                "memory. Start more of them, or give each more memory."
            ) from None
        except (CancelledError, CommClosedError, TimeoutError) as error:
            raise ClusterTrouble(
                f"the connection to the scheduler was lost ({type(error).__name__}). Start again."
            ) from None

    def _wait(self, futures: list[Any]) -> None:
        """Wait for futures as long as there are workers, and a limited time if there are none."""
        last_seen = time.monotonic()
        while True:
            try:
                with self._client.as_current():
                    distributed.wait(futures, timeout=_LOOK)
                return
            except TimeoutError:
                if self._client.nthreads():
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > self._timeout:
                    raise ClusterTrouble(
                        f"the cluster has had no workers for {self._timeout:g} seconds. Start some, or wait longer for "
                        "them with timeout (--timeout)."
                    ) from None

    def send(self, content: bytes) -> Any:
        """A future of some bytes, sent once."""
        return self._client.submit(_identity, content, pure=False)

    def store(self, table: Any, read: ReadChunk) -> DaskStore:
        """Chunks that the workers read and keep."""
        return DaskStore(self, table, read)


class DaskStore(Store):
    """Chunks on the workers of a Dask cluster, read by one task per piece of a table."""

    def __init__(self, cluster: DaskCluster, table: Any, read: ReadChunk) -> None:
        self._cluster = cluster
        spans = cluster.spans(table)
        task = cluster.send(cloudpickle.dumps((read, table)))
        self._chunks = cluster.submit(_read, [task] * len(spans), spans)

    def __len__(self) -> int:
        return len(self._chunks)

    def results(self, function: ChunkFunction, arguments: dict[int, Any]) -> Iterator[Any]:
        """On the workers."""
        task = self._cluster.send(cloudpickle.dumps(function))
        chunks = [self._chunks[number] for number in arguments]
        return self._cluster.results(
            self._cluster.submit(_apply, [task] * len(chunks), chunks, list(arguments.values()))
        )


def _started(**options: Any) -> Any:
    """A cluster on this machine; if it is interrupted while it starts, it is waited for and closed."""
    with ThreadPoolExecutor(1, initializer=_block_signals_of_terminals) as thread:
        coming = thread.submit(distributed.LocalCluster, **options)
        try:
            return coming.result()
        except BaseException:
            with contextlib.suppress(Exception):
                coming.result().close()
            raise


def _block_signals_of_terminals() -> None:
    """In this thread and all processes that are started from it: the command alone answers Ctrl-C, and ends them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    resource_tracker.ensure_running()  # which unblocks SIGINT when it starts its process
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})


def _set_levels(levels: dict[str, int]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def _identity(content: bytes) -> bytes:
    return content


def _on_worker(function: Callable[..., Any], *arguments: Any) -> Any:
    keep_freed_memory()
    with single_threaded():
        return function(*arguments)


def _read(task: bytes, span: Span) -> list[Block]:
    read, table = pickle.loads(task)
    return list(read(table, span))


def _apply(task: bytes, chunk: list[Block], argument: Any) -> Any:
    return pickle.loads(task)(chunk, argument)
