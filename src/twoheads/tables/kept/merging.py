"""New rows merged into kept ones by item, on disk: memory does not grow with the tables.

A new answer replaces those of the same person on the same item, a new truth or model row that of the item; of two times
of an item the later counts. Rows are sorted by item, so that the same rows give the same files in any order of days.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import sorted_names
from twoheads.tables.duckdb import Database, feed, interruptible, pa, pq, room
from twoheads.tables.kept.day_rows import KEYS
from twoheads.tables.rows import gathered
from twoheads.tables.writing import write
from twoheads.text import cut

_ROWS = 131_072
#: The columns of each kind beside those of models, which are numbered: names that differ only in case are one in SQL.
_COLUMNS = {
    "answers": {"item": "VARCHAR", "annotator": "VARCHAR", "answer": "VARCHAR", "confidence": "DOUBLE"},
    "truth": {"item": "VARCHAR", "truth": "VARCHAR"},
    "times": {"item": "VARCHAR", "time": "TIMESTAMP"},
}
#: Where a row of a kind ends up among the others; ids of the same length as text: 2 comes before 10.
_ORDER = {"answers": ", annotator, place"}


@dataclass(frozen=True)
class Changes:
    """How many rows of each kind are new, replaced and removed: items, answers, truths, model rows and times."""

    counts: dict[str, dict[str, int]]

    def __bool__(self) -> bool:
        return any(any(each.values()) for each in self.counts.values())


class Merge:
    """A database of kept rows (``old``), rows to merge (``day``) and the result (``new``), a table of each kind.

    Parameters
    ----------
    kept : dict of str to Path
        The file of each kind of kept rows; a kind may be missing.
    """

    def __init__(self, kept: Mapping[str, Path]) -> None:
        self._database = Database()
        self._db = self._database.connection
        self._db.execute("SET preserve_insertion_order = false")  # rows are sorted when they are written
        self._columns: dict[str, list[str]] = {"old": [], "day": []}
        for kind, columns in _COLUMNS.items():
            for age in ("old", "day"):
                self._db.execute(f"CREATE TABLE {age}_{kind} ({', '.join(map(' '.join, columns.items()))})")
        self._db.execute("CREATE TABLE old_items (item VARCHAR); CREATE TABLE day_items (item VARCHAR)")
        self._db.execute("CREATE TABLE gone (item VARCHAR)")
        for rows in _read(kept):
            self._insert("old", rows)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of any kinds, as record batches by kind."""
        with interruptible(), room("the items could not be kept"):
            for each in rows:
                self._insert("day", each)

    def add_kept(self, kept: Mapping[str, Path]) -> None:
        """Take the kept rows of another team."""
        self.add(_read(kept))

    def add_times(self, texts: Iterator[Any], column: str) -> None:
        """Take times by item, as record batches (item, text)."""
        schema = pa.schema([("item", pa.string()), ("text", pa.string())])
        feed(self._db, "CREATE OR REPLACE TABLE texts AS FROM fed WHERE trim(text) <> ''", schema, texts)
        n_off, first = self._row("SELECT count(*), first(text) FROM texts WHERE TRY_CAST(text AS TIMESTAMP) IS NULL")
        if n_off:
            raise InvalidObservations(
                f"column {column!r} must hold dates or times such as 2026-11-16 or 2026-11-16T21:30:00; "
                f"it has {first!r} ({n_off:,} rows are off). Write them so, or leave them blank."
            )
        self._db.execute("INSERT INTO day_times SELECT item, max(CAST(text AS TIMESTAMP)) FROM texts GROUP BY item")

    def forget(self, ids: Iterable[Any]) -> None:
        """Remove items, given as Arrow arrays of their ids as text."""
        batches = (pa.record_batch({"item": each}) for each in ids)
        feed(self._db, "INSERT INTO gone FROM fed", pa.schema([("item", pa.string())]), batches)

    def not_found(self) -> list[str]:
        """The ids to forget that no item has, at most a few of them; call it before `changes`."""
        if not self._row("SELECT count(*) FROM gone")[0]:
            return []
        known = " UNION ".join(f"SELECT item FROM {age}_{kind}" for age in ("old", "day") for kind in KEYS)
        query = f"SELECT DISTINCT item FROM gone ANTI JOIN ({known}) USING (item) ORDER BY item LIMIT 100"
        return [item for (item,) in self._db.execute(query).fetchall()]

    def changes(self, window: int | None = None) -> Changes:
        """Merge, keep the items of the last ``window`` days of times, and count what is new."""
        with interruptible(), room("the items could not be merged"):
            self._refuse_two_truths()
            self._number_answers()
            self._merge_items()
            self._merge("answers", ("item", "annotator"))
            self._merge("truth", ("item",))
            self._db.execute(
                "CREATE TABLE new_times AS SELECT item, max(time) AS time "
                "FROM (FROM old_times UNION ALL FROM day_times) GROUP BY item"
            )
            self._remove(window)
            return Changes({name: self._changed(*what) for name, what in self._compared().items()})

    def write(self, folder: Path) -> None:
        """Write each kind that has rows to a Parquet file in a folder."""
        for kind in KEYS:
            if self._row(f"SELECT count(*) FROM new_{kind}")[0]:
                write(folder / f"{kind}.parquet", self._sorted(kind))

    def n_waiting(self) -> int:
        """How many items have a truth, and neither an answer nor a model row yet."""
        return int(self._row("SELECT count(*) FROM new_truth ANTI JOIN new_items USING (item)")[0])

    def n_timeless(self) -> int:
        """How many items have no time."""
        return int(self._row("SELECT count(*) FROM new_items ANTI JOIN new_times USING (item)")[0])

    def close(self) -> None:
        """Discard the database: a fit needs its memory."""
        self._database.discard()

    def _insert(self, age: str, rows: Mapping[str, Any]) -> None:
        for kind, batch in rows.items():
            columns = self._numbered(age, batch) if kind == "items" else {name: name for name in _COLUMNS[kind]}
            there = [name for name in batch.schema.names if name in columns]
            fed = [f"c{at}" for at in range(len(there))]
            self._db.register("fed", pa.Table.from_arrays([batch.column(name) for name in there], names=fed))
            into = ", ".join(columns[name] for name in there)
            self._db.execute(f"INSERT INTO {age}_{kind} ({into}) SELECT {', '.join(fed)} FROM fed")
            self._db.unregister("fed")

    def _numbered(self, age: str, batch: Any) -> dict[str, str]:
        """The numbers of the models' columns, with the column of ids; those that are new are added."""
        for name in batch.schema.names:
            if name != "item" and name not in self._columns[age]:
                kind = "DOUBLE" if pa.types.is_floating(batch.schema.field(name).type) else "VARCHAR"
                self._db.execute(f"ALTER TABLE {age}_items ADD COLUMN n{len(self._columns[age])} {kind}")
                self._columns[age].append(name)
        return {"item": "item"} | {name: f"n{at}" for at, name in enumerate(self._columns[age])}

    def _refuse_two_truths(self) -> None:
        found = self._db.execute(
            "SELECT item, count(*) OVER () FROM day_truth GROUP BY item HAVING count(DISTINCT truth) > 1 "
            "ORDER BY item LIMIT 1"
        ).fetchall()
        if found:
            raise InvalidObservations(
                f"there must be one truth per item; item '{cut(found[0][0])}' has several that differ "
                f"({found[0][1]:,} items are off). Keep one of each, or leave it blank."
            )
        self._db.execute("CREATE OR REPLACE TABLE day_truth AS SELECT DISTINCT item, truth FROM day_truth")

    def _number_answers(self) -> None:
        """Number the answers of one person on one item: there may be several in one table."""
        for age in ("old", "day"):
            self._db.execute(
                f"CREATE OR REPLACE TABLE {age}_answers AS SELECT *, row_number() OVER "
                f"(PARTITION BY item, annotator ORDER BY answer, confidence) AS place FROM {age}_answers"
            )

    def _merge(self, kind: str, key: tuple[str, ...]) -> None:
        keys = ", ".join(key)
        self._db.execute(
            f"CREATE TABLE new_{kind} AS FROM day_{kind} UNION ALL "
            f"SELECT old.* FROM old_{kind} AS old ANTI JOIN (SELECT {keys} FROM day_{kind}) USING ({keys})"
        )

    def _merge_items(self) -> None:
        """Every item with an answer or a model row, and the numbers of its models: the new ones, else the old ones.

        One aggregate, which DuckDB spills to disk as it needs; joins of several tables at once hold all of them.
        """
        new = self._columns["new"] = sorted_names({*self._columns["old"], *self._columns["day"]})
        parts = []
        for age, rank in (("old", 0), ("day", 1)):
            names = self._columns[age]
            numbers = "".join(
                f", {f'n{names.index(name)}' if name in names else 'NULL'} AS n{at}" for at, name in enumerate(new)
            )
            parts.append(f"SELECT item, {rank} AS age{numbers} FROM {age}_items")
        empty = "".join(f", NULL AS n{at}" for at in range(len(new)))
        parts.append(f"SELECT item, 1 AS age{empty} FROM day_answers")
        newest = "".join(f", arg_max(n{at}, age) AS n{at}" for at in range(len(new)))  # of those that are not NULL
        self._db.execute(
            f"CREATE TABLE new_items AS SELECT item{newest} FROM ({' UNION ALL '.join(parts)}) GROUP BY item"
        )

    def _remove(self, window: int | None) -> None:
        """Remove the items that are to be forgotten, and those before the window."""
        self._db.execute("DELETE FROM new_times WHERE item IN (SELECT item FROM gone)")
        if window is not None:
            self._db.execute(
                "INSERT INTO gone SELECT item FROM new_times "
                "WHERE time < (SELECT max(time) FROM new_times) - to_days(?)",
                [window],
            )
        for kind in KEYS:
            self._db.execute(f"DELETE FROM new_{kind} WHERE item IN (SELECT item FROM gone)")

    def _compared(self) -> dict[str, tuple[str, tuple[str, ...], dict[str, str], str]]:
        """Of each count: the kind, its key, and the columns that may differ, in the new rows and in the old ones."""
        old, new = self._columns["old"], self._columns["new"]
        numbers = {f"n{at}": f"n{old.index(name)}" if name in old else "NULL" for at, name in enumerate(new)}
        return {
            "items": ("items", KEYS["items"], {}, ""),
            "answers": ("answers", KEYS["answers"], {"answer": "answer", "confidence": "confidence"}, ""),
            "truths": ("truth", KEYS["truth"], {"truth": "truth"}, ""),
            "model rows": ("items", KEYS["items"], numbers, "numbers"),
            "times": ("times", KEYS["times"], {"time": "time"}, ""),
        }

    def _changed(self, kind: str, key: tuple[str, ...], values: dict[str, str], part: str) -> dict[str, int]:
        """How many rows are new, replaced and removed; of items with ``part``, those with any number."""
        keys = ", ".join(key)
        new = ", ".join([keys, *(f"{name} AS v{at}" for at, name in enumerate(values))])
        old = ", ".join([keys, *(f"{name} AS v{at}" for at, name in enumerate(values.values()))])
        any_value = " OR ".join(f"v{at} IS NOT NULL" for at in range(len(values))) or "false"
        only = f" WHERE {any_value}" if part else ""
        differs = " OR ".join(f"fresh.v{at} IS DISTINCT FROM before.v{at}" for at in range(len(values))) or "false"
        counts = self._row(
            "SELECT count(*) FILTER (before.there IS NULL), "
            f"count(*) FILTER (fresh.there AND before.there AND ({differs})), count(*) FILTER (fresh.there IS NULL) "
            f"FROM (SELECT *, true AS there FROM (SELECT {new} FROM new_{kind}){only}) AS fresh "
            f"FULL JOIN (SELECT *, true AS there FROM (SELECT {old} FROM old_{kind}){only}) AS before USING ({keys})"
        )
        return dict(zip(("new", "replaced", "removed"), map(int, counts), strict=True))

    def _sorted(self, kind: str) -> Iterator[Any]:
        """The new rows in their order, as record batches of always the same sizes."""
        names = list(_COLUMNS[kind]) if kind in _COLUMNS else ["item", *self._columns["new"]]
        wanted = names if kind in _COLUMNS else ["item", *(f"n{at}" for at in range(len(names) - 1))]
        if kind == "answers" and not self._row("SELECT count(confidence) FROM new_answers")[0]:
            names = wanted = names[:-1]
        order = f"length(item), item{_ORDER.get(kind, '')}"
        query = self._db.sql(f"SELECT {', '.join(wanted)} FROM new_{kind} ORDER BY {order}")
        for block in gathered(query.to_arrow_reader(_ROWS), _ROWS):
            yield from pa.Table.from_batches(block.batches).rename_columns(names).combine_chunks().to_batches()

    def _row(self, sql: str) -> Any:
        return self._db.execute(sql).fetchall()[0]


def model_columns(items: Path) -> list[str]:
    """The models' columns in a file of items."""
    return [name for name in pq.read_schema(items).names if name != "item"]


def _read(kept: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    for kind, path in kept.items():
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS):
                yield {kind: batch}
