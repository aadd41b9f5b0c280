"""``twoheads study``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twoheads.cli import console
from twoheads.cli.completion import study_names
from twoheads.cli.signatures import Result


def study(
    name: Annotated[
        str,
        typer.Argument(help="error-rates, calibration, learning-curves, ..., or all.", autocompletion=study_names),
    ],
    data: Annotated[Path, typer.Option("--data", help="Folder of the public files.", metavar="DIR")],
    out: Annotated[Path, typer.Option("--out", help="Folder for tables and figures.", metavar="DIR")],
    protocol: Annotated[str, typer.Option("--protocol", help="published or stated.")] = "published",
    seeds: Annotated[int | None, typer.Option("--seeds", help="Number of trials, instead of the protocol's.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Number of processes; by default one per core.")] = None,
) -> Result:
    """Reproduce a table or figure of the paper from its public data, next to the published numbers.

    Example:  twoheads study error-rates --data cifar10h --out results
    """
    from twoheads import studies

    with console.steps() as progress:
        outcome = studies.run(name, data, out, protocol=protocol, seeds=seeds, jobs=jobs, progress=progress)
    console.line(outcome.text)
    return outcome.as_dict()
