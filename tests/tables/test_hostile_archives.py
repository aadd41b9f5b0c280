"""Archives whose file has a name that is none: the folder for temporary files, and what is in it, stay."""

import zipfile

import pytest

from twoheads import tables
from twoheads.engines.temporary import remove_folder
from twoheads.errors import InvalidObservations

TABLE = "item,human,p_a,p_b\n1,a,0.5,0.5\n"


@pytest.mark.parametrize("name", ["", ".", "a/.", "..", "../..", "x" * 5_000])
def test_the_name_of_a_file_in_an_archive_names_no_other_place(name, tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    (temporary / "precious").write_text("of somebody else")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    entry = zipfile.ZipInfo("x")
    entry.filename = name
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr(entry, TABLE)
    seen, _ = tables.scan(tmp_path / "t.zip").read()
    assert seen.items.tolist() == ["1"]
    assert (temporary / "precious").read_text() == "of somebody else"


@pytest.mark.parametrize("name", ["t.zip", "t.xlsx"])
def test_a_name_in_an_archive_that_is_no_text(name, tmp_path):
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("é.csv", TABLE)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content.replace("é".encode(), b"\xff\x89"))
    with pytest.raises(InvalidObservations, match="is damaged or cut off"):
        tables.scan(tmp_path / name).read()


def test_only_temporary_folders_are_removed(tmp_path):
    with pytest.raises(ValueError, match="is not a temporary folder of twoheads"):
        remove_folder(str(tmp_path))
    assert tmp_path.is_dir()
