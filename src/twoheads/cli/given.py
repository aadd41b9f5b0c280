"""The table of a call: which columns are read, as the options say or as at fit, and what is said of it."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import twoheads as th
from twoheads import tables
from twoheads.cli import say
from twoheads.cli.options import READING
from twoheads.cli.teams import provenance, read_team
from twoheads.errors import InvalidObservations, InvalidParameter

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner


def scan(
    table: Path | None,
    answers: Path | None,
    model: Path | None,
    columns: dict[str, Any],
    team: Any = None,
    *,
    need_people: bool = True,
) -> tables.Table:
    """The table of a call, looked at; with the classes of the team, if there is one."""
    if table is None and answers is None and model is None:
        raise InvalidObservations("Give a TABLE, or --answers and --model.")
    if team is not None:
        columns = columns | {"classes": team.classes_}
    scanned = tables.scan(table, answers=answers, model=model, **columns)
    if need_people:
        scanned.need_people()
    return scanned


def given_columns(context: typer.Context) -> dict[str, Any]:
    """The options of this call that say which columns are read, and how."""
    found = {name: context.params.get(name) for name in READING}
    return {name: value for name, value in found.items() if value not in (None, [], ())}


def names_of(text: str, option: str) -> list[str]:
    """Names from ``A,B,...``, as a line of CSV: one that holds a comma stands in quotation marks."""
    try:
        return [name.strip() for row in csv.reader([text], skipinitialspace=True, strict=True) for name in row]
    except csv.Error:
        raise InvalidParameter(
            f"{option} must be names with commas between them; it is {text!r}. "
            "Put a name that holds a comma in quotation marks: '\"Doe, Ann\",Bob'."
        ) from None


def to_judge(context: typer.Context) -> tuple[Combiner, tables.Table, th.Observations, Any]:
    """The team of this call, its table, and what it holds."""
    fitted = read_team(context.params["team"])
    table, answers, model = (context.params[name] for name in ("table", "answers", "model"))
    scanned = scan(table, answers, model, as_at_fit(fitted, given_columns(context)), fitted)
    seen, y = scanned.read()
    say_notes(scanned)
    return fitted, scanned, seen, y


def as_at_fit(team: Any, given: dict[str, Any], *, truth: bool = True) -> dict[str, Any]:
    """Columns as the options say; where they are silent, as they were when the team was fitted."""
    skipped = {"classes"} if truth else {"classes", "truth", "truth_column"}
    before = {name: value for name, value in provenance(team).get("columns", {}).items() if name not in skipped}
    if "truth" in before and Path(before["truth"]).exists():
        del before["truth"]  # a file of its own belongs to the table of that time
    return {"model_scale": team.model_scale} | before | given


def seed_of(team: Any, seed: int | None) -> int:
    """The seed as given, or as it was when the team was fitted."""
    return int(provenance(team).get("seed", 0)) if seed is None else seed


def say_notes(scanned: tables.Table) -> None:
    """Say what did not meet, and what was not used."""
    for note in scanned.notes:
        say.words(note)


def hint_at_truth(scanned: tables.Table) -> None:
    """Name a column that may hold the truth, where none is called so."""
    likely = ("true", "truth", "gold", "target", "y", "correct_label")
    near = [name for name in scanned.columns if name.lower() in likely or re.search("true|truth|gold", name.lower())]
    if near:
        say.words(
            f"There is no column truth, so nothing is known to be true; if {near[0]!r} holds it: --truth {near[0]}"
        )
