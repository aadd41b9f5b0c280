"""``twoheads report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from twoheads.cli import console
from twoheads.cli.class_shares_option import shares_file, with_class_shares
from twoheads.cli.methods import compared_methods, read_team
from twoheads.cli.options import ClassShares, Metrics, Seed, Team, reads_table
from twoheads.cli.outputs import check_output
from twoheads.cli.provenance import fitted_when, seed_of, today
from twoheads.cli.signatures import Result
from twoheads.cli.stdin import shown
from twoheads.cli.table_options import TableOptions, split_names


@reads_table(truth=True)
def report(
    team: Team,
    data: TableOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path("report.html"),
    title: Annotated[
        str | None, typer.Option("--title", help="Title of the page, such as the name of the data set.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="Compare these methods too, as compare does.", metavar="NAME,NAME,..."),
    ] = None,
    metrics: Metrics = None,
    class_shares: ClassShares = None,
    seed: Seed = None,
) -> Result:
    """Write one self-contained page: the verdict, its uncertainty, who errs how often, and which items to look at.

    With --metrics the page shows these metrics for the team, each model and each person.
    With --json the numbers of the page are printed, and no page is written.

    Example:  twoheads report team.json held-out.csv -o report.html
    """
    from twoheads.cli.holdout import read_items
    from twoheads.report import summary, write_report

    names = None if methods is None else split_names(methods, "--methods")
    if names is not None:
        compared_methods(names, "probability")  # names are checked before anything is read
    fitted = with_class_shares(read_team(team), class_shares)
    scanned = data.scan_for(fitted)
    if not console.wants_json():
        check_output(output, [team, *shares_file(class_shares), *scanned.files])
    observations, y, note = read_items(scanned)
    table = shown(str(data.table or data.model or data.answers))
    options: dict[str, Any] = {
        "random_state": seed_of(fitted, seed),
        "date": today(),
        "source": {
            "team": str(team),
            "fitted": fitted_when(fitted) or "unknown",
            "table": f"{table}. {note}" if note else table,
        },
    }
    if title is not None:
        options["title"] = title
    if names is not None:
        options["methods"] = compared_methods(names, observations.model_scale)
    if metrics is not None:
        options["metrics"] = split_names(metrics, "--metrics")
    if console.wants_json():
        return summary(fitted, observations, y, **options)
    found = write_report(output, fitted, observations, y, **options)
    console.message(found["verdict"]["sentence"])
    console.message(found["statistics"])
    for note in found["notes"]:
        console.message(note)
    console.message(f"The report is in {output}.")
    return found
