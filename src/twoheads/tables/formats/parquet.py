"""Parquet, read by Arrow: a little faster than by DuckDB (docs/tables.md), and it hands labels out as codes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa, pc, pq
from twoheads.tables.formats.data_file import DataFile, Wanted, is_number, no_number
from twoheads.tables.formats.detect import first_line, unreadable

#: Bytes of a column read at once. Without it a whole row group is fetched, which may be the whole file.
_BUFFER = 1 << 20


class ParquetFile(DataFile):
    """A Parquet file, read row group by row group, column by column, in pages."""

    def _read_columns(self) -> list[str]:
        with self._open() as file:
            self._schema, self._rows = file.schema_arrow, file.metadata.num_rows
            self._groups = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
        return list(self._schema.names)

    def type_of(self, column: str) -> Any:
        """The column's type, as the file says; of a column of codes with names, the type of the names."""
        kind = self._schema.field(column).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    def count(self) -> int:
        """How many rows there are, as the file says."""
        return int(self._rows)

    def groups(self) -> list[int]:
        """How many rows each row group has."""
        return list(self._groups)

    def batches(self, wanted: Wanted, rows: int, span: tuple[int, int] | None = None) -> Iterator[Any]:
        """Batches in the order of the file; where a span is given, those of the row groups in it."""
        names = wanted.columns
        texts = [name for name in wanted.labels if _is_text(self.type_of(name))]
        ends = list(accumulate(self._groups))
        first, end = span or (0, self._rows)
        chosen = [at for at, (last, n) in enumerate(zip(ends, self._groups, strict=True)) if first < last <= end and n]
        row = first
        with self._open(read_dictionary=texts) as file:
            try:
                # A piece is read by one of several workers, which have the other cores.
                threads = span is None
                for batch in file.iter_batches(rows, row_groups=chosen, columns=names, use_threads=threads):
                    columns = [batch.column(name) for name in names]
                    yield pa.RecordBatch.from_arrays(
                        [
                            self._numbers(column, name, row) if name in wanted.numbers else column
                            for name, column in zip(names, columns, strict=True)
                        ],
                        names=names,
                    )
                    row += len(batch)
            except (pa.ArrowException, OSError) as error:
                raise self._damaged(error) from None

    def _numbers(self, column: Any, name: str, row: int) -> Any:
        kind = column.type
        if kind in (pa.float64(), pa.float32()):
            return column
        try:
            return pc.cast(column, pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            values = column.to_pylist()
        off = [at for at, value in enumerate(values) if value is not None and not is_number(str(value))]
        if off:
            raise no_number(name, row + off[0] + 1, self.path, values[off[0]], len(off), len(values))
        return pa.array([None if value is None else float(value) for value in values], pa.float64())

    def _open(self, **options: Any) -> Any:
        try:
            return pq.ParquetFile(self.path, buffer_size=_BUFFER, pre_buffer=False, **options)
        except PermissionError as error:
            raise unreadable(str(self.path), error) from None
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> InvalidObservations:
        return InvalidObservations(
            f"{self.path} is a damaged or cut-off Parquet file ({first_line(error)}). Write or copy it again."
        )


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
