"""A fault inside a file that is read."""

from __future__ import annotations


class Damaged(Exception):
    """A fault inside a file."""


def need(condition: bool, otherwise: str) -> None:
    """Refuse what is read, for this reason, unless a condition holds."""
    if not condition:
        raise Damaged(otherwise)
