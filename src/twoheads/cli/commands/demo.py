"""``twoheads demo``: two real classifiers and five simulated readers of scikit-learn's handwritten digits."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twoheads.cli import console
from twoheads.cli.exit_codes import INTERRUPTED_ABOVE
from twoheads.cli.signatures import Result
from twoheads.errors import InvalidObservations
from twoheads.storage.atomic import write_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twoheads.datasets import DigitReadings


def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Where to write the example.")] = Path("demo"),
) -> Result:
    """Write a small example and run all steps on it: fit, combine, evaluate, report.

    Two real classifiers and five simulated readers of scikit-learn's handwritten digits; nothing is downloaded.

    Example:  twoheads demo
    """
    return run_demo(folder, context.obj)


def run_demo(folder: Path, run: Callable[[list[str]], int]) -> Result:
    """Write the example's tables, then run the commands a user would type; returns the results of these."""
    _writable(folder)
    console.message(
        "The images are scikit-learn's handwritten digits; the models are two classifiers trained on other images."
    )
    console.message("The five readers are simulated: they differ in skill, see only some of the images, and err on")
    console.message(
        "images that are hard for the models too. `twoheads.datasets.load_digit_readings().description` says how."
    )
    labelled, held_out = folder / "labelled.csv", folder / "held-out.csv"
    team, verdicts, page = folder / "team.json", folder / "verdicts.csv", folder / "report.html"
    write_example(labelled, held_out, results=(team, verdicts, page))
    console.message(f"Wrote {labelled} (images with their truth, to fit) and {held_out} (other images, to evaluate).")
    steps = [
        ["fit", str(labelled), "-o", str(team)],
        ["combine", str(team), str(held_out), "-o", str(verdicts)],
        ["evaluate", str(team), str(held_out)],
        ["report", str(team), str(held_out), "-o", str(page)],
    ]
    results: list[Result] = []
    with console.mode(json=False, quiet=False, results=results):
        for step in steps:
            _take(step, run)
    console.message()
    console.message(f"Open {page.resolve()} in a browser.")
    ran = [{"command": ["twoheads", *step], "result": found} for step, found in zip(steps, results, strict=True)]
    return {"folder": folder, "tables": [labelled, held_out], "page": page, "steps": ran}


def _take(step: list[str], run: Callable[[list[str]], int]) -> None:
    """Run one of the commands."""
    console.message()
    console.message(f"$ twoheads {' '.join(step)}")
    code = run(step)
    if code > INTERRUPTED_ABOVE:
        raise KeyboardInterrupt
    if code != 0:
        raise InvalidObservations(f"The demo stopped at: twoheads {' '.join(step)}")


def _writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InvalidObservations(f"{folder} is a file; give the demo a folder of its own: twoheads demo DIR") from None


def write_example(labelled: Path, held_out: Path, results: Sequence[Path] = ()) -> None:
    """Write the images whose truth is in the example data, and the others, as CSV; not over files of others."""
    from twoheads.datasets import load_digit_readings

    data = load_digit_readings()
    known = data.y >= 0
    contents = {labelled: _as_csv(data, known), held_out: _as_csv(data, ~known)}
    found = [path for path in (*contents, *results) if path.exists()]
    if found and not all(path.is_file() and path.read_bytes() == content for path, content in contents.items()):
        raise InvalidObservations(
            f"The demo did not write {found[0]} and would replace it. Give it a folder of its own: twoheads demo DIR"
        )
    write_files(labelled.parent, {path.name: content for path, content in contents.items()})


def _as_csv(data: DigitReadings, rows: NDArray[Any]) -> bytes:
    columns, text = {**data.table, "truth": data.truth}, io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*(values[rows] for values in columns.values()), strict=True))
    return text.getvalue().encode("utf-8")
