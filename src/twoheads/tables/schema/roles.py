"""Which column of a table has which role, by convention (`twoheads.observations.columns`) or by option."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations import columns as conventions
from twoheads.observations.columns import ANNOTATOR, ANSWER, ITEM, TRUTH, first_of, matching
from twoheads.observations.labels import label_text, sorted_names
from twoheads.observations.members import MemberColumns
from twoheads.tables.formats.source import Source
from twoheads.tables.schema.person_words import PERSON_WORDS
from twoheads.text import listed
from twoheads.text import nearest as most_like

#: Characters of a name that are compared with others.
_COMPARED = 80


@dataclass(frozen=True)
class Roles:
    """The columns of a table by their role.

    item        the column of ids, or None
    annotators  the column of answers by the name of the annotator
    models      by the model's name, the column of its numbers by the name of the class
    truth       the column of the true class, or None
    confidence  the column of confidence by the name of the annotator
    members     the columns of models that give labels, and of anyone who gives scores
    """

    item: str | None = None
    annotators: dict[str, str] = field(default_factory=dict)
    models: dict[str, dict[str, str]] = field(default_factory=dict)
    truth: str | None = None
    confidence: dict[str, str] = field(default_factory=dict)
    members: MemberColumns = field(default_factory=MemberColumns)

    @property
    def answers(self) -> dict[str, str]:
        """The columns of labels by the name of who gives them: people, then machines."""
        return self.annotators | self.members.labels

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of labels, the truth first."""
        return (*([self.truth] if self.truth else []), *self.answers.values())

    @property
    def classes(self) -> dict[str, str]:
        """The column of the (first) model's numbers by the name of the class."""
        return next(iter(self.models.values()), {})

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of all models' numbers."""
        return tuple(column for classes in self.models.values() for column in classes.values())

    def columns_of(self, classes: NDArray[Any]) -> list[list[str]]:
        """For each model the column of each class, in the order of ``classes``, found by name; one of two may lack."""
        names = [label_text(name) for name in classes.tolist()]
        return [[columns[name] for name in names if name in columns] for columns in self.models.values()]


def same_in_all_files(source: Source, roles_of: Callable[[tuple[str, ...]], Roles]) -> Roles:
    """The roles in the first file, which must be the same in every other."""
    first = roles_of(source.columns)
    for file in source.files[1:]:
        if set(file.columns) == set(source.columns) or roles_of(file.columns) == first:
            continue
        lacking = [name for name in source.columns if name not in file.columns]
        more = [name for name in file.columns if name not in source.columns]
        what = f"has no {lacking[0]!r}" if lacking else f"also has {more[0]!r}"
        raise InvalidObservations(
            f"all files of {source.name} must have the same columns; {file.path} {what}, unlike {source.files[0].path} "
            f"(missing: {len(lacking)}, new: {len(more)}). "
            "Name the files that belong together by a pattern."
        )
    return first


def item_column(columns: Sequence[str], where: str, item: str | None, *, needed: bool) -> str | None:
    """The column of ids: the one named, else the one called item or task."""
    if item is not None:
        return named(columns, where, item, "item")
    found = first_of(columns, ITEM)
    if found is None and needed:
        raise missing(columns, where, "a column of item ids, named item", "item", ("item", "item_id", "id", "task_id"))
    return found


def model_columns(
    columns: Sequence[str],
    where: str,
    pattern: str | None,
    *,
    needed: bool = True,
    shown: Sequence[str] | None = None,
) -> dict[str, dict[str, str]]:
    """The columns of each model by class: those that match the pattern, or those by convention.

    shown  the columns that an error names, if not these
    """
    if pattern is not None:
        return {"model": _pattern_columns(columns, where, pattern)}
    if conventions.has_model_columns(columns):
        return conventions.model_columns(columns, where)
    if needed:
        raise _no_model_columns(columns if shown is None else shown, where, "named p_<class>")
    return {}


def _pattern_columns(columns: Sequence[str], where: str, pattern: str) -> dict[str, str]:
    """The column of each class by the class's name: those that match the pattern."""
    if pattern.count("*") != 1:
        raise InvalidObservations(
            "model_columns (--model-columns) must hold one *, in place of the class, as in 'score_*'; "
            f"it is {pattern!r}."
        )
    found = matching(columns, pattern)
    if not found:
        raise _no_model_columns(columns, where, f"named {pattern!r}")
    return found


class NoModelColumns(InvalidObservations):
    """A table without a model's columns, by the names that they should have."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


def _no_model_columns(columns: Sequence[str], where: str, what: str) -> InvalidObservations:
    if {"annotations", "data"} <= set(columns):
        return InvalidObservations(
            f"{where} looks like an export of Label Studio, which is not a table. "
            "Read it with format='label-studio' (--format label-studio)."
        )
    if what == "named p_<class>" and {"model", "label"} <= set(columns):
        return row_per_member(where, "model", "label")
    hint = _other_pattern(columns)
    if what == "named p_<class>" and _is_long(columns):
        remedy = (
            "It looks like a table of answers: give it as answers (--answers) and the model's rows as model (--model)."
        )
    elif hint:
        remedy = (
            f"Did you mean the columns {hint!r}? Then set model_columns={hint!r} (--model-columns {hint!r}); "
            "else see what twoheads check finds."
        )
    elif len(matching(columns, conventions.HUMAN)) > 1:
        remedy = "Without a model, give it as answers (--answers); else name them with model_columns (--model-columns)."
    else:
        remedy = "Name them with model_columns (--model-columns), as in 'score_*', or see what twoheads check finds."
    return NoModelColumns(
        f"{where} must have one probability column per class, {what}; its columns are {listed(columns)}. {remedy}",
        columns,
    )


def row_per_member(where: str, member: str, column: str) -> InvalidObservations:
    """The error for a long table of scores, or of models' labels, which are read from a column per member."""
    shape = f"<model>.{column}" if member == "model" else f"human_<name>.{column}"
    return InvalidObservations(
        f"{where} must have one row per item, with the {column}s in columns {shape}; it has a column {column!r} and "
        f"a row per item and {member}. Give each {member} a column of its own, in a table with one row per item."
    )


def annotator_columns(columns: Sequence[str], where: str, human: str | Sequence[str] | None) -> dict[str, str]:
    """The column of each annotator's answers by name: those that ``human`` names, or those by convention.

    A single column that is named is that of the annotator called human, whatever its name.
    """
    if human is None:
        return conventions.annotator_columns(columns, where)
    names = [human] if isinstance(human, str) else list(human)
    found: dict[str, str] = {}
    for name in names:
        if "*" in name and name not in columns:
            found |= _matching_annotators(columns, where, name)
        else:
            column = named(columns, where, name, "human")
            found["human" if len(names) == 1 else column.removeprefix("human_")] = column
    return found


def _matching_annotators(columns: Sequence[str], where: str, pattern: str) -> dict[str, str]:
    found = matching(columns, pattern)
    if not found:
        raise missing(columns, where, f"columns named {pattern!r}", "human", (pattern.replace("*", ""),))
    return {name: found[name] for name in sorted_names(found)}


def need_annotators(annotators: Sequence[str], columns: Sequence[str], where: str) -> None:
    """Refuse a table without a column of answers; the message names the column that is most like one."""
    like = ("human", "human_label", "label", "answer", "annotation", "rater", "reader")
    if not annotators and nearest(columns, like):
        raise missing(columns, where, NO_ANNOTATORS, "human", like)
    conventions.need_annotators(annotators, columns, where)


#: The column that a table without answers lacks.
NO_ANNOTATORS = "a column of a person's answers, named human or human_<name>"


def truth_column(columns: Sequence[str], where: str, truth: str | None) -> str | None:
    """The column of the true class: the one named, else ``truth`` if it is there."""
    if truth is not None:
        return named(columns, where, truth, "truth")
    return first_of(columns, TRUTH)


def named(columns: Sequence[str], where: str, name: str, option: str) -> str:
    """A column that an option names, if it is there."""
    if name not in columns:
        raise missing(columns, where, f"the column {name!r} that {option} (--{option}) names", option, (name,))
    return name


def missing(columns: Sequence[str], where: str, what: str, option: str, like: Sequence[str]) -> InvalidObservations:
    """A missing column: the message lists those that there are, the nearest, and the option that names it."""
    near = nearest(columns, like)
    flag = option.replace("_", "-")
    remedy = f"Name it with {option} (--{flag})."
    if near is not None:
        remedy = f"Did you mean {near!r}? Then set {option}={near!r} (--{flag} {_shell(near)})."
    return InvalidObservations(f"{where} must have {what}; its columns are {listed(columns)}. {remedy}")


def nearest(columns: Sequence[str], like: Sequence[str]) -> str | None:
    """The column whose name is most like one of the names in ``like``, if any is."""
    return next((near for name in like if (near := most_like(name, columns))), None)


#: Words for a person who answers.
_PERSON = PERSON_WORDS | {"judge", "assessor", "participant", "respondent", "pathologist", "nurse"}


def is_person(name: str) -> bool:
    """Whether a word of a column's name means a person who answers."""
    return bool(_PERSON & set(re.split(r"[\W_]+", name[:_COMPARED].casefold())))


def _is_long(columns: Sequence[str]) -> bool:
    return all(first_of(columns, names) for names in (ITEM, ANNOTATOR, ANSWER))


def _other_pattern(columns: Sequence[str]) -> str | None:
    """The prefix that most columns share, as a pattern, if at least two do."""
    prefixes = Counter(
        found.group()
        for name in columns
        if (found := re.match(r".*?[a-zA-Z]+[_\-. :]+(?=.)|[a-zA-Z]+(?=\d)", name[:_COMPARED]))
    )
    for prefix in [name for name in prefixes if name == "human_" or is_person(name)]:
        del prefixes[prefix]
    if not prefixes or prefixes.most_common(1)[0][1] < 2:
        return None
    return prefixes.most_common(1)[0][0] + "*"


def _shell(name: str) -> str:
    return name if re.fullmatch(r"[\w.\-/]+", name) else repr(name)
