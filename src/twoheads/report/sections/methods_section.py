"""Methods side by side, each fitted anew on the items of the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twoheads.combination.better_half import decimals
from twoheads.errors import InvalidObservations
from twoheads.evaluation import PairedDifference, ScoreTable, UnfittedTeam, compare_methods
from twoheads.evaluation.cross_validation import labels_of
from twoheads.evaluation.judging import Judged
from twoheads.report.plain import plain_dict
from twoheads.report.sections.common import unavailable
from twoheads.text import SIGNIFICANCE, listed, percent

_NOT_ASKED = "No methods were given to compare."


def methods_section(
    methods: Mapping[str, UnfittedTeam] | None, items: Judged, reason: str, random_state: int | None
) -> dict[str, Any]:
    """Cross-validate methods on the items of the report; ``reason`` is why nothing can be measured on these, or ""."""
    if methods is None:
        return unavailable(_NOT_ASKED)
    if reason:
        return unavailable(reason)
    labels = labels_of(items.truth, items.observations.classes)
    try:
        found = compare_methods(
            methods, items.observations, labels, sample_weight=items.weight, random_state=random_state
        )
    except InvalidObservations as refusal:  # every method refuses the items
        return unavailable(str(refusal))
    return plain_dict({"available": True, "words": _words(found), **found.as_dict()})


def methods_note(section: Mapping[str, Any]) -> list[str]:
    """What a reader who asked for methods is told where none is on the page."""
    if section["available"] or section["words"] == _NOT_ASKED:
        return []
    return [f"Methods are not compared: {section['words']}"]


def _words(table: ScoreTable) -> str:
    """Which method errs least, and which rows differ significantly from the reference."""
    errors = {
        row.name: score.value for row in table.rows if row.kind == "method" and (score := row.scores.get("error"))
    }
    least = min(errors.values())
    best = [name for name, error in errors.items() if error == least]
    who = f"{best[0]} errs" if len(best) == 1 else f"{listed(best[:-1])} and {best[-1]} err"
    start = f"Of the methods, {who} least, on {percent(least, decimals(table.n_items))} of items."
    return f"{start} {_significant(table)}".rstrip()


def _significant(table: ScoreTable) -> str:
    apart = {row.name: found for row in table.rows if (found := row.differences.get("error")) is not None}
    if not apart:
        return ""
    how = "(paired tests, corrected by Holm's method)"
    known = {name: found.value for name, found in apart.items() if _is_significant(found)}
    sides = {
        side: [name for name, value in known.items() if (value < 0) == (side == "fewer")] for side in ("fewer", "more")
    }
    said = [f"significantly {side}: {listed(names)}" for side, names in sides.items() if names]
    if not said:
        return f"No row has significantly fewer or more errors than {table.reference} {how}."
    return f"Compared with the errors of {table.reference}, {'; '.join(said)} {how}."


def _is_significant(found: PairedDifference) -> bool:
    return found.corrected_p_value is not None and found.corrected_p_value < SIGNIFICANCE
