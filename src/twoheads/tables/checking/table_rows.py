"""The rows of a table as texts, below its column names, which may have rows of titles above them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from twoheads.observations.labels import label_text
from twoheads.tables.checking.cells import TOTAL_WORDS, is_blank, number_in
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.source import Source
from twoheads.text import spelling

Row = tuple[str | None, ...]

#: Rows read at a time.
BATCH = 8192
#: Column names are looked for in so many rows.
MOST_TITLES = 20


@dataclass(frozen=True)
class TableRows:
    """The rows of a table as texts, a batch at a time.

    columns  the column names
    n_above  rows that the file has above them, below its first line
    """

    source: Source
    columns: tuple[str, ...]
    n_above: int = 0

    @classmethod
    def of(cls, source: Source) -> TableRows:
        """Those of a table: below its first line, or below column names that titles stand above."""
        first = next(iter(cls(source, source.columns)), [])[:MOST_TITLES]
        n_named = sum(name != f"column {at}" for at, name in enumerate(source.columns, 1))
        at = next((at for at, row in enumerate(first) if _is_header(row, n_named)), None)
        if at is None:
            return cls(source, source.columns)
        names = [(name or "").strip() or f"column {place}" for place, name in enumerate(first[at], 1)]
        return cls(source, tuple(names), at + 1)

    def __iter__(self) -> Iterator[list[Row]]:
        """The rows, batch by batch."""
        left = self.n_above
        for batch in self.source.batches(Wanted(labels=self.source.columns, nothing=()), BATCH):
            columns = [
                [None if value is None else label_text(value) for value in batch.column(name).to_pylist()]
                for name in self.source.columns
            ]
            yield list(islice(zip(*columns, strict=True), left, None))
            left = max(0, left - len(batch))


def _is_header(row: Row, n_named: int) -> bool:
    """Whether a row holds the column names, where the first line names few: at least twice as many, and no numbers."""
    filled = [cell.strip() for cell in row if cell is not None and not is_blank(cell)]
    distinct = len(set(filled)) == len(filled)
    return len(filled) >= max(2 * n_named, 3) and distinct and not any(map(number_in, filled))


def sum_to_1(table: TableRows, columns: Iterable[str]) -> bool:
    """Whether columns hold probabilities of which nearly all rows sum to 1, or 100 per cent, as the first rows show."""
    places = [table.columns.index(name) for name in columns]
    rows = [[number_in(row[at] or "") for at in places] for row in next(iter(table), [])]
    sums = [sum(each.value for each in row if each) for row in rows if all(row)]
    return bool(sums) and sum(min(abs(each - 1.0), abs(each / 100.0 - 1.0)) <= 0.05 for each in sums) > 0.9 * len(sums)


def is_total(row: Sequence[str | None]) -> bool:
    """Whether a row begins like one of totals; it is one if it has no label either."""
    first = next((cell for cell in row if cell is not None and not is_blank(cell)), "")
    return spelling(first).rstrip(":") in TOTAL_WORDS
