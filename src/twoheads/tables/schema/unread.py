"""Columns that a fit does not read, though they look like probabilities: they are called just as the classes are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from twoheads.observations.labels import label_text
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.schema.roles import Roles
from twoheads.text import listed

_ROWS = 1024


def notes_on_unread_probabilities(source: Source, found: Roles, classes: NDArray[Any] | None) -> list[str]:
    """The note on columns with the names of all classes whose first rows sum to 1; none where they are read."""
    names = [] if classes is None else [label_text(name) for name in classes.tolist()]
    used = {found.item, *found.labels, *found.numbers, *found.confidence.values()}
    if len(names) < 2 or not {*names} <= {*source.columns} - used:
        return []
    batch = next(iter(source.batches(Wanted(labels=tuple(names), nothing=()), _ROWS)), None)
    rows = [] if batch is None else list(zip(*(batch.column(name).to_pylist() for name in names), strict=True))
    if not rows or sum(_sums_to_1(row) for row in rows) <= 0.9 * len(rows):
        return []
    renamed = listed([f"p_{name}" for name in names], 8)
    return [
        f"columns {listed([repr(name) for name in names], 8)} of {source.name} look like probabilities of these "
        f"classes; they are not read. Rename them {renamed}, as twoheads check --fix does."
    ]


def _sums_to_1(row: Sequence[Any]) -> bool:
    try:
        values = [float(str(value).replace(",", ".")) for value in row]
    except ValueError:
        return False
    return all(0.0 <= value <= 1.0 for value in values) and math.isclose(sum(values), 1.0, abs_tol=0.05)
