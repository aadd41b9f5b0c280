"""What is not installed is missed only where it is needed, in words."""

import subprocess
import sys

import pytest

from twoheads import MissingExtra
from twoheads.tables.duckdb import connect


def python(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


def test_the_package_loads_neither_duckdb_nor_arrow():
    loaded = "import twoheads, twoheads.tables, sys; print(sorted({'duckdb', 'pyarrow', 'pandas'} & set(sys.modules)))"
    assert python(loaded) == "[]"


def test_other_projects_formats_need_neither():
    code = "import sys; sys.modules['pyarrow'] = sys.modules['duckdb'] = None; import twoheads.tables as t"
    assert python(f"{code}; print(t.from_cleanlab([[0]], [[0.5, 0.5]]).annotators)") == "('0',)"
    assert python(f"{code}; t.scan").splitlines()[-1] == (
        "twoheads.errors.MissingExtra: Reading and writing tables needs pyarrow; "
        "install it with: pip install 'twoheads[cli]'"
    )


def test_the_contracts_of_other_classes_need_neither():
    code = "import sys; sys.modules['pyarrow'] = sys.modules['duckdb'] = None; import twoheads.testing as t"
    assert python(f"{code}; print(t.check_store.__name__)") == "check_store"
    assert "pip install 'twoheads[cli]'" in python(f"{code}; t.check_format")
    assert "has no attribute 'check_nothing'" in python(f"{code}; t.check_nothing")


def test_duckdb_is_missed_in_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(
        MissingExtra, match=r"joining tables, needs duckdb; install it with: pip install 'twoheads\[cli\]'"
    ):
        connect()


def test_public_names():
    import twoheads.tables as tables

    assert sorted(tables._HOME_OF) == sorted(tables.__all__)
    assert all(getattr(tables, name).__doc__ for name in tables.__all__)
    assert set(tables.__all__) <= set(dir(tables))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tables.nothing
