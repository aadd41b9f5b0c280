"""What the command line writes: the rows of ``twoheads combine`` and the keys of ``team.json``."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from tests.golden.numbers import flat
from tests.golden.simulation import problem

from twoheads.cli.running import run

#: (method, table, how much truth)
COMMANDS = (
    ("recommended", "one person", "some"),
    ("recommended", "crowd", "no"),
    ("recommended", "confidence", "some"),
    ("recommended", "two models", "all"),
    ("recommended", "two classes", "all"),
    ("P+L", "gaps", "some"),
    ("SP", "one person", "no"),
    ("L+L", "one person", "some"),
    ("LR", "one person", "all"),
)


def fit_and_combine(method: str, table: str, share: str, folder: Path) -> tuple[Path, Path]:
    """Fit and combine on the command line; the files of the team and of the combined rows."""
    data, team, combined = problem(table), folder / "team.json", folder / "combined.csv"
    data.table.assign(truth=data.known(share)).to_csv(folder / "table.csv", index=False)
    data.fresh.to_csv(folder / "fresh.csv", index=False)
    assert run(["fit", str(folder / "table.csv"), "-o", str(team), "--method", method]) == 0
    assert run(["combine", str(team), str(folder / "fresh.csv"), "--digits", "17", "-o", str(combined)]) == 0
    return team, combined


def rows_of(combined: Path) -> dict[str, list[Any]]:
    """The columns of a combined table, as numbers where they are."""
    with combined.open(newline="") as file:
        header, *rows = csv.reader(file)
    columns = {name: [row[at] for row in rows] for at, name in enumerate(header)}
    return {"columns": header} | {name: _numbers(values) for name, values in columns.items()}


def _numbers(values: list[str]) -> list[Any]:
    try:
        return flat([float(value) for value in values], whole=True)
    except ValueError:
        return values


def keys_of(team: Path) -> dict[str, list[str]]:
    """The keys of a team's file: of the document, and of each kind of object in it."""
    document = json.loads(team.read_text())
    found = {"document": sorted(document)}
    for kind, keys in _objects(document["object"], "team"):
        found[kind] = sorted({*keys, *found.get(kind, ())})
    return found


def _objects(value: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """Each object and dict within a value of the artifact format: what it is, and its keys."""
    if isinstance(value, list):
        yield from chain.from_iterable(_objects(entry, name) for entry in value)
    if not isinstance(value, dict):
        return
    if "class" in value:
        entries = {f"{part}.{key}": entry for part in ("parameters", "fitted") for key, entry in value[part].items()}
        yield value["class"], list(entries)
    else:
        entries = value.get("dict", {})
        if entries:
            yield name, list(entries)
        for kind in ("list", "tuple"):
            yield from _objects(value.get(kind, []), name)
    for key, entry in entries.items():
        yield from _objects(entry, key)
