"""A command's table: columns from the options, else as when the team was fitted."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twoheads import tables
from twoheads.cli import console
from twoheads.cli.stdin import is_copy, shown
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.tables.formats.registry import export_by_name, looks_like_table
from twoheads.text import listed

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner


@dataclass(frozen=True)
class TableOptions:
    """The files of a command's table, and the options that name its columns.

    columns  the keyword arguments of `twoheads.tables.scan` that the user has given
    reading  those that say how files are read; they are not saved with a team
    """

    table: Path | None
    answers: Path | None
    model: Path | None
    columns: dict[str, Any]
    reading: dict[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, str]:
        """The files by the name of their option."""
        named = {"table": self.table, "answers": self.answers, "model": self.model}
        return {name: str(path) for name, path in named.items() if path is not None}

    def without(self, option: str) -> TableOptions:
        """The options without one of the files, by the name of its option."""
        named: dict[str, Any] = {option: None}
        return replace(self, **named)

    def shown_files(self) -> dict[str, str]:
        """The files as users see them, by the name of their option."""
        return {name: shown(path) for name, path in self.files().items()}

    def saved_columns(self) -> dict[str, Any]:
        """The columns to save with a team: a table of the truth from stdin does not come again."""
        return {name: value for name, value in self.columns.items() if not is_copy(value)}

    @property
    def writes_export(self) -> bool:
        """Whether the option --format names an export that takes verdicts."""
        known = export_by_name(self.reading.get("format", ""))
        return known is not None and known.writer is not None

    def scan(self, *, need_people: bool = True, **columns: Any) -> tables.Table:
        """Open the table; ``columns`` are those that no option names."""
        if not self.files():
            raise InvalidObservations("Give a TABLE, or --answers and --model.")
        given = columns | self.columns | self.reading
        scanned = tables.scan(self.table, answers=self.answers, model=self.model, **given)
        if need_people:
            scanned.need_people()
        return scanned

    def scan_for(
        self, team: Combiner, *, truth: bool = True, need_people: bool = True, learns: bool = False
    ) -> tables.Table:
        """Open the table for a fitted team: with its classes, and with columns as at its fit unless options differ.

        learns  whether the team learns from the table, new members too
        """
        from twoheads.combination.members_here import columns_of_members, notes_on_learnt_members, notes_on_members
        from twoheads.tables.schema.roles import NoModelColumns

        where = " and ".join(self.shown_files().values())
        try:
            found = self.scan(need_people=need_people, **_columns_at_fit(team, truth=truth), classes=team.classes_)
        except NoModelColumns as error:
            if not (team.has_model_ or team.machines_):  # people alone: the remedy is --answers
                raise
            raise _no_column_of(columns_of_members(team), where, error.columns) from None
        if not found.columns:  # an export, or answers alone
            return found
        notes = notes_on_learnt_members if learns else notes_on_members
        return found.with_notes(notes(team, where, found.models, found.labellers, found.scorers))


def _no_column_of(known: Sequence[str], where: str, columns: Sequence[str]) -> InvalidObservations:
    """A table whose columns are none of the known ones of a team's models."""
    others = listed([name for name in columns if name not in known])
    return InvalidObservations(
        f"{where} must have a column of a model of the team, whose columns are {listed(known)}; it has others: "
        f"{others}. Rename those that are meant, as twoheads check --fix does in a copy, or name them with --human and "
        "--model-columns; if no model has answered, drop the others."
    )


def _columns_at_fit(team: Combiner, *, truth: bool) -> dict[str, Any]:
    skipped = {"classes"} if truth else {"classes", "truth", "truth_column"}
    columns = {name: value for name, value in team.provenance().get("columns", {}).items() if name not in skipped}
    if "truth" in columns and (Path(columns["truth"]).exists() or looks_like_table(columns["truth"])):
        del columns["truth"]  # a separate file of truth belongs to the table of the fit
    positive = {} if team.levels_ is None else {"positive": team.levels_.positive}
    return {"model_scale": team.model_scale} | positive | columns


def split_names(text: str, option: str) -> list[str]:
    """Names from ``A,B,...``, as a line of CSV: a name with a comma is in quotation marks."""
    try:
        return [name.strip() for row in csv.reader([text], skipinitialspace=True, strict=True) for name in row]
    except csv.Error:
        raise InvalidParameter(
            f"{option} must be names with commas between them; it is {text!r}. "
            "Put a name that has a comma in quotation marks: '\"Doe, Ann\",Bob'."
        ) from None


def print_notes(scanned: tables.Table) -> None:
    """Print the remarks on a table: rows that do not match, columns that are not used."""
    for note in scanned.notes:
        console.message(note)


def hint_at_truth(scanned: tables.Table) -> None:
    """Name a column that may hold the truth, if none is called truth."""
    likely = ("true", "truth", "gold", "target", "y", "correct_label")
    near = [name for name in scanned.columns if name.lower() in likely or re.search("true|truth|gold", name.lower())]
    if near:
        console.message(f"There is no column truth; if {near[0]!r} holds the truth, use: --truth {near[0]}")
