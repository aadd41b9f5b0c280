"""Which columns hold people's confidence."""

from __future__ import annotations

from collections.abc import Sequence

from twoheads.tables.checking.cells import words_of
from twoheads.tables.checking.hints import BESIDE_CONFIDENCE, CONFIDENCE
from twoheads.tables.checking.models import SCALE
from twoheads.tables.checking.profile import Profile


def confidence_columns(columns: Sequence[Profile], people: dict[str, str]) -> dict[str, str]:
    """The column of each person's confidence: called so, and after the person where there are several."""
    found: dict[str, str] = {}
    for column in columns:
        if not column.speaks(CONFIDENCE):
            continue
        words = [word for word in words_of(SCALE.sub(" ", column.name)) if word not in CONFIDENCE | BESIDE_CONFIDENCE]
        of = [name for name, answers in people.items() if words and words in (words_of(answers), words_of(name))]
        if len(of) == 1 or (len(people) == 1 and not words):
            found[of[0] if of else next(iter(people))] = column.name
    return found
