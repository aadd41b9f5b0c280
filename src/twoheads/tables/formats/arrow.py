"""Arrow files, as Hugging Face datasets and Feather write them: streams or files of record batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa, pc
from twoheads.tables.formats.data_file import DataFile, Span, TableWriter, Wanted, is_number, not_a_number
from twoheads.tables.formats.detect import first_line, unreadable
from twoheads.tables.formats.hugging_face import class_names, named
from twoheads.tables.formats.typed_columns import as_names, plain_type, refuse_nested


class ArrowFile(DataFile):
    """Record batches, read one at a time from a mapped file."""

    def _read_columns(self) -> list[str]:
        with self._open() as (schema, _):
            try:
                columns = list(schema.names)
            except UnicodeDecodeError:
                raise InvalidObservations(
                    f"{self.path} has a column whose name is not text in UTF-8. Write it again as UTF-8."
                ) from None
            self._schema, self._names = schema, class_names(schema)
        return columns

    def type_of(self, column: str) -> Any:
        """The column's type in the file; text for codes of classes."""
        return pa.string() if column in self._names else plain_type(self._schema.field(column).type)

    def count(self) -> int:
        """The number of rows, from the sizes of the batches."""
        with self._open() as (_, batches):
            return sum(map(len, batches))

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Batches in the order of the file."""
        row = 0
        for name in set(wanted.columns).difference(wanted.numbers):
            refuse_nested(self.type_of(name), name, self.path)
        with self._open() as (_, batches):
            for whole in batches:
                for start in range(0, len(whole), rows):
                    batch = whole.slice(start, rows)
                    columns = [self._column(batch.column(name), name, wanted, row) for name in wanted.columns]
                    yield pa.RecordBatch.from_arrays(columns, names=wanted.columns)
                    row += len(batch)

    def _column(self, column: Any, name: str, wanted: Wanted, row: int) -> Any:
        column.validate(full=True)  # the file is mapped as it is: a wrong offset in it would crash the process
        if name in wanted.numbers:
            return as_floats(column, name, row, self.path)
        if name in self._names:
            return named(column, self._names[name], name, self.path)
        return as_names(column, name, self.path)

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, Iterator[Any]]]:
        """The schema and the batches."""
        try:
            with pa.memory_map(str(self.path)) as file:
                yield _opened(file)
        except PermissionError as error:
            raise unreadable(str(self.path), error) from None
        except (pa.ArrowException, OSError) as error:
            raise InvalidObservations(
                f"{self.path} is a damaged or cut-off Arrow file ({first_line(error)}). Write or copy it again."
            ) from None


def _opened(file: Any) -> tuple[Any, Iterator[Any]]:
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    if not is_file:
        stream = pa.ipc.open_stream(file)
        return stream.schema, iter(stream)
    reader = pa.ipc.open_file(file)
    return reader.schema, (reader.get_batch(at) for at in range(reader.num_record_batches))


def as_floats(column: Any, name: str, row: int, path: Path) -> Any:
    """A column as floats; the first text that is not a number, in a batch that begins at ``row``, is refused."""
    if column.type in (pa.float64(), pa.float32()):
        return column
    try:
        return pc.cast(column, pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        values = column.to_pylist()
    off = [at for at, value in enumerate(values) if value is not None and not is_number(str(value))]
    if off:
        raise not_a_number(name, row + off[0] + 1, path, values[off[0]], len(off), len(values))
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


class ArrowTableWriter(TableWriter):
    """Writes a stream of record batches, as Hugging Face datasets does."""

    def __init__(self, file: Any, schema: Any) -> None:
        self._writer = pa.ipc.new_stream(file, schema)

    def write(self, batch: Any) -> None:
        """Write one batch."""
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the end of the stream."""
        self._writer.close()
