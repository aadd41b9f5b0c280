"""``twoheads demo``: a real classifier and a simulated reader of scikit-learn's handwritten digits."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twoheads.cli import console
from twoheads.cli.exit_codes import INTERRUPTED_ABOVE
from twoheads.cli.signatures import Result
from twoheads.errors import InvalidObservations

if TYPE_CHECKING:
    import numpy as np

    from twoheads.kernels.arrays import Codes, Floats

#: The digit that the simulated reader mistakes each digit for, and how often the reader is right.
LOOKS_LIKE = (6, 7, 3, 8, 9, 6, 5, 1, 3, 4)
RIGHT, MISTAKEN = 0.90, 0.08
LABELLED = 200


def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Where to write the example.")] = Path("demo"),
) -> Result:
    """Write a small example and run all steps on it: fit, combine, evaluate, report.

    A real classifier and a simulated reader of scikit-learn's handwritten digits; nothing is downloaded.

    Example:  twoheads demo
    """
    return run_demo(folder, context.obj)


def run_demo(folder: Path, run: Callable[[list[str]], int]) -> Result:
    """Write the example's tables, then run the commands a user would type; returns the results of these."""
    _writable(folder)
    console.message(
        "The images are scikit-learn's handwritten digits; the model is a naive Bayes classifier trained on 400."
    )
    console.message("The reader is simulated: right on 90 % of images, with a similar digit on most others.")
    labelled, held_out = folder / "labelled.csv", folder / "held-out.csv"
    _write_example(labelled, held_out)
    console.message(
        f"Wrote {labelled} ({LABELLED} images with their truth, to fit) and {held_out} (the others, to evaluate)."
    )
    team, verdicts, page = folder / "team.json", folder / "verdicts.csv", folder / "report.html"
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


def _write_example(labelled: Path, held_out: Path) -> None:
    import numpy as np
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB

    images, digits = load_digits(return_X_y=True)
    number = np.arange(len(digits))
    training, rest = train_test_split(number, train_size=400, random_state=0)
    classifier = GaussianNB(var_smoothing=1e-2).fit(images[training], digits[training])
    proba, truth = classifier.predict_proba(images[rest]), digits[rest]
    human = _simulated_reader(truth, np.random.default_rng(0))
    for path, rows in ((labelled, slice(0, LABELLED)), (held_out, slice(LABELLED, None))):
        _write_csv(path, rest[rows], human[rows], proba[rows], truth[rows])


def _simulated_reader(truth: Codes, rng: np.random.Generator) -> Codes:
    import numpy as np

    draw = rng.random(len(truth))
    guess = rng.integers(0, 10, len(truth))
    return np.where(draw < RIGHT, truth, np.where(draw < RIGHT + MISTAKEN, np.array(LOOKS_LIKE)[truth], guess))


def _write_csv(path: Path, item: Any, human: Codes, proba: Floats, truth: Codes) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "human", *(f"p_{digit}" for digit in range(10)), "truth"])
        for row in zip(item, human, proba, truth, strict=True):
            writer.writerow([f"digit-{row[0]:04d}", row[1], *(f"{p:.6g}" for p in row[2]), row[3]])
