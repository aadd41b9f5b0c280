"""``twoheads fit``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from twoheads.cli import console
from twoheads.cli.methods import METHODS, make_team
from twoheads.cli.options import Engine, Scheduler, Seed, Timeout, reads_table
from twoheads.cli.outputs import check_output
from twoheads.cli.provenance import provenance_of_fit
from twoheads.cli.table_options import TableOptions, hint_at_truth, print_notes, split_names


@reads_table(truth=True)
def fit(
    data: TableOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the team.")] = Path("team.json"),
    classes: Annotated[
        str | None,
        typer.Option("--classes", help="The classes, if no model's columns name them.", metavar="A,B,..."),
    ] = None,
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = "recommended",
    no_sample: Annotated[
        bool,
        typer.Option("--no-sample", help="Save no training items; the fit can then not be continued."),
    ] = False,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    timeout: Timeout = None,
    seed: Seed = 0,
) -> None:
    """Fit a team on a table: how accurate the people are, and how to calibrate the model.

    The table has a column human (or several, human_<name>), a column p_<class> for each class, and truth, the true
    class if known; truth may be blank for most rows, or missing. The column item holds ids.

    A table larger than memory is read in several passes. With --engine dask the rows of Parquet files are held by the
    workers of a cluster.

    Example:  twoheads fit labelled.csv -o team.json
    """
    from twoheads.cli.engines import Place, fit_team
    from twoheads.evaluation.team import n_labelled_of

    if classes is not None:
        data = replace(data, columns=data.columns | {"classes": split_names(classes, "--classes")})
    place = Place(engine, scheduler, timeout)
    scanned = data.scan()
    check_output(output, scanned.files)
    team = make_team(method, scanned.model_scale)
    fit_team(team, scanned, place, method)
    print_notes(scanned)
    if n_labelled_of(team) == 0 and "truth" not in data.columns and "truth" not in scanned.columns:
        hint_at_truth(scanned)
    team.note_provenance(provenance_of_fit(method=method, seed=seed or 0, source=data.files(), columns=data.columns))
    described = team.describe()  # first: what it computes is saved with the team
    team.save(output, keep_sample=not no_sample)
    console.message(described)
    console.message(f"The team is saved in {output}. Describe it with: twoheads show {output}")
