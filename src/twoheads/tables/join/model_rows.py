"""A table with a row per item and model as a table with a row per item: sorted on disk, not in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import sorted_names
from twoheads.tables.duckdb import BATCH_ROWS, Database, feed, interruptible, pa, room
from twoheads.tables.formats.data_file import Span, Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.join.sorted_rows import SortedRows
from twoheads.tables.schema.ids import as_text, numbered_names, refuse_blanks


def models_in(source: Source, column: str) -> list[str]:
    """The distinct names in a column of models, in order; none may be blank."""
    found: dict[str, int] = {}
    start = 0
    for batch in source.batches(Wanted(labels=(column,), nothing=()), BATCH_ROWS):
        numbered_names(source, column, batch.column(0), found, start, "model")
        start += len(batch)
    return sorted_names(found)


class RowsByItem(Source):
    """The rows of several models, one per item: the columns are those of the item and ``<model>.p_<class>``.

    Parameters
    ----------
    source : Source
        The table with a row per item and model.
    item, model : str
        Its columns of ids and of the models' names.
    classes : dict of str to str
        The column of each class.
    models : sequence of str
        The names of the models.
    memory_limit : str
        Memory for sorting before it spills to disk.
    """

    def __init__(
        self,
        source: Source,
        item: str,
        model: str,
        classes: dict[str, str],
        models: Sequence[str],
        memory_limit: str,
    ) -> None:
        super().__init__(source.name, source.files)
        self._long, self._item, self._model, self._memory_limit = source, item, model, memory_limit
        self._numbers = list(classes.values())
        #: The columns of each model by the name of the class.
        self.models = {name: {label: f"{name}.p_{label}" for label in classes} for name in models}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a row per item."""
        return (self._item, *(column for classes in self.models.values() for column in classes.values()))

    def type_of(self, column: str) -> Any:
        """The Arrow type of a column."""
        return self._long.type_of(self._item) if column == self._item else self._kind

    @property
    def _kind(self) -> Any:
        kinds = self._long.kinds_of(self._numbers)
        return pa.float32() if kinds and all(kind == pa.float32() for kind in kinds) else pa.float64()

    @cached_property
    def n_rows(self) -> int:
        """The number of items."""
        return int(self._sorted.connection.execute("SELECT count(*) FROM items").fetchall()[0][0])

    def where(self, row: int) -> str:
        """The item with this number, for messages: ``item 'a' of scores.csv``."""
        found = self._sorted.connection.execute('SELECT "key" FROM items WHERE "at" = ?', [row]).fetchall()
        return f"item {found[0][0]!r} of {self.name}"

    def row_groups(self) -> None:
        """None: an item's rows may be anywhere."""
        return

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Record batches in the order of the first row of each item."""
        connection = self._sorted.connection
        ids = connection.cursor().sql('SELECT id FROM items ORDER BY "at"').to_arrow_reader(rows)
        values = SortedRows(connection, "FROM placed") if wanted.numbers else None
        start = 0
        for batch in ids:
            end = start + len(batch)
            columns = {self._item: batch.column(0).cast(self._long.type_of(self._item))} if wanted.item else {}
            if values is not None:
                columns |= self._placed(values, start, end)
            yield pa.record_batch({name: columns[name] for name in wanted.columns})
            start = end

    def _placed(self, values: SortedRows, start: int, end: int) -> dict[str, Any]:
        at, model, *numbers = values.until(end)
        out = np.full((len(self.models), len(numbers), end - start), np.nan, dtype=self._kind.to_pandas_dtype())
        for place, column in enumerate(numbers):
            out[model, place, at - start] = column
        return dict(zip(self.columns[1:], map(pa.array, out.reshape(-1, end - start)), strict=True))

    @cached_property
    def _sorted(self) -> Database:
        """A database with the tables ``items`` (id, key, at) and ``placed`` (at, model, a number per class)."""
        numbers = [f"n{place}" for place in range(len(self._numbers))]
        kinds = [
            ("id", self._long.type_of(self._item)),
            ("key", pa.string()),
            ("model", pa.int64()),
            ("row", pa.int64()),
        ]
        database = Database(self._memory_limit)
        db = database.connection
        with interruptible(), room("the models' rows could not be sorted by item"):
            feed(
                db,
                "CREATE TABLE long AS FROM fed",
                pa.schema([*kinds, *((number, self._kind) for number in numbers)]),
                self._rows(),
            )
            self._refuse_repeats(db)
            db.execute(_ITEMS)
            db.execute(_PLACED.format(numbers=", ".join(numbers)))
            db.execute("DROP TABLE long")
        return database

    def _rows(self) -> Iterator[Any]:
        kind, number = self._long.type_of(self._item), self._kind
        place = {name: at for at, name in enumerate(self.models)}
        wanted = Wanted(self._item, (self._model,), tuple(self._numbers))
        start = 0
        for batch in self._long.batches(wanted, BATCH_ROWS):
            ids = batch.column(0)
            refuse_blanks(self._long, self._item, ids, start)
            model = numbered_names(self._long, self._model, batch.column(self._model), place, start, "model")
            key, rows = as_text(ids), np.arange(start, start + len(batch))
            columns = [ids.cast(kind) if pa.types.is_dictionary(ids.type) else ids if ids.type == kind else key, key]
            columns += [pa.array(model, pa.int64()), pa.array(rows)]
            columns += [batch.column(name).cast(number) for name in self._numbers]
            names = ["id", "key", "model", "row", *(f"n{at}" for at in range(len(self._numbers)))]
            yield pa.RecordBatch.from_arrays(columns, names=names)
            start += len(batch)

    def _refuse_repeats(self, db: Any) -> None:
        found = db.execute(_REPEATS).fetchall()
        if found:
            key, model, times, repeats = found[0]
            raise InvalidObservations(
                f"{self.name} must have one row per item and model; item {key!r} has {times:,} of model "
                f"{list(self.models)[model]!r} ({int(repeats):,} of {self._long.n_rows:,} rows are repeats). "
                "Keep one of each."
            )


_REPEATS = """
    WITH repeated AS (
        SELECT "key", model, count(*) AS times, min(row) AS first FROM long GROUP BY "key", model HAVING count(*) > 1
    )
    SELECT "key", model, times, (SELECT sum(times - 1) FROM repeated) FROM repeated ORDER BY first LIMIT 1
"""
_ITEMS = """
    CREATE TABLE items AS SELECT id, "key", row_number() OVER (ORDER BY first) - 1 AS "at" FROM (
        SELECT first(id ORDER BY row) AS id, "key", min(row) AS first FROM long GROUP BY "key"
    ) ORDER BY first
"""
_PLACED = 'CREATE TABLE placed AS SELECT "at", model, {numbers} FROM long JOIN items USING ("key") ORDER BY "at", model'
