"""JSON lines, read by DuckDB: an object per row, keys as columns; a key that is missing is a gap."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import connected, pa, quoted
from twoheads.tables.formats.csv import literal
from twoheads.tables.formats.data_file import DataFile, Span, TableWriter, Wanted
from twoheads.tables.formats.detect import first_line
from twoheads.tables.formats.json_errors import explain_json, refuse_same_keys
from twoheads.tables.formats.registry import compression_of

_TYPES = {"BIGINT": "BIGINT", "UBIGINT": "UBIGINT", "DOUBLE": "DOUBLE", "BOOLEAN": "BOOLEAN"}
#: Rows sampled for their keys and types: to look at all of them takes longer than to read them.
_SAMPLE = "sample_size = 100_000"


class JsonFile(DataFile):
    """Objects, one per line (or a list of them), each a row."""

    def _read_columns(self) -> Iterator[str]:
        with connected() as connection:
            try:
                described = connection.sql(f"DESCRIBE FROM {self._source(_SAMPLE)}").fetchall()
            except _errors() as error:
                raise self._explained(error, Wanted()) from None
        self._types = {name: _TYPES.get(kind, "VARCHAR") for name, kind, *_ in described}
        refuse_same_keys(self.path)
        yield from self._types

    def type_of(self, column: str) -> Any:
        """Whole numbers, numbers, booleans or text, whichever fits all values of the column."""
        kinds = {"BIGINT": pa.int64(), "UBIGINT": pa.uint64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}
        return kinds.get(self._types[column], pa.string())

    def count(self) -> int:
        """The number of rows, by reading them."""
        with connected() as connection:
            return int(connection.sql(f"SELECT count(*) FROM {self._source(_SAMPLE)}").fetchall()[0][0])

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Batches in the order of the file."""
        names = wanted.columns
        types = dict.fromkeys(wanted.labels, "VARCHAR") | dict.fromkeys(wanted.numbers, "DOUBLE")
        types = {name: types.get(name, self._types[name]) for name in names}
        columns = ", ".join(f"{quoted(name)}: '{kind}'" for name, kind in types.items())
        chosen = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        source = self._source(f"columns = {{{columns}}}")
        with connected() as connection:
            try:
                yield from connection.sql(f"SELECT {chosen} FROM {source}").to_arrow_reader(rows)
            except _errors() as error:
                raise self._explained(error, wanted) from None

    def _source(self, options: str) -> str:
        compression = compression_of(self.path.name) or "uncompressed"
        return f"read_json({quoted(literal(self.path))}, compression = {quoted(compression)}, {options})"

    def _explained(self, error: Exception, wanted: Wanted) -> InvalidObservations:
        whole = wanted.item if wanted.item and self._types[wanted.item].endswith("INT") else None
        return explain_json(self.path, wanted, whole) or InvalidObservations(
            f"{self.path} cannot be read as JSON lines ({first_line(error)})."
        )


class JsonWriter(TableWriter):
    """Writes one object per line; numbers that JSON does not have are null."""

    def __init__(self, file: Any, schema: Any) -> None:
        self._file = file

    def write(self, batch: Any) -> None:
        """Write one line per row."""
        rows = ({name: _finite(value) for name, value in row.items()} for row in batch.to_pylist())
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False, default=str) for row in rows]
        self._file.write("".join(f"{line}\n" for line in lines).encode())


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _errors() -> tuple[type[Exception], ...]:
    import duckdb

    return duckdb.Error, pa.ArrowException, OSError
