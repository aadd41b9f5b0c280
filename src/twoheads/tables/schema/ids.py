"""Item ids: none blank, none twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes
from twoheads.observations.labels import is_missing, label_text
from twoheads.tables.duckdb import BATCH_ROWS, connected, feed, pa, pc
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.formats.typed_columns import is_text
from twoheads.tables.schema.coding import code_by
from twoheads.tables.schema.id_hashes import IdHashes


class IdCheck:
    """Looks for repeated ids. While they increase none can repeat; once they do not, their hashes are kept.

    Parameters
    ----------
    source : Source
        The table.
    column : str
        Its column of ids.
    """

    def __init__(self, source: Source, column: str) -> None:
        self.source, self.column = source, column
        self._last: Any = None
        self._hashes: IdHashes | None = None
        self._n_sorted = 0

    def look(self, ids: Any, start: int) -> None:
        """Look at the ids of the next rows, from ``start`` on; refuse blanks."""
        refuse_blanks(self.source, self.column, ids, start)
        if len(ids) == 0:
            return
        if self._hashes is None and (pa.types.is_dictionary(ids.type) or not self._increasing(ids)):
            self._hashes, self._n_sorted = IdHashes(), start
        if self._hashes is not None:
            self._hashes.add(as_text(ids))

    def finish(self) -> None:
        """Refuse repeated ids, after all rows: which one, how often, and how many rows are repeats."""
        if self._hashes is None:
            return
        for ids in _until(self._n_sorted, numbered_ids(self.source, self.column)):
            self._hashes.add(ids)
        twice = self._hashes.twice()
        self._hashes.discard()
        # Two texts may share a hash: only the texts decide.
        if len(twice) and (found := _same_texts(self.source, self.column, twice)):
            raise repeated(self.source, self.column, *found)

    def _increasing(self, ids: Any) -> bool:
        values = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        before, self._last = self._last, values[-1]
        if before is not None and not pc.less(before, values[0]).as_py():
            return False
        return len(values) == 1 or bool(pc.all(pc.less(values[:-1], values[1:])).as_py())


def _until(row: int, batches: Iterator[Any]) -> Iterator[Any]:
    """The ids of the first rows, up to ``row``."""
    while row > 0:
        batch = next(batches)
        yield batch.column(0).slice(0, row)
        row -= len(batch)


def _same_texts(source: Source, column: str, hashes: NDArray[np.uint64]) -> Any:
    """(id, times, repeats in all) of the first repeated id, of those that have one of the hashes; or None."""
    schema = pa.schema([("id", pa.string()), ("at", pa.int64())])
    with connected() as connection:
        connection.register("twice", pa.table({"hash": hashes}))
        copy = "CREATE TABLE ids AS FROM fed WHERE hash(id) IN (SELECT hash FROM twice)"
        feed(connection, copy, schema, numbered_ids(source, column))
        return next(iter(connection.execute(_REPEATS).fetchall()), None)


_REPEATS = """
    WITH repeated AS (SELECT id, count(*) AS times, min("at") AS first FROM ids GROUP BY id HAVING count(*) > 1)
    SELECT id, times, (SELECT sum(times - 1) FROM repeated) FROM repeated ORDER BY first LIMIT 1
"""


def repeated(source: Source, column: str, item: str, times: int, repeats: int) -> InvalidObservations:
    """A repeated id, as a sentence."""
    several = (
        " It has a column 'model': give the answers in a separate table (--answers), or keep the rows of one model."
        if "model" in source.columns
        else ""
    )
    return InvalidObservations(
        f"{source.name} must have one row per item; item {item!r} of column {column!r} has {times:,} "
        f"({int(repeats):,} of {source.n_rows:,} rows are repeats). Keep one row of each item.{several}"
    )


def numbered_ids(source: Source, column: str) -> Iterator[Any]:
    """The ids of a table as text, with the number of each row, in record batches (id, at)."""
    start = 0
    for batch in source.batches(Wanted(item=column), BATCH_ROWS):
        ids = batch.column(0)
        refuse_blanks(source, column, ids, start)
        at = np.arange(start, start + len(ids))
        yield pa.RecordBatch.from_arrays([as_text(ids), pa.array(at)], names=["id", "at"])
        start += len(ids)


def refuse_blanks(source: Source, column: str, ids: Any, start: int) -> None:
    """Refuse blank ids; they are those of the rows from ``start`` on."""
    _refuse_blank(source, column, blanks(ids), start, "item")


def numbered_names(source: Source, column: str, names: Any, known: dict[str, int], start: int, what: str) -> Codes:
    """The number of each row's name in ``known``, to which new names are added; none may be blank.

    start, what  the number of the first row, and what the names are of
    """
    codes = code_by([names], lambda name: -1 if is_missing(name) else known.setdefault(label_text(name), len(known)))
    _refuse_blank(source, column, codes < 0, start, what)
    return codes


def _refuse_blank(source: Source, column: str, blank: NDArray[np.bool_], start: int, what: str) -> None:
    if blank.any():
        where = source.where(start + int(blank.argmax()))
        raise InvalidObservations(
            f"column {column!r} must name the {what} in every row; {where} is blank. Name it, or drop the row."
        )


def as_text(ids: Any) -> Any:
    """Ids as the texts by which tables are joined: a whole number without its decimal point."""
    if pa.types.is_dictionary(ids.type):
        ids = ids.cast(ids.type.value_type)
    if pa.types.is_floating(ids.type):
        return pa.array([None if value is None else label_text(value) for value in ids.to_pylist()], pa.string())
    return ids.cast(pa.string())


def blanks(ids: Any) -> NDArray[np.bool_]:
    """Which ids are blank: a gap, NaN, or text of blanks."""
    if ids.null_count == 0 and not pa.types.is_floating(ids.type) and not is_text(ids.type):
        return np.zeros(len(ids), dtype=bool)
    if is_text(ids.type):
        empty = pc.or_(pc.equal(pc.binary_length(ids), 0), pc.utf8_is_space(ids))
    else:
        empty = pc.is_null(ids, nan_is_null=True)
    return np.asarray(pc.fill_null(empty, True))


def as_items(ids: Any) -> NDArray[Any]:
    """Ids as an array: numbers as they are, texts as objects."""
    values = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return np.asarray(values.to_numpy(zero_copy_only=False))
