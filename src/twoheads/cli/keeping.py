"""Teams whose items are kept beside them: fitted on these, and fitted again when more is known."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone

from twoheads.cli import console
from twoheads.cli.engines import Place, fit_team
from twoheads.cli.provenance import save_team
from twoheads.cli.table_options import TableOptions, print_notes
from twoheads.combination.combiner import Combiner
from twoheads.engines.temporary import remove_folder, temporary_folder
from twoheads.errors import InvalidObservations
from twoheads.observations.labels import label_text
from twoheads.storage.atomic import atomic_write
from twoheads.tables.formats.opening import Reading
from twoheads.tables.kept.day_rows import rows_of_table, times_of_table
from twoheads.tables.kept.kept_items import KeptItems, written
from twoheads.tables.kept.merging import Merge
from twoheads.tables.kept.truth_rows import (
    KnownTruth,
    has_truth,
    holds_only_truth,
    is_file_of_truth,
    open_truth,
    rows_of_truth,
    truth_of_export,
)
from twoheads.tables.schema.coding import Coder, loose_notes
from twoheads.tables.table import Table
from twoheads.text import count

#: What a team is fitted on, in its provenance: not the names of files, which depend on the order of days.
SOURCE = {"items": "its kept items"}


def fit_on_kept(
    team: Combiner,
    classes: Any,
    merge: Merge,
    output: Path,
    *,
    provenance: dict[str, Any],
    history: Sequence[Any],
    keep_sample: bool,
) -> Combiner:
    """A team like this one, fitted on merged items, saved with them: both files are replaced, or none.

    provenance, history  as of the team that is saved; the fingerprint of the items is added
    """
    with written(merge.write, output) as kept:
        waiting = merge.n_waiting
        merge.close()
        fitted: Combiner = clone(team)
        scanned = kept.scan(classes, team.model_scale, positive_of(team, provenance))
        fit_team(fitted, scanned, Place("local"), provenance["method"])
        made = _timeless(provenance) | {"kept": kept.fingerprint}
        save_team(fitted, output, made, history, keep_sample=keep_sample)
    if waiting:
        console.message(f"{count(waiting, 'item')} with a truth, but no answer or model row yet: kept, not fitted on.")
    return fitted


def _timeless(provenance: dict[str, Any]) -> dict[str, Any]:
    """Provenance that does not depend on the order of days: files and times are in the history."""
    return {name: value for name, value in provenance.items() if name != "fitted"} | {"source": SOURCE}


def positive_of(team: Combiner, provenance: dict[str, Any]) -> Any:
    """The class that high scores mean: that of a fitted team, else the one that an option names."""
    levels = vars(team).get("levels_")
    return provenance.get("columns", {}).get("positive") if levels is None else levels.positive


def keeps_sample(team: Combiner) -> bool:
    """Whether the file of a fitted team holds a sample of its items."""
    statistics = vars(team).get("statistics_")
    return statistics is None or bool(statistics.has_sample)


def kept_items_of(team: Combiner, path: Path) -> KeptItems:
    """The kept items of a team that was read from a file."""
    return KeptItems.of(path, team.provenance().get("kept"))


def add_tables(merge: Merge, team: Combiner, data: TableOptions, time: str | None) -> list[Path]:
    """Add the tables that a command names to kept items, as read for a team; returns their files."""
    data, known = _truth_apart(data)
    files: list[Path] = []
    if data.files():
        scanned = _scanned(data, team)
        add_rows(merge, scanned, time, team.models_ if team.has_model_ else ())
        print_notes(scanned)
        files += scanned.files
    if known is not None:
        add_truth(merge, known, team.classes_, loose=_is_loose(team.provenance(), data))
        files += [file.path for file in known.table.source.files if file.path not in files]
    return files


def _scanned(data: TableOptions, team: Combiner) -> Table:
    """The table of a day; if it cannot be read and has the truth, the error says how that is learnt alone."""
    try:
        return data.scan_for(team, need_people=False, learns=True)
    except InvalidObservations as error:
        table = data.files().get("table")
        if table is None or not has_truth(table, Reading(**data.reading)):
            raise
        raise InvalidObservations(f"{error} To learn nothing but its truth: --truth {table}") from None


def add_rows(merge: Merge, scanned: Table, time: str | None, models: tuple[str, ...] = ()) -> None:
    """Add the rows of a scanned table to kept items."""
    merge.add(rows_of_table(scanned, models))
    if time is not None:
        merge.add_times(times_of_table(scanned, time), time)


def add_truth(merge: Merge, known: KnownTruth, classes: NDArray[Any], *, loose: bool) -> None:
    """Add a separate table of the truth to kept items; ``loose`` is whether spellings may differ from the classes."""
    coder = Coder([label_text(name) for name in classes.tolist()], loose=loose)
    merge.add(rows_of_truth(known, coder))
    for note in loose_notes(known.table.loose_labels(coder), coder.names):
        console.message(note)


def _is_loose(provenance: dict[str, Any], data: TableOptions) -> bool:
    """Whether the option --loose-labels is given, or was given at fit."""
    return bool((provenance.get("columns", {}) | data.columns).get("loose_labels"))


def separate_truth(data: TableOptions) -> KnownTruth | None:
    """The separate table of the truth that options name, if they do."""
    return _truth_apart(data)[1]


def _truth_apart(data: TableOptions) -> tuple[TableOptions, KnownTruth | None]:
    """The options without a separate table of truth, and that table: it may be about items that came before."""
    files, named = data.files(), data.columns.get("truth")
    how = Reading(encoding=data.reading.get("encoding"), question=data.reading.get("question"))
    item, column = data.columns.get("item"), data.columns.get("truth_column")
    if named is None and list(files) == ["table"] and holds_only_truth(files["table"], how):
        return replace(data, table=None), open_truth(files["table"], item, column, how)
    if named is None:
        return _exported_truth(data)
    if files and not is_file_of_truth(named, files.values(), how):
        return data, None
    columns = {name: value for name, value in data.columns.items() if name not in ("truth", "truth_column")}
    return replace(data, columns=columns), open_truth(named, item, column, how)


def _exported_truth(data: TableOptions) -> tuple[TableOptions, KnownTruth | None]:
    """The options without an export that holds only the truth, and the truth in an export, perhaps of other items."""
    files, how = data.files(), Reading(**data.reading)
    for argument in ("answers", "table", "model"):  # as they are read: the format is that of the table, if there is one
        if argument not in files:
            continue
        own = how if argument == "table" or "table" not in files else replace(how, format=None)
        known, has_more = truth_of_export(files[argument], argument, own)
        if known is not None:
            return data if has_more else data.without(argument), known
    return data, None


@contextmanager
def merged_items(kept: Sequence[KeptItems]) -> Iterator[Merge]:
    """The items of several teams, one after the other: what a later one has replaces what an earlier one has."""
    first, *others = kept
    folder = Path(temporary_folder())
    try:
        files = first.files()
        for at, each in enumerate(others[:-1]):
            merge, part = Merge(files), folder / str(at)
            merge.add_kept(each.files())
            merge.changes()
            part.mkdir()
            merge.write(part)
            files = KeptItems(part).files()
        merge = Merge(files)
        merge.add_kept(others[-1].files())
        yield merge
    finally:
        remove_folder(str(folder))


def copy_pair(team: Path, kept: KeptItems, output: Path) -> None:
    """Write a team and its items elsewhere, as they are."""
    with (
        written(lambda folder: shutil.copytree(kept.folder, folder, dirs_exist_ok=True), output),
        atomic_write(output) as file,
    ):
        file.write(team.read_bytes())
