"""Ids that stand twice are found whatever their order and number, and only they."""

import errno

import numpy as np
import pyarrow as pa
import pytest

from twoheads import NoRoom
from twoheads.errors import InvalidObservations
from twoheads.tables import scan
from twoheads.tables.formats import csv
from twoheads.tables.schema import id_hashes, ids
from twoheads.tables.schema.id_hashes import IdHashes


def table(tmp_path, items):
    path = tmp_path / "t.csv"
    path.write_text("item,human,p_a,p_b\n" + "".join(f"{item},a,0.5,0.5\n" for item in items))
    return scan(path)


def test_hashes_that_stand_twice_are_those_of_texts_that_do():
    rng = np.random.default_rng(0)
    numbers = rng.permutation(np.r_[np.arange(30_000), rng.choice(30_000, 40, replace=False)])
    seen = IdHashes()
    for some in np.array_split(numbers, 7):
        seen.add(pa.array(some.astype(str)))
    once = IdHashes()
    once.add(pa.array(np.arange(30_000).astype(str)))
    assert len(seen.twice()) == 40
    assert len(once.twice()) == 0


def test_hashes_on_disk_are_those_in_memory(monkeypatch):
    texts = pa.array([str(number % 5_000) for number in range(5_003)])
    held, spilt = IdHashes(), None
    monkeypatch.setattr(id_hashes, "_HELD", 64)
    spilt = IdHashes()
    for some in (held, spilt):
        some.add(texts)
    assert len(held.twice()) == 3
    np.testing.assert_array_equal(held.twice(), spilt.twice())


@pytest.mark.parametrize("place", [0, 7, 399, 400, 1023])
def test_an_id_twice_in_blocks_with_a_sorted_beginning(tmp_path, place):
    items = [f"i{number:04}" for number in range(1024)] + ["a"]
    items.insert(700, items[place])
    with pytest.raises(InvalidObservations) as caught:
        list(table(tmp_path, items).blocks(100))
    assert f"item 'i{place:04}' of column 'item' has 2 (1 of 1,026 rows are repeats)" in str(caught.value)


def test_unsorted_ids_are_let_through(tmp_path):
    items = [f"i{number}" for number in range(1024)]
    assert sum(len(seen) for seen, _ in table(tmp_path, items).blocks(100)) == 1024


def test_two_texts_of_one_hash_are_two_items(tmp_path, monkeypatch):
    unsorted = table(tmp_path, ["b", "a", "c"])
    monkeypatch.setattr(ids.IdHashes, "twice", lambda self: np.arange(10, dtype=np.uint64))
    assert len(unsorted.read()[0]) == 3


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    class Full:
        def __init__(self, size):
            pass

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(id_hashes.tempfile, "SpooledTemporaryFile", Full)
    with pytest.raises(NoRoom, match=r"ids could not be checked for repeats: there is no room .* TMPDIR\.$"):
        table(tmp_path, ["b", "a"]).read()


def test_too_little_memory_for_duckdb_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "STREAM_MEMORY", 1 << 10)
    monkeypatch.setattr(csv, "_COLUMN_MEMORY", 1 << 10)
    with pytest.raises(NoRoom, match=r"a table could not be read: there is no room .* TMPDIR\.$"):
        table(tmp_path, range(50_000)).read()
