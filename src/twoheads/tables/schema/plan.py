"""The columns that are read from a wide table, a table of answers and a table of truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations.columns import (
    ANNOTATOR,
    ANSWER,
    ITEM,
    PROBABILITY,
    TRUTH,
    confidence_columns,
    first_of,
)
from twoheads.observations.labels import label_text
from twoheads.observations.members import member_columns
from twoheads.tables.formats.source import Source
from twoheads.tables.schema import roles
from twoheads.tables.schema.roles import Roles


@dataclass(frozen=True)
class Names:
    """The columns that the options of `scan` name; those by convention where None."""

    item: str | None = None
    human: str | Sequence[str] | None = None
    annotator: str | None = None
    truth_column: str | None = None
    model_columns: str | None = None
    positive: Any = None


@dataclass(frozen=True)
class LabelColumns:
    """The columns of a table of labels by item.

    item        the column of ids
    labels      the column of labels by the name of the annotator; of a long table, the only one by any name
    annotator   the column that names the annotator, in a long table
    confidence  the column of confidence, by name like ``labels``
    """

    item: str
    labels: dict[str, str]
    annotator: str | None = None
    confidence: dict[str, str] = field(default_factory=dict)

    @property
    def is_anonymous(self) -> bool:
        """Whether nothing names the annotators: neither a column nor the names of several columns."""
        return self.annotator is None and list(self.labels) == ["human"]


def wide_roles(
    columns: Sequence[str], where: str, names: Names, truth: str | None, *, joined: bool = False, needed: bool = True
) -> Roles:
    """The roles of a table with a row per item: it must have ids if others are joined to it, a model if ``needed``."""
    ids = _ids(columns, where, names.item) if joined else roles.item_column(columns, where, names.item, needed=False)
    known = roles.truth_column(columns, where, truth)
    annotators = roles.annotator_columns(columns, where, names.human)
    pattern, taken = names.model_columns, {ids, known, *annotators.values()}
    if pattern is None:  # those that an option names, such as --item p_cat
        people = [names.human] if isinstance(names.human, str) else names.human or ()
        named = {names.item, truth, *people}
        searched = [name for name in columns if name not in taken & named]
    else:
        searched = [name for name in columns if name not in taken]
    by_name = {ids: names.item, known: truth} | dict.fromkeys(annotators.values(), names.human)
    _refuse_other_case(columns, where, [name for name, option in by_name.items() if name and option is None])
    models = roles.model_columns(searched, where, pattern, needed=False)
    used = {column for by_class in models.values() for column in by_class.values()} if pattern else set()
    others = [name for name in columns if name not in taken | used]
    members = member_columns(others, where, annotators, models, positive=names.positive)
    if needed and not models and not members:
        models = roles.model_columns(searched, where, pattern)
    return Roles(ids, annotators, models, known, confidence_columns(_others(columns, ids), annotators), members)


def refuse_unread(found: Roles, columns: Sequence[str], where: str, names: Names) -> None:
    """Refuse a table for a fitted team that has no model, if any column could be a misspelt one."""
    used = {found.item, found.truth, *found.annotators.values(), *found.confidence.values()}
    unread = [name for name in columns if name not in used]
    if not found.annotators or unread:
        roles.model_columns(unread, where, names.model_columns, shown=columns)


def _refuse_other_case(columns: Sequence[str], where: str, used: Sequence[str]) -> None:
    """Refuse a column that differs from one found by convention in the case of its letters only: it would be lost."""
    for name in used:
        other = next((each for each in columns if each not in used and each.casefold() == name.casefold()), None)
        if other is not None:
            raise InvalidObservations(
                f"{where} has the columns {name!r} and {other!r}, which differ in case only; one of them would not be "
                "read. Rename one, or name the one that is meant: --human, --truth or --item."
            )


def _others(columns: Sequence[str], ids: str | None) -> list[str]:
    return [name for name in columns if name != ids]


def answer_columns(columns: Sequence[str], where: str, names: Names) -> LabelColumns:
    """The columns of a table of answers: long (item, annotator, answer) or wide (item and a column per annotator)."""
    ids = _ids(columns, where, names.item)
    named = names.annotator
    annotator = roles.named(columns, where, named, "annotator") if named else first_of(columns, ANNOTATOR)
    label = first_of(columns, ANSWER) if names.human is None else None
    labels = {"human": label} if label else roles.annotator_columns(columns, where, names.human)
    if "score" in columns and (not labels or (annotator is not None and names.positive is not None)):
        raise roles.row_per_member(where, "person", "score")
    if not labels:
        like = ("answer", "label", "human", "annotation", "response", "choice")
        raise roles.missing(columns, where, "a column of answers, named answer or human", "human", like)
    if annotator is None and len(labels) == 1 and (label or names.human is not None):
        _refuse_misspelt_annotator([name for name in columns if name not in (ids, *labels.values())], columns, where)
    return LabelColumns(ids, labels, annotator, confidence_columns(_others(columns, ids), labels))


def _refuse_misspelt_annotator(others: Sequence[str], columns: Sequence[str], where: str) -> None:
    like = [name for name in others if roles.is_person(name)]
    if like or roles.nearest(others, ANNOTATOR) is not None:
        what = "a column that names the person, named annotator"
        raise roles.missing(columns, where, what, "annotator", (*like[:1], *ANNOTATOR))


def truth_columns(columns: Sequence[str], where: str, item: str | None, column: str | None) -> LabelColumns:
    """The columns of a table of the truth: item and truth."""
    ids = _ids(columns, where, item)
    if column is not None:
        return LabelColumns(ids, {"truth": roles.named(columns, where, column, "truth_column")})
    rest = [name for name in columns if name != ids]
    label = first_of(columns, (*TRUTH, *ANSWER)) or (rest[0] if len(rest) == 1 else None)
    if label is None:
        what = "a column of the true class, named truth"
        raise roles.missing(columns, where, what, "truth_column", ("truth", "true_label"))
    return LabelColumns(ids, {"truth": label})


def _ids(columns: Sequence[str], where: str, item: str | None) -> str:
    """The column of ids of one of several tables: the one named if it exists, else the one by convention."""
    named = item if item in columns or not first_of(columns, ITEM) else None
    ids = roles.item_column(columns, where, named, needed=True)
    assert ids is not None
    return ids


def need_classes(found: Roles, known: NDArray[Any], where: str, pattern: str | None) -> None:
    """Refuse a table without the classes of a team."""
    wanted, there = set(map(label_text, known.tolist())), set(found.classes)
    if wanted == there or (there <= wanted and (len(wanted) == 2 or not there)):
        return
    shape = pattern or (PROBABILITY if "model" in found.models else f"{next(iter(found.models))}.p_*")
    off = [f"{shape.replace('*', name)!r} is missing" for name in sorted(wanted - there)[:3]]
    off += [f"{found.classes[name]!r} is new" for name in sorted(there - wanted)[:3]]
    if there > wanted:
        remedy = "Drop or rename what is new, or fit a team to these classes."
    elif there < wanted:
        remedy = "Add what is missing, 0 where the model never predicts that class, or fit a team to these classes."
    else:
        remedy = "Rename the columns, or fit a team to these classes."
    raise InvalidObservations(
        f"{where} must have the classes of the team; {', '.join(off)} "
        f"({len(wanted - there)} of {len(wanted)} are missing, {len(there - wanted)} are new). {remedy}"
    )


def note_on_annotators(source: Source) -> str:
    """The note on a table without answers; refuses it if a column's name looks misspelt."""
    if roles.nearest(source.columns, ("human",)):
        raise roles.missing(source.columns, source.name, roles.NO_ANNOTATORS, "human", ("human",))
    return f"{source.name} has no column of a person's answers (human or human_<name>); only the model is used."


def notes_on_confidence(source: Source, annotators: Iterable[str], confidence: dict[str, str]) -> list[str]:
    """The note on whether columns of confidence are used."""
    if not list(annotators):
        return []
    first = next(iter(confidence.values()), None)
    if len(confidence) > 1:
        return [f"columns {first!r} and {len(confidence) - 1} more of {source.name} are read as people's confidence."]
    if first is not None:
        return [f"column {first!r} of {source.name} is read as people's confidence."]
    if "confidence" in source.columns:
        return [f"column 'confidence' of {source.name} is not used: it is not clear whose it is."]
    return []
