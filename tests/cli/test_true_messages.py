"""Messages that name the true cause, soon: long values, full disks, little memory, packages that cannot be loaded."""

import errno
import sys
import tempfile
import time

import pytest

from twoheads import tables
from twoheads.cli.running import run
from twoheads.engines.chunks import DiskStore
from twoheads.errors import InvalidObservations, MissingExtra, NoRoom
from twoheads.tables.schema import roles

HEADER = "item,human,p_a,p_b,truth\n"
ROWS = "1,a,0.7,0.3,a\n2,b,0.4,0.6,b\n3,a,0.8,0.2,a\n4,b,0.1,0.9,a\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(HEADER + ROWS)
    return tmp_path


def refused(arguments, capsys):
    start = time.monotonic()
    assert run(arguments) == 2
    said = capsys.readouterr().err
    assert time.monotonic() - start < 20
    assert len(said) < 1_500
    assert said.count("\n") == 1
    return said


LONG = {
    "a line of 5 MB": ("x" * 5_000_000 + "\n1\n", "p_<class>"),
    "a name of 5 MB": ("ab_" * 1_700_000 + ",y\n1,2\n", "p_<class>"),
    "a label of 3 MB": (HEADER + "1," + "c" * 3_000_000 + ",0.5,0.5,a\n", "has 'cccc"),
    "a number of 1 MB": (HEADER + "1,a,x" + "5" * 1_000_000 + ",0.5,a\n", "must have values of at most"),
    "an id of 200 KB": (HEADER + "i" * 200_000 + ",a,x,0.5,a\n", "must have values of at most"),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_value_is_found_soon_and_shown_short(name, here, capsys):
    text, words = LONG[name]
    (here / "u.csv").write_text(text)
    assert words in refused(["fit", "u.csv"], capsys)


def test_patterns_of_names_take_no_time():
    start = time.monotonic()
    assert roles._other_pattern(["ab_" * 100_000 + "1", "ab_" * 100_000 + "2"]) == "ab_*"
    assert roles.nearest(["x" * 1_000_000], ["human"]) is None
    assert time.monotonic() - start < 1


def test_values_are_cut_at_80_characters_and_sentences_are_not():
    for value in ("x" * 81, "it's" + "x" * 81, "a\\'b" * 30):
        message = str(
            InvalidObservations(f"the model's column 'p_a' has {value!r}. Correct the people's labels, or 'b'.")
        )
        assert "... " not in message.partition(" has ")[0]
        assert len(message) < 180
        assert "..." in message
        assert message.endswith("Correct the people's labels, or 'b'.")
    plain = "the model's columns " + "are long and have many words " * 5 + "in the people's table 't.csv'."
    assert str(InvalidObservations(plain)) == plain


def test_a_decimal_point_among_decimal_commas(here, capsys):
    rows = "".join(f"{at};a;0,5;0,5\n" for at in range(1, 57))
    (here / "u.csv").write_text("item;human;p_a;p_b\n" + rows + "57;a;0.5;0,5\n")
    said = refused(["fit", "u.csv"], capsys)
    assert "column 'p_a' must have decimal commas in every row" in said
    assert "row 57 has '0.5' (1 of 57 rows are off)" in said


# ---------------------------------------------------------------------------------------- room


def test_a_full_folder_for_temporary_files(here, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    assert run(["fit", "t.csv"]) == 0
    capsys.readouterr()
    monkeypatch.setattr(tables.Table, "blocks", full)
    said = refused(["combine", "team.json", "t.csv", "-o", "v.csv"], capsys)
    assert f"no room in the folder for temporary files ({tempfile.gettempdir()})" in said
    assert "-o" not in said
    monkeypatch.setattr("pickle.dump", full)
    store = DiskStore()
    with pytest.raises(NoRoom, match="TMPDIR"):
        store.add([])
    store.close()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 2.00 GiB"),
        RuntimeError("can't start new thread"),
        ImportError("libarrow.so: failed to map segment from shared object"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_lack_of_memory_is_one_sentence(error, here, capsys, monkeypatch):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(tables, "scan", fails)
    assert "there is not enough memory" in refused(["fit", "t.csv"], capsys)


def test_a_package_that_cannot_be_loaded_is_not_called_missing(monkeypatch):
    missing = ModuleNotFoundError("No module named 'not_there'", name="not_there")
    assert isinstance(MissingExtra.instead_of(missing, "not-there", "cli", "Reading"), MissingExtra)
    broken = ImportError("libduckdb.so: failed to map segment from shared object")
    assert MissingExtra.instead_of(broken, "duckdb", "cli", "Reading") is broken
    part = ModuleNotFoundError("No module named 'json.gone'", name="json.gone")
    assert MissingExtra.instead_of(part, "json", "cli", "Reading") is part
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match="needs duckdb"):
        tables.duckdb.connect()


def test_what_a_package_needs_is_named():
    missing = ModuleNotFoundError("No module named 'not_there'", name="not_there.inner")
    said = str(MissingExtra.instead_of(missing, "jinja2", "cli", "Writing reports"))
    assert said == "Writing reports needs not_there; install it with: pip install 'twoheads[cli]'"
