"""``twoheads combine``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twoheads.cli import console
from twoheads.cli.class_shares_option import shares_file, with_class_shares
from twoheads.cli.methods import read_team
from twoheads.cli.options import ClassShares, Engine, ForSpreadsheet, Scheduler, Team, Timeout, reads_table
from twoheads.cli.outputs import check_output, check_spreadsheet, refuse_both
from twoheads.cli.signatures import Result
from twoheads.cli.table_options import TableOptions, print_notes, split_names
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.tables.formats.registry import titles, usual_suffixes
from twoheads.text import count


@reads_table(truth=True)
def combine(
    team: Team,
    data: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=f"{titles(written=True)}, by its suffix; - is CSV to stdout."),
    ] = None,
    keep_truth: Annotated[
        bool, typer.Option("--keep-truth", help="If the truth is known, use it as the verdict (marked in truth_known).")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option("--columns", help="Other columns of the table to copy to the output.", metavar="A,B,..."),
    ] = None,
    review_below: Annotated[
        float | None,
        typer.Option(
            "--review-below",
            help="Add a column review that marks verdicts of lower confidence: 0.8.",
            metavar="CONFIDENCE",
        ),
    ] = None,
    digits: Annotated[int, typer.Option("--digits", min=1, max=17, help="Decimals of probabilities.")] = 6,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, help="Write only this many classes, the most probable ones.", metavar="N"),
    ] = None,
    class_shares: ClassShares = None,
    for_spreadsheet: ForSpreadsheet = False,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    timeout: Timeout = None,
) -> Result:
    """Combine human and model for every row: id, combined_label, confidence and p_<class>, in constant memory.

    The table need not have answers; the model's predictions are then calibrated. With --engine dask the workers of a
    cluster write a folder of Parquet files. With --format label-studio or argilla the output is the export itself with
    a prediction or suggestion for every item, ready to be imported. If class shares may differ
    from those at fit, --class-shares learn estimates them from these items first.

    Example:  twoheads combine team.json today.parquet -o verdicts.parquet
    """
    from twoheads.cli.engines import Place, combine_here, combine_into_export, combine_on_cluster
    from twoheads.evaluation.team import class_shares_of
    from twoheads.tables.verdict_columns import VerdictOptions

    others = () if columns is None else tuple(split_names(columns, "--columns"))
    twice = [name for at, name in enumerate(others) if name in others[:at]]
    if twice:
        raise InvalidParameter(f"--columns must name each column once; it names {twice[0]!r} twice. Leave one out.")
    options = VerdictOptions(digits, top, review_below, keep_truth, others)
    if "truth" in data.columns and not keep_truth:
        raise InvalidParameter("--truth is of use to combine with --keep-truth only. Leave it out, or use both.")
    fitted = with_class_shares(read_team(team), class_shares)
    # A team with a calibrated model can do without answers.
    scanned = data.scan_for(fitted, truth=keep_truth, need_people=not fitted.has_model_)
    if output is None:
        raise InvalidObservations(
            "Give the output with -o, a file with a suffix such as "
            f"{usual_suffixes(written=True)}, or - for CSV to stdout."
        )
    refuse_both(output)
    place = Place(engine, scheduler, timeout)
    if for_spreadsheet:
        check_spreadsheet(output, engine=engine)
    if engine == "dask" and not data.writes_export:
        done = combine_on_cluster(fitted, scanned, options, output, place)
    else:
        if str(output) != "-":
            check_output(output, [team, *shares_file(class_shares), *scanned.files])
        if data.writes_export:
            done = combine_into_export(fitted, scanned, options, data, output)
        else:
            path = None if str(output) == "-" else output
            done = combine_here(fitted, scanned, options, path, for_spreadsheet=for_spreadsheet)
        print_notes(scanned)
    where = "." if str(output) == "-" else f"; the result is in {output}."
    console.message(f"{count(done.n_items, 'item')} combined{where}")
    found = {"output": output, "items": done.n_items, "classes": list(fitted.classes_), "notes": list(scanned.notes)}
    shares = class_shares_of(done.team)
    return found if shares is None else found | {"class_shares": shares.as_dict()}
