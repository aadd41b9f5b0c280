"""What to do about a label that is not a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from twoheads.observations.doubt_words import may_mean_unsure
from twoheads.text import spelling


def label_remedy(text: str, names: Sequence[str], *, is_number: Callable[[str], bool]) -> str:
    """What to do about a label that is none of the classes ``names``; ``is_number`` says whether a text is a number."""
    same = next((name for name in names if spelling(name) == spelling(text)), None)
    if same is not None:
        return f"Only case or blanks differ from {same!r}: write it as the class is written."
    if is_number(text):
        return _number_remedy(text, names, is_number)
    if may_mean_unsure(text):
        unsure = f"If {text!r} means that somebody was unsure, name it with unsure (--unsure)"
        return f"{unsure}; where it is a truth, leave it blank."
    if near := get_close_matches(text[:80], [name[:80] for name in names], n=1):  # time grows with the square
        return f"Did you mean {near[0]!r}?"
    return (
        f"If {text!r} is a class, it needs a column of probabilities like the others; "
        "else correct those labels, or leave them blank."
    )


def _number_remedy(text: str, names: Sequence[str], is_number: Callable[[str], bool]) -> str:
    """What a number among texts may mean: a code of a class, counted from 0 or from 1."""
    positions = {first: int(text) - first for first in (0, 1)} if text.isdecimal() else {}
    meanings = [f"{names[at]!r} counted from {first}" for first, at in positions.items() if 0 <= at < len(names)]
    if meanings and not any(map(is_number, names)):
        return f"If these are codes, write the names of the classes instead: {text} is {', '.join(meanings)}."
    return "Correct those labels, or leave them blank where they are not known."
