"""Kill commands at random moments: ``python -m benchmarks.kills --kills 200``.

Each run of ``fit``, ``update``, ``combine`` or ``report``, here or with ``--engine dask``, is ended by SIGKILL,
SIGTERM, SIGINT or SIGHUP at a random moment of its usual time. SIGINT and SIGHUP also reach the workers of a cluster,
as from a terminal. The old result must then be there to the byte, or the whole new one; and after the next run nothing
of ours may be left in the folder of the output or in TMPDIR.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
#: Those that a terminal sends to a command and to all processes that it has started.
OF_TERMINALS = (signal.SIGINT, signal.SIGHUP)
DASK = ("--engine", "dask")
#: Commands by name, and their arguments.
COMMANDS = {
    "fit": ("fit", "t.parquet", "-o", "team.json", "--keep-items"),
    "update": ("update", "team.json", "more.parquet"),
    "combine": ("combine", "team.json", "t.parquet", "-o", "verdicts.csv"),
    "report": ("report", "team.json", "t.parquet", "-o", "report.html"),
    "fit on Dask": ("fit", "t.parquet", "-o", "other.json", *DASK),
    "combine on Dask": ("combine", "team.json", "t.parquet", "-o", "parts", *DASK),
}
_FORKS = multiprocessing.get_context("forkserver")
_LOADED = [
    "twoheads.cli.running",
    "twoheads.report",
    "twoheads.tables.scanning",
    "duckdb",
    "matplotlib.figure",
    "jinja2",
]
#: Seconds after which a command counts as hanging: a cluster starts slowly on a busy machine.
_LONGEST = 600


@dataclass
class Campaign:
    """What happened: kills by command and signal, how runs ended, and what must not have happened."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    ended_before: int = 0
    findings: list[str] = field(default_factory=list)


def write_tables(folder: Path, n_items: int) -> None:
    """Tables of a simulation: items to fit, and more of them."""
    rng = random.Random(0)
    for name, first in (("t", 0), ("more", n_items)):
        truth = [rng.choice("abc") for _ in range(n_items)]
        shares = [0.5 + 0.4 * rng.random() for _ in range(n_items)]
        columns: dict[str, list[str] | list[float]] = {"item": [f"i{first + at}" for at in range(n_items)]}
        columns["human"] = [label if rng.random() < 0.8 else rng.choice("abc") for label in truth]
        for letter in "abc":
            columns[f"p_{letter}"] = [
                share if label == letter else (1 - share) / 2 for label, share in zip(truth, shares, strict=True)
            ]
        columns["truth"] = truth
        pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=max(1, n_items // 4))


class Run:
    """A command in a process of its own; its output goes to a file.

    Those without a cluster are forked from a process that has loaded everything, so that most moments are moments of
    work and not of loading.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._printed = folder / "printed.txt"
        self._printed.unlink(missing_ok=True)
        if name.endswith("Dask"):
            with self._printed.open("w") as printed:
                self._process: Any = subprocess.Popen(
                    [sys.executable, "-m", "twoheads", *COMMANDS[name]],
                    cwd=folder / "work",
                    env=os.environ | {"TMPDIR": str(folder / "tmp")},
                    stdout=printed,
                    stderr=printed,
                    start_new_session=True,
                )
        else:
            self._process = _FORKS.Process(target=_command, args=(folder, COMMANDS[name]))
            self._process.start()
            while self._process.is_alive() and not self._printed.exists():
                time.sleep(0.01)  # until it is forked, and its signals are its own
        self.pid = self._process.pid

    def wait(self, seconds: float) -> float | None:
        """Wait so long, or until the process has ended; returns after how many seconds it has, or None."""
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < seconds:
            if not self._is_alive():
                return passed
            time.sleep(0.01)
        return None

    def _is_alive(self) -> bool:
        if isinstance(self._process, subprocess.Popen):
            return self._process.poll() is None
        return bool(self._process.is_alive())

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if the process is still there; as a terminal does if it is one of those."""
        group = number in OF_TERMINALS and isinstance(self._process, subprocess.Popen)
        if not self._is_alive():
            return  # its number may be another process's by now
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, number)

    def finish(self) -> tuple[int, str]:
        """The exit code and the output; a process that does not end within ten minutes is killed."""
        more = ""
        if self._wait() is None:
            self.send(signal.SIGKILL)
            more = "\nit did not end within ten minutes"
        return int(self._wait() or 0), self._printed.read_text() + more

    def _wait(self) -> int | None:
        if isinstance(self._process, subprocess.Popen):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(_LONGEST)
            return None
        self._process.join(_LONGEST)
        code: int | None = self._process.exitcode
        return code


def _command(folder: Path, arguments: tuple[str, ...]) -> None:
    """In a forked process: the command, as from a shell."""
    from twoheads.cli import main as command_line
    from twoheads.cli import signals

    signals.catch()
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
    os.chdir(folder / "work")
    printed = os.open(folder / "printed.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    sys.argv = ["twoheads", *arguments]
    try:
        command_line()
    finally:
        atexit._run_exitfuncs()  # which a process of multiprocessing leaves out


def contents(place: Path) -> dict[str, bytes]:
    """All files below a folder, by name."""
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


def prepare(folder: Path, n_items: int, commands: Sequence[str]) -> dict[str, float]:
    """Every result that is needed once, kept in ``old``; returns how long each command takes."""
    for name in ("work", "tmp"):
        (folder / name).mkdir()
    write_tables(folder / "work", n_items)
    seconds = {}
    for name in dict.fromkeys(["fit", *commands]):
        for _ in range(2):  # the first run of all waits for what the others find loaded
            shutil.rmtree(folder / "work" / "parts", ignore_errors=True)
            run = Run(folder, name)
            begin = time.monotonic()
            code, printed = run.finish()
            assert code == 0, printed
            seconds[name] = time.monotonic() - begin
            if name == "fit":
                shutil.copytree(folder / "work", folder / "old", dirs_exist_ok=True)
            reset(folder)
    for path in (folder / "work").glob("[vro]*.*"):  # verdicts, a report, another team
        shutil.copy2(path, folder / "old" / path.name)
    return seconds


def reset(folder: Path) -> None:
    """The old results, without what is left of a killed run being touched."""
    shutil.rmtree(folder / "work" / "parts", ignore_errors=True)
    shutil.rmtree(folder / "work" / "team.items", ignore_errors=True)
    shutil.copytree(folder / "old", folder / "work", dirs_exist_ok=True)


def kill_once(folder: Path, name: str, number: signal.Signals, wait: float, found: Campaign) -> float | None:
    """Start a command, end it after some seconds, and look at what is there; returns its time if it ended before."""
    reset(folder)
    before, run = contents(folder / "work"), Run(folder, name)
    end = run.wait(wait)
    run.send(number)
    code, printed = run.finish()
    found.kills[name, number.name] += 1
    found.ended_before += code == 0
    where = f"{name}, {number.name} after {wait:.2f} s (exit code {code})"
    after = contents(folder / "work")
    inputs = [key for key in ("t.parquet", "more.parquet") if before[key] != after.get(key)]
    if inputs:
        found.findings.append(f"{where}: {inputs} changed")
    if not is_whole(folder, name):
        found.findings.append(f"{where}: the result is not whole: {printed}")
    if "Traceback" in printed or "did not end" in printed or (code not in (0, -number, 128 + number)):
        found.findings.append(f"{where}: {printed}")
    if number != signal.SIGKILL and (left := leftovers(folder)):
        found.findings.append(f"{where}: {left} left by a signal that can be caught")
    if number == signal.SIGKILL:
        _need_clean_after_next(folder, name, where, found)
    return end


def is_whole(folder: Path, name: str) -> bool:
    """Whether the result of a command can be used: the old one, or the new one where it was written in time."""
    work = folder / "work"
    if name == "combine on Dask":
        rows = pq.read_table(work / "parts").num_rows if (work / "parts").exists() else None
        return rows in (None, pq.read_metadata(work / "t.parquet").num_rows)
    if name == "combine":
        return (work / "verdicts.csv").read_bytes() == (folder / "old" / "verdicts.csv").read_bytes()
    if name == "report":
        return (work / "report.html").stat().st_size == (folder / "old" / "report.html").stat().st_size
    import twoheads as th
    from twoheads.tables.kept.kept_items import KeptItems

    try:
        team = th.load(work / ("other.json" if name == "fit on Dask" else "team.json"))
        if name != "fit on Dask":
            KeptItems.of(work / "team.json", team.provenance().get("kept"))
    except th.TwoheadsError:
        return False
    return True


def leftovers(folder: Path) -> list[str]:
    """Temporary files and folders of ours, in the folder of the output and in TMPDIR, and items of no team."""
    ours = [str(path.relative_to(folder)) for path in (folder / "work").rglob(".*")]
    ours += [path.name for path in (folder / "tmp").iterdir()]
    items = list((folder / "work" / "team.items").iterdir()) if (folder / "work" / "team.items").is_dir() else []
    return ours + [path.name for path in items if len(items) > 1]


def run(kills: int, commands: Sequence[str], *, n_items: int, seed: int, report: Callable[[str], None]) -> Campaign:
    """Kill so many runs, and look for leftovers after a last run that is let to its end."""
    rng, found = random.Random(seed), Campaign()
    _FORKS.set_forkserver_preload(_LOADED)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        seconds = prepare(folder, n_items, commands)
        report(", ".join(f"{name} {time:.1f} s" for name, time in seconds.items()))
        for at in range(kills):
            name = commands[at % len(commands)]
            number = rng.choice(SIGNALS)
            # What else runs on the machine makes a command slower or faster: the last time is taken.
            seconds[name] = kill_once(folder, name, number, rng.uniform(0, seconds[name]), found) or seconds[name]
            report(f"{at + 1} of {kills}: {name}, {number.name}; {len(found.findings)} findings {found.findings[-1:]}")
    return found


def _need_clean_after_next(folder: Path, name: str, where: str, found: Campaign) -> None:
    """The same command again, let to its end, removes what the killed one has left."""
    shutil.rmtree(folder / "work" / "parts", ignore_errors=True)
    code, printed = Run(folder, name).finish()
    left = leftovers(folder)
    if code != 0 or left:
        found.findings.append(f"{where} and the next run (exit code {code}): {left} left: {printed}")


def main() -> int:
    """The campaign; 1 if there are findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--items", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    given = parser.parse_args()
    found = run(
        given.kills, given.commands, n_items=given.items, seed=given.seed, report=lambda text: print(text, flush=True)
    )
    for (name, number), count in sorted(found.kills.items()):
        print(f"{name:16} {number:8} {count:4}")
    print(
        f"{found.kills.total()} kills, of which {found.ended_before} came after the end; {len(found.findings)} findings"
    )
    for finding in found.findings:
        print(f"--- {finding}")
    return min(len(found.findings), 1)


if __name__ == "__main__":
    sys.exit(main())
