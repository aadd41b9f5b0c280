"""Commands that are ended by a signal or by a reader that has gone: nothing is left, and no traceback is shown."""

import os
import signal
import subprocess
import sys
import time

import pytest

from twoheads.cli import running, signals
from twoheads.cli.running import run
from twoheads.engines import temporary
from twoheads.errors import InvalidObservations

SLOW = (
    "import time\n"
    "from twoheads.combination.combiner import Combiner\n"
    "before = Combiner.predict_proba\n"
    "def slow(self, X):\n"
    "    print('working', flush=True); time.sleep(1); return before(self, X)\n"
    "Combiner.predict_proba = slow\n"
    "from twoheads.engines.chunks import DiskStore\n"
    "kept = DiskStore()\n"
    "from twoheads.cli import main\n"
    "main()\n"
)


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{at},{'ab'[at % 2]},0.5,0.5\n" for at in range(20_000))
    (tmp_path / "t.csv").write_text("item,human,p_a,p_b\n" + rows)
    (tmp_path / "few.csv").write_text("item,human,p_a,p_b,truth\n1,a,0.7,0.3,a\n2,b,0.4,0.6,b\n3,a,0.8,0.2,a\n")
    assert run(["fit", "few.csv"]) == 0
    capsys.readouterr()
    (tmp_path / "tmp").mkdir()
    return tmp_path


def started(here, code=SLOW, arguments=("combine", "team.json", "t.csv", "-o", "v.csv")):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(here / "tmp")},
    )  # fmt: skip


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT] * 4], ids=str)
def test_a_signal_leaves_nothing(numbers, here):
    (here / "v.csv").write_text("old")
    process = started(here)
    assert process.stdout.readline() == "working\n"
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.05)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + numbers[0]
    assert said == "Interrupted; no partial file was left.\n"
    assert (here / "v.csv").read_text() == "old"
    assert sorted(path.name for path in here.iterdir()) == ["few.csv", "t.csv", "team.json", "tmp", "v.csv"]
    assert list((here / "tmp").iterdir()) == []


@pytest.mark.parametrize("error", [RuntimeError, InvalidObservations, OSError])
def test_what_a_library_makes_of_a_signal_is_no_mistake(error, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise error("reading was stopped")

    monkeypatch.setattr(running, "app", interrupted)
    monkeypatch.setattr(signals, "_last", (signal.SIGTERM, 0.0))
    assert run(["show", "team.json"]) == 143
    assert capsys.readouterr().err == "Interrupted; no partial file was left.\n"


def test_a_signal_within_an_exec_has_its_own_exit_code(here):
    """Imports of named tuples and data classes run exec; Python remembers that it was interrupted."""
    (here / "command.py").write_text(
        "import os, signal\n"
        "from twoheads.cli import main, running\n"
        "running.run = lambda _: exec('os.kill(os.getpid(), signal.SIGTERM)')\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-m", "command"], cwd=here, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "Interrupted; no partial file was left.\n")


def test_what_a_killed_process_leaves_is_removed_by_the_next(here, monkeypatch):
    process = started(here)
    assert process.stdout.readline() == "working\n"
    process.kill()
    process.communicate(timeout=60)
    assert list(here.glob(".v.csv.*.part"))
    assert list((here / "tmp").glob("twoheads-*"))
    others = temporary.part_of(here / "alive")
    others.write_text("of a process that lives")
    monkeypatch.setattr("tempfile.tempdir", str(here / "tmp"))
    assert run(["combine", "team.json", "few.csv", "-o", "v.csv"]) == 0
    assert [path.name for path in here.glob(".*")] == [others.name]
    assert list((here / "tmp").iterdir()) == []


def test_files_of_other_machines_and_of_others_are_left_alone(tmp_path):
    mine = temporary.part_of(tmp_path / "x").name
    machine, pid, start = mine.split(".")[-2].split("-")[:3]
    dead = f".x.{machine}-{pid}-{int(start) + 1}-00000000.part"
    kept = [mine, f".x.ffffffff-{pid}-1-00000000.part", ".x.part", "twoheads-notes", "x"]
    for name in (*kept, dead):
        (tmp_path / name).write_text("")
    temporary.remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_folders_of_an_interrupted_maker_and_of_copies_are_removed(here, monkeypatch):
    code = (
        "import os, sys, zipfile; from pathlib import Path; from twoheads.engines.temporary import temporary_folder\n"
        "from twoheads.tables.formats.copies import unzipped\n"
        "with zipfile.ZipFile('t.zip', 'w') as archive: archive.write('few.csv')\n"
        "temporary_folder(); unzipped(Path('t.zip')); print(len(os.listdir('tmp')), flush=True)\n"
        "os.kill(os.getpid(), 9) if sys.argv[1] == 'kill' else sys.exit(0)\n"
    )
    for how in ("end", "kill"):
        process = started(here, code, (how,))
        assert process.communicate(timeout=60)[0] == "2\n"
        if how == "kill":
            assert len(os.listdir(here / "tmp")) == 2
            temporary.remove_leftovers(here / "tmp")
        assert os.listdir(here / "tmp") == []


def shell(here, line):
    return subprocess.run(
        ["bash", "-c", line.replace("twoheads", f"{sys.executable} -m twoheads")],
        cwd=here, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "twoheads show team.json >&-",
        "twoheads show team.json | true; exit ${PIPESTATUS[0]}",
        "twoheads combine team.json t.csv -o - 2>/dev/null | head -1 >/dev/null; exit ${PIPESTATUS[0]}",
    ],
)
def test_a_closed_output_ends_quietly(line, here):
    ended = shell(here, line)
    assert ended.stderr == ""
    assert ended.returncode in (0, 1)  # 0 if all was written before the reader had gone


def test_a_closed_stderr_does_not_disturb(here):
    ended = shell(here, "twoheads combine team.json few.csv -o v.csv 2>&-")
    assert ended.returncode == 0
    assert (here / "v.csv").read_text().startswith("item,combined_label")
