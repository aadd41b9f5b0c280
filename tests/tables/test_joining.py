"""Separate tables of answers, model rows and truth are joined on the item."""

import os
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twoheads import InvalidObservations, Observations
from twoheads.tables import scan

ANSWERS = "task,worker,label\nb,bob,yes\na,bob,no\nz,ann,no\na,ann,yes\nb,ann,\ny,ann,NA\n"
MODEL = "item,p_no,p_yes\nb,.25,.75\na,.5,.5\nc,1,0\n"
TRUTH = "item,truth\nq,yes\nb,yes\nz,no\na,\n"


@pytest.fixture(autouse=True)
def _tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text(ANSWERS)
    (tmp_path / "model.csv").write_text(MODEL)
    (tmp_path / "truth.csv").write_text(TRUTH)


def test_by_hand():
    table = scan(answers="answers.csv", model="model.csv", truth="truth.csv")
    seen, truth = table.read()
    assert seen.items.tolist() == ["b", "a", "c", "z"]
    assert (seen.annotators, seen.classes.tolist()) == (("ann", "bob"), ["no", "yes"])
    assert seen.answers.start.tolist() == [0, 1, 3, 3, 4]
    assert seen.answers.column.tolist() == [3, 1, 2, 0]  # bob yes; ann yes, bob no; nobody; ann no
    assert truth.tolist() == ["yes", "", "", "no"]
    np.testing.assert_array_equal(seen.model_proba[0], [[0.25, 0.75], [0.5, 0.5], [1, 0], [np.nan, np.nan]])
    assert table.notes == [
        "1 of 4 items have no model row (first: z); they have only answers.",
        "1 of 4 items have no answer (first: c); they have only the model.",
        "1 item has only blank answers and no model row (first: y); it is left out.",
        "1 of 4 rows of truth are of items without a model row or an answer (first: q); they are left out.",
        "The truth is known for 2 of 4 items.",
    ]
    assert (len(table), table.has_truth, table.item_name) == (4, True, "item")


def test_items_with_only_blank_answers_are_counted_where_there_is_no_model(tmp_path):
    (tmp_path / "wide.csv").write_text("item,human_ann,human_bob\na,no,\nx,,NA\nb,yes,no\nc,,\n")
    assert scan(answers="wide.csv").notes == ["2 items have only blank answers (first: x); they are left out."]


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_in_blocks(rows):
    table = scan(answers="answers.csv", model="model.csv", truth="truth.csv")
    blocks = list(table.blocks(rows))
    assert [item for seen, _ in blocks for item in seen.items.tolist()] == ["b", "a", "c", "z"]
    assert [label for _, truth in blocks for label in truth.tolist()] == ["yes", "", "", "no"]
    assert [count for seen, _ in blocks for count in seen.answers.per_item().tolist()] == [1, 2, 0, 1]


def test_in_memory_and_on_disk_agree(tmp_path):
    rng = np.random.default_rng(3)
    n, people = 2000, 40
    model = pd.DataFrame({"item": rng.permutation(n), "p_0": 0.25, "p_1": 0.75})
    answers = pd.DataFrame({"item": rng.integers(0, n + 50, 9000), "annotator": rng.integers(0, people, 9000)})
    answers["answer"] = rng.integers(-1, 2, 9000)
    model.to_parquet("m.parquet")
    answers.to_csv("a.csv", index=False)
    table = scan(answers="a.csv", model="m.parquet")
    joined, _ = table.read()
    answered = answers[answers["answer"] >= 0]
    memory = Observations.from_answers(answered, model)
    np.testing.assert_array_equal(joined.items, memory.items)
    np.testing.assert_array_equal(joined.answers.column, memory.answers.column)
    np.testing.assert_array_equal(joined.answers.start, memory.answers.start)
    assert joined.annotators == memory.annotators
    assert (joined.classes.tolist(), table.item_type) == ([0, 1], pa.int64())
    columns = [seen.answers.column[seen.answers.column >= 0] for seen, _ in table.blocks(77)]
    np.testing.assert_array_equal(np.concatenate(columns), memory.answers.column)


def test_wide_answers_and_one_persons_answers(tmp_path):
    (tmp_path / "wide.csv").write_text("item,human_ann,human_bob\na,yes,no\nb,,yes\nz,no,\n")
    seen, _ = scan(answers="wide.csv", model="model.csv").read()
    assert (seen.annotators, seen.answers.column.tolist()) == (("ann", "bob"), [3, 1, 2, 0])
    (tmp_path / "one.csv").write_text("item,answer\na,yes\nb,no\n")
    seen, _ = scan(answers="one.csv", model="model.csv").read()
    assert (seen.annotators, seen.answers.column.tolist()) == (("human",), [0, 1, -1])


def test_answers_alone():
    table = scan(answers="answers.csv")
    seen, truth = table.read()
    assert (seen.items.tolist(), seen.model_proba, truth) == (["b", "a", "z"], (), None)
    assert (table.item_name, table.classes.tolist(), table.columns) == ("task", ["no", "yes"], ())
    assert scan(answers="answers.csv", classes=["maybe", "no", "yes"]).classes.tolist() == ["maybe", "no", "yes"]


def test_the_truth_in_the_table_of_answers_or_beside_a_wide_table(tmp_path):
    (tmp_path / "long.csv").write_text("item,annotator,answer,gold\na,x,yes,no\na,y,yes,no\nb,x,yes,\n")
    _, truth = scan(answers="long.csv", model="model.csv", truth="gold").read()
    assert truth.tolist() == ["", "no", ""]
    (tmp_path / "wide.csv").write_text("item,human,p_no,p_yes,truth\na,yes,.5,.5,yes\nb,no,.5,.5,\n")
    (tmp_path / "gold.csv").write_text("item,anything\nb,yes\n")
    table = scan("wide.csv", truth="gold.csv")
    assert table.read()[1].tolist() == ["", "yes"]
    assert table.notes == [
        "column 'truth' of wide.csv is not used: the truth is in gold.csv.",
        "column 'anything' of gold.csv is read as the truth.",
        "The truth is known for 1 of 2 items.",
    ]
    assert scan("wide.csv", truth="gold.csv", truth_column="anything").read()[1].tolist() == ["", "yes"]


def test_what_is_not_used_is_said(tmp_path):
    (tmp_path / "wide.csv").write_text("item,human,p_no,p_yes\nb,yes,.5,.5\na,yes,.5,.5\nz,yes,.5,.5\n")
    (tmp_path / "sure.csv").write_text("item,annotator,answer,confidence\na,x,yes,3\n")
    assert scan("wide.csv", answers="sure.csv").notes[:2] == [
        "column 'human' of wide.csv is not used: answers are in sure.csv.",
        "column 'confidence' of sure.csv is read as people's confidence.",
    ]


def test_ids_match_by_text_whatever_their_type(tmp_path):
    pq.write_table(pa.table({"item": pa.array([1.0, 2.0]), "p_a": [0.5, 0.5], "p_b": [0.5, 0.5]}), "m.parquet")
    pq.write_table(
        pa.table({"item": pa.array(["2", "1", "x"]).dictionary_encode(), "answer": ["a", "b", "a"]}), "a.parquet"
    )
    table = scan(answers="a.parquet", model="m.parquet")
    seen, _ = table.read()
    assert seen.answers.column.tolist() == [1, 0, 0]
    assert seen.items.tolist() == ["1", "2", "x"]  # the new id is no number: all are text
    assert table.item_type == pa.string()


def test_no_temporary_file_is_left(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    table = scan(answers="answers.csv", model="model.csv")
    table.read()
    assert len(os.listdir(tmp_path / "temporary")) == 1
    del table
    assert os.listdir(tmp_path / "temporary") == []


def test_a_table_larger_than_its_memory_limit(tmp_path):
    n = 200_000
    rng = np.random.default_rng(0)
    items = [f"item number {at}" for at in range(n)]
    pq.write_table(pa.table({"item": items, "p_a": np.full(n, 0.5), "p_b": np.full(n, 0.5)}), "m.parquet")
    order = rng.permutation(n)
    pq.write_table(
        pa.table({"item": [items[at] for at in order], "answer": [("a", "b")[at % 2] for at in order]}), "a.parquet"
    )
    table = scan(answers="a.parquet", model="m.parquet", memory_limit="60MB")
    start = 0
    for seen, _ in table.blocks(30_000):
        np.testing.assert_array_equal(seen.answers.column, np.arange(start, start + len(seen)) % 2)
        start += len(seen)
    assert start == n
    assert table.notes == [
        "a.parquet has no column of people's names (annotator): its answers are taken as one person's."
    ]


WRONG = {
    "ids that never meet": (
        {"answers.csv": "item,answer\n1,yes\n2,no\n"},
        "answers.csv and model.csv must be about the same items; no id of the first (such as '1') is in column "
        "'item' of the second (such as 'b'). Name the column of ids with item (--item).",
    ),
    "an item twice in the model": (
        {"model.csv": MODEL + "a,.5,.5\n"},
        "model.csv must have one row per item; item 'a' of column 'item' has 2 (1 of 4 rows are repeats). "
        "Keep one row of each item.",
    ),
    "an unknown answer": (
        {"answers.csv": ANSWERS + "a,cat,yess\nb,cat,yess\n"},
        "column 'label' must hold classes; row 7 of answers.csv has 'yess' (2 of 8 rows are off). The classes "
        "are 'no', 'yes'. Did you mean 'yes'?",
    ),
    "an unknown truth": (
        {"truth.csv": TRUTH + "c,7\n"},
        "column 'truth' must hold classes; row 5 of truth.csv has '7' (1 of 5 rows are off). The classes are "
        "'no', 'yes'. Correct those labels, or leave them blank where they are not known.",
    ),
    "two truths": (
        {"truth.csv": TRUTH + "b,no\n"},
        "truth.csv must have one truth per item; item 'b' has several that differ (1 item is off). "
        "Keep one of each, or leave it blank.",
    ),
    "a nameless item": (
        {"answers.csv": ANSWERS + ",cat,yes\n"},
        "column 'task' must name the item in every row; row 7 of answers.csv is blank. Name it, or drop the row.",
    ),
    "a nameless person": (
        {"answers.csv": ANSWERS + "a,,yes\n"},
        "column 'worker' must name the person in every row; row 7 of answers.csv is blank. Name it, or drop the row.",
    ),
    "no answers": (
        {"answers.csv": "task,worker,label\n"},
        "answers.csv must have at least one row; it has column names and no row below them.",
    ),
    "no column of answers": (
        {"answers.csv": "item,worker,lable\na,x,yes\n"},
        "answers.csv must have a column of answers, named answer or human; its columns are item, worker, lable. "
        "Did you mean 'lable'? Then set human='lable' (--human lable).",
    ),
    "no column of ids": (
        {"model.csv": "itemid,p_no,p_yes\na,.5,.5\n"},
        "model.csv must have a column of item ids, named item; its columns are itemid, p_no, p_yes. Did you mean "
        "'itemid'? Then set item='itemid' (--item itemid).",
    ),
    "no column of truth": (
        {"truth.csv": "item,true label,remark\na,yes,\n"},
        "truth.csv must have a column of the true class, named truth; its columns are item, true label, remark. "
        "Did you mean 'true label'? Then set truth_column='true label' (--truth-column 'true label').",
    ),
    "text among probabilities": (
        {"model.csv": MODEL + "d,x,.5\n"},
        "column 'p_no' must hold numbers; row 4 of model.csv has 'x' (1 of 4 rows are off). Correct those "
        "entries, or leave the whole row blank where the model has no prediction.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_tables(tmp_path, case):
    files, expected = WRONG[case]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidObservations) as caught:
        scan(answers="answers.csv", model="model.csv", truth="truth.csv").read()
    assert str(caught.value) == expected


def test_one_class_only(tmp_path):
    (tmp_path / "answers.csv").write_text("item,answer\na,yes\n")
    with pytest.raises(InvalidObservations, match=r"there must be at least two classes; answers\.csv has only 'yes'"):
        scan(answers="answers.csv").read()


def test_people_with_an_option_need_the_column_that_names_them(tmp_path):
    (tmp_path / "answers.csv").write_text("item,annotator_id,said\na,x,yes\n")
    with pytest.raises(InvalidObservations, match=r"set annotator='annotator_id' \(--annotator annotator_id\)"):
        scan(answers="answers.csv", model="model.csv", human="said")
    table = scan(answers="answers.csv", model="model.csv", human="said", annotator="annotator_id")
    assert table.annotators == ("x",)
