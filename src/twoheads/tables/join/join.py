"""Answers and truth from tables of their own, joined to the model's rows on the item id, on disk.

The model's rows stay where they are: only ids, answers and truth go through DuckDB, which sorts the answers by the
place of their item. Blocks of model rows then meet their answers in one pass over both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import MISSING
from twoheads.observations.labels import label_text, means_unsure, sorted_names, unsure_words
from twoheads.tables.duckdb import MEMORY_LIMIT, feed, interruptible, pa, temporary
from twoheads.tables.formats.data_file import NO_VALUE
from twoheads.tables.formats.detect import first_line
from twoheads.tables.formats.source import Source
from twoheads.tables.join.label_table import LabelTable, kinds_of_labels
from twoheads.tables.join.sorted_rows import SortedRows
from twoheads.tables.messages import no_class
from twoheads.tables.schema.coding import UNKNOWN, UNSURE, Coder, classes_of
from twoheads.tables.schema.ids import numbered_ids, repeated, repeats_in


@dataclass(frozen=True)
class Joined:
    """What joining gives.

    annotators  the people's names
    classes     the classes, (n_classes,), in their order
    n_model     how many items have a model row; they come first, in the order of the model's table
    n_items     how many items there are
    notes       what did not meet, in sentences
    ids_fit     whether the ids of items without a model row can have the type of the others
    """

    annotators: tuple[str, ...]
    classes: NDArray[Any]
    n_model: int
    n_items: int
    notes: tuple[str, ...]
    ids_fit: bool


class Join:
    """A table of answers and one of truth, each perhaps absent, beside the model's rows, perhaps absent.

    Parameters
    ----------
    model : (Source, str) or None
        The model's table and its column of ids.
    answers, truth : LabelTable or None
        Labels by item; answers also by person.
    classes : ndarray or None
        The classes, in their order; those answered, where None.
    unsure : str or sequence of str
        Answers that mean "unsure", beside that word.
    memory_limit : str
        What DuckDB may hold in memory.
    """

    def __init__(
        self,
        model: tuple[Source, str] | None,
        answers: LabelTable | None,
        truth: LabelTable | None,
        classes: NDArray[Any] | None,
        unsure: str | Sequence[str] = (),
        memory_limit: str = MEMORY_LIMIT,
    ) -> None:
        self.model, self.answers, self.truth = model, answers, truth
        self._given_classes, self._unsure, self._memory_limit = classes, unsure, memory_limit

    @cached_property
    def _connection(self) -> Any:
        return temporary(self, self._memory_limit)

    @cached_property
    def result(self) -> Joined:
        """What joining gives; done once."""
        import duckdb

        try:
            with interruptible():
                return self._joined(self._connection)
        except duckdb.Error as error:
            raise InvalidObservations(
                f"the tables could not be joined ({first_line(error)}). "
                "Make room in the folder for temporary files, or name another one in TMPDIR."
            ) from error

    def _joined(self, db: Any) -> Joined:
        id_at = pa.schema([("id", pa.string()), ("at", pa.int64())])
        ids = numbered_ids(*self.model) if self.model else iter(())
        feed(db, 'CREATE TABLE items AS SELECT id, "at" FROM fed', id_at, ids)
        n_model = self._count("items")
        if self.model and (found := repeats_in(db, "items")):
            raise repeated(*self.model, *found)
        for name, table in (("given", self.answers), ("known", self.truth)):
            batches = table.batches() if table else iter(())
            feed(db, f"CREATE TABLE {name} AS FROM fed", LabelTable.schema(), batches)
        classes = self._found_classes() if self._given_classes is None else self._given_classes
        people = sorted_names(self.answers.people if self.answers else [])
        self._number_classes([label_text(name) for name in classes.tolist()], people)
        db.execute(_EXTRA, [n_model])
        n_items = n_model + self._count("extra")
        self._refuse_strangers(n_model, n_items)
        db.execute("CREATE VIEW everything AS FROM items UNION ALL FROM extra")
        by_row = ", row" if self.has_confidence else ""  # of two answers of one person, the first stays first
        db.execute(_PLACED.format(sure=", sure" if self.has_confidence else "", by_row=by_row), [len(classes)])
        db.execute(_UNSURE)
        self._refuse_two_truths()
        db.execute(_TRUTHS)
        notes = tuple(self._notes(n_model, n_items))
        fit = self._value("SELECT count(*) FROM extra WHERE TRY_CAST(id AS BIGINT) IS NULL") == 0
        db.execute("DROP VIEW everything; DROP TABLE items; DROP TABLE given; DROP TABLE known")
        return Joined(tuple(people), classes, n_model, n_items, notes, fit)

    @property
    def has_confidence(self) -> bool:
        """Whether a column holds how sure people were."""
        return bool(self.answers and self.answers.sure)

    def answered(self) -> SortedRows:
        """The answers as (place of the item, column of the answer matrix[, how sure]), by place."""
        return SortedRows(self._connection, "FROM placed", bool(self.result))

    def unsure(self) -> SortedRows:
        """Who was unsure as (place of the item, person), by place."""
        return SortedRows(self._connection, "FROM unsure", bool(self.result))

    def truths(self) -> SortedRows:
        """The known truths as (place of the item, class code), by place."""
        return SortedRows(self._connection, 'SELECT "at", code FROM truths', bool(self.result))

    def ids_without_model(self, rows: int) -> Iterator[Any]:
        """The ids of items without a model row, in record batches (id)."""
        assert self.result
        yield from self._connection.cursor().sql('SELECT id FROM extra ORDER BY "at"').to_arrow_reader(rows)

    def _found_classes(self) -> NDArray[Any]:
        tables = [table for table in (self.answers, self.truth) if table]
        names = {str(name).strip() for table in tables for name in table.labels} - {"", "-1", *NO_VALUE}
        words = unsure_words(self._unsure, ())
        names = {name for name in names if not means_unsure(name, words)}
        if len(names) < 2:
            raise InvalidObservations(
                f"there must be at least two classes; {tables[0].source.name} has "
                f"{'only ' + repr(names.pop()) if names else 'none'}. Name all of them with classes (--classes)."
            )
        return classes_of(names, kinds_of_labels(self.truth, self.answers))

    def _number_classes(self, classes: list[str], people: list[str]) -> None:
        coders = Coder(classes, unsure_words(self._unsure, classes)), Coder(classes)
        for name, table, coder in zip(("given", "known"), (self.answers, self.truth), coders, strict=True):
            codes = [coder.code(label) for label in table.labels] if table else []
            if table and UNKNOWN in codes:
                off = codes.index(UNKNOWN)
                label = list(table.labels)[off]
                where = table.source.where(table.first_row(off))
                n_off = sum(table.times[at] for at, code in enumerate(codes) if code == UNKNOWN)
                raise no_class(table.label_column, where, label, f"{n_off:,} of {table.n_rows:,} rows are off", classes)
            self._connection.register(
                "fed", pa.table({"label": np.arange(len(codes)), "code": np.array(codes, dtype=np.int64)})
            )
            self._connection.execute(f"CREATE TABLE {name}_codes AS FROM fed")
            self._connection.unregister("fed")
        place = {person: at for at, person in enumerate(people)}
        order = np.array([place[person] for person in (self.answers.people if self.answers else [])], dtype=np.int64)
        self._connection.register("fed", pa.table({"person": np.arange(len(order)), "place": order}))
        self._connection.execute("CREATE TABLE people AS FROM fed")
        self._connection.unregister("fed")

    def _refuse_strangers(self, n_model: int, n_items: int) -> None:
        if not (self.model and self.answers) or n_model == 0 or n_items == n_model:
            return
        met = self._value("SELECT count(*) FROM given SEMI JOIN items USING (id)")
        if met == 0:
            one, other = (self._value(f'SELECT first(id ORDER BY "at") FROM {name}') for name in ("extra", "items"))
            raise InvalidObservations(
                f"{self.answers.source.name} and {self.model[0].name} must be about the same items; no id of the first "
                f"(such as {one!r}) stands in column {self.model[1]!r} of the second (such as {other!r}). "
                "Say which column holds the ids with item (--item)."
            )

    def _refuse_two_truths(self) -> None:
        found = self._connection.execute(_TWO_TRUTHS).fetchall()
        if found and self.truth:
            item, n_off = found[0]
            raise InvalidObservations(
                f"{self.truth.source.name} must have one truth per item; item {item!r} has several that differ "
                f"({n_off:,} items are off). Keep one of each, or leave it blank."
            )

    def _notes(self, n_model: int, n_items: int) -> Iterator[str]:
        if self.model and n_items > n_model:
            first = self._value('SELECT first(id ORDER BY "at") FROM extra')
            yield (
                f"{n_items - n_model:,} of {n_items:,} items have no model row (first: {first}); "
                "only people speak for them."
            )
        if self.model and self.answers:
            silent, first = self._connection.execute(
                'SELECT count(*), first(id ORDER BY "at") FROM items ANTI JOIN placed USING ("at") '
                'ANTI JOIN unsure USING ("at")'
            ).fetchall()[0]
            if silent:
                yield (
                    f"{silent:,} of {n_items:,} items have no answer (first: {first}); only the model speaks for them."
                )
        blank, first = self._connection.execute(_BLANK).fetchall()[0]
        if blank:
            which, those = ("1 item has", "it is") if blank == 1 else (f"{blank:,} items have", "they are")
            lack = "only blank answers and no model row" if self.model else "only blank answers"
            yield f"{which} {lack} (first: {first}); {those} left out."
        if n_unsure := self._count("unsure"):
            yield f"{n_unsure:,} of {n_unsure + self._count('placed'):,} answers are unsure."
        if self.truth:
            lost, first = self._connection.execute(_LOST_TRUTH).fetchall()[0]
            if lost:
                yield (
                    f"{lost:,} of {self.truth.n_rows:,} rows of truth are of items without a model row or an answer "
                    f"(first: {first}); they are left out."
                )
            yield f"the truth is known for {self._count('truths'):,} of {n_items:,} items."

    def _count(self, table: str) -> int:
        return int(self._value(f"SELECT count(*) FROM {table}"))

    def _value(self, sql: str) -> Any:
        return self._connection.execute(sql).fetchall()[0][0]


_EXTRA = f"""
    CREATE TABLE extra AS SELECT id, ? + row_number() OVER (ORDER BY first) - 1 AS "at" FROM (
        SELECT id, min(row) AS first FROM given JOIN given_codes USING (label) ANTI JOIN items USING (id)
        WHERE code <> {MISSING} GROUP BY id
    )
"""
_BLANK = f"""
    SELECT count(DISTINCT id), first(id ORDER BY row) FROM given JOIN given_codes USING (label)
    ANTI JOIN items USING (id) ANTI JOIN extra USING (id) WHERE code = {MISSING}
"""
_PLACED = f"""
    CREATE TABLE placed AS SELECT "at", place * ? + code AS answer{{sure}}
    FROM given JOIN given_codes USING (label) JOIN people USING (person) JOIN everything USING (id)
    WHERE code > {MISSING} ORDER BY "at", answer{{by_row}}
"""
_UNSURE = f"""
    CREATE TABLE unsure AS SELECT "at", place
    FROM given JOIN given_codes USING (label) JOIN people USING (person) JOIN everything USING (id)
    WHERE code = {UNSURE} ORDER BY "at", place
"""
_TWO_TRUTHS = f"""
    SELECT id, count(*) OVER () FROM known JOIN known_codes USING (label) WHERE code <> {MISSING}
    GROUP BY id HAVING count(DISTINCT code) > 1 ORDER BY min(row) LIMIT 1
"""
_TRUTHS = f"""
    CREATE TABLE truths AS SELECT "at", max(code) AS code
    FROM known JOIN known_codes USING (label) JOIN everything USING (id)
    WHERE code <> {MISSING} GROUP BY "at" ORDER BY "at"
"""
_LOST_TRUTH = f"""
    SELECT count(*), first(id ORDER BY row) FROM known JOIN known_codes USING (label) ANTI JOIN everything USING (id)
    WHERE code <> {MISSING}
"""
