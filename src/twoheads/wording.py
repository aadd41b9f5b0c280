"""Numbers and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: float, one: str, many: str | None = None) -> str:
    """Write how many of what there are: "1 item", "3,000 items", "2 people"."""
    shown = f"{number:,.0f}"
    return f"{shown} {one if shown == '1' else many or one + 's'}"


def listed(names: Sequence[object], most: int = 12) -> str:
    """Names with commas between them, the first few of many: "a, b, ... (12 in all)"."""
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
