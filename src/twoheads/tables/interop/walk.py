"""One walk over the records of an export: each is a statement, or left out for a reason that is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from twoheads.tables.interop.export import Statement, left_out


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a record states nothing: what it is called, and the reason."""

    what: str
    why: str


def by_a_team(what: str) -> LeftOut:
    """The reason for predictions that a team has made."""
    return LeftOut(what, "made by a team, not by a model")


def walk(
    records: Iterable[tuple[int, Any]], state: Callable[[int, Any], Statement | LeftOut | None], *reasons: LeftOut
) -> tuple[list[Statement], tuple[str, ...]]:
    """The statements of records, and a note on what was left out for each of the reasons, in their order.

    records  each with the position of its item
    state    what a record states, or why it is left out; None if there is nothing in it
    """
    statements: list[Statement] = []
    times: Counter[LeftOut] = Counter()
    for at, record in records:
        found = state(at, record)
        if isinstance(found, LeftOut):
            times[found] += 1
        elif found is not None:
            statements.append(found)
    return statements, tuple(note for each in reasons for note in left_out(times[each], each.what, each.why))
