"""Run targets for a time, one process: ``python -m tests.fuzz.campaign csv team --seconds 60``; all targets by default.

Each case is made from the target's name and a number, and can be made again: ``... csv --start 1234 --cases 1``.
Findings are printed, and their files are kept with ``--keep FOLDER``.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from tests.fuzz.connections import kept_connections
from tests.fuzz.targets import TARGETS as OF_TABLES
from tests.fuzz.targets import Finding
from tests.fuzz.teams import TARGETS as OF_TEAMS

TARGETS = OF_TABLES | OF_TEAMS
#: Seconds of processor time that a case may take, and of time after which it is interrupted.
MOST_WORK, MOST_TIME = 5.0, 300.0


@dataclass
class Outcome:
    """How many cases were refused and accepted, and what was found, by the number of the case."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[int, str] = field(default_factory=dict)


def campaign(
    name: str, *, seconds: float, start: int = 0, cases: int | None = None, keep: Path | None = None
) -> Outcome:
    """Run a target until the time, or the number of cases, is over."""
    outcome, number, end = Outcome(), start, time.monotonic() + seconds
    with kept_connections(), _own_place() as place:
        while time.monotonic() < end and (cases is None or number < start + cases):
            folder = place / "case"
            folder.mkdir()
            try:
                outcome.counts[_timed(name, number, folder)] += 1
                _need_clean(place, folder)
            except Exception:
                outcome.findings[number] = traceback.format_exc()
                if keep and folder.is_dir():
                    shutil.copytree(folder, keep / f"{name}-{number}", dirs_exist_ok=True)
            for path in place.iterdir():
                shutil.rmtree(path)
            number += 1
    return outcome


def _need_clean(place: Path, folder: Path) -> None:
    """Nothing is left in the folder for temporary files when nobody reads a copy any more, and nothing is missing."""
    if list(place.iterdir()) != [folder]:
        gc.collect()
    if (there := [path.name for path in place.iterdir()]) != [folder.name]:
        raise Finding(f"{there} are in the folder for temporary files")


@contextlib.contextmanager
def _own_place() -> Iterator[Path]:
    """A folder for temporary files of this campaign alone: what a case deletes is nobody else's."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
        yield Path(folder)


def _timed(name: str, number: int, folder: Path) -> str:
    """The outcome of a case; one that takes too long is a finding."""
    begin = time.process_time()
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, MOST_TIME)
    try:
        found = TARGETS[name](Random(f"{name} {number}"), folder)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.process_time() - begin > MOST_WORK:
        raise Finding(f"a case took {time.process_time() - begin:.1f} seconds")
    return found


def _interrupt(*_: Any) -> None:
    raise Finding(f"a case did not end within {MOST_TIME:g} seconds")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], default=[])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    faulthandler.enable()
    n_findings = 0
    for name in given.targets or TARGETS:
        found = campaign(name, seconds=given.seconds, start=given.start, cases=given.cases, keep=given.keep)
        n_findings += len(found.findings)
        counted = ", ".join(f"{count:,} {what}" for what, count in sorted(found.counts.items()))
        print(f"{name}: {counted or 'nothing'}, {len(found.findings)} findings", flush=True)
        for number, what in found.findings.items():
            print(f"--- {name} {number}\n{what}", flush=True)
    return min(n_findings, 1)


if __name__ == "__main__":
    sys.exit(main())
