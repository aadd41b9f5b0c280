"""``twoheads fit``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twoheads.cli import console
from twoheads.cli.completion import among
from twoheads.cli.history import entry
from twoheads.cli.methods import METHODS, make_team
from twoheads.cli.options import Engine, Scheduler, Seed, Time, Timeout, reads_table
from twoheads.cli.outputs import check_output
from twoheads.cli.provenance import described, provenance_of_fit, save_team
from twoheads.cli.signatures import Result
from twoheads.cli.stdin import shown
from twoheads.cli.table_options import TableOptions, hint_at_truth, print_notes, split_names
from twoheads.errors import InvalidParameter

if TYPE_CHECKING:
    from twoheads.cli.engines import Place
    from twoheads.combination.combiner import Combiner
    from twoheads.tables import Table


@reads_table(truth=True)
def fit(
    data: TableOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the team.")] = Path("team.json"),
    classes: Annotated[
        str | None,
        typer.Option("--classes", help="The classes, if no model's columns name them.", metavar="A,B,..."),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.", autocompletion=among(METHODS))
    ] = "recommended",
    no_sample: Annotated[
        bool,
        typer.Option("--no-sample", help="Save no training items; the fit cannot be continued then."),
    ] = False,
    keep_items: Annotated[
        bool,
        typer.Option("--keep-items", help="Keep the items next to the team, for 'twoheads update'."),
    ] = False,
    time: Time = None,
    engine: Engine = "local",
    scheduler: Scheduler = None,
    timeout: Timeout = None,
    seed: Seed = 0,
) -> Result:
    """Fit a team on a table: how accurate the people are, and how to calibrate the model.

    The table has a column human (or several, human_<name>), a column p_<class> for each class, and truth, the true
    class if known; truth may be blank for most rows, or missing. The column item holds ids.

    A table larger than memory is read in several passes. With --engine dask the rows of Parquet files are held by the
    workers of a cluster.

    Example:  twoheads fit labelled.csv -o team.json
    """
    from twoheads.cli.engines import Place
    from twoheads.evaluation.team import n_labelled_of

    if classes is not None:
        data = replace(data, columns=data.columns | {"classes": split_names(classes, "--classes")})
    if time is not None and not keep_items:
        raise InvalidParameter("--time is for items that are kept: use --keep-items too.")
    place = Place(engine, scheduler, timeout)
    scanned = data.scan()
    check_output(output, scanned.files)
    team = make_team(method, scanned.model_scale)
    made = provenance_of_fit(method=method, seed=seed or 0, source=data.shown_files(), columns=data.saved_columns())
    if keep_items:
        if engine != "local":
            raise InvalidParameter("--keep-items is for --engine local; leave one of them out.")
        team = _fit_and_keep(team, scanned, data, time, output, made, keep_sample=not no_sample)
    else:
        team = _fit(team, scanned, place, output, made, keep_sample=not no_sample)
    print_notes(scanned)
    if n_labelled_of(team) == 0 and "truth" not in data.columns and "truth" not in scanned.columns:
        hint_at_truth(scanned)
    console.message(team.describe())
    console.message(f"The team is saved in {output}. Describe it with: twoheads show {output}")
    return {"output": output, "notes": list(scanned.notes), **described(team)}


def _fit(
    team: Combiner, scanned: Table, place: Place, output: Path, made: dict[str, Any], *, keep_sample: bool
) -> Combiner:
    """Fit a team where its table is, and save it."""
    from twoheads.cli.engines import fit_team

    fit_team(team, scanned, place, made["method"])
    done = entry("fit", [shown(str(file)) for file in scanned.files], {"items": {"new": scanned.n_rows}})
    save_team(team, output, made, [done], keep_sample=keep_sample)
    return team


def _fit_and_keep(
    team: Combiner,
    scanned: Table,
    data: TableOptions,
    time: str | None,
    output: Path,
    made: dict[str, Any],
    *,
    keep_sample: bool,
) -> Combiner:
    """Keep the items of a table beside the team, and fit it on these, in the order of their ids."""
    from twoheads.cli.keeping import add_rows, add_truth, fit_on_kept, separate_truth
    from twoheads.tables.kept.kept_items import locked
    from twoheads.tables.kept.merging import Merge

    with locked(output):
        merge = Merge({})
        add_rows(merge, scanned, time)
        files = [*scanned.files]
        if (known := separate_truth(data)) is not None:
            add_truth(merge, known, scanned.classes, loose=bool(data.columns.get("loose_labels")))
            files += [file.path for file in known.table.source.files if file.path not in files]
            named = {name: each for name, each in made["columns"].items() if name not in ("truth", "truth_column")}
            made = made | {"columns": named}  # the file of the truth is in the history: days have others
        done = entry("fit", [shown(str(file)) for file in files], merge.changes().counts)
        return fit_on_kept(
            team, scanned.classes, merge, output, provenance=made, history=[done], keep_sample=keep_sample
        )
