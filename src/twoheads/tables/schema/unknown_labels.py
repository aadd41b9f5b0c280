"""Labels of a table that are not classes, as one message: with the way to accept those of another spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from twoheads.errors import Problem
from twoheads.observations.labels import label_text, unknown_label
from twoheads.text import count, spelling


def not_a_class(
    column: str, value: Any, row: int, labels: Mapping[str, int], n_rows: int, names: Sequence[str]
) -> Problem:
    """A label in a column of a table that is not a class.

    value, row  the first such label, and its row
    labels      how often each such label occurs
    """
    n_off = sum(labels.values())
    problem = unknown_label(f"column {column!r}", value, row, n_off, n_rows, names)
    known = {spelling(name) for name in names}
    n_like = sum(times for label, times in labels.items() if spelling(label) in known)
    if spelling(label_text(value)) not in known:
        return problem
    accept = f"loose_labels=True (--loose-labels) accepts such labels, {count(n_like, 'row')} here."
    return replace(problem, remedy=f"{problem.remedy} {accept}")
