"""The classes of a table whose models' columns name fewer than two: those of its labels, found in a pass over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from twoheads.observations.columns import class_names
from twoheads.observations.labels import label_text, means_unsure, unsure_words
from twoheads.observations.two_classes import with_other_class
from twoheads.tables.duckdb import BATCH_ROWS, pc
from twoheads.tables.formats.data_file import NO_VALUE, Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.schema.coding import plain_text
from twoheads.tables.schema.roles import Roles
from twoheads.text import spelling


def named_or_found(
    found: Roles, columns: Iterable[tuple[Source, Sequence[str]]], unsure: Any, where: str, *, loose: bool = False
) -> list[str]:
    """The names of the classes: those of the models' columns, with those of labels where these name fewer than two.

    columns  the columns of labels of each table
    loose    whether other spellings of a named class are not labels of their own
    """
    names = class_names(found.models)
    if len(names) > 1:
        return names
    words = unsure_words(unsure, names)
    labels = {label for source, each in columns if each for label in _labels_in(source, each)}
    known = {spelling(name) for name in names} if loose else set()
    labels = {label for label in labels if not means_unsure(label, words) and spelling(label) not in known}
    if not names:
        return sorted(labels)
    return with_other_class(names, labels, where, found.numbers[0])


def _labels_in(source: Source, columns: Sequence[str]) -> set[str]:
    """The distinct texts of columns of labels, whole numbers without decimals; blanks are not among them."""
    found: set[str] = set()
    for batch in source.batches(Wanted(labels=tuple(columns), nothing=()), BATCH_ROWS):
        for column in columns:
            found |= {
                plain_text(label_text(value))
                for value in pc.unique(batch.column(column)).to_pylist()
                if value is not None
            }
    return found - {"", "-1", *NO_VALUE}
