"""Parquet, read by Arrow: a little faster than by DuckDB (docs/tables.md), and labels come as codes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import lacks_room, pa, pq
from twoheads.tables.formats.arrow import as_floats
from twoheads.tables.formats.data_file import DataFile, Span, TableWriter, Wanted
from twoheads.tables.formats.detect import first_line, unreadable
from twoheads.tables.formats.hugging_face import class_names, named
from twoheads.tables.formats.typed_columns import as_names, is_text, plain_type, refuse_nested

#: Bytes of a column read at once. Without it a whole row group is fetched, which may be the whole file.
_BUFFER = 1 << 20
#: Rows of a row group that is written.
_GROUP = 122_880


class ParquetFile(DataFile):
    """A Parquet file, read row group by row group, column by column, in pages."""

    def _read_columns(self) -> list[str]:
        with self._open() as file:
            self._schema, self._rows = file.schema_arrow, file.metadata.num_rows
            self._classes = class_names(self._schema)
            self._groups = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
        return list(self._schema.names)

    def type_of(self, column: str) -> Any:
        """The column's type in the file; for a column of codes with names, the type of the names; text as text."""
        return pa.string() if column in self._classes else plain_type(self._schema.field(column).type)

    def count(self) -> int:
        """The number of rows, from the file's metadata."""
        return int(self._rows)

    def row_groups(self) -> list[int]:
        """The number of rows of each row group."""
        return list(self._groups)

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Batches in the order of the file; of the row groups in a span, or of all."""
        names = wanted.columns
        for name in set(names).difference(wanted.numbers):
            refuse_nested(self.type_of(name), name, self.path)
        texts = [name for name in wanted.labels if is_text(self._schema.field(name).type)]
        ends = list(accumulate(self._groups))
        first, end = span or (0, self._rows)
        chosen = [at for at, (last, n) in enumerate(zip(ends, self._groups, strict=True)) if first < last <= end and n]
        row = first
        with self._open(read_dictionary=texts) as file:
            try:
                # A span is read by one of several workers: the other cores are busy.
                threads = span is None
                for batch in file.iter_batches(rows, row_groups=chosen, columns=names, use_threads=threads):
                    columns = [batch.column(name) for name in names]
                    yield pa.RecordBatch.from_arrays(
                        [self._column(each, name, wanted, row) for name, each in zip(names, columns, strict=True)],
                        names=names,
                    )
                    row += len(batch)
            except (pa.ArrowException, OSError) as error:
                raise self._damaged(error) from None

    def _column(self, column: Any, name: str, wanted: Wanted, row: int) -> Any:
        if name in wanted.numbers:
            return as_floats(column, name, row, self.path)
        if name in self._classes:
            return named(column, self._classes[name], name, self.path)
        return as_names(column, name, self.path)

    def _open(self, **options: Any) -> Any:
        self._check_identity()
        try:
            return pq.ParquetFile(self.place, buffer_size=_BUFFER, pre_buffer=False, **options)
        except PermissionError as error:
            raise unreadable(str(self.path), error) from None
        except UnicodeDecodeError:
            raise InvalidObservations(
                f"{self.path} must name its columns in UTF-8; the name of one is not. Rename that column."
            ) from None
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> Exception:
        if lacks_room(error):
            return error
        return InvalidObservations(
            f"{self.path} is a damaged or cut-off Parquet file ({first_line(error)}). Write or copy it again."
        )


class ParquetTableWriter(TableWriter):
    """Writes row groups of about the same size, with dictionaries for labels but not for probabilities."""

    def __init__(self, file: Any, schema: Any) -> None:
        labels = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        self._writer = pq.ParquetWriter(file, schema, use_dictionary=labels or False, compression="snappy")
        self._held: list[Any] = []

    def write(self, batch: Any) -> None:
        """Hold a batch until a row group is full."""
        self._held.append(batch)
        if sum(map(len, self._held)) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._held)
        self._held = []
        self._writer.write_table(table, row_group_size=max(1, len(table)))

    def close(self) -> None:
        """Write the last row group and the footer."""
        if self._held:
            self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Close Arrow's writer, which would else write its footer to a closed file when it is collected."""
        with contextlib.suppress(Exception):
            self._writer.close()
        self._writer.is_open = False
