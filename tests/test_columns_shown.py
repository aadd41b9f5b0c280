"""How columns are shown."""

from twoheads.observations.frames import Columns


def test_one_row_is_not_rows():
    assert repr(Columns({"a": [1]})).startswith("1 row of a=")
    assert repr(Columns({"a": [1, 2]})).startswith("2 rows of a=")
