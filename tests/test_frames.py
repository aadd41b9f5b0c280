"""Tables of any library as NumPy columns."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from twoheads.errors import InvalidObservations, MissingExtra
from twoheads.observations.frames import Frame, as_column, as_numbers, is_frame


class OnlyAStream:
    """A table of which nothing is known but the Arrow C stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_what_is_a_frame():
    for frame in (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]})):
        assert is_frame(frame)
        assert is_frame(OnlyAStream(pa.table({"a": [1]})))
    for other in (np.ones((2, 2)), [[1]], pd.Series([1]), pl.Series([1]), None):
        assert not is_frame(other)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [1.0, None], "b": ["x", None]}),
        pl.DataFrame({"a": [1.0, None], "b": ["x", None]}),
        pa.table({"a": [1.0, None], "b": ["x", None]}),
        pa.table({"a": [1.0, None], "b": pa.array(["x", None]).dictionary_encode()}),
        pa.record_batch({"a": [1.0, None], "b": ["x", None]}),
        OnlyAStream(pa.table({"a": [1.0, None], "b": ["x", None]})),
    ],
)
def test_columns(table):
    frame = Frame(table)
    assert len(frame) == 2
    assert frame.columns == ["a", "b"]
    np.testing.assert_array_equal(frame.numbers(["a"]), [[1.0], [np.nan]])
    text = frame.column("b")
    assert text[0] == "x"
    assert text[1] is None or np.isnan(text[1])


def test_columns_that_are_numbers():
    frame = Frame(pd.DataFrame([[1, 2]], columns=[0, 1]))
    assert frame.columns == ["0", "1"]
    assert frame.column("1").tolist() == [2]


def test_names_that_are_repeated():
    with pytest.raises(InvalidObservations) as caught:
        Frame(pa.table([[1], [2], [3], [4], [5]], names=["a", "b", "a", "c", "b"]), argument="model")
    assert str(caught.value) == (
        "model must have each column once; 'a' appears 2 times (2 of 3 names are repeated). Drop or rename the copies."
    )


def test_numbers_of_many_types():
    table = pa.table(
        {
            "whole": [1, None],
            "single": pa.array([0.5, None], pa.float32()),
            "decimal": pa.array([0, None], pa.decimal128(4, 2)),
            "yes": [True, None],
            "text": ["0.25", " "],
        }
    )
    numbers = Frame(table).numbers(table.column_names)
    np.testing.assert_array_equal(numbers, [[1, 0.5, 0, 1, 0.25], [np.nan] * 5])
    assert numbers.dtype == np.float64


def test_numbers_that_are_none():
    with pytest.raises(InvalidObservations) as caught:
        Frame(pd.DataFrame({"p_a": pd.to_datetime(["2020-01-01"])})).numbers(["p_a"])
    assert str(caught.value).startswith("column 'p_a' must hold real numbers; it has dtype datetime64")
    with pytest.raises(InvalidObservations) as caught:
        as_numbers([0.5, "x", None, "y"], "sample_weight", remedy="Give numbers.")
    assert str(caught.value) == "sample_weight must hold numbers; row 1 has 'x' (2 of 4 rows are off). Give numbers."


def test_floats_are_not_copied():
    for dtype in (np.float32, np.float64):
        array = np.ones(3, dtype=dtype)
        assert as_numbers(array, "x") is array


def test_a_gap_among_texts_stays_a_gap():
    assert as_column(["a", float("nan")])[1] != "nan"
    assert as_column(("a", None)).tolist() == ["a", None]
    assert as_column(np.array(["a", "b"], dtype=np.dtypes.StringDType())).dtype == object


def test_a_lazy_frame():
    with pytest.raises(InvalidObservations) as caught:
        Frame(pl.LazyFrame({"a": [1]}))
    assert str(caught.value) == "X must be a data frame in memory; it is a LazyFrame. Call its collect() first."


def test_what_is_no_frame():
    with pytest.raises(InvalidObservations) as caught:
        Frame([1, 2], argument="answers")
    assert str(caught.value) == (
        "answers must be a data frame of pandas, polars or Arrow, or have the Arrow C stream; it is a list."
    )
    for series, name in (
        (pl.Series([1]), "Series"),
        (pd.Series([1]), "Series"),
        (pa.chunked_array([[1]]), "ChunkedArray"),
    ):
        with pytest.raises(InvalidObservations, match=f"it is a {name}"):
            Frame(series)


def test_a_stream_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra) as caught:
        Frame(OnlyAStream(None))
    assert str(caught.value) == (
        "Reading a OnlyAStream by the Arrow C stream needs pyarrow; install it with: pip install 'twoheads[frames]'"
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_read_without_pyarrow(library):
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        f"from {library} import DataFrame\n"
        "from twoheads.observations import as_observations\n"
        "seen = as_observations(DataFrame({'human': ['a', None], 'p_a': [0.5, 0.5], 'p_b': [0.5, 0.5]}))\n"
        "assert seen.answers.column.tolist() == [0, -1], seen\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
