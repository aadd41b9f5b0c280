"""The command that fits a table: options that name its columns, and names of columns that need none."""

from __future__ import annotations

import os
from collections.abc import Container
from itertools import product

from twoheads.observations.columns import ANNOTATOR, ANSWER, ITEM, TRUTH
from twoheads.observations.members import is_score_column
from twoheads.tables.checking.as_fitted import reads_as
from twoheads.tables.checking.guess import Guess
from twoheads.tables.formats.opening import Reading


def table_arguments(roles: Guess, path: str) -> list[str]:
    """How the table is given to `fit`."""
    if roles.annotator:
        return ["--answers", path]
    if roles.is_people_alone:
        return ["--answers", path, *(["--truth", path] if roles.truth else [])]
    return [path]


def value_options(roles: Guess) -> list[str]:
    """The options that say what values mean: "unsure", the class of high scores, and the scale of a model."""
    scale = ["--model-scale", roles.shares.scale] if roles.shares.scale != "probability" else []
    positive = ["--positive", roles.positive] if roles.score_columns and roles.positive else []
    return [*scale, *positive, *roles.meanings.unsure_options()]


def clean_name(path: str) -> str:
    """The name of the clean copy of a table."""
    stem = os.path.basename(path.rstrip("/")).split(".")[0].replace("*", "") or "table"
    return f"{stem}-clean.csv"


def fit_options(roles: Guess, columns: tuple[str, ...]) -> list[str] | None:
    """The fewest options with which `fit` reads the columns so; None if options cannot name them."""
    tries: list[tuple[str, str | None]] = [
        ("item", roles.item),
        ("human", _in_common(list(roles.people.values()))),
        ("model_columns", _in_common(roles.share_columns)),
        ("annotator", roles.annotator),
        ("truth_column" if roles.is_people_alone else "truth", roles.truth),
    ]
    able = [(name, value) for name, value in tries if value is not None]
    for chosen in product((False, True), repeat=len(able)):
        named = {name: value for (name, value), use in zip(able, chosen, strict=True) if use}
        if reads_as(roles, columns, named):
            found = [text for name, value in named.items() for text in (f"--{name.replace('_', '-')}", value)]
            return found + value_options(roles)
    return None


def _in_common(names: list[str]) -> str | None:
    """The only name, or a pattern for several; None if there is none."""
    return names[0] if len(names) == 1 else _pattern(names) if names else None


def _pattern(names: list[str]) -> str | None:
    """What names have in common, with * for the rest; None if they begin and end differently."""
    before = _common(names)
    after = _common([name[len(before) :][::-1] for name in names])[::-1]
    shortest = min(len(name) for name in names)
    return f"{before}*{after}" if before + after and len(before) + len(after) < shortest else None


def _common(names: list[str]) -> str:
    """The characters that all names begin with."""
    first, last = min(names), max(names)
    alike = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:alike]


def new_names(roles: Guess, columns: tuple[str, ...]) -> dict[str, str]:
    """The name of each column in a clean copy."""
    names = {name: name for name in columns}
    if roles.item:
        names[roles.item] = "item"
    if roles.annotator:
        names |= {roles.annotator: "annotator", **dict.fromkeys(roles.people.values(), "answer")}
    else:
        names |= {column: "human" if column == "human" else f"human_{name}" for name, column in roles.people.items()}
    if roles.truth:
        names[roles.truth] = "truth"
    for model, found in roles.models.items():
        before = "" if model == "model" else f"{model}."
        names |= {column: f"{before}p_{label}" for label, column in found.items()}
    names |= {column: "score" if name == "model" else f"{name}.score" for name, column in roles.scores.items()}
    for name, column in roles.grades.items():
        names[column] = column if is_score_column(column) else f"human_{name}.score"
    names |= {column: f"{name}.label" for name, column in roles.labellers.items()}
    only = len(roles.people) == 1
    for name, column in roles.confidence.items():
        names[column] = "confidence" if only and column != f"confidence_{name}" else f"confidence_{name}"
    taken = {names[name] for name in columns if name in roles.used}
    known = {*ANSWER, *ANNOTATOR} if roles.is_answers else set()
    for name in columns:
        if name not in roles.used and (name in taken | known or _is_convention(name)):
            names[name] = _aside(name, {*names.values()})
    return names


def _aside(name: str, taken: Container[str]) -> str:
    """A name that `fit` does not read: a point may separate a model from what its column holds."""
    other = f"other {name}"
    if _is_convention(other):
        other = other.replace(".", " ")
    return other if other not in taken else _aside(other, taken)


def _is_convention(name: str) -> bool:
    """Whether `fit` would read a column by its name."""
    known = {*ITEM, *TRUTH, "human", "confidence", "score"}
    begins, ends = name.startswith(("human_", "p_", "confidence_")), name.endswith((".label", ".score"))
    return name in known or begins or ends or ".p_" in name


def reading_options(how: Reading) -> list[str]:
    """The options that say how a file is read."""
    given = {"--format": how.format, "--sheet": how.sheet, "--encoding": how.encoding}
    return [text for option, value in given.items() if value is not None for text in (option, value)]
