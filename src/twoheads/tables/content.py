"""What a table holds and how its columns are read: shared by `Table` and each pass over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import label_text, unsure_words
from twoheads.tables.duckdb import BATCH_ROWS, pa
from twoheads.tables.formats.data_file import Span, Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.join.join import Join
from twoheads.tables.rows import with_ids, without_model
from twoheads.tables.schema.coding import Coder
from twoheads.tables.schema.roles import Roles, missing


@dataclass(frozen=True, eq=False)
class Content:
    """The files of a table, the roles of their columns, and what is joined to them.

    source         the table with a row per item, or None
    roles          of its columns
    join           separate tables of answers and truth, or None
    known_classes  (n_classes,) in order; None if only joining finds them
    unsure         answers that mean "unsure", besides that word
    model_scale    what the model's columns hold
    normalise      whether rows of probabilities are divided by their sums
    positive       the class that high scores mean; None for that of `class_of_high_scores`
    loose_labels   whether labels are matched to classes apart from case and blanks
    """

    source: Source | None
    roles: Roles
    join: Join | None
    known_classes: NDArray[Any] | None
    unsure: str | Sequence[str]
    model_scale: str
    normalise: bool
    positive: Any = None
    loose_labels: bool = False

    @cached_property
    def n_rows(self) -> int:
        """The number of items."""
        if self.join:
            return self.join.result.n_items
        assert self.source
        return self.source.n_rows

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes, in order."""
        if self.known_classes is not None:
            return self.known_classes
        assert self.join  # a model's columns name the classes; without a model, joining finds those answered
        return self.join.result.classes

    @property
    def sources(self) -> list[Source]:
        """The table's files, and those of the tables that are joined to it."""
        joined = (self.join.answers, self.join.truth) if self.join else ()
        return [*([self.source] if self.source else []), *(table.source for table in joined if table)]

    @property
    def annotators(self) -> tuple[str, ...]:
        """The annotators' names."""
        if self.join and self.join.answers:
            return (*self.join.result.annotators, *self.roles.members.labels)
        return tuple(self.roles.answers)

    @property
    def joins_answers(self) -> bool:
        """Whether answers are in a separate table."""
        return bool(self.join and self.join.answers)

    @property
    def joins_truth(self) -> bool:
        """Whether the truth is in a separate table."""
        return bool(self.join and self.join.truth)

    @property
    def has_ids(self) -> bool:
        """Whether a column holds ids."""
        return bool(self.roles.item) or self.source is None

    @cached_property
    def coder(self) -> Coder:
        """The codes of answers."""
        names = [label_text(name) for name in self.classes.tolist()]
        return Coder(names, unsure_words(self.unsure, names), loose=self.loose_labels)

    @cached_property
    def truth_coder(self) -> Coder:
        """The codes of the truth, which is never "unsure"."""
        return Coder(self.coder.names, loose=self.loose_labels)

    @property
    def item_type(self) -> Any:
        """The Arrow type of the ids; text in a text file."""
        kind = self.source.type_of(self.roles.item) if self.source and self.roles.item else None
        if self.source and kind is None:
            return pa.int64()
        if kind is None or (self.join and not self._keeps_ids(self.join, kind)):
            return pa.string()
        return kind

    @staticmethod
    def _keeps_ids(join: Join, kind: Any) -> bool:
        """Whether the ids of items without a model row fit the type of the others."""
        joined = join.result
        return bool(joined.n_items == joined.n_model or (pa.types.is_integer(kind) and joined.ids_fit))

    def column_by_item(self, column: str) -> Iterator[tuple[Any, Any]]:
        """A column of the table, or of separate answers, with the ids, batch by batch."""
        answers = self.join.answers if self.join else None
        named = [(self.source, self.roles.item), *([(answers.source, answers.columns.item)] if answers else [])]
        found = [(source, item) for source, item in named if source and item and column in source.columns]
        if not found:
            source = next(source for source, _ in named if source)
            raise missing(
                source.columns, source.name, f"the column {column!r} that time (--time) names", "time", (column,)
            )
        source, item = found[0]
        for batch in source.batches(Wanted(item=item, labels=(column,)), BATCH_ROWS):
            yield batch.column(0), batch.column(column)

    def other_columns(self, columns: tuple[str, ...], span: Span | None) -> Iterator[Any]:
        """Other columns of the table, each of one type, as record batches in the order of its rows."""
        source = self.source
        if source is None:
            raise InvalidObservations("--columns names columns of TABLE or --model; there is none. Leave it out.")
        for name in columns:
            if name not in source.columns:
                what = f"the column {name!r} that columns (--columns) names"
                raise missing(source.columns, source.name, what, "columns", (name,))
        schema = pa.schema([(name, source.type_of(name)) for name in columns])
        for batch in source.batches(Wanted(labels=columns, nothing=()), BATCH_ROWS, span):
            yield pa.Table.from_batches([batch]).cast(schema).to_batches()[0]

    def batches(self, wanted: Wanted, rows: int, span: Span | None) -> Iterator[Any]:
        """Record batches of the model's rows, then of items without one."""
        kind = self.item_type if wanted.item else None
        for batch in self.source.batches(wanted, rows, span) if self.source else ():
            yield with_ids(batch, kind)
        for batch in self.join.ids_without_model(rows) if self.join else ():
            ids = batch.column(0)
            yield without_model(ids.cast(kind) if kind else ids, wanted)
