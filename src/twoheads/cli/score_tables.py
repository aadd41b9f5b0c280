"""The output of ``compare`` and of ``evaluate --metrics``: a table of scores, printed or as a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twoheads.cli import console
from twoheads.errors import InvalidParameter
from twoheads.storage.atomic import atomic_write

if TYPE_CHECKING:
    from twoheads.evaluation import ScoreTable, Team
    from twoheads.observations import Observations

_SUFFIXES = (".csv", ".tex", ".html", ".json")


def check_suffix(output: Path) -> None:
    """Refuse a file whose name does not say what to write."""
    if output.suffix.lower() not in _SUFFIXES:
        raise InvalidParameter(f"-o must end in {', '.join(_SUFFIXES)}; it is {str(output)!r}.")


def print_scores(table: ScoreTable) -> None:
    """Print every row's values with their intervals, and the differences from the reference in the first metric."""
    from twoheads.evaluation.score_table_text import header, lines, refusals, title

    console.line(title(table))
    console.line()
    console.table(header(table), lines(table))
    for note in refusals(table):
        console.message(note)


def print_metrics(
    team: Team, observations: Observations, y: Any, metrics: list[str], *, random_state: int
) -> dict[str, Any]:
    """Print metrics of a team, of each model and of each person, and how far people agree; returned for JSON."""
    from twoheads.evaluation import agreement, score_members

    found = score_members(team, observations, y, metrics=metrics, random_state=random_state)
    people = agreement(observations)
    print_scores(found)
    if people is not None:
        console.message(people.sentence())
    return {"scores": found.as_dict(), "people_agreement": None if people is None else people.as_dict()}


def write_scores(table: ScoreTable, output: Path) -> None:
    """Write the table: CSV with a line per row and metric, LaTeX, HTML or JSON."""
    written = {".csv": _csv, ".tex": lambda found: found.to_latex(), ".html": _page, ".json": _json}
    with atomic_write(output) as file:
        file.write(written[output.suffix.lower()](table).encode())


def _csv(table: ScoreTable) -> str:
    columns, text = table.columns(), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _page(table: ScoreTable) -> str:
    from twoheads.evaluation.score_table_text import html

    style = "body{font-family:sans-serif}td,th{padding:.2em .6em;text-align:right}td:first-child{text-align:left}"
    head = f'<meta charset="utf-8"><title>Comparison of methods</title><style>{style}</style>'
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{html(table)}</body></html>\n"


def _json(table: ScoreTable) -> str:
    return json.dumps(table.as_dict(), indent=1, ensure_ascii=False) + "\n"
