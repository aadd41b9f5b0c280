"""The contract of file formats: what a subclass of `twoheads.tables.formats.data_file.DataFile` must do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.data_file import DataFile, Wanted

WriteTable = Callable[[Path, Any], None]

_N_ROWS = 1_000


def check_format(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Check a file format against tables that it has written itself.

    Parameters
    ----------
    open_file : callable
        From a path to a `DataFile`: the class itself.
    write : callable
        Writes an Arrow table to a path in this format.
    path : Path
        A file that may be overwritten, with the suffix of the format.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow.parquet
    >>> from twoheads.tables.formats.parquet import ParquetFile
    >>> def write(path, table):
    ...     pyarrow.parquet.write_table(table, path)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_format(ParquetFile, write, Path(folder, "table.parquet"))
    """
    for check in (
        check_columns,
        check_count,
        check_types,
        check_values_in_order,
        check_wanted_columns,
        check_batch_size,
        check_gaps,
        check_reading_twice,
        check_row_groups,
        check_column_names,
        check_text_among_numbers,
    ):
        check(open_file, write, path)


def check_columns(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Columns are named in the order of the file."""
    table = _table()
    file = _written(open_file, write, path, table)
    assert isinstance(file, DataFile), f"{type(file).__name__} must be a DataFile"
    assert file.path == path, f"path must be that of the file; it is {file.path}"
    assert file.columns == tuple(table.column_names), f"columns must be in order; they are {file.columns}"


def check_count(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """All rows are counted."""
    count = _written(open_file, write, path, _table()).count()
    assert count == _N_ROWS, f"count() must be the number of rows, {_N_ROWS}; it is {count}"


def check_types(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Columns have Arrow types: those written, or text in a format without types."""
    file = _written(open_file, write, path, _table())
    kinds = {name: file.type_of(name) for name in file.columns}
    assert all(isinstance(kind, pa.DataType) for kind in kinds.values()), f"types must be Arrow's; they are {kinds}"
    if file.typed:
        assert pa.types.is_floating(kinds["p_a"]), f"numbers must be floats; they are {kinds['p_a']}"
        assert pa.types.is_integer(kinds["number"]), f"whole numbers must be integers; they are {kinds['number']}"
    else:
        assert set(kinds.values()) == {pa.string()}, f"columns without types must be text; they are {kinds}"


def check_values_in_order(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Ids, labels and numbers are those written, in the order of the rows."""
    table = _table()
    read = _read(_written(open_file, write, path, table), Wanted("item", ("human",), ("p_a", "p_b")))
    for name in read.column_names:
        assert read[name].to_pylist() == table[name].to_pylist(), f"column {name!r} must hold the values written"
    for name in ("p_a", "p_b"):
        assert pa.types.is_floating(read[name].type), f"numbers must be floats; {name!r} is {read[name].type}"


def check_wanted_columns(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Only the wanted columns are read, in the order of `Wanted.columns`."""
    file = _written(open_file, write, path, _table())
    for wanted in (Wanted(numbers=("p_b", "p_a")), Wanted(labels=("human",)), Wanted("item", ("human",), ("p_b",))):
        names = _read(file, wanted).column_names
        assert names == wanted.columns, f"batches must have the columns {wanted.columns}; they have {names}"


def check_batch_size(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Batches together are all rows, whatever their size."""
    file = _written(open_file, write, path, _table())
    for rows in (1, 7, 10 * _N_ROWS):
        n_rows = sum(map(len, file.batches(Wanted("item"), rows)))
        assert n_rows == _N_ROWS, f"batches of {rows} rows must hold {_N_ROWS} rows in all; they hold {n_rows}"


def check_gaps(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Missing labels and numbers are null."""
    numbers = {"p_a": [0.5, None, 1.0], "p_b": [0.5, None, 0.0]}
    table = pa.table({"item": ["x", "y", "z"], "human": ["a", None, "b"]} | numbers)
    read = _read(_written(open_file, write, path, table), Wanted("item", ("human",), ("p_a", "p_b")))
    assert read.to_pydict() == table.to_pydict(), f"gaps must be null; the table is {read.to_pydict()}"


def check_reading_twice(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """A file can be read again, and a pass can be abandoned."""
    file = _written(open_file, write, path, _table())
    wanted = Wanted("item")
    next(iter(file.batches(wanted, 10)))
    assert _read(file, wanted).equals(_read(file, wanted)), "two passes over a file must give the same rows"


def check_row_groups(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Row groups, if there are any, cover the file, and each can be read by itself."""
    file = _written(open_file, write, path, _table())
    groups = file.row_groups()
    if groups is None:
        return
    assert sum(groups) == _N_ROWS, f"row groups must hold {_N_ROWS} rows in all; they hold {sum(groups)}"
    whole, start = _read(file, Wanted("item")), 0
    for n_rows in groups:
        piece = pa.Table.from_batches(list(file.batches(Wanted("item"), 10, (start, start + n_rows))))
        assert piece.equals(whole.slice(start, n_rows)), f"the span from row {start} must hold its {n_rows} rows"
        start += n_rows


def check_column_names(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """Names may hold blanks, commas, quotation marks and letters of any script."""
    names = ["p_red fox", "p_a,b", 'p_"x"', "p_狐"]
    table = pa.table({name: [0.25, 0.5] for name in names})
    file = _written(open_file, write, path, table)
    assert list(file.columns) == names, f"columns must be {names}; they are {file.columns}"
    assert _read(file, Wanted(numbers=tuple(names))).to_pydict() == table.to_pydict(), "columns must keep their values"


def check_text_among_numbers(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path) -> None:
    """A text in a column of numbers is refused with its row, counted from 1, and its value."""
    table = pa.table({"p_a": ["0.5", "oops", "1"], "p_b": ["0.5", "0", "0"]})
    file = _written(open_file, write, path, table)
    message = ""
    try:
        _read(file, Wanted(numbers=("p_a", "p_b")))
    except InvalidObservations as error:
        message = str(error)
    assert message, "a text in a column of numbers must be an InvalidObservations"
    for part in ("p_a", "row 2", str(path), "'oops'"):
        assert part in message, f"the message must name {part}; it is {message!r}"


def _table() -> Any:
    rows = range(_N_ROWS)
    return pa.table(
        {
            "item": [f"item {row}" for row in rows],
            "human": ["ab"[row % 2] for row in rows],
            "p_a": [(row % 8) / 8 for row in rows],
            "p_b": [1 - (row % 8) / 8 for row in rows],
            "number": list(rows),
        }
    )


def _written(open_file: Callable[[Path], DataFile], write: WriteTable, path: Path, table: Any) -> DataFile:
    write(path, table)
    return open_file(path)


def _read(file: DataFile, wanted: Wanted) -> Any:
    return pa.Table.from_batches(_plain(file.batches(wanted, 1 << 17)))


def _plain(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches without dictionaries: labels may come as codes."""
    for batch in batches:
        columns = [
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            for column in batch.columns
        ]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
