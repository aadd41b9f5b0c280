"""New rows merged into kept ones, for a block of items that has all of their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from twoheads.tables.duckdb import pa, pc
from twoheads.tables.kept.day_rows import KEYS

#: What happens to rows.
WHAT = ("new", "replaced", "removed")
#: In which order the rows of an item come.
_THEN = {"answers": ", annotator, answer, confidence", "truth_by": ", annotator"}
#: Most ids to forget that are reported because no item has them.
_MOST_LOST = 100
_NUMBERED = "(PARTITION BY item, annotator ORDER BY answer, confidence)"


class BlockMerge:
    """Merges blocks, and adds up what has changed.

    A block holds Arrow tables: of each kind kept rows (``old_items``) and new ones (``day_items``), and ids to forget
    (``gone``). A new answer replaces those of the same person on the same item, a new truth or model row that of the
    item; of two times of an item the later counts. Whoever stated the truth of an item (``truth_by``) has no answer on
    it, whichever of the two came first: what was marked as the truth is not also an answer.

    Parameters
    ----------
    connection : DuckDB connection
        Where a block is merged.
    numbers : sequence of str
        The models' columns.
    start : int or None
        Items with an earlier time, in microseconds, are removed.
    """

    def __init__(self, connection: Any, numbers: Sequence[str], start: int | None) -> None:
        self._db, self._numbers, self._start = connection, numbers, start
        #: For each count the kind of its rows, the columns in which two may differ, and whether rows with only gaps
        #: there are left out.
        self._counted: dict[str, tuple[str, Sequence[str], bool]] = {
            "items": ("items", (), False),
            "answers": ("answers", ("answer", "confidence"), False),
            "truths": ("truth", ("truth",), False),
            "model rows": ("items", numbers, True),
            "times": ("times", ("time",), False),
        }
        self.counts = {name: dict.fromkeys(WHAT, 0) for name in self._counted}
        #: How many rows of each kind there are, and how many answers have a confidence.
        self.n_rows: Counter[str] = Counter()
        #: How many items have a truth and no answer or model row; how many of the others have no time.
        self.n_waiting = self.n_timeless = 0
        #: How many people are new who stated the truth of an item.
        self.n_authors = 0
        #: Items that have two new truths, the first of them and how many; ids to forget that no item has, the first.
        self.two_truths: tuple[str | None, int] = (None, 0)
        self.lost: list[str] = []

    def merge(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """The rows of each kind after merging, in their order."""
        changing = self._changing(block)
        new = {kind: block[f"old_{kind}"] for kind in KEYS}
        if len(changing):
            staying = {kind: _of(rows, changing, False) for kind, rows in new.items()}
            for name, rows in block.items():
                self._db.register(name, _of(rows, changing, True) if name.startswith("old_") else rows)
            self._look_at_truths_and_lost()
            self._merge()
            self._count()
            new = {kind: self._sorted(kind, rows) for kind, rows in staying.items()}
        self.n_waiting += _n_lacking(new["truth"], new["items"])
        self.n_timeless += _n_lacking(new["items"], new["times"])
        self.n_rows += Counter({kind: len(rows) for kind, rows in new.items()})
        self.n_rows["confidence"] += pc.count(new["answers"].column("confidence")).as_py()
        return new

    def _changing(self, block: Mapping[str, Any]) -> Any:
        """The ids of items of which there are new rows, or which are to be removed: the others stay as they are."""
        found = [rows.column("item") for name, rows in block.items() if not name.startswith("old_")]
        if self._start is not None:
            times = block["old_times"]
            found.append(
                times.filter(pc.less(times.column("time"), pa.scalar(self._start, pa.timestamp("us")))).column("item")
            )
        return pc.unique(pa.chunked_array([chunk for ids in found for chunk in ids.chunks], pa.string()))

    def _look_at_truths_and_lost(self) -> None:
        off = "SELECT item FROM day_truth GROUP BY item HAVING min(truth) <> max(truth)"
        first, n_off = self._row(f"SELECT min(item), count(*) FROM ({off})")
        before, n_before = self.two_truths
        if n_off:
            self.two_truths = (first if before is None else min(before, first), n_before + n_off)
        known = " UNION ALL ".join(f"SELECT item FROM {age}_{kind}" for age in ("old", "day") for kind in KEYS)
        query = f"SELECT DISTINCT item FROM gone ANTI JOIN ({known}) USING (item) ORDER BY item LIMIT {_MOST_LOST}"
        lost = [item for (item,) in self._db.execute(query).fetchall()]
        self.lost = sorted({*self.lost, *lost})[:_MOST_LOST]

    def _merge(self) -> None:
        """Make the tables ``new_<kind>`` of the items that change."""
        self._make(
            "dated", "SELECT item, max(time) AS time FROM (FROM old_times UNION ALL FROM day_times) GROUP BY item"
        )
        early = "false" if self._start is None else f"epoch_us(time) < {self._start}"
        self._make("removed", f"FROM gone UNION ALL SELECT item FROM dated WHERE {early}")
        newest = "".join(f", arg_max({name}, age) AS {name}" for name in self._numbers)  # of those that are not NULL
        self._make(
            "items",
            f"SELECT item{newest} FROM (SELECT 0 AS age, * FROM old_items UNION ALL BY NAME "
            "SELECT 1 AS age, * FROM day_items UNION ALL BY NAME SELECT 1 AS age, item FROM day_answers) GROUP BY item",
        )
        for age in ("old", "day"):
            self._make(f"{age}_numbered", f"SELECT *, row_number() OVER {_NUMBERED} AS place FROM {age}_answers")
        self._make("truths", "SELECT DISTINCT item, truth FROM day_truth")
        self._make("authors", "SELECT DISTINCT item, annotator FROM (FROM old_truth_by UNION ALL FROM day_truth_by)")
        self._make(
            "given",
            "SELECT * FROM (FROM day_numbered UNION ALL SELECT o.* FROM old_numbered AS o "
            "ANTI JOIN day_numbered USING (item, annotator)) ANTI JOIN authors USING (item, annotator)",
        )
        there = " OR ".join(f"{name} IS NOT NULL" for name in self._numbers) or "false"
        for kind, query in {
            "items": f"FROM items WHERE {there} OR item IN (SELECT item FROM given)",
            "answers": "FROM given",
            "truth": "FROM truths UNION ALL SELECT o.* FROM old_truth AS o ANTI JOIN truths USING (item)",
            "truth_by": "FROM authors",
            "times": "FROM dated",
        }.items():
            self._make(f"new_{kind}", f"SELECT * FROM ({query}) ANTI JOIN removed USING (item)")
        self.n_authors += self._row("SELECT count(*) FROM (FROM new_truth_by EXCEPT FROM old_truth_by)")[0]

    def _make(self, table: str, query: str) -> None:
        self._db.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {query}")

    def _count(self) -> None:
        """Count the rows that are new, replaced and removed."""
        for name, (kind, values, has_gaps) in self._counted.items():
            keys, own = ", ".join(KEYS[kind]), ", ".join([*KEYS[kind], *values])
            only = " WHERE " + (" OR ".join(f"{value} IS NOT NULL" for value in values) or "false") if has_gaps else ""
            old = "old_numbered" if kind == "answers" else f"old_{kind}"
            differs = " OR ".join(f"fresh.{value} IS DISTINCT FROM before.{value}" for value in values) or "false"
            found = self._row(
                f"SELECT count(*) FILTER (before.there IS NULL), count(*) FILTER (fresh.there AND before.there AND "
                f"({differs})), count(*) FILTER (fresh.there IS NULL) "
                f"FROM (SELECT {own}, true AS there FROM new_{kind}{only}) AS fresh "
                f"FULL JOIN (SELECT {own}, true AS there FROM {old}{only}) AS before USING ({keys})"
            )
            for what, n_rows in zip(WHAT, found, strict=True):
                self.counts[name][what] += n_rows

    def _sorted(self, kind: str, staying: Any) -> Any:
        """The rows of a kind, those that stay and those of items that change, in their order."""
        self._db.register("staying", staying)
        columns = ", ".join(staying.schema.names)
        query = f"SELECT {columns} FROM (SELECT {columns} FROM staying UNION ALL SELECT {columns} FROM new_{kind})"
        return self._db.sql(f"{query} ORDER BY length(item), item{_THEN.get(kind, '')}").to_arrow_table()

    def _row(self, sql: str) -> Any:
        return self._db.execute(sql).fetchall()[0]


def _of(rows: Any, ids: Any, among: bool) -> Any:
    """The rows of these items, or of all others."""
    found = pc.is_in(rows.column("item"), value_set=ids)
    return rows.filter(found if among else pc.invert(found))


def _n_lacking(rows: Any, others: Any) -> int:
    """How many rows are of items of which there is no other."""
    there = pc.is_in(rows.column("item"), value_set=others.column("item"))
    return len(rows) - int(pc.sum(there, min_count=0).as_py())
