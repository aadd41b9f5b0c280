"""Items are merged and joined in the memory that DuckDB is given, however many there are, in whatever order."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twoheads.tables import in_step, scan
from twoheads.tables.duckdb import Database
from twoheads.tables.kept import merging

N = 200_000
IDS = np.array([f"study of 2026, item number {at:020d}" for at in range(N)])
SHUFFLED = IDS[np.arange(N) * 7919 % N]
LABELS = np.array(["cat", "dog", "emu"])


def answers_of(ids):
    """Answers of two people, apart: those of one after those of the other."""
    number = np.char.partition(ids, "number ")[:, 2].astype(int)
    people = {"ann": LABELS[number % 3], "bob": LABELS[number // 2 % 3]}
    return pa.concat_tables(
        [pa.table({"item": ids, "annotator": [name] * len(ids), "answer": said}) for name, said in people.items()]
    )


def test_items_that_do_not_fit_into_memory_are_merged(tmp_path, monkeypatch):
    numbers = {f"p_{at}": np.linspace(0, 1, N) + at for at in range(4)}
    before = pa.table({"item": IDS, **numbers})
    pq.write_table(before, tmp_path / "items.parquet")
    pq.write_table(before.take(np.arange(N) * 7919 % N), tmp_path / "shuffled.parquet")
    answers = answers_of(SHUFFLED)
    monkeypatch.setattr(in_step, "ROWS", 16_384)
    monkeypatch.setattr(merging, "Database", lambda: Database("40MB"))
    merge = merging.Merge({"items": tmp_path / "items.parquet"})
    merge.add_kept({"items": tmp_path / "shuffled.parquet"})
    merge.add({"answers": batch} for batch in answers.to_batches(100_000))
    counts = merge.changes().counts
    assert counts.pop("answers") == {"new": 2 * N, "replaced": 0, "removed": 0}
    assert not any(any(each.values()) for each in counts.values())
    (tmp_path / "new").mkdir()
    merge.write(tmp_path / "new")
    merge.close()
    assert pq.read_table(tmp_path / "new" / "items.parquet").equals(before)
    written = pq.read_table(tmp_path / "new" / "answers.parquet")
    assert written.equals(answers.sort_by([("item", "ascending"), ("annotator", "ascending")]).combine_chunks())


@pytest.mark.parametrize("has_model", [True, False])
def test_tables_that_do_not_fit_into_memory_are_joined(tmp_path, monkeypatch, has_model):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(in_step, "ROWS", 16_384)
    number = np.arange(N) * 7919 % N
    proba = {f"p_{name}": np.where(number % 3 == at, 0.5, 0.25) for at, name in enumerate(LABELS)}
    pq.write_table(pa.table({"item": SHUFFLED, **proba}), "model.parquet")
    answers = answers_of(IDS[::-1])
    pq.write_table(answers, "answers.parquet")
    pq.write_table(pa.table({"item": IDS, "truth": LABELS[np.arange(N) % 3]}), "truth.parquet")
    model = "model.parquet" if has_model else None
    table = scan(answers="answers.parquet", model=model, truth="truth.parquet", memory_limit="40MB")
    start, expected = 0, SHUFFLED if has_model else IDS[::-1]
    for seen, truth in table.blocks(50_000):
        at = np.char.partition(seen.items.astype(str), "number ")[:, 2].astype(int)
        np.testing.assert_array_equal(seen.items, expected[start : start + len(seen)])
        np.testing.assert_array_equal(truth, LABELS[at % 3])
        np.testing.assert_array_equal(seen.answers.column.reshape(-1, 2), np.stack([at % 3, 3 + at // 2 % 3], axis=1))
        start += len(seen)
    assert start == N


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_blocks_of_tables_in_step_have_all_rows_of_their_ids(rows, monkeypatch):
    monkeypatch.setattr(in_step, "ROWS", 10)
    rng = np.random.default_rng(rows)
    tables = {name: np.sort(rng.integers(0, 200, size)) for name, size in (("a", 100), ("b", 30), ("c", 0), ("d", 90))}
    schema = pa.schema([("id", pa.string()), ("row", pa.int64())])
    whole = {
        name: pa.table([pa.array(map(str, ids), pa.string()), np.arange(len(ids))], schema=schema)
        for name, ids in tables.items()
    }
    blocks = list(in_step.in_step({name: (schema, rows_.to_batches(rows)) for name, rows_ in whole.items()}))
    for name, rows_ in whole.items():
        assert pa.concat_tables([block[name] for block in blocks]).combine_chunks().equals(rows_.combine_chunks())
    ids = [{int(item) for part in block.values() for item in part.column(0).to_pylist()} for block in blocks]
    assert all(max(one) < min(other) for one, other in pairwise([each for each in ids if each]))
    assert max(len(part) for block in blocks for part in block.values()) < 30


def test_kept_rows_that_were_read_are_not_held(tmp_path):
    table = pa.table({"item": np.random.default_rng(0).random(20 * in_step.ROWS)})
    pq.write_table(table, tmp_path / "items.parquet", row_group_size=in_step.ROWS)
    del table
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in merging._read(tmp_path / "items.parquet")]
    assert max(held) < 8 * 8 * in_step.ROWS  # of 20 blocks of 8 bytes a row
