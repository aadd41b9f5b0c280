"""Columns that a fit does not read although they look like probabilities, by the names of classes, members' or ids."""

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
from twoheads.tables.schema.plan import LabelColumns
from twoheads.tables.schema.roles import Roles, is_person
from twoheads.text import listed

_ROWS = 1024
#: Words in the name of a column of ids.
_IDS = frozenset(["id", "ids", "uuid", "item", "task"])
#: Words in the name of a column of a member's answers; in that of a column of their confidences.
_ANSWERS, _CONFIDENCES = frozenset(["label", "labels", "score", "scores"]), frozenset(["confidence", "confidences"])
#: What twoheads writes beside its own label: not what a member has given.
_VERDICT = ("combined_label", "confidence")


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


def notes_on_unread_members(source: Source, found: Roles, others: Sequence[LabelColumns]) -> list[str]:
    """The notes on columns of a wide table whose names say that they hold members' answers, and that are not read.

    others  the columns of separate tables, which may be in the same file
    """
    used = {found.item, *found.labels, *found.numbers, *found.confidence.values(), *found.members.scores.values()}
    used |= {"confidence"} if found.annotators else set()  # on which there is a note
    rest = _rest(source, used, others)
    notes = _notes([name for name in rest if name != "score"], source)
    if "score" in rest:
        named = "it would be if positive (--positive) named the class that high scores mean"
        return [f"{_not_read(['score'], source)}: {named}.", *notes]
    return notes


def notes_on_unread_answers(source: Source, others: Sequence[LabelColumns]) -> list[str]:
    """The same on columns of a separate table of answers, whose own columns are among ``others``."""
    read = {column for each in others for column in (each.annotator, *each.confidence.values())}
    return _notes(_rest(source, read | {"confidence"}, others), source)


def _rest(source: Source, used: set[str | None], others: Sequence[LabelColumns]) -> list[str]:
    """The columns that are not used, nor written by twoheads beside its own label."""
    used = used.union(
        _VERDICT if _VERDICT[0] in source.columns else (), *([each.item, *each.labels.values()] for each in others)
    )
    return [name for name in source.columns if name not in used]


def _notes(names: Sequence[str], source: Source) -> list[str]:
    sure = [name for name in names if _words(name) & _CONFIDENCES]
    notes, answers = [], [name for name in names if _words(name) & _ANSWERS and name not in sure]
    if answers:
        notes.append(
            f"{_not_read(answers, source)}: labels and scores are read from columns <model>.label, <model>.score, "
            "human_<name> and human_<name>.score."
        )
    if sure:
        notes.append(
            f"{_not_read(sure, source)}: only people's confidence is, from confidence_<name> beside human_<name>. A "
            "model's label and its confidence are read as one number that rises with the probability of one class: "
            "p_<class> or <model>.score."
        )
    return notes


def _not_read(names: Sequence[str], source: Source) -> str:
    columns = f"column {names[0]!r}" if len(names) == 1 else f"columns {listed([repr(name) for name in names], 8)}"
    return f"{columns} of {source.name} {'is' if len(names) == 1 else 'are'} not read"


def _is_id(name: str) -> bool:
    """Whether a word of a column's name means an id of items: item_id, ImageID, task id."""
    return bool(_IDS & _words(name)) and not is_person(name)


def _words(name: str) -> set[str]:
    """The words of a column's name: of item_id, ImageID and gpt.label "item", "image", "gpt", "id" and "label"."""
    return set(re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name[:80]).casefold()))


def _sums_to_1(row: Sequence[Any]) -> bool:
    try:
        values = [float(str(value).replace(",", ".")) for value in row]
    except ValueError:
        return False
    return all(0.0 <= value <= 1.0 for value in values) and math.isclose(sum(values), 1.0, abs_tol=0.05)
