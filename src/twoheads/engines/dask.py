"""Sums over blocks that live on the workers of a Dask cluster: only parameters and sums travel.

Chunks are results of pure tasks, which read a piece of the table: when a worker dies, its pieces are read again by
others, and the outcome is the same.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from twoheads.engines.chunks import OnCluster, Store
from twoheads.engines.local import alone, n_threads
from twoheads.errors import ClusterTrouble, MissingExtra
from twoheads.kernels.blocks import Block

try:
    import cloudpickle
    import distributed
    from distributed import CancelledError
    from distributed.comm.core import CommClosedError
except ImportError:
    raise MissingExtra("dask and distributed", "dask", "Running on a Dask cluster") from None

#: Probabilities in one piece of a table: about 64 MB.
PIECE_NUMBERS = 1 << 23
#: Sums that come back at a time: each may be large.
_AT_ONCE = 64
#: Seconds to wait for a scheduler.
_PATIENCE = 5


class Cluster:
    """A Dask cluster: one that runs already, by the address of its scheduler, or one on this machine.

    Parameters
    ----------
    scheduler : str, optional
        The scheduler's address, as ``tcp://10.0.0.1:8786``. Without it, one worker process per core is started here, of
        one thread each.
    workers : int, optional
        How many are started here.

    Examples
    --------
    >>> with Cluster() as cluster:  # doctest: +SKIP
    ...     team = twoheads.recommended().fit(cluster.hold(table))
    """

    def __init__(self, scheduler: str | None = None, *, workers: int | None = None) -> None:
        self._local: Any = None
        if scheduler is None:
            self._local = distributed.LocalCluster(
                n_workers=workers or n_threads(),
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.ERROR,
            )
        try:
            self._client = distributed.Client(self._local or scheduler, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterTrouble(
                f"scheduler (--scheduler) must be the address of a running Dask scheduler; {scheduler!r} does not "
                f"answer within {_PATIENCE} seconds ({type(error).__name__}). Start it, or let this machine reach it."
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()
        if self._local is not None:
            self._local.close()

    @property
    def dashboard(self) -> str:
        """The address of the page that shows what the cluster does."""
        return str(self._client.dashboard_link)

    @property
    def n_workers(self) -> int:
        """How many threads its workers have together."""
        return max(1, int(sum(self._client.nthreads().values())))

    def hold(self, table: Any) -> Table:
        """A table of Parquet files (`twoheads.tables.scan`) to be held by the workers: fit a team to it."""
        return Table(table, self)

    def spans(self, table: Any) -> list[tuple[int, int]]:
        """The pieces in which a table is read: large ones, but several for each worker."""
        most = PIECE_NUMBERS // len(table.classes)
        return list(table.spans(max(1, min(most, table.n_rows // (4 * self.n_workers)))))

    def submit(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Futures of ``function(...)`` for each set of arguments; done again where a worker dies."""
        return list(self._client.map(function, *arguments, retries=3))

    def results(self, futures: Sequence[Any]) -> Iterator[Any]:
        """What futures hold, in their order."""
        try:
            for start in range(0, len(futures), _AT_ONCE):
                yield from self._client.gather(list(futures[start : start + _AT_ONCE]))
        except distributed.KilledWorker as error:
            raise ClusterTrouble(
                f"the workers died {error.allowed_failures + 1} times over one piece of the table, most likely for "
                "want of memory. Start more of them, or give each more memory."
            ) from None
        except (CancelledError, CommClosedError, TimeoutError) as error:
            raise ClusterTrouble(
                f"the connection to the scheduler was lost ({type(error).__name__}). Start again."
            ) from None

    def once(self, content: bytes) -> Any:
        """A future of some bytes, sent once."""
        return self._client.submit(_same, content, pure=False)


class Table(OnCluster):
    """A table that is to be held by the workers of a cluster."""

    def __init__(self, table: Any, cluster: Cluster) -> None:
        super().__init__(table)
        self._cluster = cluster

    def hold(self, read: Callable[[Any, tuple[int, int]], list[Block]]) -> Store:
        """One task per piece of the table."""
        return _Held(self._cluster, read, self.table)


class _Held(Store):
    def __init__(self, cluster: Cluster, read: Callable[[Any, tuple[int, int]], list[Block]], table: Any) -> None:
        self._cluster = cluster
        spans = cluster.spans(table)
        task = cluster.once(cloudpickle.dumps((read, table)))
        self._chunks = cluster.submit(_read, [task] * len(spans), spans)

    def __len__(self) -> int:
        return len(self._chunks)

    def results(self, function: Callable[[list[Block], Any], Any], arguments: dict[int, Any]) -> Iterator[Any]:
        """On the workers."""
        task = self._cluster.once(cloudpickle.dumps(function))
        chunks = [self._chunks[at] for at in arguments]
        return self._cluster.results(
            self._cluster.submit(_apply, [task] * len(chunks), chunks, list(arguments.values()))
        )


def _same(content: bytes) -> bytes:
    return content


def _read(task: bytes, span: tuple[int, int]) -> list[Block]:
    read, table = pickle.loads(task)
    with alone():
        return list(read(table, span))


def _apply(task: bytes, chunk: list[Block], argument: Any) -> Any:
    with alone():
        return pickle.loads(task)(chunk, argument)
