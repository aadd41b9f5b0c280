"""The commands of the documentation, run in a folder with the files that they read."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
from tests.cli.test_scripts import write_table
from tests.tables.test_spreadsheets import write_xlsx

from twoheads.cli.commands.demo import write_example
from twoheads.cli.running import run

FORMATS = Path(__file__).parents[1] / "formats"
#: What begins a line that is not run: it would install something, or it is a target of the Makefile, tried by CI.
NOT_RUN = ("pip install ", "make ")
#: Commands that need data which is not part of the project; tests/studies runs them where the data is.
NEED_DATA = ("study",)
#: Commands and options that take long, and are run by the slow tests.
LONG = {"demo", "report", "--engine"}


def _tables(*names: str) -> None:
    for at, name in enumerate(names):
        write_table(Path(f"{name}.csv"), 60, 1000 * at, truth=name != "today")


def _of_the_readme() -> None:
    _tables("held-out", "today", "readings")
    rows = [line.split(",") for line in Path("readings.csv").read_text(encoding="utf-8").splitlines()]
    write_xlsx(Path("readings.xlsx"), [rows[0], *([*row[:3], *map(float, row[3:5]), *row[5:]] for row in rows[1:])])


def _of_the_command_line() -> None:
    _tables("labelled", "held-out", "today", "tomorrow", "readings", "monday", "tuesday", "north", "south")
    for name in ("north", "south"):
        assert run(["fit", f"{name}.csv", "-q", "-o", f"{name}.json"]) == 0


def _of_formats() -> None:
    export = (FORMATS / "label_studio.json").read_text(encoding="utf-8")
    Path("export.json").write_text(export, encoding="utf-8")
    tasks = json.loads(export)
    for entry in (entry for task in tasks for entry in (*task["annotations"], *task.get("predictions", ()))):
        entry["result"] += [result | {"from_name": "sentiment"} for result in entry["result"]]
    Path("survey.json").write_text(json.dumps(tasks), encoding="utf-8")


def _of_large_tables() -> None:
    _tables("rows")
    table = pyarrow.csv.read_csv("rows.csv")
    Path("big").mkdir()
    for at in range(2):
        pyarrow.parquet.write_table(table.slice(30 * at, 30), f"big/{at}.parquet")


#: What the commands of a page read and the page does not make.
FILES = {
    "README.md": _of_the_readme,
    "command-line.md": _of_the_command_line,
    "formats.md": _of_formats,
    "large-tables.md": _of_large_tables,
}


def calls(code: str) -> list[list[str]]:
    """The arguments of each call of twoheads in a block or a line, also within a pipe."""
    lines = (shlex.split(line, comments=True) for line in code.splitlines())
    found = []
    for words in lines:
        parts = " ".join(shlex.quote(word) for word in words).split(" '|' ")
        found += [split[1:] for part in parts if (split := shlex.split(part))[:1] == ["twoheads"]]
    return found


def run_block(code: str, *, long: bool) -> None:
    """Run each line of a block; a line that is neither a command nor one of `NOT_RUN` is an error."""
    for line in code.splitlines():
        words = shlex.split(line, comments=True)
        if not words or line.startswith(NOT_RUN) or (words[0] == "twoheads" and words[1] in NEED_DATA):
            continue
        if "|" in words:
            _run_pipe(line)
            continue
        assert words[0] == "twoheads", f"this line is not run: {line}"
        if words[1] == "demo" and not long:
            Path("demo").mkdir(exist_ok=True)
            write_example(Path("demo", "labelled.csv"), Path("demo", "held-out.csv"))
        elif long or not LONG & set(words):
            assert run(words[1:]) == 0, line


def _run_pipe(line: str) -> None:
    bash = shutil.which("bash")
    assert bash, "pipes are run by bash"
    called = re.sub(r"\btwoheads\b", f"{shlex.quote(sys.executable)} -m twoheads", line, count=1)
    package = Path(__file__).parents[2] / "src"
    environment = os.environ | {"PYTHONPATH": str(package)}
    subprocess.run([bash, "-ec", f"set -o pipefail; {called}"], check=True, env=environment)
