"""What fits and commands need of a cluster; `twoheads.engines.dask` is one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from twoheads.engines.chunks import Store
from twoheads.kernels.blocks import Block

#: First row of a piece of a table, and the row after its last.
Span = tuple[int, int]
#: From a table and a span of its rows to a chunk.
ReadChunk = Callable[[Any, Span], list[Block]]


class Cluster(ABC):
    """Workers that read pieces of a table and keep them. A new engine writes these methods and its `Store`."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None:
        """Disconnect."""

    @property
    @abstractmethod
    def dashboard(self) -> str:
        """The address of the page that shows what the cluster does."""

    @abstractmethod
    def spans(self, table: Any) -> list[Span]:
        """The pieces in which a table is read."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """Start ``function(...)`` on the workers for each set of arguments; returns futures for `results`."""

    @abstractmethod
    def results(self, futures: Sequence[Any]) -> Iterator[Any]:
        """The results of futures, in their order."""

    @abstractmethod
    def store(self, table: Any, read: ReadChunk) -> Store:
        """Chunks that the workers read with ``read(table, span)`` and keep."""

    def hold(self, table: Any) -> ClusterTable:
        """A table of Parquet files (`twoheads.tables.scan`) for the workers to hold: fit a team to it."""
        return ClusterTable(table, self)


class ClusterTable:
    """A table whose chunks a cluster keeps; its other attributes are those of the table."""

    def __init__(self, table: Any, cluster: Cluster) -> None:
        self.table, self._cluster = table, cluster

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def hold(self, read: ReadChunk) -> Store:
        """The table's chunks, read by the workers."""
        return self._cluster.store(self.table, read)
