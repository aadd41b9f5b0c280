"""Members that give labels or scores: columns ``<model>.label``, ``<model>.score`` and ``human_<name>.score``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes, Floats
from twoheads.observations.checks import rows_off
from twoheads.observations.frames import as_numbers
from twoheads.observations.labels import label_text, sorted_names
from twoheads.text import did_you_mean, listed

_LABEL, _SCORE = ".label", ".score"
#: What to do about scores that are not numbers.
SCORE_REMEDY = "Correct those entries, or leave them blank where there is no score."


@dataclass(frozen=True, eq=False)
class Scores:
    """Numbers that rise with the class, in the order of the classes, on any scale: only their order matters.

    Of two classes they rise with the chance of the second; three and more must be numbers, whose order is known.

    names     the members who give them
    values    (n_items, n_members), NaN where there is none
    machines  those of the members that are machines
    positive  the name of the class that high numbers meant as given
    """

    names: tuple[str, ...]
    values: Floats
    machines: tuple[str, ...]
    positive: str

    def take(self, rows: Codes) -> Scores:
        """The scores of the items at these positions."""
        return replace(self, values=self.values[rows])

    def permuted(self, order: Codes) -> Scores:
        """The same where the classes are in this order: theirs, or reversed."""
        return self if order[0] < order[-1] else replace(self, values=-self.values)


@dataclass(frozen=True)
class MemberColumns:
    """The columns of members that give labels or scores, by the member's name.

    labels    of machines
    scores    of machines and of people
    machines  who of those that give scores are machines
    """

    labels: dict[str, str] = field(default_factory=dict)
    scores: dict[str, str] = field(default_factory=dict)
    machines: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.labels or self.scores)


def is_score_column(column: str) -> bool:
    """Whether a column holds a person's scores, by its name: ``human.score`` or ``human_<name>.score``."""
    return column == "human" + _SCORE or (column.startswith("human_") and column.endswith(_SCORE))


def member_columns(
    columns: Sequence[str], where: str, people: Iterable[str], models: Iterable[str], *, positive: Any = None
) -> MemberColumns:
    """The columns of labels and scores; each member must be named once, and give one kind of answer.

    people, models  the names of those with answers, and with probabilities
    positive        a plain column ``score`` is read only if this names the class that it means
    """
    others = [name for name in columns if not name.startswith(("p_", "human_", "human."))]
    labels = {name.removesuffix(_LABEL): name for name in others if name.endswith(_LABEL) and name != _LABEL}
    machines = {name.removesuffix(_SCORE): name for name in others if name.endswith(_SCORE) and name != _SCORE}
    if "score" in columns and positive is not None:
        _refuse_two("model", where, {"a column score": ["model"], "a column model.score": list(machines)})
        machines["model"] = "score"
    own = {_person(name): name for name in columns if is_score_column(name)}
    kinds = {
        "answers": list(people),
        "probabilities": list(models),
        "labels": list(labels),
        "scores": [*machines, *own],
    }
    for name in (*labels, *machines, *own):
        _refuse_two(name, where, kinds)
    return MemberColumns(_in_order(labels), _in_order(machines) | _in_order(own), tuple(_in_order(machines)))


def _in_order(columns: dict[str, str]) -> dict[str, str]:
    return {name: columns[name] for name in sorted_names(columns)} if columns else {}


def _person(column: str) -> str:
    return column.removesuffix(_SCORE).removeprefix("human_")


def _refuse_two(name: str, where: str, kinds: dict[str, list[str]]) -> None:
    found = [kind for kind, names in kinds.items() for each in names if each == name]
    if len(found) > 1:
        raise InvalidObservations(
            f"{where} must hold one kind of answer of each member; {name!r} has {found[0]} and {found[1]}. "
            "Drop one of them, or rename it if it is another member."
        )


def class_of_high_scores(classes: NDArray[Any], positive: Any, column: str) -> tuple[bool, str]:
    """Whether scores rise in the order of the classes, and the name of the class that high ones mean.

    Of the classes 0 and 1, or False and True, that is 1 or True unless ``positive`` names the other. Three and more
    must be numbers: high scores mean the greatest, unless ``positive`` names the smallest.
    """
    names = [label_text(name) for name in classes.tolist()]
    if len(names) < 2:
        raise InvalidObservations(
            f"there must be two classes or more, since column {column!r} holds scores; answers and truth show "
            f"{'only ' + repr(names[0]) if names else 'none'}. Name all with classes (--classes), "
            "in Python in Observations.from_frame(X, classes=...)."
        )
    if len(names) > 2:
        return _greatest_or_smallest(classes, names, positive, column)
    if positive is None and names in (["0", "1"], ["False", "True"]):
        return True, names[1]
    if positive is None or label_text(positive) not in names:
        found = "it is not named" if positive is None else f"{label_text(positive)!r} is not a class"
        meant = "" if positive is None else did_you_mean(label_text(positive), names)
        raise InvalidObservations(
            f"positive (--positive) must name the class that high scores mean, since column {column!r} holds scores; "
            f"{found}.{meant} The classes are {listed([repr(name) for name in names])}: name one, in Python in "
            "Observations.from_frame(X, positive=...)."
        )
    return label_text(positive) == names[1], label_text(positive)


def _greatest_or_smallest(classes: NDArray[Any], names: list[str], positive: Any, column: str) -> tuple[bool, str]:
    """`class_of_high_scores` of three classes or more."""
    if not _rise(classes):
        raise InvalidObservations(
            f"column {column!r} can hold scores only if there are two classes, or numbers as classes, whose order is "
            f"known; there are {len(names)} classes: {listed([repr(name) for name in names], 6)}. Correct labels that "
            "are misspelt; else name the classes by numbers that rise with the score (not as text), or give a label "
            "(<model>.label), or a probability of each class (<model>.p_<class>)."
        )
    name = names[-1] if positive is None else label_text(positive)
    if name not in (names[0], names[-1]):
        raise InvalidObservations(
            f"positive (--positive) must name the greatest class or the smallest, since column {column!r} holds scores "
            f"of {len(names)} classes; it is {name!r}. High scores mean the greatest, {names[-1]!r}, if it is left "
            f"out, and the smallest with {names[0]!r}."
        )
    return name == names[-1], name


def _rise(classes: NDArray[Any]) -> bool:
    """Whether classes are numbers, or texts of numbers, each greater than the one before."""
    try:
        values = classes.astype(np.float64)
    except ValueError:
        return False
    return bool(np.isfinite(values).all() and (values[:-1] < values[1:]).all())


def unknown_positive(positive: str, names: Sequence[str]) -> InvalidObservations:
    """The error for a class of high scores that is no class."""
    return InvalidObservations(
        f"positive (--positive) must be one of the classes {listed(names)}; it is {positive!r}."
        f"{did_you_mean(positive, names)}"
    )


def read_scores(
    found: MemberColumns, column_of: Callable[[str], Any], classes: NDArray[Any], positive: Any
) -> Scores | None:
    """The scores in a table, whose columns a function gives by name; None where there are none."""
    if not found.scores:
        return None
    rises, name = class_of_high_scores(classes, positive, next(iter(found.scores.values())))
    values = np.stack([as_scores(column_of(column), column) for column in found.scores.values()], axis=1)
    return Scores(tuple(found.scores), values if rises else -values, found.machines, name)


def as_scores(values: Any, column: str) -> Floats:
    """A column of scores: finite numbers, NaN where there is none."""
    numbers = as_numbers(values, f"column {column!r}", remedy=SCORE_REMEDY).astype(np.float64)
    off = np.flatnonzero(np.isinf(numbers))
    if len(off):
        raise rows_off(f"column {column!r}", "must hold finite numbers", numbers, off, SCORE_REMEDY)
    return numbers


def has_score(annotators: Sequence[str], scores: Scores | None) -> NDArray[np.bool_] | None:
    """Which items have a score, (n_items,), None where nobody gives any; two members of one name are refused."""
    names = [*annotators, *(() if scores is None else scores.names)]
    if len(set(names)) < len(names):
        name = next(each for each in names if names.count(each) > 1)
        raise InvalidObservations(
            f"each member must have a name of its own; {name!r} gives several columns of labels or scores. "
            "Rename one of them."
        )
    return None if scores is None else np.asarray(~np.isnan(scores.values).all(axis=1))
