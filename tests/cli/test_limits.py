"""Little memory and little disk: a sentence, also where there is no room to print it nicely."""

import errno

import pytest

from twoheads.cli import console
from twoheads.cli.outputs import explained


def test_a_sentence_is_said_also_where_rich_lacks_memory(monkeypatch, capsys):
    def no_memory(*args, **options):
        raise MemoryError

    monkeypatch.setattr(console.Console, "print", no_memory)
    console.error("Error: there is not enough memory.")
    assert capsys.readouterr().err == "Error: there is not enough memory.\n"


def test_no_folder_for_temporary_files_is_not_called_a_fault_of_the_output(monkeypatch):
    def nowhere():
        raise error

    error = FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")
    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    assert explained(error) == (
        "the command could not finish: no folder for temporary files can be written to. "
        "Make room in one, or name another folder in TMPDIR."
    )


@pytest.mark.parametrize("number", [errno.ENOMEM, errno.ENOSPC])
def test_a_lack_of_room_is_explained(number):
    assert "the command could not finish" in str(explained(OSError(number, "Cannot")))
