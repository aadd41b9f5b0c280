"""Which columns of a wide table, a table of answers and a table of truth are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations.columns import confidence_columns
from twoheads.observations.labels import label_text
from twoheads.tables.formats.source import Source
from twoheads.tables.join.label_table import LabelTable
from twoheads.tables.schema import roles
from twoheads.tables.schema.roles import Roles


def wide_roles(
    columns: Sequence[str],
    where: str,
    item: str | None,
    human: str | Sequence[str] | None,
    truth: str | None,
    pattern: str | None,
    *,
    joined: bool,
) -> Roles:
    """The roles of a table with a row per item; ids must be there where it is joined with others.

    Parameters
    ----------
    columns, where : sequence of str, str
        The columns that are there, and the table's name.
    item, human, truth, pattern : str, optional
        The columns that options name; those by convention where None.
    joined : bool
        Whether other tables are joined to this one.
    """
    ids = _ids(columns, where, item) if joined else roles.item_column(columns, where, item, needed=False)
    known = roles.truth_column(columns, where, truth)
    people = roles.people_columns(columns, where, human)
    taken = {ids, known, *people.values()}
    models = roles.model_columns([name for name in columns if pattern is None or name not in taken], where, pattern)
    return Roles(ids, people, models, known, confidence_columns(columns, people))


def answer_table(
    source: Source, item: str | None, human: str | Sequence[str] | None, annotator: str | None
) -> LabelTable:
    """A table of answers: long (item, annotator, answer) or wide (item and a column per person)."""
    columns, where = source.columns, source.name
    ids = _ids(columns, where, item)
    person = roles.named(columns, where, annotator, "annotator") if annotator else _has(columns, roles.ANNOTATOR)
    label = _has(columns, roles.ANSWER) if human is None else None
    people = {"human": label} if label else roles.people_columns(columns, where, human)
    if not people:
        likely = ("answer", "label", "human", "annotation", "response", "choice")
        raise roles.missing(columns, where, "a column of answers, called answer or human", "human", likely)
    if person is None and len(people) == 1 and (label or human is not None):
        near = roles.nearest([name for name in columns if name not in (ids, *people.values())], roles.ANNOTATOR)
        if near is not None:
            what = "a column that names the person, called annotator"
            raise roles.missing(columns, where, what, "annotator", roles.ANNOTATOR)
    return LabelTable(source, ids, people, person, confidence_columns(columns, people))


def truth_table(source: Source, item: str | None, column: str | None) -> LabelTable:
    """A table of the truth: item and truth."""
    columns, where = source.columns, source.name
    ids = _ids(columns, where, item)
    rest = [name for name in columns if name != ids]
    if column is not None:
        label: str | None = roles.named(columns, where, column, "truth_column")
    else:
        label = _has(columns, (*roles.TRUTH, *roles.ANSWER)) or (rest[0] if len(rest) == 1 else None)
    if label is None:
        raise roles.missing(
            columns, where, "a column of the true class, called truth", "truth_column", ("truth", "true_label")
        )
    return LabelTable(source, ids, {"truth": label})


def _ids(columns: Sequence[str], where: str, item: str | None) -> str:
    """The column of ids of one of several tables: the one named if it is there, else the one by convention."""
    named = item if item in columns or not _has(columns, roles.ITEM) else None
    ids = roles.item_column(columns, where, named, needed=True)
    assert ids is not None
    return ids


def _has(columns: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def need_classes(found: Roles, known: NDArray[Any], where: str, pattern: str | None) -> None:
    """Refuse a table that has not the classes a team knows."""
    wanted, there = set(map(label_text, known.tolist())), set(found.classes)
    if wanted != there:
        shape = pattern or (roles.PROBABILITY if "model" in found.models else f"{next(iter(found.models))}.p_*")
        off = [f"{shape.replace('*', name)!r} is missing" for name in sorted(wanted - there)[:3]]
        off += [f"{found.classes[name]!r} is more" for name in sorted(there - wanted)[:3]]
        if there > wanted:
            remedy = "Drop or rename what is more, or fit a team to these classes."
        elif there < wanted:
            remedy = "Add what is missing, 0 where the model never names that class, or fit a team to these classes."
        else:
            remedy = "Rename the columns, or fit a team to these classes."
        raise InvalidObservations(
            f"{where} must have the classes that the team knows; {', '.join(off)} "
            f"({len(wanted - there)} of {len(wanted)} are missing, {len(there - wanted)} are more). {remedy}"
        )


def no_people(source: Source) -> str:
    """What to say of a table without anyone's answers; refuse it where a column's name looks misspelt."""
    what = "a column of a person's answers, called human or human_<name>"
    if roles.nearest(source.columns, ("human",)):
        raise roles.missing(source.columns, source.name, what, "human", ("human",))
    return f"{source.name} has no column of a person's answers (human or human_<name>); only the model speaks."
