"""The output of ``evaluate``: a headline, and a table of human, model and combination."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twoheads.cli import console

_ENDS = {"value": "", "low": "_low", "high": "_high"}


def print_comparison(found: dict[str, Any]) -> None:
    """Print the headline, the scores with their 95 % intervals, and the notes of a comparison."""
    from twoheads.evaluation.headline import NAME, name_of, of_its_items
    from twoheads.evaluation.registry import METRICS

    metrics = [metric for metric in METRICS if metric.shown]
    console.line(found["headline"])
    console.line()
    header = ["", *(f"{metric.short_title} {metric.unit}".rstrip() for metric in metrics)]
    several = any(rival["key"] == "majority" for rival in found["rivals"])
    rows = [
        [
            name_of(member, several=several) + of_its_items(found[member]["n_items"], found["n_items"]),
            *(_score(found[member].get(metric.name), metric.text) for metric in metrics),
        ]
        for member in NAME
        if found.get(member)
    ]
    console.table(header, rows)
    if len(found["rivals"]) > 2:
        print_rivals(found["rivals"])
    if "people" in found:
        print_people(found["people"])
    for note in found["notes"]:
        console.message(note)


def print_rivals(rivals: list[dict[str, Any]]) -> None:
    """Print whom the combination is compared with, each on the items that it has labelled."""
    console.line()
    rows = [
        [
            f"{rival['words']}{' (the better half)' if rival['better_half'] else ''}",
            f"{rival['n_items']:,}",
            _score(rival["error"], lambda share: f"{100 * share:.1f}"),
            f"{100 * rival['team_error']:.1f}",
            f"{rival['n_won']:,} : {rival['n_lost']:,}",
        ]
        for rival in rivals
    ]
    console.table(["rival", "items", "its error %", "combination's", "won : lost"], rows)


def print_without_truth(found: dict[str, Any]) -> None:
    """Print what is known without truth."""
    console.line(found["headline"])
    if "people" in found:
        print_people(found["people"])
    for note in found["notes"]:
        console.line(note)


def print_people(people: dict[str, Any]) -> None:
    """Print the statistics of each person, the most accurate first."""
    console.line()
    right = f"{people['kind']} right % [{100 * people['level']:.0f} %]"
    header = ["person", "answers", right, "agreement %", "bits per answer"]
    rows = [
        [
            person["annotator"],
            f"{person['answers']:,.0f}",
            _score({key: person[f"accuracy{end}"] for key, end in _ENDS.items()}, lambda share: f"{100 * share:.0f}")
            + ("" if person["kind"] == people["kind"] else f" {person['kind']}"),
            "–" if person["agreement"] is None else f"{100 * person['agreement']:.0f}",
            "–" if person["bits"] is None else f"{person['bits']:.2f}",
        ]
        for person in people["people"]
    ]
    console.table(header, rows)
    console.message(people["basis"])
    if people["n_more"]:
        console.message(
            f"The {len(rows)} people with most answers, the most accurate first; "
            f"{people['n_more']:,} more are not shown."
        )


def _score(score: dict[str, float | None] | None, text: Callable[[float], str]) -> str:
    """A value with its interval, "8.1 [6.5, 9.7]"; a dash if there is none."""
    if score is None or score["value"] is None:
        return "–"
    shown = [text(value) for key in ("value", "low", "high") if (value := score[key]) is not None]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]" if len(shown) == 3 else shown[0]
