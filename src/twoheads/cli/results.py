"""What ``evaluate`` prints: a headline, and a table of human, model and combination."""

from __future__ import annotations

from typing import Any

from twoheads.cli import say

_COLUMNS = {
    "error": ("error", 100, 1),
    "log_loss": ("log loss", 1, 3),
    "expected_calibration_error": ("ECE", 100, 1),
    "classwise_calibration_error": ("cwECE", 100, 2),
    "brier_score": ("Brier", 1, 3),
}
_MEMBERS = {
    "human": "human",
    "model": "model",
    "calibrated_model": "model, calibrated",
    "combination": "combination",
}


def print_comparison(found: dict[str, Any]) -> None:
    """The headline, the scores with their 95 % intervals, and the notes of a comparison."""
    say.line(found["headline"])
    say.line()
    header = ["", *(name + (" %" if scale == 100 else "") for name, scale, _ in _COLUMNS.values())]
    rows = [
        [label, *(_score(found[member].get(key), scale, digits) for key, (_, scale, digits) in _COLUMNS.items())]
        for member, label in _MEMBERS.items()
        if found.get(member)
    ]
    say.table(header, rows)
    for note in found["notes"]:
        say.words(note)


def _score(score: dict[str, float | None] | None, scale: float, digits: int) -> str:
    if score is None or score["value"] is None:
        return "–"
    shown = [f"{scale * value:.{digits}f}" for key in ("value", "low", "high") if (value := score[key]) is not None]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]" if len(shown) == 3 else shown[0]
