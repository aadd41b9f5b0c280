"""Little memory and little disk: a sentence, also where there is no room to print it nicely."""

import errno
import resource
import subprocess
import sys

import pytest

from twoheads.cli import console
from twoheads.cli.outputs import explained
from twoheads.engines import memory, threads
from twoheads.errors import CannotWrite
from twoheads.storage.atomic import atomic_write


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


def _under(megabytes, *arguments):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    command = [sys.executable, "-m", "twoheads", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit, timeout=120)


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited on Linux")
def test_too_little_memory_for_the_libraries_is_refused_before_they_are_loaded():
    done = _under(200, "fit", "table.csv")  # OpenBLAS would wait for ever
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: the command could not start: it may use 200 MB of memory (ulimit -v), and its libraries may crash "
        "below 400 MB. Give the program more.\n"
    )


def test_with_little_memory_a_command_runs_in_one_thread(monkeypatch):
    monkeypatch.setattr(memory, "address_space", lambda: 1 << 30)
    assert threads.n_threads() == 1


def test_an_exit_code_is_passed_on_by_the_process_that_watches(little_memory):
    assert little_memory("return 3") == (3, "")


@pytest.mark.parametrize("crash", ["os.abort()", "os._exit(1)"])  # a library's abort, and OpenBLAS's exit
def test_a_crash_in_a_library_is_one_sentence(little_memory, crash):
    assert little_memory(crash) == (
        2,
        "Error: the command could not finish: a library crashed, probably for lack of memory (ulimit -v). Give the "
        "program more, or use a smaller table.\n",
    )


@pytest.fixture
def little_memory():
    """Run a line of Python as a command that may use 3 GB; gives its exit code and stderr."""

    def run(line):
        source = "import os, sys\nfrom twoheads.cli.little_memory import guarded\n"
        source += f"def run(arguments):\n    {line}\nsys.exit(guarded(run, []))"
        limited = f"import resource as r; r.setrlimit(r.RLIMIT_AS, (3 << 30, 3 << 30))\n{source}"
        done = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=False, timeout=120)
        return done.returncode, done.stderr

    if sys.platform != "linux":
        pytest.skip("the address space is limited on Linux")
    return run


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [400, 500, 700, 1000])
def test_a_fit_with_little_memory_ends_with_its_result_or_a_sentence(tmp_path, megabytes):
    table, team = tmp_path / "table.csv", tmp_path / "team.json"
    rows = [f"{'ab'[i % 3 == 0]},{0.2 + 0.006 * (i % 100):.3f},{'ab'[i % 2]}" for i in range(200)]
    table.write_text("human,p_a,truth\n" + "\n".join(rows) + "\n")
    done = _under(megabytes, "fit", str(table), "-o", str(team))
    assert (done.returncode, team.exists()) in [(0, True), (2, False)]
    assert done.stderr.count("Error: ") == (done.returncode == 2)


def test_a_hidden_folder_is_not_named_in_a_message(tmp_path):
    missing = tmp_path / "team.items" / ".items.1-2-3.part" / "items.parquet"
    with pytest.raises(CannotWrite, match=r"team\.items cannot be written: "), atomic_write(missing):
        pass
