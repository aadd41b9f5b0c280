"""What the names in a table do not show, and a wrong guess would spoil."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from twoheads.tables.checking.classes import in_order
from twoheads.tables.checking.command import clean_name
from twoheads.tables.checking.guess import Guess
from twoheads.tables.checking.hints import PERSON
from twoheads.tables.checking.profile import Profile
from twoheads.text import listed


def doubts(
    roles: Guess,
    profiles: Mapping[str, Profile],
    unclear: Mapping[str, int],
    n_rows: int,
    path: str,
    again: Sequence[str],
) -> list[str]:
    """The doubts about a guess, a sentence each.

    unclear  rows with each class whose name often means "no value", by its `label_key`
    again    the command that checks the table, with the options given
    """
    return [
        *_which_is_truth(roles, profiles, again),
        *(
            f"column {name!r} is not used: {why}. Say --truth {shlex.quote(name)} if it is the truth; call it "
            "human_<name> if a person answered, <model>.label if a model did."
            for name, why in roles.undecided.items()
        ),
        *(_unclear_class(roles.classes[key], n, n_rows, path, again) for key, n in unclear.items()),
        *(_no_class(text, roles) for text in roles.no_class),
        *_ordered(roles),
    ]


def _which_is_truth(roles: Guess, profiles: Mapping[str, Profile], again: Sequence[str]) -> list[str]:
    unsaid = [name for name in roles.people.values() if not profiles[name].speaks(PERSON)]
    is_given = bool({"--human", "--truth"} & {*again})
    if roles.truth is not None or roles.annotator is not None or is_given or len(unsaid) < 2:
        return []
    return [f"No column is called truth. If one of {listed(unsaid)} holds it, say so: --truth COLUMN"]


def _unclear_class(label: str, n: int, n_rows: int, path: str, again: Sequence[str]) -> str:
    """What a class may mean whose name often means "no value"."""
    command = shlex.join([*again, f"--blank={label}", "--fix", clean_name(path)])
    on = f"{label!r} is read as a class, on {n:,} of {n_rows:,} rows"
    return f"{on}; if it means 'no answer', make it blank: {command}"


def _ordered(roles: Guess) -> list[str]:
    """What scores say of more than two classes."""
    if not roles.score_columns or len(roles.classes) < 3:
        return []
    low, *_, high = in_order(roles.classes)
    return [
        f"Scores ({listed(roles.score_columns)}) are read as rising or falling with the class from {low} to {high}. "
        "If these numbers are no grades, only names of classes, leave the scores out."
    ]


def _no_class(text: str, roles: Guess) -> str:
    """What a text may mean that would be a third class beside scores."""
    columns = listed(roles.score_columns)
    return (
        f"{text!r} is read as no value, though answers and truth hold it: scores ({columns}) need two "
        "classes, or numbers as classes. "
        f"If it is a class, leave {columns} out, or give labels or probabilities instead."
    )
