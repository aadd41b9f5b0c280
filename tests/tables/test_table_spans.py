"""Pieces of a table: they cover it, and each reads as the rows it stands for."""

import numpy as np
import pytest

from twoheads import tables
from twoheads.errors import InvalidObservations

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def folder(tmp_path):
    proba = np.random.default_rng(0).dirichlet([1, 1], 100)
    whole = pa.table({"item": np.arange(100) * 3, "human": np.arange(100) % 2, "p_0": proba[:, 0], "p_1": proba[:, 1]})
    pq.write_table(whole[:40], tmp_path / "a.parquet", row_group_size=7)
    pq.write_table(whole[40:40], tmp_path / "b.parquet")
    pq.write_table(whole[40:], tmp_path / "c.parquet", row_group_size=30)
    return tmp_path


@pytest.mark.parametrize("rows", [1, 10, 1000])
def test_pieces_cover_the_table(folder, rows):
    table = tables.scan(folder)
    spans = table.spans(rows)
    assert [first for first, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert spans[-1][1] == len(table) == 100
    whole, _ = table.read()
    read = [seen for span in spans for seen, _ in table.blocks(9, span=span)]
    assert np.concatenate([seen.items for seen in read]).tolist() == whole.items.tolist()
    assert np.array_equal(np.concatenate([seen.model_proba[0] for seen in read]), whole.model_proba[0])


def test_a_piece_is_of_whole_row_groups_of_about_the_size(folder):
    assert tables.scan(folder).spans(10) == [(0, 14), (14, 28), (28, 40), (40, 70), (70, 100)]


def test_rows_of_a_piece_have_their_numbers_in_the_table(tmp_path):
    pq.write_table(
        pa.table({"human": [0, 1, 0], "p_0": [0.5, 0.5, 9.0], "p_1": [0.5, 0.5, 0.5]}),
        tmp_path / "t.parquet",
        row_group_size=1,
    )
    with pytest.raises(InvalidObservations, match=r"row 3 of .*t\.parquet"):
        list(tables.scan(tmp_path / "t.parquet").blocks(span=(2, 3)))


def test_text_cannot_be_cut(tmp_path):
    (tmp_path / "t.csv").write_text("human,p_a,p_b\na,0.9,0.1\n")
    with pytest.raises(InvalidObservations, match="Write it as Parquet first"):
        tables.scan(tmp_path / "t.csv").spans(10)
