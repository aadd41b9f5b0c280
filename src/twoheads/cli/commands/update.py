"""``twoheads update``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from twoheads.cli import console
from twoheads.cli.history import counts_in_words, entry
from twoheads.cli.methods import read_team
from twoheads.cli.options import Team, Time, reads_table
from twoheads.cli.outputs import check_output
from twoheads.cli.provenance import described
from twoheads.cli.signatures import Result
from twoheads.cli.stdin import shown
from twoheads.cli.table_options import TableOptions
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.text import count, cut

if TYPE_CHECKING:
    from twoheads.tables.kept.merging import Merge


@reads_table(truth=True)
def update(
    team: Team,
    data: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to save the new team; by default it replaces the old one."),
    ] = None,
    time: Time = None,
    window: Annotated[
        str | None,
        typer.Option("--window", help="Keep only items of the last days before the newest time: 90d.", metavar="DAYS"),
    ] = None,
    forget: Annotated[
        list[str] | None,
        typer.Option("--forget", help="Remove an item, or the items of a table with ids.", metavar="ID|FILE"),
    ] = None,
) -> Result:
    """Update a team with new answers, model rows and truth: it is fitted again on all items that it keeps.

    Items are recognised by their ids: a new answer replaces the person's old one, truth may arrive later, and a
    repeated item counts once. The same table again changes nothing. A table of ids and truth alone may be given as
    TABLE or with --truth. The team must keep its items: twoheads fit TABLE --keep-items

    Example:  twoheads update team.json today.csv
    """
    from twoheads.cli.keeping import add_tables, copy_pair, fit_on_kept, keeps_sample, kept_items_of
    from twoheads.tables.kept.kept_items import locked
    from twoheads.tables.kept.merging import Merge

    days = None if window is None else _days(window)
    if not (data.files() or "truth" in data.columns or forget or days):
        raise InvalidObservations("Give a TABLE, --answers, --truth, --forget or --window.")
    target = output or team
    check_output(target, [])
    with locked(target):
        fitted = read_team(team)
        kept = kept_items_of(fitted, team)
        merge = Merge(kept.files())
        files = add_tables(merge, fitted, data, time)
        check_output(target, [*files, *map(Path, forget or [])])
        merge.forget(ids for each in forget or [] for ids in _ids(each))
        changes = merge.changes(days)
        _note_lost(merge.lost)
        _note_timeless(merge, days)
        if not changes:
            if target != team:
                copy_pair(team, kept, target)
            console.message(f"Nothing is new; the team in {target} is that of before.")
            return {"output": target, "changed": False, "counts": changes.counts, **described(fitted)}
        options = [*(f"--forget {each}" for each in forget or []), *([f"--window {window}"] if days else [])]
        done = entry("update", [*(shown(str(file)) for file in files), *options], changes.counts)
        history, made, keep = [*fitted.history(), done], fitted.provenance(), keeps_sample(fitted)
        new = fit_on_kept(fitted, fitted.classes_, merge, target, provenance=made, history=history, keep_sample=keep)
    console.message(new.describe())
    console.message(f"The team is saved in {target}. Changed: {counts_in_words(changes.counts)}.")
    return {"output": target, "changed": True, "counts": changes.counts, **described(new)}


def _days(window: str) -> int:
    found = re.fullmatch(r"(\d{1,6})d", window.strip())
    if not found or not int(found[1]):
        raise InvalidParameter(f"--window must be a number of days, such as 90d; it is {window!r}.")
    return int(found[1])


def _note_lost(lost: list[str]) -> None:
    if lost:
        many = "100 or more ids" if len(lost) >= 100 else count(len(lost), "id")
        console.message(f"--forget: {many} not found among the items (first: {cut(lost[0])}).")


def _ids(given: str) -> Iterator[Any]:
    """The ids that --forget names, as Arrow arrays: one, or those of a table."""
    from twoheads.tables.duckdb import pa
    from twoheads.tables.formats.source import Source
    from twoheads.tables.schema.ids import numbered_ids
    from twoheads.tables.schema.roles import item_column

    if not Path(given).is_file():
        yield pa.array([given], pa.string())
        return
    source = Source.open(given, "forget")
    column = item_column(source.columns, source.name, None, needed=True)
    assert column
    for batch in numbered_ids(source, column):
        yield batch.column(0)


def _note_timeless(merge: Merge, days: int | None) -> None:
    if days is not None and (lacking := merge.n_timeless):
        console.message(f"{count(lacking, 'item')} without a time, kept whatever the window; name times with --time.")
