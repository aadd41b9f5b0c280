"""Writing a table: batch after batch, complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from twoheads.errors import InvalidParameter
from twoheads.storage.atomic import atomic_write, is_special
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.data_file import TableWriter
from twoheads.tables.formats.registry import Format, by_name, compression_of, suffixes, usual_suffixes, written_as


def write(path: str | os.PathLike[str] | BinaryIO, batches: Iterable[Any], *, format: str | None = None) -> int:
    """Write record batches as a table and return how many rows it has.

    A file appears when it is complete: until then a temporary one is in its folder, and is removed on any error.
    Memory is that of a batch, for Parquet that of a row group. In CSV, all texts of a batch are in quotation marks if
    one of them needs them.

    Parameters
    ----------
    path : path or binary file
        Where to. Its suffix gives the format: .csv, .tsv, .parquet, .jsonl or .arrow; text also .gz or .zst. A device
        or a pipe without such a suffix gets CSV.
    batches : iterable of Arrow record batches
        All with the same columns; there must be at least one.
    format : {"csv", "tsv", "parquet", "jsonl", "arrow"}, optional
        The format, if the suffix does not give it.

    Examples
    --------
    >>> import io, pyarrow as pa
    >>> out = io.BytesIO()
    >>> write(out, [pa.record_batch({"item": ["a, b", "c"], "p": [0.5, None]})], format="csv")
    2
    >>> print(out.getvalue().decode())
    item,p
    "a, b",0.5
    "c",
    <BLANKLINE>
    """
    if not isinstance(path, str | os.PathLike):
        return _write_all(path, batches, _format("format", format or "csv").write_to)
    name = os.fspath(path)
    chosen = _format(name, format or ("csv" if is_special(path) and not written_as(suffixes(name)[0]) else None))
    compression = None if chosen.magic else compression_of(name)
    with atomic_write(path) as file:
        if compression is None:
            return _write_all(file, batches, chosen.write_to)
        with pa.CompressedOutputStream(_KeptOpen(file), compression) as packed:
            return _write_all(packed, batches, chosen.write_to)


class _KeptOpen:
    """A file that a stream over it does not close: it is still to be renamed."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        """Leave it open."""


def _format(name: str, format: str | None) -> Format:
    found = by_name(format) if format else written_as(suffixes(name)[0])
    if found is None or found.writer is None:
        known = usual_suffixes(written=True)
        raise InvalidParameter(f"the suffix must be that of a format: {known}; that of {name!r} is not.")
    return found


def _write_all(file: Any, batches: Iterable[Any], begin: Callable[[Any, Any], TableWriter]) -> int:
    n_rows, writer = 0, None
    try:
        for batch in batches:
            writer = writer or begin(file, batch.schema)
            writer.write(batch)
            n_rows += len(batch)
        if writer is None:
            raise InvalidParameter("batches must hold at least one record batch; they hold none.")
        writer.close()
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise
    return n_rows
