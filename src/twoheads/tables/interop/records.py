"""What readers and writers of exported records share: each record is a statement, or left out for a counted reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from twoheads.errors import InvalidObservations
from twoheads.observations.checks import same_length
from twoheads.observations.labels import label_text
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


def need_records(records: Any, argument: str, expected: str) -> None:
    """Refuse what is not a list of dicts, or is empty; ``expected`` is what the tool gives."""
    if not isinstance(records, list | tuple) or not all(isinstance(record, dict) for record in records):
        raise InvalidObservations(f"{argument} must be a list of {expected}; it is a {type(records).__name__}.")
    if not records:
        raise InvalidObservations(f"{argument} must hold at least one {argument.removesuffix('s')}; they hold none.")


def id_of(record: Mapping[str, Any], at: int) -> Any:
    """The id of a record; its position if it has none."""
    return at if record.get("id") is None else record["id"]


def best_labels(proba: ArrayLike, classes: ArrayLike, argument: str, n_records: int) -> list[tuple[str, float]]:
    """The most probable class for each record, with its probability."""
    rows, names = np.asarray(proba, dtype=np.float64), [label_text(name) for name in np.asarray(classes).tolist()]
    same_length("proba", len(rows), argument, n_records)
    return [(names[code], float(row[code])) for code, row in zip(rows.argmax(axis=1).tolist(), rows, strict=True)]
