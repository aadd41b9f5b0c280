"""Writing a table: batch after batch, whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from twoheads.errors import InvalidParameter
from twoheads.storage.atomic import atomic_write
from twoheads.tables.duckdb import pa, pq

#: Rows of a Parquet row group.
_GROUP = 122_880


def write(path: str | os.PathLike[str] | BinaryIO, batches: Iterable[Any], *, format: str | None = None) -> int:
    """Write record batches as a table and return how many rows it has.

    A file appears when it is complete: until then a temporary one stands in its folder, and is removed if anything goes
    wrong. Memory is that of a batch; of Parquet, that of a row group. In CSV the texts of a batch stand in quotation
    marks if one of them needs them.

    Parameters
    ----------
    path : path or binary file
        Where to. Its suffix says the format: .csv, .tsv, .parquet or .jsonl; text also .gz or .zst.
    batches : iterable of Arrow record batches
        All with the same columns; there must be at least one.
    format : {"csv", "tsv", "parquet", "jsonl"}, optional
        The format, where the suffix does not say it.

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
        return _pour(path, batches, _writer(format or "csv", "format"))
    kind, compression = _kind_of(path, format)
    begin = _writer(kind, os.fspath(path))
    with atomic_write(path) as file:
        if compression is None:
            return _pour(file, batches, begin)
        # Closing the stream closes what it writes to: a copy of the file, which is still to be flushed and named.
        with open(os.dup(file.fileno()), "wb") as copy, pa.CompressedOutputStream(copy, compression) as packed:
            return _pour(packed, batches, begin)


def _kind_of(path: str | os.PathLike[str], format: str | None) -> tuple[str, str | None]:
    stem, suffix = os.path.splitext(os.fspath(path).lower())
    compression = {".gz": "gzip", ".zst": "zstd"}.get(suffix)
    if compression:
        suffix = os.path.splitext(stem)[1]
    kind = format or {".pq": "parquet", ".ndjson": "jsonl", ".json": "jsonl"}.get(suffix, suffix.removeprefix("."))
    return kind, None if kind == "parquet" else compression


def _writer(kind: str, name: str) -> Callable[[BinaryIO, Any], Any]:
    if kind not in _WRITERS:
        raise InvalidParameter(
            f"the suffix must say the format: .csv, .tsv, .parquet or .jsonl, text also .gz or .zst; {name!r} does not."
        )
    return _WRITERS[kind]


def _pour(file: Any, batches: Iterable[Any], begin: Callable[[Any, Any], Any]) -> int:
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


class _Csv:
    """Texts without quotation marks, which is what people like to read; with them in batches that need them."""

    def __init__(self, file: Any, schema: Any, separator: str = ",") -> None:
        from pyarrow.csv import WriteOptions, write_csv

        self._write, self._file = write_csv, file
        self._options = [
            WriteOptions(include_header=False, delimiter=separator, quoting_style=style) for style in ("none", "needed")
        ]
        header = io.StringIO()
        csv.writer(header, delimiter=separator, lineterminator="\n").writerow(schema.names)
        file.write(header.getvalue().encode())

    def write(self, batch: Any) -> None:
        plain = pa.RecordBatch.from_arrays([_plain(column) for column in batch.columns], names=batch.schema.names)
        for options in self._options:
            text = pa.BufferOutputStream()
            try:
                self._write(plain, text, options)
            except pa.ArrowInvalid:  # a value holds a separator, a quotation mark or the end of a line
                continue
            self._file.write(text.getvalue())
            return
        raise AssertionError("quoted values can always be written")

    def close(self) -> None:
        pass

    abandon = close


class _Parquet:
    """Row groups of about the same size; only labels are worth a dictionary, probabilities are not."""

    def __init__(self, file: Any, schema: Any) -> None:
        labels = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        self._writer = pq.ParquetWriter(file, schema, use_dictionary=labels or False, compression="snappy")
        self._held: list[Any] = []

    def write(self, batch: Any) -> None:
        self._held.append(batch)
        if sum(map(len, self._held)) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._held)
        self._held = []
        self._writer.write_table(table, row_group_size=max(1, len(table)))

    def close(self) -> None:
        if self._held:
            self._flush()
        self._writer.close()

    def abandon(self) -> None:
        # Else it would write its end to a file that is closed, when it is collected.
        with contextlib.suppress(Exception):
            self._writer.close()
        self._writer.is_open = False


class _JsonLines:
    def __init__(self, file: Any, schema: Any) -> None:
        self._file = file

    def write(self, batch: Any) -> None:
        rows = ({name: _finite(value) for name, value in row.items()} for row in batch.to_pylist())
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False, default=str) for row in rows]
        self._file.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        pass

    abandon = close


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(column: Any) -> Any:
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


_WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    "csv": _Csv,
    "tsv": lambda file, schema: _Csv(file, schema, "\t"),
    "parquet": _Parquet,
    "jsonl": _JsonLines,
}
