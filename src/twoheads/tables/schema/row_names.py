"""Rows of a table in messages: by file and line instead of by position in a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from twoheads.errors import InvalidObservations, RowNames
from twoheads.observations import ModelTerms
from twoheads.tables.formats.source import Source
from twoheads.text import are

#: How messages about models' columns name them, and the options of `scan` and of the command line.
TABLE_TERMS = ModelTerms(
    rows="the model's columns",
    rows_of="the columns of model {!r}",
    scale="set model_scale={0!r} (--model-scale {0})",
    divide="divide each row by its sum (normalise=True, --normalise)",
)


class Sized(Protocol):
    """Anything with a number of rows, which is counted only when a message needs it."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""


@dataclass(frozen=True)
class TableRows(RowNames):
    """The rows of a block of a table.

    source  the files of the rows; None if there are none
    start   the first row of the block
    whole   the table, with the rows of joined tables; None if it is read for the first time
    """

    source: Source | None
    start: int = 0
    whole: Sized | None = None

    def where(self, row: int) -> str:
        """The file and the row in it, or the number of an item that is in no file of the source."""
        at = self.start + row
        if self.source and (self.whole is None or at < self.source.n_rows):
            return self.source.where(at)
        return f"item {at + 1}"

    def extent(self, n_off: int, n_rows: int) -> str:
        """How many rows of the table, or of the block where it is not the whole table."""
        if self.whole is None:
            return f"{are(n_off, 'row')} off"
        end = self.start + n_rows
        if self.start == 0 and end == self.whole.n_rows:
            return f"{n_off:,} of {end:,} rows are off"
        return f"{n_off:,} of rows {self.start + 1:,} to {end:,} are off"


@contextmanager
def located(rows: RowNames) -> Iterator[None]:
    """Re-raise errors about rows of a block with the names of the rows in the table."""
    try:
        yield
    except InvalidObservations as error:
        if error.problem is None:
            raise
        raise InvalidObservations(error.problem, rows) from None
