"""Cleaning the rows of a table, with a list of every change, and of what is left for its owner to mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from twoheads.observations.doubt_words import may_mean_unsure
from twoheads.tables.checking.cells import is_blank_to_fit, label_key, number_in
from twoheads.tables.checking.guess import Guess
from twoheads.tables.checking.profile import Profile
from twoheads.tables.checking.repeats import Repeats, row_digest
from twoheads.tables.checking.table_rows import Row, is_total
from twoheads.tables.schema.coding import Coder, plain_text
from twoheads.text import count

#: Sums of probabilities that differ from 1 by less are as they should be; by less than the second, they were rounded.
EXACT, ROUNDED = 5e-4, 0.05

Cell = str | float | None


@dataclass
class Tally:
    """How often something was changed or found, and where first.

    row     the first row, from 1
    before  what that row had
    after   what it has now; blank for something that is left as it is
    """

    n: int
    row: int
    before: str
    after: str = ""


@dataclass
class Findings:
    """What was changed, and what is wrong and was left: tallies by column and kind; column "" is the whole row.

    unclear  rows with each class whose name often means "no value", by its `label_key`
    """

    changes: dict[tuple[str, str], Tally] = field(default_factory=dict)
    problems: dict[tuple[str, str], Tally] = field(default_factory=dict)
    n_rows: int = 0
    unclear: Counter[str] = field(default_factory=Counter)

    def changed(self, column: str, kind: str, before: str, after: str = "", *, row: int | None = None) -> None:
        """Count one more change; it is in the last row, or in another that is given."""
        self.changes.setdefault((column, kind), Tally(0, row or self.n_rows, before, after)).n += 1

    def wrong(self, column: str, kind: str, before: str) -> None:
        """Count one more problem, in the last row."""
        self.problems.setdefault((column, kind), Tally(0, self.n_rows, before)).n += 1

    def change_sentences(self) -> list[str]:
        """Each kind of change in a sentence."""
        return _sentences(self.changes)

    @property
    def needs_copy(self) -> bool:
        """Whether something is changed that a fit does not read by itself."""
        return any(kind not in (BLANK_TO_FIT, COMMA_TO_FIT) for _, kind in self.changes)

    @property
    def blocks_fit(self) -> bool:
        """Whether something is wrong that a fit refuses."""
        return any(kind not in (RARE, DOUBT) for _, kind in self.problems)

    def problem_sentences(self) -> list[str]:
        """Each kind of problem in a sentence."""
        return _sentences(self.problems)


#: Kinds of changes and problems, as the sentences about them.
EMPTY, DUPLICATE = "empty rows are dropped", "rows that repeat an earlier one exactly are dropped"
ABOVE, TOTAL = "rows above the column names are dropped", "rows of totals are dropped"
NOTHING = "rows without any answer or prediction are dropped"
BLANK, TRIMMED, CASE = "words for 'no value' become blank", "blanks around values are removed", "spellings are matched"
PERCENT, COMMA = "percentages become shares", "decimal commas become points"
POINT = "numbers with points next to others with decimal commas, which a fit refuses, are written alike"
#: Changes that a table needs for other programs only.
BLANK_TO_FIT = "words for 'no value' become blank, as which a fit reads them anyway"
COMMA_TO_FIT = "decimal commas become points, though a fit reads commas too"
NORMALISED = "rounded probabilities are divided by their sum"
UNKNOWN, RARE = "labels that are not a class", "a label that occurs once or twice and is like another"
DOUBT = "a label that may mean that somebody was unsure; if so, name it with --unsure: an answer, but not a class"
UNKNOWN_DOUBT = "labels that are not a class; if they mean that somebody was unsure, name them with --unsure"
NOT_A_NUMBER = "texts among numbers; if they mean 'no value', make them blank"
OFF_SUM = "probabilities that do not sum to 1"
GAPS = "some probabilities of a row are blank, and others not"
REPEATED_ID, NO_ID = "ids that occur again with other values", "rows without an id"


class Cleaner:
    """Cleans rows one after the other.

    Parameters
    ----------
    columns : sequence of str
        The columns of the table.
    guess : Guess
        Their roles.
    by_name : dict of Profile
        Their content.
    decimal : str
        The mark that a fit reads in numbers.
    repeats : Repeats, optional
        The rows and ids that may occur again, so that no others are remembered; all are by default.
    """

    def __init__(
        self,
        columns: Sequence[str],
        guess: Guess,
        by_name: dict[str, Profile],
        decimal: str = ".",
        repeats: Repeats | None = None,
    ) -> None:
        self._comma, self._unclear = COMMA_TO_FIT if decimal == "," else COMMA, guess.unclear_classes
        self._repeats = repeats
        self.findings = Findings()
        self._place = {name: at for at, name in enumerate(columns)}
        self._columns, self._guess = tuple(columns), guess
        self._labels, self._shares = set(guess.label_columns), set(guess.share_columns)
        self._numbers = self._shares | set(guess.score_columns) | set(guess.confidence.values())
        in_percent = {name for name in self._shares if by_name[name].is_percent}
        self._percent = self._shares if guess.shares.percent else in_percent
        members = {*self._labels, *self._shares, *guess.score_columns} - {guess.truth}
        one_each = not (guess.is_people_alone or guess.annotator)
        self._said = [self._place[name] for name in members] if one_each else []
        self._rare = _rare_labels(guess, by_name)
        self._rows_seen: set[bytes] = set()
        self._ids_seen: set[str] = set()

    def clean(self, rows: Iterable[Row]) -> Iterator[list[Cell]]:
        """The rows that remain, with clean cells in the order of the columns."""
        for row in rows:
            self.findings.n_rows += 1
            if all(map(self._guess.is_nothing, self._columns, row)):
                self.findings.changed("", EMPTY, "")
                continue
            if is_total(row) and not self._has_label(row):
                self.findings.changed("", TOTAL, "")
                continue
            if self._is_repeated(row):
                self.findings.changed("", DUPLICATE, "")
                continue
            if self._said and all(self._guess.is_nothing(self._columns[at], row[at]) for at in self._said):
                self.findings.changed("", NOTHING, "")
                continue
            here = {label_key(row[self._place[name]] or "") for name in self._labels} if self._unclear else set()
            self.findings.unclear.update(here & self._unclear)
            yield self._row(row)

    def _is_repeated(self, row: Row) -> bool:
        """Whether a row is the same as an earlier one; without ids, other items may have the same answers."""
        if self._guess.item is None:
            return False
        digest = row_digest(row)
        if digest in self._rows_seen:
            return True
        if self._repeats is None or self._repeats.has_row(digest):
            self._rows_seen.add(digest)
        return False

    def _has_label(self, row: Row) -> bool:
        """Whether a row has a class in any column of labels."""
        return any(label_key(row[self._place[name]] or "") in self._guess.classes for name in self._labels)

    def _row(self, row: Row) -> list[Cell]:
        cells: list[Cell] = [self._cell(name, cell) for name, cell in zip(self._columns, row, strict=True)]
        self._check_id(cells)
        for columns in self._guess.models.values():
            self._normalise(cells, [self._place[name] for name in columns.values()])
        return cells

    def _cell(self, name: str, cell: str | None) -> Cell:
        if cell is None or not cell.strip():
            return None
        has_role = name in self._labels or name in self._numbers or name == self._guess.annotator
        if has_role and self._guess.is_nothing(name, cell):
            to_fit = name in self._labels and is_blank_to_fit(cell)
            self.findings.changed(name, BLANK_TO_FIT if to_fit else BLANK, cell)
            return None
        if name in self._numbers:
            return self._number(name, cell)
        bare = cell.strip() if has_role or name == self._guess.item else cell
        if bare != cell:
            self.findings.changed(name, TRIMMED, cell, bare)
        return self._label(name, bare) if name in self._labels else bare

    def _label(self, name: str, text: str) -> str:
        known = self._guess.classes.get(label_key(text))
        if known is None:
            if plain_text(text) == "-1":  # which a fit reads as no label
                return text
            if name == self._guess.truth or not self._guess.meanings.is_unsure(text):
                in_doubt = name != self._guess.truth and may_mean_unsure(text)
                self.findings.wrong(name, UNKNOWN_DOUBT if in_doubt else UNKNOWN, text)
            return text
        if name != self._guess.truth and may_mean_unsure(text):
            self.findings.wrong(name, DOUBT, text)
        if label_key(text) in self._rare:
            self.findings.wrong(name, RARE, f"{text}, like {self._rare[label_key(text)]}")
        if Coder([known]).code(text) != 0:
            self.findings.changed(name, CASE, text, known)
            return known
        return text

    def _number(self, name: str, text: str) -> Cell:
        number = number_in(text)
        if number is None:
            self.findings.wrong(name, NOT_A_NUMBER, text)
            return text
        if "," in text:
            self.findings.changed(name, self._comma, text, f"{number.value:g}")
        elif "." in text and self._comma == COMMA_TO_FIT:
            self.findings.changed(name, POINT, text, f"{number.value:g}")
        if number.percent or name in self._percent:
            self.findings.changed(name, PERCENT, text, f"{number.value / 100:g}")
            return number.value / 100.0
        return number.value

    def _normalise(self, cells: list[Cell], places: list[int]) -> None:
        values = [cells[at] for at in places]
        shares = [value for value in values if isinstance(value, float)]
        if any(value is None for value in values) and shares:
            self.findings.wrong(self._columns[places[0]], GAPS, "some are blank")
        of_all = len(values) >= max(2, len(self._guess.classes))
        if len(shares) < len(values) or not of_all or self._guess.shares.scale != "probability":
            return
        total = sum(shares)
        if abs(total - 1.0) <= EXACT:
            return
        if abs(total - 1.0) > ROUNDED:
            self.findings.wrong(self._columns[places[0]], OFF_SUM, f"a sum of {total:.4g}")
            return
        self.findings.changed(self._columns[places[0]], NORMALISED, f"a sum of {total:.4g}", "1")
        for at, share in zip(places, shares, strict=True):
            cells[at] = share / total

    def _check_id(self, cells: list[Cell]) -> None:
        if self._guess.item is None or self._guess.annotator is not None:
            return
        item = cells[self._place[self._guess.item]]
        if item is None:
            self.findings.wrong(self._guess.item, NO_ID, "nothing")
        elif item in self._ids_seen:
            self.findings.wrong(self._guess.item, REPEATED_ID, str(item))
        elif self._repeats is None or self._repeats.has_id(str(item)):
            self._ids_seen.add(str(item))


def _rare_labels(guess: Guess, by_name: dict[str, Profile]) -> dict[str, str]:
    """Labels that occur once or twice and are spelt nearly like a frequent one: probably a slip, but who knows."""
    times: dict[str, int] = {}
    for name in guess.label_columns:
        for label, n in by_name[name].labels().items():
            times[label] = times.get(label, 0) + n
    frequent = [label for label, n in times.items() if n > 4]
    found = {}
    for label, n in times.items():
        near = get_close_matches(label, frequent, n=1, cutoff=0.8) if n <= 2 and len(label) > 3 else []
        if near:
            found[label] = guess.classes.get(near[0], near[0])
    return found


def _sentences(found: dict[tuple[str, str], Tally]) -> list[str]:
    """Whole rows first, then column by column."""
    order = list(dict.fromkeys(["", *sorted(column for column, _ in found)]))
    by_column = sorted(found.items(), key=lambda each: order.index(each[0][0]))
    return [_sentence(column, kind, tally) for (column, kind), tally in by_column]


def _sentence(column: str, kind: str, tally: Tally) -> str:
    where = f"column {column!r}: " if column else ""
    if not tally.before and not tally.after:
        return f"{where}{kind} ({count(tally.n, 'row')}, the first is row {tally.row:,})."
    shown = f"{_cut(tally.before)!r} becomes {_cut(tally.after)!r}" if tally.after else _cut(tally.before)
    return f"{where}{kind} ({count(tally.n, 'cell')}; in row {tally.row:,}: {shown})."


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
