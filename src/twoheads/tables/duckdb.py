"""Connections to DuckDB, and Arrow; a message about how to install them if they are missing."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from twoheads.engines.room import lacks_room, room
from twoheads.engines.temporary import remove_folder, temporary_folder, temporary_name
from twoheads.engines.threads import n_threads
from twoheads.errors import MissingExtra

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError as error:
    raise MissingExtra.instead_of(error, "pyarrow", "cli", "Reading and writing tables") from None

__all__ = [
    "BATCH_ROWS",
    "MEMORY_LIMIT",
    "SORTING_LIMIT",
    "Database",
    "connect",
    "connected",
    "feed",
    "interruptible",
    "lacks_room",
    "pa",
    "pc",
    "pq",
    "quoted",
    "reading_errors",
    "room",
]

#: Rows of a record batch that is read from a file or a database.
BATCH_ROWS = 1 << 17
#: Memory of DuckDB for a file, and for tables that are sorted before it spills to disk; the most threads that share it.
MEMORY_LIMIT = "512MB"
SORTING_LIMIT = "256MB"
_MOST_THREADS = 4


def connect(database: str = ":memory:", *, memory_limit: str = MEMORY_LIMIT, folder: str | None = None) -> Any:
    """A DuckDB connection that downloads nothing, prints nothing, keeps rows in order and spills to disk."""
    try:
        import duckdb
    except ImportError as error:
        purpose = "Reading CSV and JSON lines, and joining tables,"
        raise MissingExtra.instead_of(error, "duckdb", "cli", purpose) from None
    connection = duckdb.connect(database, config={"autoinstall_known_extensions": False, "threads": _threads()})
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = true")
    connection.execute(f"SET memory_limit = {quoted(memory_limit)}")
    # DuckDB makes the folder when it spills, and removes it when the connection is closed.
    connection.execute(f"SET temp_directory = {quoted(folder or temporary_name())}")
    return connection


def _threads() -> int:
    return min(_MOST_THREADS, n_threads())


class Database:
    """A database in a temporary folder, which is removed with the last reference to it or by `discard`."""

    def __init__(self, memory_limit: str = SORTING_LIMIT) -> None:
        self.folder = temporary_folder()
        path = os.path.join(self.folder, "tables.db")
        self.connection = connect(path, memory_limit=memory_limit, folder=self.folder)
        self.discard = weakref.finalize(self, _discard, self.connection, self.folder)


def _discard(connection: Any, folder: str) -> None:
    connection.close()
    remove_folder(folder)


@contextlib.contextmanager
def connected(memory_limit: str = MEMORY_LIMIT, *, threads: int | None = None) -> Iterator[Any]:
    """A connection that is closed at the end; a lack of memory or disk is `NoRoom`."""
    connection = connect(memory_limit=memory_limit)
    if threads is not None:
        connection.execute(f"SET threads = {threads}")
    try:
        with interruptible(), room("a table could not be read"):
            yield connection
    finally:
        connection.close()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Re-raise Ctrl-C inside DuckDB, which makes it a RuntimeError, as KeyboardInterrupt."""
    try:
        yield
    except RuntimeError as error:
        if "Query interrupted" in str(error):
            raise KeyboardInterrupt from None
        raise


def feed(connection: Any, sql: str, schema: Any, batches: Iterable[Any]) -> Any:
    """Run SQL that reads record batches as the table ``fed``; errors in making the batches are raised unchanged."""
    errors: list[BaseException] = []

    def guarded() -> Iterator[Any]:
        try:
            yield from batches
        except BaseException as error:
            errors.append(error)
            raise

    connection.register("fed", pa.RecordBatchReader.from_batches(schema, guarded()))
    try:
        return connection.execute(sql).fetchall()
    except Exception:
        if errors:
            raise errors[0] from None
        raise
    finally:
        connection.unregister("fed")


def reading_errors() -> tuple[type[Exception], ...]:
    """What DuckDB and Arrow raise for a file that cannot be read."""
    import duckdb

    return duckdb.Error, pa.ArrowException, OSError


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
