"""A report as one self-contained HTML page."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from twoheads.combination.rivals import MODELS, PEOPLE
from twoheads.evaluation import METRICS
from twoheads.evaluation.headline import name_of
from twoheads.evaluation.team import Team
from twoheads.rendering.templates import template_environment
from twoheads.report.figures import figures
from twoheads.report.sections import SECTIONS
from twoheads.report.summary import summary as summarise
from twoheads.storage.atomic import atomic_write
from twoheads.text import percent

if TYPE_CHECKING:
    from jinja2 import Environment

_KEEP = re.compile(r"\[[^\]]*\]|p [<=] [\d.]+|[\d.,]+ (?:%|items?|points)")


def page(summary: dict[str, Any]) -> str:
    """Write a report as one HTML page: no network, no scripts, light and dark, for screen, phone and paper.

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
    template = _environment().get_template("report.html.j2")
    from markupsafe import Markup  # of Jinja, whose absence the environment reports

    drawn = {name: Markup(svg) for name, svg in figures(summary).items()}  # made by us, texts escaped
    return template.render(
        s=summary, figures=drawn, sections=SECTIONS, metrics=[metric for metric in METRICS if metric.shown]
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
    environment.globals |= {"name_of": name_of, "cards_of": _cards}
    environment.filters |= {"pct": _percent, "num": _number, "count": _count, "signed": _signed, "together": _together}
    return environment


def _cards(rivals: list[dict[str, Any]]) -> list[tuple[str, str, dict[str, Any]]]:
    """The best rival among people and the best among models, with their colour and mark."""
    found = []
    for side, mark, keys in (("human", "●", PEOPLE), ("model", "■", MODELS)):
        here = [rival for rival in rivals if rival["key"] in keys]
        if here:
            best = min(here, key=lambda rival: (not rival["better_half"], rival["key"] == "best_person", _error(rival)))
            found.append((side, mark, best))
    return found


def _error(rival: dict[str, Any]) -> float:
    return float(rival["error"]["value"])


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
