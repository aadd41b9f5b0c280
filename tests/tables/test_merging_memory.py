"""Kept items are merged in the memory that DuckDB is given, however many there are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from twoheads.tables.duckdb import Database
from twoheads.tables.kept import merging

N = 400_000


def test_items_that_do_not_fit_into_memory_are_merged(tmp_path, monkeypatch):
    ids = pa.array([f"item number {at * 7919 % N:020d}" for at in range(N)])
    numbers = {f"p_{at}": np.linspace(0, 1, N) + at for at in range(4)}
    pq.write_table(pa.table({"item": ids, **numbers}), tmp_path / "items.parquet")
    monkeypatch.setattr(merging, "Database", lambda: Database("64MB"))
    kept = {"items": tmp_path / "items.parquet"}
    merge = merging.Merge(kept)
    merge.add_kept(kept)
    assert not merge.changes()
    (tmp_path / "new").mkdir()
    merge.write(tmp_path / "new")
    merge.close()
    table, before = pq.read_table(tmp_path / "new" / "items.parquet"), pq.read_table(tmp_path / "items.parquet")
    assert table.equals(before.sort_by("item"))
