"""``twoheads report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from twoheads.cli import console
from twoheads.cli.class_shares import with_class_shares
from twoheads.cli.methods import read_team
from twoheads.cli.options import ClassShares, Seed, Team, reads_table
from twoheads.cli.outputs import check_output
from twoheads.cli.provenance import seed_of
from twoheads.cli.table_options import TableOptions


@reads_table(truth=True)
def report(
    team: Team,
    data: TableOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path("report.html"),
    class_shares: ClassShares = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report's numbers as JSON instead.")] = False,
    seed: Seed = None,
) -> None:
    """Write one self-contained page: the result, its intervals, which partner corrects which errors, what to look at.

    Example:  twoheads report team.json held-out.csv -o report.html
    """
    from twoheads.cli.holdout import read_held_out
    from twoheads.report import summary, write_report

    fitted = with_class_shares(read_team(team), class_shares)
    items = read_held_out(fitted, data)
    for note in items.notes:
        console.message(note)
    options: dict[str, Any] = {
        "fitted_on_same": items.fitted_on_same,
        "random_state": seed_of(fitted, seed),
        "date": fitted.provenance().get("fitted"),
        "source": {"team": str(team), "table": str(data.table or data.model or data.answers)},
    }
    if json:
        console.as_json(summary(fitted, items.observations, items.y, **options))
        return
    check_output(output, team, *data.files().values())
    found = write_report(output, fitted, items.observations, items.y, **options)
    console.message(found["headline"])
    console.message(f"The report is in {output}.")
