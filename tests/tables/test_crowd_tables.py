"""Unsure answers, confidences and several models in files: the same as in memory, whole and in blocks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowds import crowd, long_frames, same, told_of, wide_frame
from twoheads import InvalidObservations, InvalidParameter, Observations
from twoheads.cli.running import run
from twoheads.tables import fingerprint, scan

WRITE = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, double_precision=15),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def named(seen):
    return replace(seen, items=np.array([f"i{item}" for item in range(len(seen))], dtype=object))


def together(table, rows):
    """What blocks of a table say, put together."""
    told, models = {}, {}
    for seen, _ in table.blocks(rows):
        more, rows_of_models = told_of(seen)
        told |= more
        models |= rows_of_models
    return told, models


def check(table, wanted, rows=None):
    told, models = together(table, rows)
    assert same(told, wanted[0])
    assert models.keys() == wanted[1].keys()
    assert all(np.allclose(models[key], wanted[1][key], rtol=1e-12) for key in models)


@pytest.mark.parametrize("suffix", list(WRITE))
@pytest.mark.parametrize("rows", [None, 7])
def test_wide_files(suffix, rows):
    seen, told, unsure = crowd()
    WRITE[suffix](wide_frame(seen, told, unsure, word="UNSURE"), f"wide.{suffix}")
    table = scan(f"wide.{suffix}")
    check(table, told_of(named(seen)), rows)
    assert table.read()[0].models == ("left", "right")
    assert table.notes == [
        f"columns 'confidence_p0' and 3 more of wide.{suffix} are read as people's confidence.",
        f"wide.{suffix} has 2 models: left, right.",
        f"{len(unsure)} answers are unsure.",
    ]


@pytest.mark.parametrize("suffix", list(WRITE))
@pytest.mark.parametrize("rows", [None, 7])
def test_separate_files(suffix, rows):
    seen, told, unsure = crowd()
    answers, model = long_frames(seen, told, unsure, word="Don't know")
    answers, model = answers.sample(frac=1, random_state=3), model.sample(frac=1, random_state=4)
    WRITE[suffix](answers, f"answers.{suffix}")
    WRITE[suffix](model, f"model.{suffix}")
    table = scan(answers=f"answers.{suffix}", model=f"model.{suffix}", unsure="don't know")
    wanted = told_of(Observations.from_answers(answers, model, unsure="don't know"))
    assert same(wanted[0], told_of(named(seen))[0])
    check(table, wanted, rows)
    read = table.read()[0]
    assert read.models == ("left", "right")
    # items stand as in the model's table, those without a row of any model after them
    first = list(dict.fromkeys([*model["item"], *answers["item"]]))
    assert read.items.tolist() == first
    without = len(set(answers["item"]) - set(model["item"]))
    assert table.notes == [
        f"column 'confidence' of answers.{suffix} is read as people's confidence.",
        f"model.{suffix} has 2 models: left, right.",
        f"{without} of {len(first)} items have no model row (first: {first[-without]}); they have only answers.",
        f"{len(unsure)} of {len(unsure) + len(told)} answers are unsure.",
    ]


def test_wide_answers_beside_wide_models():
    seen, told, unsure = crowd()
    wide = wide_frame(seen, told, unsure)
    WRITE["csv"](wide[[name for name in wide if ".p_" not in name]], "answers.csv")
    WRITE["csv"](wide[[name for name in wide if ".p_" in name or name == "item"]], "model.csv")
    check(scan(answers="answers.csv", model="model.csv"), told_of(named(seen)), 9)


def test_ids_keep_their_type_when_rows_are_put_together():
    rows = {"item": [20, 3, 20], "model": ["b", "b", "a"], "p_x": [0.25, 0.5, 1.0], "p_y": [0.75, 0.5, 0.0]}
    model = pa.table(
        rows,
        schema=pa.schema([("item", pa.int32()), ("model", pa.string()), ("p_x", pa.float32()), ("p_y", pa.float32())]),
    )
    pq.write_table(model, "model.parquet")
    pq.write_table(
        pa.table({"item": [3, 20, 3], "annotator": ["u", "u", "v"], "answer": ["x", "y", "unsure"]}), "answers.parquet"
    )
    table = scan(answers="answers.parquet", model="model.parquet")
    seen, _ = table.read()
    assert (seen.items.tolist(), table.item_type, len(table)) == ([20, 3], pa.int32(), 2)
    assert seen.models == ("a", "b")
    assert seen.model_proba[0].dtype == np.float32
    np.testing.assert_array_equal(seen.model_proba[0], [[1, 0], [np.nan, np.nan]])
    np.testing.assert_array_equal(seen.model_proba[1], [[0.25, 0.75], [0.5, 0.5]])
    assert seen.unsure.column.tolist() == [-1, 1]


def test_one_model_by_name_is_not_sorted():
    frame = pd.DataFrame({"item": [2, 1], "model": "net", "p_a": 0.5, "p_b": 0.5, "truth": ["a", "b"]})
    frame.to_csv("model.csv", index=False)
    pd.DataFrame({"item": [1], "annotator": ["x"], "answer": ["a"]}).to_csv("answers.csv", index=False)
    seen, truth = scan(answers="answers.csv", model="model.csv").read()
    assert (seen.models, seen.items.tolist(), truth.tolist()) == (("net",), ["2", "1"], ["a", "b"])
    frame.loc[2] = [2, "other", 0.5, 0.5, "a"]
    frame.to_csv("model.csv", index=False)
    seen, truth = scan(answers="answers.csv", model="model.csv").read()
    assert (seen.models, seen.items.tolist(), truth.tolist()) == (("net", "other"), ["2", "1"], ["a", "b"])


def test_two_answers_of_one_person_keep_their_order():
    pd.DataFrame({"item": [1, 1, 1], "annotator": "x", "answer": ["b", "a", "a"], "confidence": [5, 9, 2]}).to_csv(
        "answers.csv", index=False
    )
    seen, _ = scan(answers="answers.csv").read()
    assert (seen.answers.column.tolist(), seen.confidence.tolist()) == ([0, 0, 1], [9, 2, 5])


def test_words_for_no_value_may_mean_unsure():
    pd.DataFrame({"human": ["a", "NA", "99"], "p_a": 0.5, "p_b": 0.5}).to_csv("wide.csv", index=False)
    seen, _ = scan("wide.csv", unsure=["na", "99"]).read()
    assert seen.unsure.column.tolist() == [-1, 0, 0]


def test_the_truth_is_never_unsure():
    pd.DataFrame({"human": ["a", "unsure"], "truth": ["a", "unsure"], "p_a": 0.5, "p_b": 0.5}).to_csv(
        "wide.csv", index=False
    )
    with pytest.raises(InvalidObservations, match=r"column 'truth' must hold classes; row 2 of wide.csv has 'unsure'"):
        scan("wide.csv").read()


def test_a_verdict_is_nobodys_confidence():
    pd.DataFrame({"human": ["a"], "combined_label": ["a"], "confidence": ["x"], "p_a": [0.5], "p_b": [0.5]}).to_csv(
        "wide.csv", index=False
    )
    table = scan("wide.csv")
    assert table.read()[0].confidence is None
    assert table.notes == ["column 'confidence' of wide.csv is not used: it is not clear whose it is."]


def test_what_was_said_changes_the_fingerprint():
    seen, told, unsure = crowd()
    WRITE["parquet"](wide_frame(seen, told, unsure), "wide.parquet")
    whole = fingerprint(named(seen))
    assert scan("wide.parquet").fingerprint == whole
    turned = np.random.default_rng(0).permutation(len(seen))
    assert fingerprint(named(seen).take(turned)) == whole
    changed = [
        replace(seen, confidence=None),
        replace(seen, unsure=None),
        replace(seen, confidence=np.where(seen.confidence == 3, 4, seen.confidence)),
    ]
    assert len({whole, *map(fingerprint, map(named, changed))}) == 4


WIDE = "item,human,confidence,p_a,p_b\nx,a,3,.5,.5\ny,b,{},.5,.5\n"
MODEL = "item,model,p_a,p_b\nx,m,.5,.5\ny,m,.5,.5\nx,n,.5,.5\ny,m,.5,.5\n"
SCALE = "Give numbers on any scale, blank where it is not known; or rename the column if it holds something else."


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        (
            {"t.csv": WIDE.format("high")},
            {"table": "t.csv"},
            f"column 'confidence' must hold numbers; row 2 of t.csv has 'high' (1 of 2 rows are off). {SCALE}",
        ),
        (
            {"t.csv": WIDE.format("inf")},
            {"table": "t.csv"},
            f"column 'confidence' must hold finite numbers; row 2 of t.csv has inf (1 of 2 rows are off). {SCALE}",
        ),
        (
            {"t.csv": "item,annotator,answer,confidence\nx,u,a,1\ny,u,b,-inf\n"},
            {"answers": "t.csv"},
            f"column 'confidence' must hold finite numbers; row 2 of t.csv has -inf (1 row is off). {SCALE}",
        ),
        (
            {"t.csv": "human,m.p_a,m.p_b,m.p_c,n.p_a\na,.5,.5,0,1\n"},
            {"table": "t.csv"},
            "t.csv must have a column for each class of each model; that of class 'b' and model 'n', 'n.p_b', is "
            "missing (2 of 6 are missing). Add it, or drop the model.",
        ),
        (
            {"t.csv": "human,m.p_a,m.p_b,n.p_a,n.p_b\na,.5,.5,.5,.5\na,.5,.5,.5,.9\n"},
            {"table": "t.csv"},
            "the columns of model 'n' must sum to 1 in every row; row 2 of t.csv sums to 1.4 (1 of 2 rows are "
            "off). If these are logits, set model_scale='logit' (--model-scale logit); else divide each row by "
            "its sum (normalise=True, --normalise).",
        ),
        (
            {"t.csv": "item,annotator,answer\nx,u,a\n", "m.csv": MODEL},
            {"answers": "t.csv", "model": "m.csv"},
            "m.csv must have one row per item and model; item 'y' has 2 of model 'm' (1 of 4 rows are repeats). "
            "Keep one of each.",
        ),
        (
            {"t.csv": "item,annotator,answer\nx,u,a\n", "m.csv": MODEL.replace("x,n,.5,.5\ny,m,.5,.5", "x,n,.5,.9")},
            {"answers": "t.csv", "model": "m.csv"},
            "the columns of model 'n' must sum to 1 in every row; item 'x' of m.csv sums to 1.4 (1 of 2 rows are "
            "off). If these are logits, set model_scale='logit' (--model-scale logit); else divide each row by "
            "its sum (normalise=True, --normalise).",
        ),
        (
            {"t.csv": "item,annotator,answer\nx,u,a\n", "m.csv": MODEL.replace("x,n", "x, ")},
            {"answers": "t.csv", "model": "m.csv"},
            "column 'model' must name the model in every row; row 3 of m.csv is blank. Name it, or drop the row.",
        ),
        (
            {"t.csv": "item,annotator,answer\nx,u,a\n", "m.csv": MODEL.replace("p_a,p_b", "m.p_a,m.p_b")},
            {"answers": "t.csv", "model": "m.csv"},
            "m.csv must name its models in a column model or in columns <model>.p_<class>; it does both. Drop one.",
        ),
        (
            {"t.csv": "human,p_a,p_b\na,.5,.5\n"},
            {"table": "t.csv", "unsure": ["?", "b"]},
            "unsure (--unsure) must hold words that mean \"don't know\"; 'b' is a class. Give the words that "
            "people use.",
        ),
        (
            {"t.csv": "human,m.p_a,m.p_b\na,.5,.5\n"},
            {"table": "t.csv", "classes": ["a", "c"]},
            "t.csv must have the classes of the team; 'm.p_c' is missing, 'm.p_b' is new (1 of 2 are missing, 1 "
            "are new). Rename the columns, or fit a team to these classes.",
        ),
    ],
)
def test_mistakes_are_told(tmp_path, files, options, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises((InvalidObservations, InvalidParameter)) as raised:
        scan(**options).read()
    assert str(raised.value) == message


def test_commands(tmp_path, capsys):
    seen, told, unsure = crowd(n_items=80)
    answers, model = long_frames(seen, told, unsure, word="?")
    answers.to_csv("answers.csv", index=False)
    model.to_csv("model.csv", index=False)
    truth = pd.DataFrame({"item": [f"i{at}" for at in range(80)], "truth": np.tile(["a", "b", "c", "a"], 20)})
    truth.to_csv("truth.csv", index=False)
    tables = ["--answers", "answers.csv", "--model", "model.csv"]
    assert run(["fit", *tables, "--truth", "truth.csv", "--unsure", "?", "--unsure", "n/k", "-o", "team.json"]) == 0
    said = capsys.readouterr().err
    assert "column 'confidence' of answers.csv is read as people's confidence." in said
    assert f"{len(unsure)} of {len(unsure) + len(told)} answers are unsure." in said
    assert run(["combine", "team.json", *tables, "-o", "verdicts.csv"]) == 0  # the team remembers the words
    verdicts = pd.read_csv("verdicts.csv")
    assert len(verdicts) == len(set(answers["item"]) | set(model["item"]))
    assert run(["evaluate", "team.json", *tables, "--truth", "truth.csv", "--unsure", "?"]) == 0
    assert run(["report", "team.json", *tables, "--truth", "truth.csv", "-o", "report.html"]) == 0
    capsys.readouterr()
    assert run(["fit", *tables, "--method", "L+L", "--truth", "truth.csv", "--unsure", "?", "-o", "other.json"]) == 2
    assert "X must hold one model's probabilities for LabelLabelCombiner" in capsys.readouterr().err
    wide = wide_frame(seen, told, unsure).rename(columns=lambda name: name.replace("right.", "third."))
    wide.to_csv("wide.csv", index=False)
    assert run(["combine", "team.json", "wide.csv", "-o", "verdicts.csv"]) == 2
    assert "X must hold the models of the fit, left, right; 'third' is new" in capsys.readouterr().err
