"""Which column of a table plays which role, by convention or by option."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations.columns import named_models, same_in_models
from twoheads.observations.labels import label_text, sorted_names
from twoheads.tables.formats.source import Source
from twoheads.text import listed

ITEM, ANNOTATOR, ANSWER, TRUTH = ("item", "task"), ("annotator", "worker"), ("answer", "label"), ("truth",)
PROBABILITY, HUMAN = "p_*", "human_*"


@dataclass(frozen=True)
class Roles:
    """The columns of a table by their role.

    item     the column of ids, or None
    people   a column of answers by the name of the person
    models   by the model's name, a column of its numbers by the name of the class
    truth    the column of the true class, or None
    sure     a column of how sure they were by the name of the person
    """

    item: str | None = None
    people: dict[str, str] = field(default_factory=dict)
    models: dict[str, dict[str, str]] = field(default_factory=dict)
    truth: str | None = None
    sure: dict[str, str] = field(default_factory=dict)

    @property
    def classes(self) -> dict[str, str]:
        """A column of the (first) model's numbers by the name of the class."""
        return next(iter(self.models.values()), {})

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of all models' numbers."""
        return tuple(column for classes in self.models.values() for column in classes.values())

    def columns_of(self, classes: NDArray[Any]) -> list[list[str]]:
        """For each model the column of each class, in the order of ``classes``, found by name."""
        names = [label_text(name) for name in classes.tolist()]
        return [[columns[name] for name in names] for columns in self.models.values()]


def same_in_all_files(source: Source, roles_of: Callable[[tuple[str, ...]], Roles]) -> Roles:
    """The roles in the first file, if they are those in every other."""
    first = roles_of(source.columns)
    for file in source.files[1:]:
        if set(file.columns) == set(source.columns) or roles_of(file.columns) == first:
            continue
        lacking = [name for name in source.columns if name not in file.columns]
        more = [name for name in file.columns if name not in source.columns]
        what = f"has no {lacking[0]!r}" if lacking else f"also has {more[0]!r}"
        raise InvalidObservations(
            f"all files of {source.name} must have the same columns; {file.path} {what}, unlike {source.files[0].path} "
            f"(missing: {len(lacking)}, more: {len(more)}). "
            "Name the files that belong together by a pattern."
        )
    return first


def item_column(columns: Sequence[str], where: str, item: str | None, *, needed: bool) -> str | None:
    """The column of ids: the one named, else the one called item or task."""
    if item is not None:
        return named(columns, where, item, "item")
    found = next((name for name in ITEM if name in columns), None)
    if found is None and needed:
        raise missing(columns, where, "a column of item ids, called item", "item", ("item", "item_id", "id", "task_id"))
    return found


def model_columns(columns: Sequence[str], where: str, pattern: str | None) -> dict[str, dict[str, str]]:
    """The columns of each model: those that match the pattern, or ``p_<class>``, or ``<model>.p_<class>``."""
    named = named_models(columns, where) if pattern is None else {}
    plain = {} if named and not matching(columns, PROBABILITY) else {"model": class_columns(columns, where, pattern)}
    models = same_in_models(plain | named, where)
    for name, classes in models.items():
        _two_classes(classes, where if name == "model" else f"model {name!r} of {where}")
    return models


def class_columns(columns: Sequence[str], where: str, pattern: str | None) -> dict[str, str]:
    """The column of each class by the class's name: those that match the pattern."""
    shape = PROBABILITY if pattern is None else pattern
    if shape.count("*") != 1:
        raise InvalidObservations(
            "model_columns (--model-columns) must hold one *, which stands for the class, as in 'score_*'; "
            f"it is {shape!r}."
        )
    found = matching(columns, shape)
    if not found and pattern is None and _is_long(columns):
        raise InvalidObservations(
            f"{where} must have one probability column per class, named p_<class>; its columns are {listed(columns)}. "
            "It looks like a table of answers: give it as answers (--answers) and the model's rows as model (--model)."
        )
    if not found and {"annotations", "data"} <= set(columns):
        raise InvalidObservations(
            f"{where} looks like an export of Label Studio, which is no table; "
            "read it with twoheads.tables.from_label_studio."
        )
    if not found:
        hint = _other_pattern(columns)
        say = (
            f"Did you mean the columns {hint!r}? Then say model_columns={hint!r} (--model-columns {hint!r})."
            if hint
            else "Say which they are with model_columns (--model-columns), as in 'score_*'."
        )
        what = "named p_<class>" if pattern is None else f"named {pattern!r}"
        raise InvalidObservations(
            f"{where} must have one probability column per class, {what}; its columns are {listed(columns)}. {say}"
        )
    return found


def _two_classes(found: dict[str, str], where: str) -> None:
    if len(found) == 1:
        raise InvalidObservations(
            f"{where} must have at least two classes; its only probability column is {next(iter(found.values()))!r}. "
            "Give one column per class, also for the class that means no."
        )


def people_columns(columns: Sequence[str], where: str, human: str | Sequence[str] | None) -> dict[str, str]:
    """The column of each person's answers by the person's name: ``human``, then each ``human_<name>``.

    A single column that is named is that of the person called human, whatever its name.
    """
    if human is None:
        people = matching(columns, HUMAN)
        ordered = {name: people[name] for name in sorted_names(people)}
        if "human" in columns and "human" in ordered:
            raise InvalidObservations(
                f"{where} must name each person once; 'human' and 'human_human' are one name. Rename one of them."
            )
        return ({"human": "human"} if "human" in columns else {}) | ordered
    asked = [human] if isinstance(human, str) else list(human)
    found: dict[str, str] = {}
    for name in asked:
        if "*" in name and name not in columns:
            people = matching(columns, name)
            if not people:
                raise missing(columns, where, f"columns named {name!r}", "human", (name.replace("*", ""),))
            found |= {person: people[person] for person in sorted_names(people)}
        else:
            column = named(columns, where, name, "human")
            found["human" if len(asked) == 1 else column.removeprefix("human_")] = column
    return found


def truth_column(columns: Sequence[str], where: str, truth: str | None) -> str | None:
    """The column of the true class: the one named, else ``truth`` if it is there."""
    if truth is not None:
        return named(columns, where, truth, "truth")
    return next((name for name in TRUTH if name in columns), None)


def named(columns: Sequence[str], where: str, name: str, option: str) -> str:
    """A column that an option names, if it is there."""
    if name not in columns:
        raise missing(columns, where, f"the column {name!r} that {option} (--{option}) names", option, (name,))
    return name


def missing(columns: Sequence[str], where: str, what: str, option: str, like: Sequence[str]) -> InvalidObservations:
    """A column that is not there, in words: those that are, the nearest, and the option that would say it."""
    near = nearest(columns, like)
    flag = option.replace("_", "-")
    say = f"Say which it is with {option} (--{flag})."
    if near is not None:
        say = f"Did you mean {near!r}? Then say {option}={near!r} (--{flag} {_shell(near)})."
    return InvalidObservations(f"{where} must have {what}; its columns are {listed(columns)}. {say}")


def nearest(columns: Sequence[str], like: Sequence[str]) -> str | None:
    """The column whose name is nearest to one of some names, if any is near."""
    plain = {re.sub(r"[\W_]+", "", name).casefold(): name for name in reversed(columns)}
    for name in like:
        near = get_close_matches(re.sub(r"[\W_]+", "", name).casefold(), list(plain), n=1, cutoff=0.6)
        if near:
            return plain[near[0]]
    return None


def matching(columns: Sequence[str], pattern: str) -> dict[str, str]:
    """The columns that match a pattern, by the text that stands for its ``*``."""
    before, _, after = pattern.partition("*")
    ends = len(before) + len(after)
    fitting = [name for name in columns if name.startswith(before) and name.endswith(after) and len(name) > ends]
    return {name[len(before) : len(name) - len(after)]: name for name in fitting}


def _is_long(columns: Sequence[str]) -> bool:
    return all(any(name in columns for name in some) for some in (ITEM, ANNOTATOR, ANSWER))


def _other_pattern(columns: Sequence[str]) -> str | None:
    """The beginning that most columns share, as a pattern, if at least two do."""
    begins = Counter(
        found.group() for name in columns if (found := re.match(r".*?[a-zA-Z]+[_\-. :]+(?=.)|[a-zA-Z]+(?=\d)", name))
    )
    begins.pop("human_", None)
    if not begins or begins.most_common(1)[0][1] < 2:
        return None
    return begins.most_common(1)[0][0] + "*"


def _shell(name: str) -> str:
    return name if re.fullmatch(r"[\w.\-/]+", name) else repr(name)
