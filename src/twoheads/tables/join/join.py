"""Answers and truth from separate tables, joined to the model's rows on the item id, on disk.

The model's rows stay in their file: only ids, answers and truth go through DuckDB. It sorts them by id, blocks of the
same ids are joined, and DuckDB sorts the answers by the position of their item. Blocks of model rows then get their
answers in one pass over both. DuckDB sorts on disk, and a block is small: memory does not grow with the tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import label_text, means_unsure, sorted_names, unsure_words
from twoheads.tables.duckdb import SORTING_LIMIT, Database, feed, interruptible, pa, room
from twoheads.tables.formats.data_file import NO_VALUE
from twoheads.tables.formats.detect import first_line
from twoheads.tables.formats.source import Source
from twoheads.tables.in_step import in_step, sorted_by_id
from twoheads.tables.join import queries
from twoheads.tables.join.label_table import LabelTable, kinds_of_labels
from twoheads.tables.join.sorted_rows import Ranks, SortedRows
from twoheads.tables.schema.coding import Coder, classes_of, loose_notes
from twoheads.tables.schema.ids import numbered_ids, repeated
from twoheads.text import are, count, cut

_ID_AT = pa.schema([("id", pa.string()), ("at", pa.int64())])


@dataclass(frozen=True)
class Joined:
    """The result of a join.

    annotators  the annotators' names
    classes     (n_classes,) in order
    n_model     how many items have a model row; they come first, in the order of the model's table
    n_items     how many items there are
    notes       what did not match, in sentences
    ids_fit     whether the ids of items without a model row can have the type of the others
    """

    annotators: tuple[str, ...]
    classes: NDArray[Any]
    n_model: int
    n_items: int
    notes: tuple[str, ...]
    ids_fit: bool


class Join:
    """A table of answers and one of truth beside the model's rows; any of the three may be missing.

    Parameters
    ----------
    model : (Source, str) or None
        The model's table and its column of ids.
    answers, truth : LabelTable or None
        Labels by item; answers also by annotator.
    classes : ndarray or None
        The classes, in order; those answered if None.
    unsure : str or sequence of str
        Answers that mean "unsure", besides that word.
    loose_labels : bool
        Whether labels are matched to classes apart from case and blanks.
    memory_limit : str
        Memory of DuckDB.
    """

    def __init__(
        self,
        model: tuple[Source, str] | None,
        answers: LabelTable | None,
        truth: LabelTable | None,
        classes: NDArray[Any] | None,
        unsure: str | Sequence[str] = (),
        memory_limit: str = SORTING_LIMIT,
        *,
        loose_labels: bool = False,
    ) -> None:
        self._loose_labels, self._loose = loose_labels, Counter[str]()
        self.model, self.answers, self.truth = model, answers, truth
        self._known_classes, self._unsure, self._memory_limit = classes, unsure, memory_limit

    @cached_property
    def _database(self) -> Database:
        return Database(self._memory_limit)

    @property
    def _connection(self) -> Any:
        return self._database.connection

    @cached_property
    def result(self) -> Joined:
        """The result; the tables are joined on first use."""
        import duckdb

        try:
            with interruptible(), room("the tables could not be joined"):
                return self._joined(self._connection)
        except duckdb.Error as error:
            raise InvalidObservations(f"the tables could not be joined ({first_line(error)}).") from error

    def _joined(self, db: Any) -> Joined:
        schemas = {"items": _ID_AT, "answered": LabelTable.schema(), "known": LabelTable.schema()}
        read = {
            "items": numbered_ids(*self.model) if self.model else iter(()),
            "answered": self.answers.batches() if self.answers else iter(()),
            "known": self.truth.batches() if self.truth else iter(()),
        }
        for name, batches in read.items():
            feed(db, f"CREATE TABLE {name}_rows AS FROM fed", schemas[name], batches)
        n_model = self._count("items_rows")
        classes = self._found_classes() if self._known_classes is None else self._known_classes
        names = sorted_names(self.answers.annotators if self.answers else [])
        self._number_classes([label_text(name) for name in classes.tolist()])
        self._number_annotators(names)
        db.execute(queries.TABLES)
        tables = {}
        for name, schema in schemas.items():
            columns = [f'"{column}"' for column in schema.names]
            tables[name] = schema, sorted_by_id(self._database, f"{name}_rows", columns)
            db.execute(f"DROP TABLE {name}_rows")
        for block in in_step(tables):
            for name, rows in block.items():
                db.register(name, rows)
            for query in queries.BLOCK:
                db.execute(query.format(n_model=n_model, n_classes=len(classes)))
        for name in schemas:
            db.unregister(name)
        n_items = n_model + self._count("extra_rows")
        self._refuse_repeats()
        self._refuse_other_items(n_model, n_items)
        self._refuse_unnamed_people()
        self._refuse_two_truths()
        by_row = ", row" if self.has_confidence else ""  # of two answers of one annotator, the first stays first
        db.execute(queries.SORTED.format(sure=", sure" if self.has_confidence else "", by_row=by_row))
        fit = self._value("SELECT count(*) FROM extra WHERE TRY_CAST(id AS BIGINT) IS NULL") == 0
        notes = tuple(self._notes(n_model, n_items, [label_text(name) for name in classes.tolist()]))
        return Joined(tuple(names), classes, n_model, n_items, notes, fit)

    @property
    def has_confidence(self) -> bool:
        """Whether a column holds annotators' confidence."""
        return bool(self.answers and self.answers.columns.confidence)

    def answered(self) -> SortedRows:
        """The answers as (position of the item, column of the answer matrix[, confidence]), by position."""
        return self._sorted("FROM placed")

    def unsure(self) -> SortedRows:
        """Who was unsure as (position of the item, annotator), by position."""
        return self._sorted("FROM unsure")

    def truths(self) -> SortedRows:
        """The known truths as (position of the item, class code), by position."""
        return self._sorted('SELECT "at", code FROM truths')

    def has_truths(self) -> bool:
        """Whether the truth of any item is known."""
        assert self.result
        return self._count("truths") > 0

    def ids_without_model(self, rows: int) -> Iterator[Any]:
        """The ids of items without a model row, in record batches (id)."""
        assert self.result
        yield from self._connection.cursor().sql("SELECT id FROM extra").to_arrow_reader(rows)

    def _sorted(self, sql: str) -> SortedRows:
        n_model = self.result.n_model  # the tables exist once they are joined
        extra = SortedRows(self._connection, 'SELECT "at" FROM extra')
        return SortedRows(self._connection, sql, Ranks(extra, n_model))

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

    def _number_classes(self, classes: list[str]) -> None:
        """The class code of each label of the answers and of the truth, as tables (label, code)."""
        words = unsure_words(self._unsure, classes)
        for name, table, coder in (
            ("answered", self.answers, Coder(classes, words, loose=self._loose_labels)),
            ("known", self.truth, Coder(classes, loose=self._loose_labels)),
        ):
            codes = [coder.code(label) for label in table.labels] if table else []
            if table:
                table.refuse_unknown(codes, classes)
                self._loose += table.loose_labels(coder)
            self._create(f"{name}_codes", label=np.arange(len(codes)), code=np.array(codes, dtype=np.int64))

    def _number_annotators(self, names: list[str]) -> None:
        """The position of each annotator among the sorted names, as a table (annotator, place)."""
        position = {name: at for at, name in enumerate(names)}
        found = self.answers.annotators if self.answers else {}
        place = np.array([position[name] for name in found], dtype=np.int64)
        self._create("annotators", annotator=np.arange(len(place)), place=place)

    def _create(self, table: str, **columns: NDArray[Any]) -> None:
        self._connection.register("fed", pa.table(columns))
        self._connection.execute(f"CREATE TABLE {table} AS FROM fed")
        self._connection.unregister("fed")

    def _refuse_repeats(self) -> None:
        repeats, item, times = self._found("repeated")
        if self.model and repeats:
            raise repeated(*self.model, item, times, repeats)

    def _refuse_other_items(self, n_model: int, n_items: int) -> None:
        if not (self.model and self.answers) or n_model == 0 or n_items == n_model or self._found("met")[0]:
            return
        one = self._value('SELECT arg_min(id, "at") FROM extra_rows')
        _, other, _ = self._found("unanswered")  # all of them
        raise InvalidObservations(
            f"{self.answers.source.name} and {self.model[0].name} must be about the same items; no id of the first "
            f"(such as {one!r}) is in column {self.model[1]!r} of the second (such as {other!r}). "
            "Name the column of ids with item (--item)."
        )

    def _refuse_unnamed_people(self) -> None:
        """Refuse several answers on an item by nobody in particular: they would be those of one person."""
        n_off, item, times = self._found("several")
        if self.answers and self.answers.columns.is_anonymous and n_off:
            raise InvalidObservations(
                f"{self.answers.source.name} must name the person of each answer, in a column annotator; item {item!r} "
                f"has {times:,} answers ({count(n_off, 'item')} with several). Name that column with annotator "
                "(--annotator)."
            )

    def _refuse_two_truths(self) -> None:
        n_off, item, _ = self._found("two truths")
        if self.truth and n_off:
            raise InvalidObservations(
                f"{self.truth.source.name} must have one truth per item; item {item!r} has several that differ "
                f"({are(n_off, 'item')} off). Keep one of each, or leave it blank."
            )

    def _notes(self, n_model: int, n_items: int, classes: list[str]) -> Iterator[str]:
        if self.model and n_items > n_model:
            first = self._value("SELECT id FROM extra LIMIT 1")
            yield (
                f"{n_items - n_model:,} of {n_items:,} items have no model row (first: {cut(str(first))}); "
                "they have only answers."
            )
        if self.model and self.answers:
            yield from self._note_on_unanswered(n_items)
        yield from self._note_on_blank_answers()
        yield from loose_notes(self._loose, classes)
        if n_unsure := self._count("unsure"):
            yield f"{n_unsure:,} of {n_unsure + self._count('placed'):,} answers are unsure."
        if self.truth:
            yield from self._note_on_lost_truth(self.truth.n_rows)
            yield f"The truth is known for {self._count('truths'):,} of {n_items:,} items."

    def _note_on_unanswered(self, n_items: int) -> Iterator[str]:
        n_off, first, _ = self._found("unanswered")
        if n_off:
            yield f"{n_off:,} of {n_items:,} items have no answer (first: {cut(str(first))}); they have only the model."

    def _note_on_blank_answers(self) -> Iterator[str]:
        n_off, first, _ = self._found("blank")
        if n_off:
            which, those = ("1 item has", "it is") if n_off == 1 else (f"{n_off:,} items have", "they are")
            lack = "only blank answers and no model row" if self.model else "only blank answers"
            yield f"{which} {lack} (first: {cut(str(first))}); {those} left out."

    def _note_on_lost_truth(self, n_rows: int) -> Iterator[str]:
        n_off, first, _ = self._found("lost truth")
        if n_off:
            yield (
                f"{n_off:,} of {n_rows:,} rows of truth are of items without a model row or an answer "
                f"(first: {cut(str(first))}); they are left out."
            )

    def _found(self, what: str) -> tuple[int, Any, Any]:
        """How many there are, and of the first its id and how often it occurs."""
        n, item, times = self._connection.execute(queries.FOUND, [what]).fetchall()[0]
        return int(n), item, times

    def _count(self, table: str) -> int:
        return int(self._value(f"SELECT count(*) FROM {table}"))

    def _value(self, sql: str) -> Any:
        return self._connection.execute(sql).fetchall()[0][0]
