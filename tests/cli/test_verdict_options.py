"""What `combine` can write: known truth, other columns, marks for review, fewer digits and fewer classes."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import twoheads as th
from twoheads import tables
from twoheads.cli.running import run

ROWS = """image,human,p_a,p_b,p_c,truth,note,n
x1,a,0.7,0.2,0.1,a,first,1
x2,b,0.3,0.6,0.1,,"two, three",2
x3,c,0.2,0.2,0.6,c,NA,3
x4,a,0.3,0.4,0.3,b,,4
x5,c,0.1,0.3,0.6,c,last,5
"""


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)
    assert run(["fit", "t.csv", "--item", "image", "--method", "P+L"]) == 0
    capsys.readouterr()
    return tmp_path


def combined(*options, out="v.csv"):
    assert run(["combine", "team.json", "t.csv", *options, "-o", out]) == 0
    with open(out, newline="") as file:
        return list(csv.DictReader(file))


def proba():
    return th.load("team.json").predict_proba(tables.scan("t.csv", item="image").read()[0])


def numbers(rows):
    return np.array([[float(row[f"p_{name}"]) for name in "abc"] for row in rows])


def test_six_decimals_are_written_unless_more_are_asked_for(here):
    assert combined()[0].keys() == {"image", "combined_label", "confidence", "p_a", "p_b", "p_c"}
    np.testing.assert_array_equal(numbers(combined()), np.round(proba(), 6))
    np.testing.assert_array_equal(numbers(combined("--digits", "2")), np.round(proba(), 2))
    np.testing.assert_array_equal(numbers(combined("--digits", "17")), proba())


def test_known_truth_is_the_verdict(here):
    rows = combined("--keep-truth")
    assert [row["truth_known"] for row in rows] == ["true", "false", "true", "true", "true"]
    assert [row["combined_label"] for row in rows if row["truth_known"] == "true"] == ["a", "c", "b", "c"]
    np.testing.assert_array_equal(numbers(rows)[[0, 2, 3, 4]], np.eye(3)[[0, 2, 1, 2]])
    np.testing.assert_array_equal(numbers(rows)[1], np.round(proba()[1], 6))
    (here / "gold.csv").write_text("image,truth\nx2,c\n")
    rows = combined("--keep-truth", "--truth", "gold.csv")
    assert [(row["image"], row["combined_label"]) for row in rows if row["truth_known"] == "true"] == [("x2", "c")]


def test_other_columns_are_written_as_they_are(here):
    rows = combined("--columns", "note,n")
    assert list(rows[0])[:4] == ["image", "note", "n", "combined_label"]
    assert [row["note"] for row in rows] == ["first", "two, three", "NA", "", "last"]
    assert [row["n"] for row in rows] == ["1", "2", "3", "4", "5"]


def test_other_columns_keep_their_rows_in_any_blocks_and_their_types(here, monkeypatch):
    n_items = 5000
    table = pa.table(
        {
            "image": [f"i{at}" for at in range(n_items)],
            "human": ["a"] * n_items,
            **{f"p_{name}": [0.2 if name != "a" else 0.6] * n_items for name in "abc"},
            "place": pa.array(range(n_items), pa.int32()),
        }
    )
    pq.write_table(table, "t.parquet")
    monkeypatch.setattr("twoheads.tables.table.BLOCK_NUMBERS", 1)  # blocks of 1,024 items
    monkeypatch.setattr("twoheads.tables.content.BATCH_ROWS", 700)
    assert run(["combine", "team.json", "t.parquet", "--columns", "place", "-o", "v.parquet"]) == 0
    found = pq.read_table("v.parquet")
    assert found.schema.field("place").type == pa.int32()
    assert found["place"].to_pylist() == list(range(n_items))


def test_doubtful_verdicts_are_marked(here):
    rows = combined("--review-below", "0.8")
    assert [row["review"] == "true" for row in rows] == (proba().max(axis=1) < 0.8).tolist()
    assert {row["review"] for row in rows} == {"true", "false"}


def test_the_most_probable_classes_are_written(here):
    rows, expected = combined("--top", "2"), proba()
    assert list(rows[0]) == ["image", "combined_label", "confidence", "top_1", "p_top_1", "top_2", "p_top_2"]
    assert [row["top_1"] for row in rows] == [row["combined_label"] for row in rows]
    order = np.argsort(-expected, axis=1)
    assert [row["top_2"] for row in rows] == np.array(list("abc"))[order[:, 1]].tolist()
    second = np.sort(expected, axis=1)[:, 1]
    np.testing.assert_allclose([float(row["p_top_2"]) for row in rows], second, rtol=0, atol=5e-7)
    assert "p_top_3" in combined("--top", "9")[0]
    assert run(["combine", "team.json", "t.csv", "--top", "1", "-o", "v.jsonl"]) == 0
    assert json.loads((here / "v.jsonl").read_text().splitlines()[0])["top_1"] == rows[0]["top_1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "nots"], "must have the column 'nots' that columns (--columns) names"),
        (["--columns", "p_a"], "--columns must not name a column of the result; it names 'p_a'"),
        (["--columns", "note,note"], "--columns must name each column once; it names 'note' twice. Leave one out."),
        (["--review-below", "80"], "--review-below must be a confidence above 0 and at most 1; it is 80"),
        (["--truth", "truth"], "--truth is of use to combine with --keep-truth only"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message, here, capsys):
    assert run(["combine", "team.json", "t.csv", *options, "-o", "v.csv"]) == 2
    assert message in capsys.readouterr().err
    assert not (here / "v.csv").exists()


@pytest.mark.parametrize(
    ("name", "options"),
    [("review", ["--review-below", "0.9"]), ("truth_known", ["--keep-truth"]), ("top_1", ["--top", "1"])],
)
def test_ids_are_not_lost_to_a_column_of_the_same_name(name, options, here, capsys):
    (here / "t.csv").write_text(ROWS.replace("image", name, 1))
    assert run(["combine", "team.json", "t.csv", "--item", name, *options, "-o", "v.csv"]) == 2
    assert f"both are called {name!r}. Rename it in the table." in capsys.readouterr().err
    assert not (here / "v.csv").exists()


def test_ids_of_half_precision_are_written(here):
    table = pa.table({"image": pa.array(np.arange(5, dtype=np.float16)), "human": list("abcac")})
    table = table.append_column("p_a", pa.array([0.5] * 5)).append_column("p_b", pa.array([0.3] * 5))
    pq.write_table(table.append_column("p_c", pa.array([0.2] * 5)), "half.parquet")
    assert run(["combine", "team.json", "half.parquet", "--item", "image", "-o", "v.csv"]) == 0
    assert [line.split(",")[0] for line in (here / "v.csv").read_text().splitlines()[1:]] == list("01234")
