"""Members of every kind in files: labels, scores and one column of probabilities, in every format."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import twoheads as th
from crowds import written
from twoheads.cli.app import app
from twoheads.errors import InvalidObservations
from twoheads.tables import fingerprint, scan

CLASSES = np.array(["no", "yes"])


def frame(n=80, seed=0):
    """Ids, a person, a model that gives labels, a judge and a person who give scores, and the truth of every item."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    told = CLASSES[np.where(rng.random(n) < 0.8, truth, 1 - truth)]
    return pd.DataFrame(
        {
            "item": [f"i{at}" for at in range(n)],
            "human_ann": CLASSES[np.where(rng.random(n) < 0.8, truth, 1 - truth)],
            "gpt.label": np.where(rng.random(n) < 0.9, told.astype(object), None),
            "judge.score": np.where(rng.random(n) < 0.9, (truth + rng.normal(size=n)).round(3), np.nan),
            "human_bob.score": np.clip(np.round(3 + truth + rng.normal(size=n)), 0, 7),
            "truth": CLASSES[truth],
        }
    )


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_a_file_is_read_as_the_frame_is(tmp_path, name):
    X = frame()
    table = scan(written(X, tmp_path / name), positive="yes")
    seen, truth = table.read()
    expected = th.Observations.from_frame(X, positive="yes")
    assert table.classes.tolist() == ["no", "yes"]
    assert (table.annotators, table.models, table.has_scores) == (("ann", "gpt"), (), True)
    assert seen.machines == ("gpt",)
    assert np.array_equal(seen.answers.column, expected.answers.column)
    assert np.array_equal(seen.scores.values, expected.scores.values, equal_nan=True)
    assert seen.scores.names == expected.scores.names
    assert truth.tolist() == X["truth"].tolist()
    assert fingerprint(seen) == table.fingerprint == fingerprint(expected)
    assert table.fingerprint != fingerprint(th.Observations.from_frame(X.drop(columns="judge.score"), positive="yes"))


def test_blocks_of_a_table_hold_its_scores(tmp_path):
    table = scan(written(frame(), tmp_path / "t.csv"), positive="yes")
    parts = [seen.scores.values for seen, _ in table.blocks(7)]
    assert np.array_equal(np.concatenate(parts), table.read()[0].scores.values, equal_nan=True)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_one_column_of_two_classes(tmp_path, name):
    X = pd.DataFrame({"human": ["a", None, "b"], "p_b": [0.25, 0.5, None], "truth": ["a", "b", None]})
    seen, _ = scan(written(X, tmp_path / name)).read()
    assert seen.classes.tolist() == ["a", "b"]
    assert np.array_equal(seen.model_proba[0], [[0.75, 0.25], [0.5, 0.5], [np.nan, np.nan]], equal_nan=True)


def test_one_column_that_a_pattern_names(tmp_path):
    (tmp_path / "t.csv").write_text("human,AI_Sick\nSick,0.9\nWell,0.2\n")
    seen, _ = scan(tmp_path / "t.csv", model_columns="AI_*").read()
    assert np.allclose(seen.model_proba[0], [[0.9, 0.1], [0.2, 0.8]])


def test_whole_numbers_with_gaps_are_classes(tmp_path):
    (tmp_path / "t.csv").write_text("gpt.label,judge.score,truth\n1.0,3,1\n,4,0\n0.0,,1\n")
    seen, truth = scan(tmp_path / "t.csv").read()
    assert seen.classes.tolist() == [0, 1]
    assert seen.answers.column.tolist() == [1, -1, 0]
    assert truth.tolist() == [1, 0, 1]


def test_labels_of_models_beside_a_separate_table_of_answers(tmp_path):
    X = frame()
    long = X[["item", "human_ann"]].rename(columns={"human_ann": "answer"}).assign(annotator="ann", confidence=2.0)
    long.to_csv(tmp_path / "answers.csv", index=False)
    X.drop(columns=["human_ann"]).to_csv(tmp_path / "model.csv", index=False)
    seen, truth = scan(answers=tmp_path / "answers.csv", model=tmp_path / "model.csv", positive="yes").read()
    wide = th.Observations.from_frame(X.assign(confidence_ann=2.0), positive="yes")
    assert seen.annotators == ("ann", "gpt")
    assert np.array_equal(seen.answers.column, wide.answers.column)
    assert np.array_equal(seen.confidence, wide.confidence, equal_nan=True)
    assert np.array_equal(seen.scores.values, wide.scores.values, equal_nan=True)
    assert truth.tolist() == X["truth"].tolist()


def test_unsure_of_a_person_beside_a_label_of_a_model(tmp_path):
    (tmp_path / "a.csv").write_text("item,annotator,answer\n1,u,unsure\n2,u,a\n")
    (tmp_path / "m.csv").write_text("item,gpt.label\n1,a\n2,unsure\n3,b\n")
    seen, _ = scan(answers=tmp_path / "a.csv", model=tmp_path / "m.csv").read()
    assert seen.classes.tolist() == ["a", "b"]
    assert seen.unsure.column.tolist() == [0, 1, -1]


def test_the_truth_is_never_also_a_label(tmp_path):
    (tmp_path / "t.csv").write_text("human,gold.label\na,a\nb,b\na,b\n")
    with pytest.raises(InvalidObservations, match="must have one probability column per class"):
        scan(tmp_path / "t.csv", truth="gold.label")
    (tmp_path / "t.csv").write_text("human,gpt.label,gold.label\na,b,a\nb,b,b\na,a,b\n")
    seen, truth = scan(tmp_path / "t.csv", truth="gold.label").read()
    assert seen.annotators == ("human", "gpt")
    assert truth.tolist() == ["a", "b", "b"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "human,judge.score\na,1\nb,2\n",
            {},
            "positive (--positive) must name the class that high scores mean, since column 'judge.score' holds scores; "
            "it is not named. The classes are 'a', 'b': name one, in Python in "
            "Observations.from_frame(X, positive=...).",
        ),
        (
            "human,p_a\na,.5\nb,1.5\n",
            {},
            "column 'p_a' must hold probabilities from 0 to 1; row 2 of t.csv has 1.5 (1 of 2 rows are off). If these "
            "are logits, set model_scale='logit' (--model-scale logit); if scores, name it <model>.score.",
        ),
        (
            "human,gpt.label,gpt.score\na,a,1\nb,b,2\n",
            {"positive": "a"},
            "t.csv must hold one kind of answer of each member; 'gpt' has labels and scores. Drop one of them, or "
            "rename it if it is another member.",
        ),
        (
            "human,p_a,p_b,gpt.label\na,.5,.5,c\n",
            {},
            "column 'gpt.label' must hold classes; row 1 of t.csv has 'c' (1 of 1 rows are off). The classes are 'a', "
            "'b'. If 'c' is a class, it needs a column of probabilities like the others; else correct those labels, or "
            "leave them blank.",
        ),
        (
            "human,judge.score\na,high\nb,2\n",
            {"positive": "a"},
            "column 'judge.score' must hold numbers; row 1 of t.csv has 'high' (1 of 2 rows are off). Correct those "
            "entries, or leave them blank where there is no score.",
        ),
    ],
)
def test_mistakes_are_told(tmp_path, monkeypatch, text, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InvalidObservations) as raised:
        scan("t.csv", **options).read()
    assert str(raised.value) == message


def test_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(frame(120), tmp_path / "t.csv")
    run = CliRunner()

    def told(*words):
        result = run.invoke(app, list(words))
        assert result.exit_code == 0, result.output
        return result.output

    assert "1 model gives labels: gpt" in told("fit", "t.csv", "--positive", "yes", "-o", "team.json")
    told("combine", "team.json", "t.csv", "-o", "v.csv")
    seen = scan("t.csv", positive="yes")
    assert np.allclose(pd.read_csv("v.csv")["p_yes"], th.load("team.json").predict_proba(seen)[:, 1], atol=1e-6)
    written(frame(40, seed=1), tmp_path / "held-out.csv")
    found = json.loads(told("evaluate", "team.json", "held-out.csv", "--json"))
    assert found["n_items"] == 40
    told("ask", "team.json", "held-out.csv", "--budget", "5", "-o", "q.csv")
    assert th.load("team.json").facts()["people"]["n"] == 2


def test_a_plain_score_and_its_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = frame(60)[["human_ann", "truth"]].assign(score=frame(60)["judge.score"])
    written(X, tmp_path / "t.csv")
    result = CliRunner().invoke(app, ["fit", "t.csv", "--positive", "yes", "-o", "team.json"])
    assert result.exit_code == 0, result.output
    team = th.load("team.json")
    assert team.annotators_ == ("ann", "model")
    assert team.machines_ == ("model",)
    result = CliRunner().invoke(app, ["combine", "team.json", "t.csv", "-o", "v.csv"])
    assert result.exit_code == 0, result.output


def test_a_class_of_high_scores_that_is_no_class_is_refused_without_scores_too(tmp_path):
    X = frame().drop(columns=[name for name in frame().columns if name.endswith((".score", ".label"))])
    path = written(X.assign(p_no=0.4, p_yes=0.6), tmp_path / "t.csv")
    assert len(scan(path, positive="yes")) == len(X)
    with pytest.raises(
        th.InvalidObservations, match=r"must be one of the classes no, yes; it is 'yess'\. Did you mean"
    ):
        scan(path, positive="yess")


UNREAD = {
    "a judge's confidence": (
        "human_ann,gpt.label,confidence_gpt,gpt.confidence\na,a,3,3\nb,b,4,4\n",
        "columns 'confidence_gpt', 'gpt.confidence' of t.csv are not read: only people's confidence is, from "
        "confidence_<name> beside human_<name>. A model's label and its confidence are read as one number that rises "
        "with the probability of one class: p_<class> or <model>.score.",
    ),
    "a judge's confidence without people": (
        "gpt.label,confidence\na,3\nb,4\n",
        "column 'confidence' of t.csv is not read: only people's confidence is, from confidence_<name> beside "
        "human_<name>. A model's label and its confidence are read as one number that rises with the probability of "
        "one class: p_<class> or <model>.score.",
    ),
    "a plain score": (
        "human_ann,gpt.label,score\na,a,3\nb,b,4\n",
        "column 'score' of t.csv is not read: it would be if positive (--positive) named the class that high scores "
        "mean.",
    ),
    "other names": (
        "human_ann,gpt.label,vit.Label,label,bert_score\na,a,a,b,3\nb,b,b,a,4\n",
        "columns 'vit.Label', 'label', 'bert_score' of t.csv are not read: labels and scores are read from columns "
        "<model>.label, <model>.score, human_<name> and human_<name>.score.",
    ),
}


@pytest.mark.parametrize(("text", "note"), UNREAD.values(), ids=list(UNREAD))
def test_what_looks_like_a_members_answers_and_is_not_read_is_noted(text, note, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    assert note in scan("t.csv").notes


def test_what_is_read_is_not_noted_as_unread(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("human_ann,confidence,gpt.label,score,truth\na,1,a,3,a\nb,2,b,4,b\n")
    assert not any("not read" in note for note in scan("t.csv", positive="a").notes)
    (tmp_path / "v.csv").write_text("combined_label,confidence,p_a,p_b,human_ann\na,.9,.9,.1,a\nb,.8,.2,.8,b\n")
    assert not any("not read" in note for note in scan("v.csv").notes)


def test_scores_beside_answers_in_a_long_file_are_not_lost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("item,annotator,answer,score\n1,ann,a,.9\n1,bob,b,.4\n2,ann,b,.2\n2,bob,b,.1\n")
    (note,) = [note for note in scan(answers="t.csv").notes if "not read" in note]
    assert note.startswith("column 'score' of t.csv is not read: labels and scores are read from columns <model>.label")
    with pytest.raises(
        InvalidObservations, match=r"t\.csv must have one row per item, with the scores in columns human_"
    ):
        scan(answers="t.csv", positive="a")
