"""Arrow files are mapped as they are: what is damaged or of an unusual type is refused or read, and nothing crashes."""

import numpy as np
import pyarrow as pa
import pytest

from twoheads import tables
from twoheads.errors import InvalidObservations


def write(path, **columns):
    given = {"item": ["x", "y"], "human": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]} | columns
    table = pa.table(given)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


def test_an_offset_that_points_outside_is_refused(tmp_path):
    path = write(tmp_path / "t.arrow", human=["a", "bbbbbbbbb"])
    content = path.read_bytes()
    offsets = np.array([0, 1, 10], dtype="<i4").tobytes()
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, np.array([0, 1, 2**30], dtype="<i4").tobytes()))
    with pytest.raises(InvalidObservations, match=r"Arrow file|UTF-8"):
        tables.scan(path).read()


@pytest.mark.parametrize("column", ["item", "human", "truth"])
@pytest.mark.parametrize("values", [[["a"], ["b"]], [{"a": "b"}, {"a": "a"}]], ids=["lists", "records"])
def test_ids_and_labels_are_one_value_per_row(column, values, tmp_path):
    path = write(tmp_path / "t.arrow", **{column: values})
    with pytest.raises(InvalidObservations, match=f"column '{column}' of .* must hold one name or number per row"):
        tables.scan(path).read()


@pytest.mark.parametrize("kind", [pa.string_view(), pa.large_string(), pa.binary()], ids=str)
def test_text_of_every_kind_is_text(kind, tmp_path):
    path = write(tmp_path / "t.arrow", human=pa.array(["a", "b"]).cast(kind))
    X, _ = tables.scan(path).read()
    assert X.answers.column.tolist() == [0, 1]


def test_ids_in_half_precision(tmp_path):
    path = write(tmp_path / "t.arrow", item=pa.array(np.array([0.5, 2], dtype=np.float16)))
    assert list(map(float, tables.scan(path).read()[0].items)) == [0.5, 2.0]


def test_a_column_whose_name_is_not_utf8(tmp_path):
    path = tmp_path / "t.arrow"
    table = pa.table({"item": ["1"], "human": ["a"], "p_a": [0.5], "p_b": [0.5], "other_column": ["x"]})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"other_column", b"other_c\xfflumn"))
    with pytest.raises(InvalidObservations, match="has a column whose name is not text in UTF-8"):
        tables.scan(path)
