"""A report as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from twoheads.combination.rivals import PEOPLE
from twoheads.evaluation import METRICS
from twoheads.evaluation.headline import name_of, of_its_items
from twoheads.evaluation.team import Team
from twoheads.rendering.templates import template_environment
from twoheads.report.figures import figures
from twoheads.report.sections import ANALYSIS, DECISION
from twoheads.report.summary import summary as summarise
from twoheads.storage.atomic import atomic_write
from twoheads.text import percent

if TYPE_CHECKING:
    from jinja2 import Environment

_KEEP = re.compile(r"\[[^\]]*\]|p [<=] [\d.]+|[\d.,]+ (?:%|items?|points)")

#: Marks that tell people, models and the team apart without colour.
_MARK = {"human": "●", "model": "■", "combination": "▲", "other": "◆"}
_MAX_PARTS = 5  # contributions on an item's card; the others are folded


def page(summary: dict[str, Any]) -> str:
    """Write a report as one HTML page: no network, light and dark, for screen, phone and paper.

    Its one script sorts the table of people and opens what is folded before it is printed; the page's own policy lets
    no other run, and without it everything can be read.

    Parameters
    ----------
    summary : dict
        Of `twoheads.report.summary`; every number on the page is from it.

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> from twoheads.report import summary
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> page(summary(ProbabilityLabelCombiner().fit(X), X))[:15]
    '<!DOCTYPE html>'
    """
    environment = _environment()
    from markupsafe import Markup  # of Jinja, whose absence the environment reports

    drawn = {name: Markup(svg) for name, svg in figures(summary).items()}  # made by us, texts escaped
    shown = [metric for metric in METRICS if metric.shown]
    script = environment.get_template("report.js").render()
    allowed = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template("report.html.j2").render(
        s=summary, figures=drawn, metrics=shown, script=Markup(script), script_hash=allowed
    )


def write_report(path: str | os.PathLike[str], team: Team, X: Any, y: Any = None, **options: Any) -> dict[str, Any]:
    """Evaluate a fitted team and write the page, atomically.

    ``options`` are those of `twoheads.report.summary`, whose dict is returned.

    Raises
    ------
    CannotWrite
        If the file cannot be written.
    """
    found = summarise(team, X, y, **options)
    text = page(found)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))
    return found


@cache
def _environment() -> Environment:
    environment = template_environment("twoheads.report", "A report")
    environment.globals |= {
        "name_of": name_of,
        "of_its_items": of_its_items,
        "ranked": _ranked,
        "strongest": _strongest,
        "reach": _reach,
        "decision": DECISION,
        "analysis": ANALYSIS,
        "marks": _MARK,
        "side_of": _side,
    }
    environment.filters |= {"pct": _percent, "num": _number, "count": _count, "signed": _signed, "points": _points}
    environment.filters["together"] = _together
    return environment


def _side(key: str) -> str:
    """Whose colour and mark a rival has."""
    return "human" if key in PEOPLE else "model"


def _ranked(comparison: dict[str, Any]) -> list[dict[str, Any]]:
    """The rivals and the team, the fewest errors first."""
    rows = [{**rival, "side": _side(rival["key"])} for rival in comparison["rivals"]]
    team = {"words": "the team", "side": "combination", "better_half": False, "n_items": comparison["n_items"]}
    rows.append({**team, "error": comparison["combination"]["error"]})
    return sorted(rows, key=lambda row: float(row["error"]["value"]))


def _reach(values: list[float | None]) -> float:
    """The end of an axis from 0, above all values: a multiple of 2, 10 or 20 %, so that its half is round too."""
    most = max((value for value in values if value is not None), default=0.0)
    step = next(step for step in (0.02, 0.1, 0.2) if most <= 4 * step or step == 0.2)
    return min(1.0, max(step, math.ceil(most / step - 1e-9) * step))


def _strongest(parts: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The contributions to an item's log-odds by their strength: the first few, and the others."""
    by_strength = sorted(parts, key=lambda part: -abs(part["log_odds"]))
    return by_strength[:_MAX_PARTS], by_strength[_MAX_PARTS:]


def _together(text: str) -> str:
    """Keep numbers with their units and intervals on one line."""
    return _KEEP.sub(lambda found: found[0].replace(" ", "\u00a0"), text)


def _percent(share: float | None, digits: int = 1) -> str:
    return "–" if share is None else percent(share, digits).replace(" ", "\u00a0")


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _signed(value: float) -> str:
    if abs(value) >= 99:
        return "∞" if value > 0 else "−∞"
    return "0.0" if abs(value) < 0.05 else f"{value:+.1f}".replace("-", "−")


def _points(difference: float) -> str:
    """A difference of shares, in points with its sign."""
    points = round(100 * difference, 1)
    return "0.0" if points == 0 else f"{points:+.1f}".replace("-", "−")
