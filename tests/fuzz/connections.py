"""Connections to DuckDB that are used again: making one takes longer than reading a small table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from twoheads.tables import duckdb
from twoheads.tables.duckdb import MEMORY_LIMIT, connect
from twoheads.tables.schema import id_hashes

assert id_hashes.connect is connect  # loaded before: its connection holds a table, and is not used again


class _Kept:
    """A connection that goes back to the idle ones when it is closed."""

    def __init__(self, connection: Any, idle: list[Any]) -> None:
        self._connection, self._idle = connection, idle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def close(self) -> None:
        """To be used again, if it holds no table and no open result."""
        with contextlib.suppress(Exception):
            if not self._connection.execute("SHOW TABLES").fetchall():
                self._idle.append(self._connection)
                return
        self._connection.close()


@contextlib.contextmanager
def kept_connections() -> Iterator[None]:
    """Within, no database is on disk, and one without tables is used again, with the settings of a new one."""
    idle: list[Any] = []

    def reused(database: str = ":memory:", *, memory_limit: str = MEMORY_LIMIT, folder: str | None = None) -> Any:
        if database != ":memory:":
            return connect(memory_limit=memory_limit, folder=folder)
        connection = idle.pop() if idle else connect()
        connection.execute(f"SET memory_limit = {duckdb.quoted(memory_limit)}; RESET threads")
        return _Kept(connection, idle)

    with mock.patch.object(duckdb, "connect", reused):
        yield
    for connection in idle:
        connection.close()
