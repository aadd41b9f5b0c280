"""Input that was once misread without a word: it is refused, or what is made of it is said."""

import gzip
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import twoheads as th
from twoheads.cli.running import run
from twoheads.errors import InvalidObservations
from twoheads.tables.scanning import scan

HEADER = "item,human,p_a,p_b,truth\n"
ROWS = "1,a,0.7,0.3,a\n2,b,0.4,0.6,b\n3,a,0.8,0.2,a\n4,b,0.1,0.9,a\n"
MODEL = "item,p_a,p_b\n1,0.7,0.3\n2,0.4,0.6\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(HEADER + ROWS)
    (tmp_path / "model.csv").write_text(MODEL)
    return tmp_path


# ---------------------------------------------------------------------------------------- whose answers


@pytest.mark.parametrize("name", ["rater", "reviewer", "user", "User ID", "reader_name"])
def test_people_under_another_name_are_not_one_person(name, here):
    (here / "answers.csv").write_text(f"item,{name},answer\n1,ann,a\n2,bob,b\n")
    with pytest.raises(InvalidObservations, match=f"Did you mean {name!r}"):
        scan(answers="answers.csv", model="model.csv")
    assert scan(answers="answers.csv", model="model.csv", annotator=name).annotators == ("ann", "bob")


def test_answers_that_name_nobody(here):
    (here / "answers.csv").write_text("item,answer\n1,a\n2,b\n1,b\n")
    with pytest.raises(InvalidObservations, match=r"item '1' has 2 answers \(1 item with several\)"):
        scan(answers="answers.csv", model="model.csv").read()
    (here / "answers.csv").write_text("item,answer\n1,a\n2,b\n1,\n")
    table = scan(answers="answers.csv", model="model.csv")
    table.read()
    assert (
        "answers.csv has no column of people's names (annotator): its answers are taken as one person's." in table.notes
    )


def test_a_truth_under_another_name_is_said(here):
    (here / "truth.csv").write_text("item,tru\n1,a\n2,b\n")
    table = scan("t.csv", truth="truth.csv")
    table.read()
    assert "column 'tru' of truth.csv is read as the truth." in table.notes
    (here / "truth.csv").write_text("item,tru,other\n1,a,x\n2,b,x\n")
    with pytest.raises(InvalidObservations, match="a column of the true class, named truth"):
        scan("t.csv", truth="truth.csv")


# ---------------------------------------------------------------------------------------- names of columns


@pytest.mark.parametrize("name", ["combined_label", "confidence"])
def test_ids_that_have_the_name_of_a_result(name, here, capsys):
    (here / "u.csv").write_text(HEADER.replace("item", name) + ROWS)
    assert run(["fit", "t.csv"]) == 0
    capsys.readouterr()
    assert run(["combine", "team.json", "u.csv", "--item", name, "-o", "v.csv"]) == 2
    assert f"both are called {name!r}" in capsys.readouterr().err
    assert not (here / "v.csv").exists()


def test_a_column_of_ids_is_no_class(here):
    (here / "u.csv").write_text(HEADER.replace("item", "p_cat") + ROWS)
    table = scan("u.csv", item="p_cat")
    assert table.classes.tolist() == ["a", "b"]
    assert table.read()[0].items.tolist() == ["1", "2", "3", "4"]


# ---------------------------------------------------------------------------------------- files


def test_a_wrong_checksum_of_gzip(here):
    text = HEADER + "".join(f"{at},a,0.7,0.3,a\n" for at in range(60_000))
    packed = bytearray(gzip.compress(text.encode()))
    (here / "good.csv.gz").write_bytes(packed)
    assert scan("good.csv.gz").n_rows == 60_000
    packed[-8] ^= 1
    (here / "t.csv.gz").write_bytes(packed)
    with pytest.raises(InvalidObservations, match="damaged or cut off"):
        scan("t.csv.gz")


def parquet(path, **columns):
    rows = {"item": ["1", "2"], "human": ["a", "b"], "p_a": [0.5, 0.5], "p_b": [0.5, 0.5], "truth": ["a", "b"]}
    pq.write_table(pa.table(rows | columns), path)


def test_a_table_sent_elsewhere_is_read_where_it_is(here, monkeypatch):
    parquet("t.parquet")
    sent = pickle.dumps(scan("t.parquet"))
    (here / "worker").mkdir()
    monkeypatch.chdir(here / "worker")
    parquet("t.parquet", human=["b", "a"])
    X, _ = pickle.loads(sent).read()
    assert X.answers.column.tolist() == [0, 1]


def test_a_table_sent_elsewhere_must_be_the_same_file(here):
    parquet("t.parquet")
    sent = pickle.dumps(scan("t.parquet"))
    parquet("t.parquet", human=["b", "a"])
    with pytest.raises(InvalidObservations, match=r"must be the same file on every machine.*another content"):
        pickle.loads(sent).read()
    (here / "t.parquet").unlink()
    with pytest.raises(InvalidObservations, match=r"must be the same file on every machine.*there is none"):
        pickle.loads(sent).read()


NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")]
)


@pytest.mark.parametrize("column", ["item", "human", "truth"])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([["a"], ["b"]], "one name or number per row; it is of type list"),
        ([{"x": "a"}, {"x": "b"}], "one name or number per row; it is of type struct"),
        (NOT_UTF8, "must hold text in UTF-8"),
        (pa.array([b"a", b"\xff"]), "must hold text in UTF-8"),
    ],
)
def test_types_of_parquet_that_hold_no_names(column, values, words, here):
    parquet("t.parquet", **{column: values})
    with pytest.raises(InvalidObservations, match=words):
        scan("t.parquet").read()


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary(), pa.large_string(), pa.large_binary()])
def test_types_of_parquet_that_hold_text(kind, here, capsys):
    text = pa.array([b"a", b"b"] if "binary" in str(kind) else ["a", "b"], kind)
    parquet("t.parquet", item=text, human=text, truth=text)
    X, y = scan("t.parquet").read()
    assert X.items.tolist() == y.tolist() == ["a", "b"]
    assert run(["fit", "t.csv"]) == 0
    assert run(["combine", "team.json", "t.parquet", "-o", "v.csv"]) == 0
    assert [line[0] for line in (here / "v.csv").read_text().splitlines()[1:]] == ["a", "b"]


def test_a_column_name_of_parquet_that_is_not_utf8(here):
    parquet("t.parquet", p_XYZ=[0.5, 0.5])
    path = here / "t.parquet"
    path.write_bytes(path.read_bytes().replace(b"p_XYZ", b"p_\xff\xfe\xfd"))
    with pytest.raises(InvalidObservations, match="must name its columns in UTF-8"):
        scan("t.parquet")


# ---------------------------------------------------------------------------------------- numbers


def test_a_seed_below_zero(here, capsys):
    assert run(["fit", "t.csv"]) == 0
    capsys.readouterr()
    for command in (["fit", "t.csv"], ["evaluate", "team.json", "t.csv"], ["report", "team.json", "t.csv"]):
        assert run([*command, "--seed", "-1"]) == 2
        assert "--seed" in capsys.readouterr().err


def test_a_weight_that_no_sum_can_hold():
    X, y = [[0, 0.5, 0.5], [1, 0.4, 0.6], [0, 0.7, 0.3], [1, 0.5, 0.5]], [0, 1, 0, 1]
    with pytest.raises(InvalidObservations, match=r"sample_weight must be at most 1e\+12; row 0 has 1e\+300"):
        th.recommended().fit(X, y, sample_weight=[1e300, 1, 1, 1])
    assert np.isfinite(th.recommended().fit(X, y, sample_weight=[1e12, 1, 1, 1]).predict_proba(X)).all()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(NotImplementedError("method 99"), "compressed in a way that is not known"), (RuntimeError("x"), "by a password")],
)
def test_an_archive_that_cannot_be_unpacked_is_named_for_what_it_is(error, sentence, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", "human,p_a,p_b\na,0.7,0.3\n")

    def fails(*_):
        raise error

    monkeypatch.setattr(zipfile.ZipFile, "open", fails)
    with pytest.raises(InvalidObservations, match=sentence):
        scan(tmp_path / "t.zip")


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (["item_id"], "column 'item_id' of {} is not read; if it holds the ids of the items, name it: item='item_id'"),
        (["ImageID"], "column 'ImageID' of {} is not read; if it holds the ids"),
        (["task id"], "name it: item='task id' (--item 'task id')."),
        (
            ["id", "patient_id"],
            "columns 'id', 'patient_id' of {} are not read; if one of them holds the ids of the items, name it: "
            "item='id' (--item id).",
        ),
        (["item", "item_id"], None),  # the first is read
        (["annotator_id"], None),
        (["identity", "video"], None),
    ],
)
def test_ids_under_another_name_are_not_lost_silently(tmp_path, others, words):
    path = tmp_path / "t.csv"
    path.write_text(",".join([*others, "human,p_a,p_b\n"]) + "".join("x1," * len(others) + "a,0.5,0.5\n"))
    notes = [note for note in scan(path).notes if "not read" in note]
    assert len(notes) == (words is not None)
    assert words is None or words.format(path) in notes[0]
    if words is not None:
        assert not [note for note in scan(path, item=others[0]).notes if "not read" in note]
