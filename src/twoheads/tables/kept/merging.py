"""New rows merged into kept ones by item, on disk: memory does not grow with the tables.

Kept rows are in the order of their ids, new ones are sorted by DuckDB, and both are read in step, block by block. The
same rows give the same files in any order of days.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import sorted_names
from twoheads.tables.duckdb import Database, feed, interruptible, pa, pc, pq, room
from twoheads.tables.in_step import ROWS, in_step, read_batches, sorted_by_id
from twoheads.tables.kept.block_merge import BlockMerge
from twoheads.tables.kept.day_rows import KEYS
from twoheads.tables.rows import gathered
from twoheads.tables.writing import write
from twoheads.text import are, cut

#: The columns of each kind beside those of models.
_COLUMNS = {
    "items": {"item": "VARCHAR"},
    "answers": {"item": "VARCHAR", "annotator": "VARCHAR", "answer": "VARCHAR", "confidence": "DOUBLE"},
    "truth": {"item": "VARCHAR", "truth": "VARCHAR"},
    "truth_by": {"item": "VARCHAR", "annotator": "VARCHAR"},
    "times": {"item": "VARCHAR", "time": "TIMESTAMP"},
}
#: A day in microseconds.
_DAY = 86_400_000_000
_TYPES = {"VARCHAR": pa.string(), "DOUBLE": pa.float64(), "TIMESTAMP": pa.timestamp("us")}


@dataclass(frozen=True)
class Changes:
    """How many rows of each kind are new, replaced and removed: items, answers, truths, model rows and times.

    n_authors  how many people are new whose answers do not count, since they stated an item's truth
    """

    counts: dict[str, dict[str, int]]
    n_authors: int = 0

    def __bool__(self) -> bool:
        return bool(self.n_authors) or any(any(each.values()) for each in self.counts.values())


class Merge:
    """Kept rows (``old``), rows to merge (``day``) and the result, a table of each kind.

    Parameters
    ----------
    kept : dict of str to Path
        The file of each kind of kept rows, in the order of their ids; a kind may be missing.
    """

    def __init__(self, kept: Mapping[str, Path]) -> None:
        self._kept = dict(kept)
        self._database = Database()
        self._db = self._database.connection
        self._db.execute("SET preserve_insertion_order = false")  # rows are sorted when they are read
        for kind, columns in _COLUMNS.items():
            self._db.execute(f"CREATE TABLE day_{kind} ({', '.join(map(' '.join, columns.items()))})")
        self._db.execute("CREATE TABLE gone (item VARCHAR)")
        #: The models' columns of the rows to merge, with their types. SQL has them by number, as it does not tell names
        #: apart by case.
        self._numbers: dict[str, str] = {}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of any kinds, as record batches by kind."""
        with interruptible(), room("the items could not be kept"):
            for each in rows:
                for kind, batch in each.items():
                    self._insert(kind, batch)

    def add_kept(self, kept: Mapping[str, Path]) -> None:
        """Take the kept rows of another team."""
        self.add({kind: batch} for kind, path in kept.items() for batch in _read(path))

    def add_times(self, texts: Iterator[Any], column: str) -> None:
        """Take times by item, as record batches (item, text)."""
        schema = pa.schema([("item", pa.string()), ("text", pa.string())])
        feed(self._db, "CREATE OR REPLACE TABLE texts AS FROM fed WHERE trim(text) <> ''", schema, texts)
        off = "SELECT count(*), first(text) FROM texts WHERE TRY_CAST(text AS TIMESTAMP) IS NULL"
        n_off, first = self._db.execute(off).fetchall()[0]
        if n_off:
            raise InvalidObservations(
                f"column {column!r} must hold dates or times such as 2026-11-16 or 2026-11-16T21:30:00; "
                f"it has {first!r} ({are(n_off, 'row')} off). Write them so, or leave them blank."
            )
        self._db.execute("INSERT INTO day_times SELECT item, CAST(text AS TIMESTAMP) FROM texts; DROP TABLE texts")

    def forget(self, ids: Iterable[Any]) -> None:
        """Remove items, given as Arrow arrays of their ids as text."""
        batches = (pa.record_batch({"item": each}) for each in ids)
        feed(self._db, "INSERT INTO gone FROM fed", pa.schema([("item", pa.string())]), batches)

    def changes(self, window: int | None = None) -> Changes:
        """Merge, keep the items of the last ``window`` days of times, and count what is new."""
        with interruptible(), room("the items could not be merged"), ExitStack() as files:
            schemas = self._schemas()
            start = None if window is None else self._start(window, schemas)
            self._merged = BlockMerge(self._db, schemas["items"].names[1:], start)
            writers = {
                kind: files.enter_context(pa.ipc.new_stream(self._part(kind), schema))
                for kind, schema in schemas.items()
            }
            for block in in_step(self._tables(schemas)):
                for kind, rows in self._merged.merge(block).items():
                    writers[kind].write_table(rows)
        self._refuse_two_truths(*self._merged.two_truths)
        return Changes(self._merged.counts, self._merged.n_authors)

    @property
    def lost(self) -> list[str]:
        """The ids to forget that no item has, at most 100 of them; known after `changes`, as what follows."""
        return self._merged.lost

    @property
    def n_waiting(self) -> int:
        """How many items have a truth, and neither an answer nor a model row yet."""
        return self._merged.n_waiting

    @property
    def n_timeless(self) -> int:
        """How many items have no time."""
        return self._merged.n_timeless

    def write(self, folder: Path) -> None:
        """Write each kind that has rows to a Parquet file in a folder."""
        for kind in KEYS:
            if self._merged.n_rows[kind]:
                write(folder / f"{kind}.parquet", self._rows(kind))

    def close(self) -> None:
        """Discard the database: a fit needs its memory."""
        self._database.discard()

    def _insert(self, kind: str, batch: Any) -> None:
        columns = {name: name for name in _COLUMNS[kind]}
        if kind == "items":
            self._number(batch.schema)
            columns |= {name: f"n{at}" for at, name in enumerate(self._numbers)}
        there = [name for name in batch.schema.names if name in columns]
        fed = [f"c{at}" for at in range(len(there))]
        self._db.register("fed", pa.Table.from_arrays([batch.column(name) for name in there], names=fed))
        into = ", ".join(columns[name] for name in there)
        self._db.execute(f"INSERT INTO day_{kind} ({into}) SELECT {', '.join(fed)} FROM fed")
        self._db.unregister("fed")

    def _number(self, schema: Any) -> None:
        """Add the models' columns that are new to the rows to merge."""
        for name, kind in _model_types(schema).items():
            if name not in self._numbers:
                self._db.execute(f"ALTER TABLE day_items ADD COLUMN n{len(self._numbers)} {kind}")
                self._numbers[name] = kind

    def _all_numbers(self) -> dict[str, str]:
        """The models' columns of all rows with their types, in the order of their names."""
        kept = _model_types(pq.read_schema(self._kept["items"])) if "items" in self._kept else {}
        found = kept | self._numbers
        return {name: found[name] for name in sorted_names(found)}

    def _schemas(self) -> dict[str, Any]:
        """The columns of each kind in a block; those of models are numbered."""
        numbers = {f"n{at}": kind for at, kind in enumerate(self._all_numbers().values())}
        columns = {kind: _COLUMNS[kind] | (numbers if kind == "items" else {}) for kind in KEYS}
        return {kind: pa.schema([(name, _TYPES[of]) for name, of in each.items()]) for kind, each in columns.items()}

    def _tables(self, schemas: Mapping[str, Any]) -> dict[str, tuple[Any, Iterator[Any]]]:
        """The tables of a block, to be read in step."""
        item = pa.schema([("item", pa.string())])
        tables = {"gone": (item, sorted_by_id(self._database, "gone", ["item"]))}
        at = {name: f"n{number}" for number, name in enumerate(self._numbers)}
        day = [at.get(name, f"NULL::{kind}") for name, kind in self._all_numbers().items()]
        for kind, schema in schemas.items():
            columns = ["item", *day] if kind == "items" else schema.names
            tables[f"old_{kind}"] = (schema, self._old(kind, schema))
            tables[f"day_{kind}"] = (schema, sorted_by_id(self._database, f"day_{kind}", columns))
        return tables

    def _old(self, kind: str, schema: Any) -> Iterator[Any]:
        """The kept rows of a kind in the columns of a block; one that is missing is a gap."""
        if kind not in self._kept:
            return
        names = ["item", *self._all_numbers()] if kind == "items" else schema.names
        for batch in _read(self._kept[kind]):
            columns = [
                batch.column(name) if name in batch.schema.names else pa.nulls(len(batch), of)
                for name, of in zip(names, schema.types, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _start(self, window: int, schemas: Mapping[str, Any]) -> int | None:
        """The earliest time, in microseconds, of a window that ends with the newest one; None without any."""
        newest: list[int] = []
        for block in in_step(self._tables({"times": schemas["times"]})):
            for rows in (block["old_times"], block["day_times"]):
                staying = rows.filter(pc.invert(pc.is_in(rows.column("item"), value_set=block["gone"].column("item"))))
                times = pc.drop_null(staying.column("time")).cast(pa.int64())
                newest = [max([*newest, pc.max(times).as_py()])] if len(times) else newest
        return newest[0] - window * _DAY if newest else None

    def _refuse_two_truths(self, item: str | None, n_off: int) -> None:
        if item is not None:
            raise InvalidObservations(
                f"there must be one truth per item; item '{cut(item)}' has several that differ "
                f"({are(n_off, 'item')} off). Keep one of each, or leave it blank."
            )

    def _part(self, kind: str) -> str:
        """The file of the merged rows of a kind until they are written."""
        return os.path.join(self._database.folder, f"{kind}.arrows")

    def _rows(self, kind: str) -> Iterator[Any]:
        """The merged rows of a kind, as record batches of always the same sizes."""
        names = ["item", *self._all_numbers()] if kind == "items" else list(_COLUMNS[kind])
        if kind == "answers" and not self._merged.n_rows["confidence"]:
            names = names[:-1]
        for block in gathered(read_batches(self._part(kind)), ROWS):
            rows = pa.Table.from_batches(block.batches).combine_chunks()
            yield from rows.select(range(len(names))).rename_columns(names).to_batches()


def model_columns(items: Path) -> list[str]:
    """The models' columns in a file of items."""
    return list(_model_types(pq.read_schema(items)))


def _model_types(schema: Any) -> dict[str, str]:
    """The models' columns of a schema, with their types in SQL."""
    kinds = {name: schema.field(name).type for name in schema.names if name != "item"}
    return {name: "DOUBLE" if pa.types.is_floating(kind) else "VARCHAR" for name, kind in kinds.items()}


def _read(path: Path) -> Iterator[Any]:
    with pq.ParquetFile(path, pre_buffer=False) as file:  # else every byte that was read is held until the end
        yield from file.iter_batches(ROWS)
