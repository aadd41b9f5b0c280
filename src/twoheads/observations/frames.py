"""Data frames of any library as NumPy columns: the only module that knows pandas, polars and Arrow; it imports none."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations, MissingExtra, Problem
from twoheads.kernels.arrays import Floats
from twoheads.observations.labels import is_missing
from twoheads.rendering.notebook import LONGEST, html_table, in_short
from twoheads.text import count


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a table with named columns (a series has none)."""
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return True
    return hasattr(X, "__arrow_c_stream__") and len(getattr(X, "shape", (0, 0))) == 2


def in_row_order(X: Any, values: Any, argument: str) -> Any:
    """Values in the order of the rows of ``X``, matched by index where both have one, as pandas does; else as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"human": [1, 0]}, index=["a", "b"])
    >>> in_row_order(X, pd.Series([0, 1], index=["b", "a"]), "y").tolist()
    [1, 0]
    """
    rows, own = _index(X), _index(values)
    if rows is None or own is None or len(rows) != len(own) or own.equals(rows):
        return values
    position = own.get_indexer(rows) if own.is_unique and rows.is_unique else np.full(1, -1)
    if (position >= 0).all():
        return values.iloc[position]
    raise InvalidObservations(
        f"{argument} must have the index of X, in any order; {_difference(rows, own)}. "
        f"Give {argument} the index of X, or {argument}.to_numpy() if its rows are in the order of those of X."
    )


def _index(values: Any) -> Any:
    """The index of a pandas object; None for anything else."""
    return values.index if type(values).__module__.partition(".")[0] == "pandas" and hasattr(values, "iloc") else None


def _difference(rows: Any, own: Any) -> str:
    lacking = rows[~rows.isin(own)]
    if len(lacking):
        return f"it has no entry for {lacking[0]!r} ({len(lacking)} of {len(rows)} rows of X have none)"
    return "both are in different orders, and labels of the index are repeated"


#: The kinds of frame that can be made.
KINDS = ("pandas", "polars", "pyarrow")


def frame_kind(X: Any) -> str:
    """The library of a frame; pandas for anything else."""
    library = type(X).__module__.partition(".")[0]
    return library if library in KINDS else "pandas"


def new_frame(columns: Mapping[str, Any], kind: str = "pandas") -> Any:
    """A frame of named columns, of a library by its name.

    Examples
    --------
    >>> new_frame({"person": ["ann", "bob"], "right": [0.9, 0.8]}, "polars").columns
    ['person', 'right']
    """
    try:
        library = importlib.import_module(kind)
    except ImportError as error:
        raise MissingExtra.instead_of(error, kind, "frames", f"A frame of {kind}") from None
    plain = {name: np.asarray(values).tolist() for name, values in columns.items()}
    if kind == "pyarrow":
        return library.table(plain)
    return library.DataFrame(plain, strict=False) if kind == "polars" else library.DataFrame(plain)


class Columns(dict[str, Any]):
    """Columns of equal length by name, an entry per row: a dict that a notebook shows as a table.

    ``pandas.DataFrame(columns)`` and ``polars.DataFrame(columns)`` take it as it is.
    """

    def to_frame(self, kind: str = "pandas") -> Any:
        """The same as a frame of a library: pandas, polars or pyarrow."""
        return new_frame(self, kind)

    #: Rows that a notebook shows.
    most_rows = 60

    def rows(self) -> list[list[Any]]:
        """The rows as lists."""
        plain = [np.asarray(values).tolist() for values in self.values()]
        return [list(row) for row in zip(*plain, strict=True)]

    def __repr__(self) -> str:
        n_rows = len(next(iter(self.values()), ()))
        parts = ", ".join(f"{name}={in_short(values)}" for name, values in self.items())
        text = f"{count(n_rows, 'row')} of {parts}"
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

    def _repr_html_(self) -> str:
        rows = self.rows()
        more = f"<p>{len(rows) - self.most_rows:,} more rows</p>" if len(rows) > self.most_rows else ""
        return html_table(list(self), [[in_short(value) for value in row] for row in rows[: self.most_rows]]) + more


class Frame:
    """Named columns of a data frame, read as NumPy arrays on demand.

    Parameters
    ----------
    X : data frame
        Of pandas or polars; an Arrow table; or anything with the Arrow C stream, which pyarrow then reads.
    argument : str
        The name of the table in messages.
    """

    def __init__(self, X: Any, *, argument: str = "X") -> None:
        self._table = _readable(X, argument)
        names = self._table.column_names if hasattr(self._table, "column_names") else list(self._table.columns)
        self.columns: list[str] = [str(name) for name in names]
        self.argument = argument
        repeated = [(name, times) for name, times in Counter(self.columns).items() if times > 1]
        if repeated:
            name, times = repeated[0]
            raise InvalidObservations(
                f"{argument} must have each column once; {name!r} appears {times} times "
                f"({len(repeated)} of {len(names) - sum(t - 1 for _, t in repeated)} names are repeated). "
                "Drop or rename the copies."
            )
        self._names = dict(zip(self.columns, names, strict=True))

    def __len__(self) -> int:
        return int(self._table.num_rows) if hasattr(self._table, "num_rows") else len(self._table)

    def column(self, name: str) -> NDArray[Any]:
        """One column as an array; gaps are None, NaN or pandas' NA."""
        return as_column(self._table[self._names[name]])

    def numbers(self, names: Sequence[str]) -> Floats:
        """Several columns side by side as floats, (n_rows, n_names), gaps NaN, column after column in memory."""
        out = np.empty((len(self), len(names)), order="F")
        for at, name in enumerate(names):
            out[:, at] = as_numbers(self.column(name), f"column {name!r}")
        return out


def as_column(values: Any) -> NDArray[Any]:
    """A column, a series or a list as an array; gaps are None, NaN or pandas' NA, never text."""
    if hasattr(getattr(values, "type", None), "index_type"):  # Arrow's to_numpy reads a gap in a dictionary as a value
        values = values.cast(values.type.value_type)
    array = _as_array(values)
    if array.dtype.kind == "f" and array.ndim == 1 and _held_whole_numbers(values):
        array = _with_whole_numbers(values, array)
    if array.dtype.kind == "U" and isinstance(values, list | tuple):
        array = np.array(values, dtype=object)  # else NumPy has made a NaN among texts the text "nan"
    return array.astype(object) if array.dtype.kind == "T" else array


#: Whole numbers beyond this are not exact as floats.
_EXACT = 2.0**53


def _as_array(values: Any) -> NDArray[Any]:
    """Any column as an array; an Arrow array is copied where it must be."""
    if type(values).__module__.partition(".")[0] == "pyarrow" and hasattr(values, "to_pylist"):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def _held_whole_numbers(values: Any) -> bool:
    """Whether what is now an array of floats was a column, or a list, of whole numbers, perhaps with gaps."""
    if isinstance(values, list | tuple):
        return all(isinstance(value, int) for value in values if not is_missing(value))
    kind = str(getattr(values, "type", getattr(values, "dtype", ""))).lower()
    return kind.removeprefix("u").startswith("int")


def _with_whole_numbers(values: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that gaps, or their size, have made floats: as Python's, gaps None, if floats cannot hold them."""
    if not np.abs(array).max(initial=0.0, where=np.isfinite(array)) >= _EXACT:
        return array
    listed = values if isinstance(values, list | tuple) else None
    listed = listed or (values.to_pylist() if hasattr(values, "to_pylist") else values.to_list())
    exact = np.empty(len(listed), dtype=object)
    exact[:] = [None if is_missing(value) else value for value in listed]
    return exact


#: What to do about probabilities that are not numbers.
NUMBER_REMEDY = "Correct those entries, or leave the whole row blank where the model has no prediction."


def as_numbers(values: Any, argument: str, *, remedy: str = NUMBER_REMEDY) -> NDArray[Any]:
    """Numbers as floats of single or double precision, not copied if they are that already; gaps are NaN."""
    array = as_column(values)
    if array.dtype in (np.float64, np.float32):
        return array
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind not in "OU":
        complex_too = " (Complex data not supported)" if array.dtype.kind == "c" else ""
        raise InvalidObservations(
            f"{argument} must hold real numbers; it has dtype {array.dtype}{complex_too}. {remedy}"
        )
    return _parsed(array, argument, remedy)


def _parsed(array: NDArray[Any], argument: str, remedy: str) -> Floats:
    """Texts and Python objects as floats."""
    numbers = np.empty(array.shape)
    flat, off = numbers.reshape(-1), []
    for at, value in enumerate(array.ravel().tolist()):
        try:
            flat[at] = np.nan if is_missing(value) else _as_float(value)
        except (TypeError, ValueError):
            off.append(at)
    if off:
        rows = [int(np.unravel_index(at, array.shape)[0]) if array.ndim else 0 for at in off]
        found, n_rows = f"has {array.ravel()[off[0]]!r}", len(array) if array.ndim else 1
        raise InvalidObservations(
            Problem(argument, "must hold numbers", rows[0], found, len(set(rows)), n_rows, remedy)
        )
    return numbers


def _as_float(value: Any) -> float:
    """A number as a float; infinite beyond the largest, as the text of such a number is."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _readable(X: Any, argument: str) -> Any:
    """A table whose columns can be taken by name: pandas, polars and pyarrow tables as they are, others by pyarrow."""
    if hasattr(X, "collect") and not hasattr(X, "__arrow_c_stream__"):
        raise InvalidObservations(
            f"{argument} must be a data frame in memory; it is a {type(X).__name__}. Call its collect() first."
        )
    if _is_native(X):
        return X
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        table = _from_arrow(X)
        if table is not None:
            return table
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        return X
    raise InvalidObservations(
        f"{argument} must be a data frame of pandas, polars or Arrow, or have the Arrow C stream; "
        f"it is a {type(X).__name__}."
    )


def _is_native(X: Any) -> bool:
    """Whether X is a table of pandas, polars or pyarrow, whose columns are read without a detour."""
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow":
        return hasattr(X, "column_names") and hasattr(X, "combine_chunks")
    return library in ("pandas", "polars") and hasattr(X, "columns")


def _from_arrow(X: Any) -> Any:
    """A table from the Arrow C interface, or None if it is not one."""
    try:
        import pyarrow
    except ImportError as error:
        purpose = f"Reading a {type(X).__name__} by the Arrow C stream"
        raise MissingExtra.instead_of(error, "pyarrow", "frames", purpose) from None
    try:
        return pyarrow.table(X)
    except (TypeError, ValueError):
        return None
