"""Columns that a fit does not read: called as the classes are, they look like probabilities; or they look like ids."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from shlex import quote
from typing import Any

from numpy.typing import NDArray

from twoheads.observations.labels import label_text
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.schema.roles import Roles, is_person
from twoheads.text import listed

_ROWS = 1024
#: Words in the name of a column of ids.
_IDS = frozenset(["id", "ids", "uuid", "item", "task"])


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


def notes_on_unread_ids(source: Source, found: Roles) -> list[str]:
    """The note on columns whose names say that they hold ids; none where a column of ids is read."""
    used = {*found.labels, *found.numbers, *found.confidence.values(), *found.members.scores.values()}
    like = [name for name in source.columns if name not in used and _is_id(name)]
    if found.item or not like:
        return []
    if len(like) == 1:
        which = f"column {like[0]!r} of {source.name} is not read; if it holds"
    else:
        names = listed([repr(name) for name in like], 8)
        which = f"columns {names} of {source.name} are not read; if one of them holds"
    return [f"{which} the ids of the items, name it: item={like[0]!r} (--item {quote(like[0])})."]


def _is_id(name: str) -> bool:
    """Whether a word of a column's name means an id of items: item_id, ImageID, task id."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name[:80]).casefold()
    return bool(_IDS & set(re.split(r"[\W_]+", words))) and not is_person(name)


def _sums_to_1(row: Sequence[Any]) -> bool:
    try:
        values = [float(str(value).replace(",", ".")) for value in row]
    except ValueError:
        return False
    return all(0.0 <= value <= 1.0 for value in values) and math.isclose(sum(values), 1.0, abs_tol=0.05)
