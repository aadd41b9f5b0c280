"""Ids of items: their hashes, and whether they only number the rows of a table, as they would in any other.

Ids 0 to n - 1, or 1 to n, are given by many programs to whatever table they write: two tables may have them for other
items, or the same items have others. They tell items apart only from those of a table that goes on with the numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.observations import Observations
from twoheads.observations.labels import label_text
from twoheads.tables.fingerprints import text_hash

#: The first of consecutive whole numbers and the one after the last; (0, 0) for ids that are not consecutive.
Span = tuple[int, int]
NO_SPAN: Span = (0, 0)


def numbers_and_hashes(observations: Observations) -> tuple[Span, NDArray[np.int64]]:
    """The numbers that the ids are, and a hash of each, never 0; all 0 where they only number the rows."""
    span = _span(observations.items)
    if numbers_rows(span):
        return span, np.zeros(len(observations), dtype=np.int64)
    words = (text_hash(label_text(item)) | 1 for item in observations.items.tolist())
    return span, np.fromiter(words, dtype=np.uint64, count=len(observations)).view(np.int64)


def _span(items: NDArray[Any]) -> Span:
    """The numbers that ids are, in any order."""
    try:
        numbers = np.sort(np.asarray(items).astype(np.int64))
    except (TypeError, ValueError, OverflowError):
        return NO_SPAN
    first, n = int(numbers[0]), len(numbers)
    return (first, first + n) if (numbers - first == np.arange(n)).all() else NO_SPAN


def numbers_rows(span: Span) -> bool:
    """Whether ids are 0, 1, 2, ... or 1, 2, 3, ...: another table may have them for other items."""
    return span != NO_SPAN and span[0] in (0, 1)


def goes_on(learnt: Span, those: Span) -> bool:
    """Whether ids go on where those of the learnt items, which number the rows from the first on, end."""
    return numbers_rows(learnt) and those != NO_SPAN and those[0] == learnt[1]


def joined_span(one: Span, other: Span) -> Span:
    """The numbers of two tables, if the second goes on with those of the first."""
    return (one[0], other[1]) if NO_SPAN not in (one, other) and one[1] == other[0] else NO_SPAN


def advice_on_ids(learnt: Span, those: Span, *, given: bool) -> str:
    """Why ids do not show which items were learnt from, and what to do; ``given`` is whether items have ids that count.

    learnt, those  the numbers that the ids of the learnt items, and of others, are
    """
    any_table = "as they would in any table, and cannot show which items the team was fitted on"
    if numbers_rows(those):
        return f"ids {_shown(those)} only number the rows, {any_table}; use ids that are unique across files"
    if not given:
        return "give ids (a column item) to distinguish them"
    if numbers_rows(learnt):
        return f"the ids at fit, {_shown(learnt)}, only number the rows, {any_table}; fit with ids unique across files"
    return "some items that the team was fitted on had no ids; fit with ids too, so that these tell items apart"


def _shown(span: Span) -> str:
    return f"{span[0]:,} to {span[1] - 1:,}"
