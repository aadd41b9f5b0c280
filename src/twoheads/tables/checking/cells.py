"""Single cells of a table as text: blank ones, numbers with commas or in per cent."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Texts that mean "no value", apart from case.
BLANK_WORDS = frozenset(("", "n/a", "na", "#n/a", "nan", "null", "none", "nil", "-", "--", "–", "—", "?", "."))

_NUMBER = re.compile(r"([-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?)\s*(%?)")


class Number(NamedTuple):
    """A number in a cell, and whether it was written in per cent."""

    value: float
    percent: bool


def is_blank(text: str | None) -> bool:
    """Whether a cell has no value: nothing, blanks, or a word for it."""
    return text is None or text.strip().casefold() in BLANK_WORDS


def number_in(text: str) -> Number | None:
    """The number in a cell, with a point or a comma, perhaps in per cent; None if it is something else.

    >>> number_in("0,93"), number_in(" 93 %"), number_in("1.2.3")
    (Number(value=0.93, percent=False), Number(value=93.0, percent=True), None)
    """
    found = _NUMBER.fullmatch(text.strip())
    return Number(float(found[1].replace(",", ".")), bool(found[2])) if found else None


def words_of(name: str) -> list[str]:
    """The words of a column's name: "AI_score (v2)" and "aiScore" begin with ai, score.

    >>> words_of("Ground truth"), words_of("readerA_label"), words_of("p(Abnormal)")
    (['ground', 'truth'], ['reader', 'a', 'label'], ['p', 'abnormal'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])", " ", name)
    return [word.casefold() for word in re.findall(r"[^\W_]+", apart)]
