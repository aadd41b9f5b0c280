"""Numbers of things in words."""

from __future__ import annotations


def count(number: float, one: str, many: str | None = None) -> str:
    """Write how many of what there are: "1 item", "3,000 items", "2 people"."""
    shown = f"{number:,.0f}"
    return f"{shown} {one if shown == '1' else many or one + 's'}"
