"""What each column of a table holds, in one pass over its first rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from twoheads.tables.checking.cells import is_blank, label_key, number_in, words_of
from twoheads.tables.checking.table_rows import TableRows, is_total

#: So many rows are looked at.
MOST_ROWS = 200_000
#: A column with more distinct texts than this does not hold labels.
MOST_LABELS = 200


@dataclass
class Profile:
    """The content of one column.

    n_rows, n_blank  rows, and those without a value
    spellings        how often each text occurs, without the blanks around it; at most `MOST_LABELS` are kept
    nothings         how often each word for "no value" occurs; a fit may read it as a class
    n_numbers        cells that are numbers, from ``low`` to ``high``
    total            the sum of these numbers
    n_whole          numbers that are whole
    n_percent        numbers in per cent
    n_distinct       distinct texts
    """

    name: str
    n_rows: int = 0
    n_blank: int = 0
    n_numbers: int = 0
    n_whole: int = 0
    n_percent: int = 0
    total: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")
    spellings: Counter[str] = field(default_factory=Counter)
    nothings: Counter[str] = field(default_factory=Counter)
    _seen: set[int] = field(default_factory=set, repr=False)

    def add(self, text: str | None) -> None:
        """Count one cell."""
        self.n_rows += 1
        if text is None or is_blank(text):
            self.n_blank += 1
            if text is not None and text.strip():
                self.nothings[text.strip()] += 1
            return
        bare = text.strip()
        self._seen.add(hash(bare))
        if bare in self.spellings or len(self.spellings) <= MOST_LABELS:
            self.spellings[bare] += 1
        self._add_number(bare)

    def _add_number(self, text: str) -> None:
        number = number_in(text)
        if number is None:
            return
        self.n_numbers += 1
        self.n_percent += number.percent
        self.total += number.value
        self.n_whole += number.value.is_integer()
        self.low, self.high = min(self.low, number.value), max(self.high, number.value)

    @property
    def words(self) -> list[str]:
        """The words of its name."""
        return words_of(self.name)

    @property
    def n_known(self) -> int:
        """Cells with a value."""
        return self.n_rows - self.n_blank

    @property
    def n_distinct(self) -> int:
        """Distinct texts."""
        return len(self._seen)

    @property
    def is_unique(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.n_known > 0 and self.n_blank <= 0.02 * self.n_rows and self.n_distinct >= 0.95 * self.n_known

    @property
    def is_numeric(self) -> bool:
        """Whether nearly all values are numbers."""
        return self.n_known > 0 and self.n_numbers >= 0.9 * self.n_known

    @property
    def is_fractional(self) -> bool:
        """Whether the values are numbers, and not all whole."""
        return self.is_numeric and self.n_whole < self.n_numbers

    @property
    def is_labels(self) -> bool:
        """Whether the values could be classes: few of them, each many times."""
        few = min(MOST_LABELS, max(5, self.n_known // 2))
        return self.n_known > 0 and len(self.labels()) <= few and not self.is_fractional

    def labels(self) -> Counter[str]:
        """How often each label occurs, whatever its spelling."""
        found: Counter[str] = Counter()
        for text, times in self.spellings.items():
            found[label_key(text)] += times
        return found

    @property
    def is_percent(self) -> bool:
        """Whether most of its numbers are written in per cent."""
        return self.n_percent > 0.5 * self.n_numbers

    @property
    def mean(self) -> float:
        """The mean of its numbers."""
        return self.total / max(self.n_numbers, 1)

    def speaks(self, hints: frozenset[str]) -> bool:
        """Whether a word of its name is one of these, also where capitals within it are none: DeepSeek, LLaMA."""
        return bool(hints & {*self.words, *words_of(self.name.casefold())})


def profiles(table: TableRows) -> list[Profile]:
    """The content of each column, from the first rows; those of totals are left out."""
    found = [Profile(name) for name in table.columns]
    n_rows = 0
    for rows in table:
        for row in rows:
            if not is_total(row):
                for profile, text in zip(found, row, strict=True):
                    profile.add(text)
        n_rows += len(rows)
        if n_rows >= MOST_ROWS:
            break
    return found
