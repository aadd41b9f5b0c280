"""index.html: all studies on one self-contained page, our numbers beside the published ones."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from twoheads.rendering.templates import template_environment
from twoheads.studies.catalogue import CATALOGUE
from twoheads.studies.outcome import Outcome
from twoheads.studies.protocol import Protocol
from twoheads.studies.published import Agreement, Comparison
from twoheads.studies.rows import BEHAVIOURS, CORRECT, PAPER, Row

_BEHAVIOUR_NAMES = {PAPER: "released code", CORRECT: "the mathematics"}


@dataclass(frozen=True)
class Shown:
    """A cell of the page: the published number, ours as released, ours by the mathematics."""

    published: str
    ours: str
    correct: str
    agrees: bool


@dataclass(frozen=True)
class Grid:
    """A table of the page."""

    title: str
    summary: str
    columns: list[str]
    lines: list[tuple[str, list[Shown | None]]]


def page(parts: Sequence[Outcome], protocol: Protocol) -> str:
    """The page as text."""
    template = template_environment("twoheads.studies", "Writing index.html").get_template("index.html.j2")
    sections = [
        {
            "name": part.name,
            "title": CATALOGUE[part.name].title,
            "grids": [_published_grid(agreement, part.rows) for agreement in part.agreements if agreement.compared],
            "curves": _curves(part.rows) if CATALOGUE[part.name].has_curves else [],
            "figures": [(path.stem, _data_uri(path.read_bytes())) for path in part.files if path.suffix == ".svg"],
            "notes": part.notes,
            "files": [path.name for path in part.files],
        }
        for part in parts
        if part.rows
    ]
    compared = [agreement for part in parts for agreement in part.agreements if agreement.compared]
    return template.render(
        sections=sections,
        compared=compared,
        protocol=protocol,
        missing=parts[0].missing if parts else (),
        skipped=[CATALOGUE[part.name].title for part in parts if not part.rows],
    )


def _published_grid(agreement: Agreement, rows: tuple[Row, ...]) -> Grid:
    """Models (and noise levels, and metrics) down, methods (and numbers of labels) across."""
    correct = {_place(row): row for row in rows if row.behaviour == CORRECT}
    several = len({comparison.cell.key.metric for comparison in agreement.compared}) > 1
    cells: dict[tuple[str, str], Shown] = {}
    for comparison in agreement.compared:
        key = comparison.cell.key
        line = " ".join(str(part) for part in (key.metric if several else "", key.model, key.noise_level or "") if part)
        cells[line, key.method + _labels(agreement.table, key.n_labelled)] = _shown(
            comparison, correct.get(_place(comparison.row))
        )
    columns = list(dict.fromkeys(column for _, column in cells))
    lines = list(dict.fromkeys(line for line, _ in cells))
    return Grid(
        agreement.title,
        f"{agreement.n_agreeing} of {len(agreement.compared)} cells agree within rounding.",
        columns,
        [(line, [cells.get((line, column)) for column in columns]) for line in lines],
    )


def _labels(table: str, n_labelled: int | None) -> str:
    if n_labelled is None or "individual" in table:
        return ""
    return f", {n_labelled:,}" if n_labelled else ", none"


def _place(row: Row) -> tuple[object, ...]:
    return *row.setting, row.method, row.metric, row.n_labelled


def _shown(comparison: Comparison, correct: Row | None) -> Shown:
    cell = comparison.cell
    digits = len(cell.mean.partition(".")[2])
    sd_digits = len(cell.sd.partition(".")[2])

    def ours(row: Row) -> str:
        return f"{row.mean:.{digits}f}" + (f" ± {row.sd:.{sd_digits}f}" if comparison.has_sd else "")

    return Shown(
        cell.mean + (f" ± {cell.sd}" if cell.sd else ""),
        ours(comparison.row),
        "" if correct is None else ours(correct),
        comparison.agrees,
    )


def _curves(rows: tuple[Row, ...]) -> list[tuple[str, list[int], list[tuple[str, list[str]]]]]:
    """For each setting, mean errors: numbers of labels across, methods down."""
    tables = []
    for setting in dict.fromkeys(row.setting for row in rows):
        here = [row for row in rows if row.setting == setting]
        sizes = sorted({row.n_labelled for row in here if row.n_labelled})
        lines = []
        for behaviour in BEHAVIOURS:
            for method in dict.fromkeys(row.method for row in here if row.n_labelled):
                means = {r.n_labelled: r.mean for r in here if (r.behaviour, r.method) == (behaviour, method)}
                if means:
                    name = f"{method}, {_BEHAVIOUR_NAMES[behaviour]}"
                    lines.append((name, [f"{means[n]:.2f}" if n in means else "" for n in sizes]))
        noise = "" if setting[2] is None else f", noise {setting[2]}"
        tables.append((f"{setting[1]} on {setting[0]}{noise}", sizes, lines))
    return tables


def _data_uri(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
