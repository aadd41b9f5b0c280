"""``twoheads combine``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twoheads.cli import console
from twoheads.cli.class_shares import with_class_shares
from twoheads.cli.methods import read_team
from twoheads.cli.options import ClassShares, Engine, Scheduler, Team, reads_table
from twoheads.cli.outputs import check_output
from twoheads.cli.table_options import TableOptions, print_notes
from twoheads.errors import InvalidObservations
from twoheads.tables.formats.registry import titles, usual_suffixes
from twoheads.text import count


@reads_table(truth=False)
def combine(
    team: Team,
    data: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=f"{titles(written=True)}, by its suffix; - is CSV to stdout."),
    ] = None,
    class_shares: ClassShares = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
) -> None:
    """Combine human and model for every row: id, combined_label, confidence and p_<class>, in constant memory.

    The table need not have answers; the model's predictions are then calibrated. With --engine dask the workers of a
    cluster write a folder of Parquet files. With --format label-studio or argilla the output is the export itself with
    a prediction or suggestion for every item, ready to be imported. With --class-shares learn the classes may be mixed
    otherwise than at fit: their shares are estimated from these items first.

    Example:  twoheads combine team.json today.parquet -o verdicts.parquet
    """
    from twoheads.cli.engines import check_engine, combine_here, combine_into_export, combine_on_cluster

    fitted = with_class_shares(read_team(team), class_shares)
    # A team with a calibrated model can do without answers.
    scanned = data.scan_for(fitted, truth=False, need_people=not fitted.has_model_)
    if output is None:
        raise InvalidObservations(
            "Give the output with -o, a file with a suffix such as "
            f"{usual_suffixes(written=True)}, or - for CSV to stdout."
        )
    check_engine(engine, scheduler)
    if engine == "dask" and not data.writes_export:
        written = combine_on_cluster(fitted, scanned, output, scheduler)
    else:
        if str(output) != "-":
            check_output(output, team, *data.files().values())
        if data.writes_export:
            written = combine_into_export(fitted, scanned, data, output)
        else:
            written = combine_here(fitted, scanned, None if str(output) == "-" else output)
        print_notes(scanned)
    place = "." if str(output) == "-" else f"; the result is in {output}."
    console.message(f"{count(written, 'item')} combined{place}")
