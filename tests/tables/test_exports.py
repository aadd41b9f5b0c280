"""Exports of labelling tools open from files, keep every statement in one role, and take verdicts back."""

import copy
import gzip
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twoheads import InvalidObservations, InvalidParameter
from twoheads.tables import (
    from_argilla,
    from_cleanlab,
    from_label_studio,
    from_mlflow,
    scan,
    to_argilla,
    to_cleanlab,
    to_label_studio,
)
from twoheads.tables.exports import Opener, write_export
from twoheads.tables.formats.opening import Reading
from twoheads.tables.formats.registry import EXPORTS
from twoheads.tables.interop.argilla import read_argilla
from twoheads.tables.interop.export import Answer, Export, Prediction, Truth
from twoheads.tables.interop.label_studio import read_label_studio
from twoheads.tables.interop.mlflow import read_mlflow
from twoheads.testing import check_export

HERE = Path(__file__).parents[1] / "formats"


def parts(name, **options):
    """The tables of an export as dicts: rows, answers, truth."""
    opened = Opener(Reading(**options)).open(HERE / name, "table")
    return [
        None if source is None else source.files[0].table.to_pydict()
        for source in (opened.rows, opened.answers, opened.truth)
    ], opened.notes


def test_label_studio_from_a_file():
    (rows, answers, truth), notes = parts("label_studio.json")
    assert rows == {
        "item": [41, 42, 43, 44],
        "resnet-v1.p_Abnormal": [0.75, 0.5, None, 0.0625],
        "resnet-v1.p_Normal": [0.25, 0.5, None, 0.9375],
        "resnet-v2.p_Abnormal": [0.875, 0.375, 1.0, None],
        "resnet-v2.p_Normal": [0.125, 0.625, 0.0, None],
    }
    assert list(zip(*answers.values(), strict=True)) == [
        (41, "1", "Normal"),
        (41, "2", "Abnormal"),
        (42, "1", "Normal"),
        (43, "1", "Abnormal"),
        (43, "2", "Abnormal"),
        (43, "1", "Normal"),
    ]
    assert truth == {"item": [41, 44], "truth": ["Abnormal", "Normal"]}
    assert [note.partition("label_studio.json")[2] for note in notes] == [
        " is read as an export of Label Studio.",
        ": 1 annotation is left out: cancelled.",
        ": 1 task is left out: without an answer or a prediction.",
    ]


def test_an_export_is_a_table():
    table = scan(HERE / "label_studio.json")
    observations, truth = table.read()
    assert (observations.annotators, observations.models) == (("1", "2"), ("resnet-v1", "resnet-v2"))
    assert observations.answers.per_item().tolist() == [2, 1, 3, 0]
    assert truth.tolist() == ["Abnormal", "", "", "Normal"]
    assert "label_studio.json is read as an export of Label Studio." in table.notes[0]


def test_json_min_has_answers_only():
    (rows, answers, truth), notes = parts("label_studio_min.json")
    assert (rows, truth) == (None, None)
    assert sorted(zip(*answers.values(), strict=True))[:3] == [
        (41, "1", "Normal"),
        (41, "2", "Abnormal"),
        (41, "9", "Abnormal"),
    ]
    assert any("JSON-MIN does not show which annotations are ground truth" in note for note in notes)
    records = json.loads((HERE / "label_studio_min.json").read_text())
    with pytest.raises(InvalidObservations, match="annotation 103 of task 41 is repeated"):
        read_label_studio([*records, records[0]])
    with pytest.raises(InvalidObservations, match="choices of the control 'mood'; none of them does"):
        read_label_studio(records, "mood")


@pytest.mark.parametrize("name", ["argilla_dataset", "argilla.parquet", "argilla_records.json"])
def test_argilla_from_files(name):
    (rows, answers, truth), notes = parts(name)
    assert rows == {
        "item": ["r1", "r2", "r3"],
        "setfit-v1.p_negative": pytest.approx([0.1, None, 0.4]),
        "setfit-v1.p_positive": [0.9, None, 0.6],
        "gpt.label": [None, "negative", None],
    }
    ann, bob = (f"00000000-0000-0000-0000-00000000000{number}" for number in "12")
    draft = [] if name != "argilla_records.json" else [("r1", bob, "negative")]
    submitted = [("r1", ann, "positive"), *draft, ("r2", ann, "negative"), ("r2", bob, "negative")]
    assert (list(zip(*answers.values(), strict=True)), truth) == (submitted, None)
    assert any("1 response is left out: a draft" in note for note in notes) == (not draft)
    assert any("drafts count as answers" in note for note in notes) == bool(draft)


def test_argilla_codes_without_names():
    with pytest.raises(InvalidObservations, match="suggestions must be labels like the responses"):
        parts("argilla_codes.jsonl")


@pytest.mark.parametrize("name", ["mlflow_traces.jsonl", "mlflow_search_traces.json"])
def test_mlflow_from_files(name):
    (rows, answers, truth), notes = parts(name)
    assert rows == {
        "item": ["tr-1", "tr-2", "tr-3"],
        "exact_match.label": [None, None, "no"],
        "gpt-5.label": ["yes", "no", None],
        "opus.label": [None, None, "no"],
    }
    assert list(zip(*answers.values(), strict=True)) == [
        ("tr-1", "ann@x.org", "yes"),
        ("tr-1", "bob@x.org", "no"),
        ("tr-2", "ann@x.org", "yes"),
    ]
    assert truth == {"item": ["tr-1"], "truth": ["yes"]}
    assert sum("overridden" in note or "without a value" in note for note in notes) == 2


def test_records_that_are_not_built_as_the_tool_builds_them(tmp_path):
    traces = [json.loads(line) for line in (HERE / "mlflow_traces.jsonl").read_text().splitlines()]
    traces[0]["info"]["assessments"] = ["correct"]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(trace) + "\n" for trace in traces))
    with pytest.raises(InvalidObservations, match="a record is not built as MLflow builds it"):
        Opener(Reading()).open(path, "table")


@pytest.mark.parametrize("known", ["label_studio.json", "argilla_records.json"])
def test_an_id_that_is_null_is_no_id(known):
    read = read_argilla if "argilla" in known else read_label_studio
    records = json.loads((HERE / known).read_text())
    records[1]["id"] = None
    with_null = read(records).ids
    del records[1]["id"]
    assert with_null == read(records).ids
    assert None not in with_null


def test_ids_beyond_64_bits_are_text(tmp_path):
    tasks = json.loads((HERE / "label_studio.json").read_text())
    tasks[0]["id"] = 1 << 70
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    seen, _ = scan(tmp_path / "t.json").read()
    assert str(1 << 70) in seen.items.tolist()


def test_what_mlflow_cannot_give():
    def feedback(value, name="good", kind="HUMAN"):
        source = {"source_type": kind, "source_id": "x"}
        return {"assessment_name": name, "trace_id": "t", "source": source, "feedback": {"value": value}}

    with pytest.raises(InvalidObservations, match="feedback of one name; they hold that called bad, good"):
        from_mlflow([feedback("a"), feedback("b", "bad")])
    with pytest.raises(InvalidObservations, match=r"must be a class.* that of t is 0.25"):
        from_mlflow([feedback(0.25, kind="LLM_JUDGE")])
    with pytest.raises(InvalidObservations, match="must come from HUMAN, LLM_JUDGE or CODE"):
        from_mlflow([feedback("a", kind="SOURCE_TYPE_UNSPECIFIED")])
    trace = {"info": {"trace_id": "t"}}
    with pytest.raises(InvalidObservations, match="trace t appears 2 times"):
        from_mlflow([trace, trace])
    seen, truth = from_mlflow([feedback(True), {**feedback(False), "span_id": "s"}])
    assert (seen.items.tolist(), seen.classes.tolist(), truth) == (["t", "t/s"], ["False", "True"], None)


def test_hugging_face_from_files():
    for name in ("hugging_face/train", "hugging_face.parquet", "hugging_face/train/data-00000-of-00001.arrow"):
        observations, truth = scan(HERE / name).read()
        assert observations.answers.column.tolist() == [0, 1, -1]
        assert (observations.classes.tolist(), truth.tolist()) == (["cat", "dog"], ["cat", "dog", ""])
    with pytest.raises(InvalidObservations, match="holds the splits train, test of a dataset; name one"):
        scan(HERE / "hugging_face")


def test_crowd_kit_from_files():
    observations, truth = scan(answers=HERE / "crowd_kit_labels.csv", truth=HERE / "crowd_kit_gt.csv").read()
    assert (observations.items.tolist(), truth.tolist()) == (["t1", "t2", "t3"], ["no", "", "no"])


def test_cleanlab_keeps_the_index():
    labels = pd.read_csv(HERE / "cleanlab_labels.csv", index_col=0)
    pred_probs = np.load(HERE / "cleanlab_pred_probs.npy")
    seen = from_cleanlab(labels, pred_probs)
    assert seen.items.tolist() == ["img_7", "img_3", "img_9"]
    back, proba = to_cleanlab(seen)
    frame = pd.DataFrame(back, index=seen.items, columns=list(seen.annotators))
    pd.testing.assert_frame_equal(frame, labels, check_names=False)
    np.testing.assert_array_equal(proba, pred_probs)
    with pytest.raises(InvalidObservations, match="same index; at position 0 they have 'img_7' and 'img_3'"):
        from_cleanlab(labels, pd.DataFrame(pred_probs, index=["img_3", "img_7", "img_9"]))
    with pytest.raises(InvalidObservations, match="must name each item once; 'a' is repeated"):
        from_cleanlab(labels.set_axis(["a", "a", "b"]), pred_probs)


def result(label):
    return [{"from_name": "kind", "to_name": "image", "type": "choices", "value": {"choices": [label]}}]


def label_studio_task(item, answers, predictions, truth):
    annotations = [{"completed_by": who, "result": result(label), "ground_truth": False} for who, label in answers]
    annotations += [{"completed_by": "chief", "result": result(truth), "ground_truth": True}] if truth else []
    made = [{"model_version": name, "score": score, "result": result(label)} for name, label, score in predictions]
    return {"id": item, "data": {}, "annotations": annotations, "predictions": made}


def mlflow_trace(item, answers, predictions, truth):
    def made(kind, who, **value):
        return {"assessment_name": "q", "source": {"source_type": kind, "source_id": who}} | value

    found = [made("HUMAN", who, feedback={"value": label}) for who, label in answers]
    found += [made("LLM_JUDGE", name, feedback={"value": label}) for name, label, _ in predictions]
    found += [made("HUMAN", "chief", expectation={"value": truth})] if truth else []
    return {"info": {"trace_id": item, "assessments": found}}


def argilla_record(item, answers, predictions, truth):
    people = {"q.responses": [label for _, label in answers], "q.responses.users": [who for who, _ in answers]}
    status = {"q.responses.status": ["submitted"] * len(answers)}
    name, label, score = predictions[0] if predictions else (None, None, None)
    model = {"q.suggestion": label, "q.suggestion.score": score, "q.suggestion.agent": name}
    return {"id": item, **people, **status, **model}


LABEL = st.sampled_from(["a", "b", "10", "9", "ü,é"])
ITEM = st.tuples(
    st.lists(st.tuples(st.sampled_from(["ann", "bob", "7"]), LABEL), max_size=4),
    st.lists(
        st.tuples(st.sampled_from(["v1", "v2"]), LABEL, st.none() | st.floats(0, 1, exclude_min=True)),
        max_size=2,
        unique_by=lambda prediction: prediction[0],
    ),
    st.none() | LABEL,
)
TOOLS = {
    "label-studio": (label_studio_task, read_label_studio),
    "argilla": (argilla_record, read_argilla),
    "mlflow": (mlflow_trace, read_mlflow),
}


@pytest.mark.parametrize("known", EXPORTS, ids=lambda known: known.name)
def test_every_export_keeps_the_contract(known):
    make, read = TOOLS[known.name]
    check_export(read, make, has_truth=known.name != "argilla", has_scores=known.name != "mlflow")


def answers_with_truth(records, question=None):
    """A reader that takes the truth for an answer too."""
    export = read_label_studio(records, question)
    return Export(export.ids, [*export.statements, *(Answer(each.item, "gold", each.label) for each in export.truths)])


def one_of_each(records, question=None):
    """A reader that overlooks repeated items."""
    return read_label_studio(list({record["id"]: record for record in records}.values()))


@pytest.mark.parametrize(
    ("broken", "words"),
    [(answers_with_truth, "answers must be those made"), (one_of_each, "repeated item must be refused")],
)
def test_a_reader_that_breaks_the_contract_is_found(broken, words):
    with pytest.raises(AssertionError, match=words):
        check_export(broken, label_studio_task)


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=40, deadline=None)
@given(items=st.lists(ITEM, min_size=1, max_size=5))
def test_every_statement_is_read_once_and_in_its_role(tool, items):
    make, read = TOOLS[tool]
    if not any(answers or predictions for answers, predictions, _ in items):
        return
    export = read([make(f"i{at}", *item) for at, item in enumerate(items)])
    expected = []
    for at, (answers, predictions, truth) in enumerate(items):
        expected += [Answer(at, who, label) for who, label in answers]
        kept = predictions[:1] if tool == "argilla" else predictions
        scored = tool != "mlflow"
        expected += [Prediction(at, name, label, score if scored else None) for name, label, score in kept]
        expected += [Truth(at, truth, "chief")] if truth and tool != "argilla" else []
    assert sorted(map(repr, export.statements)) == sorted(map(repr, expected))
    assert "chief" not in {each.annotator for each in export.answers}


@settings(max_examples=25, deadline=None)
@given(items=st.lists(ITEM, min_size=1, max_size=5))
def test_tables_of_an_export_lose_nothing(items, tmp_path_factory):
    if not any(answers or predictions for answers, predictions, _ in items):
        return
    tasks = [label_studio_task(at, *item) for at, item in enumerate(items)]
    path = tmp_path_factory.getbasetemp() / "tasks.json"
    path.write_text(json.dumps(tasks))
    opened = Opener(Reading()).open(path, "table")
    answers = opened.answers.files[0].table.to_pylist() if opened.answers else []
    told = [{"item": at, "annotator": who, "answer": label} for at, item in enumerate(items) for who, label in item[0]]
    assert answers == told
    truth = opened.truth.files[0].table.to_pylist() if opened.truth else []
    assert truth == [{"item": at, "truth": item[2]} for at, item in enumerate(items) if item[2]]
    rows = {row["item"]: row for row in opened.rows.files[0].table.to_pylist()} if opened.rows else {}
    for at, (_, predictions, _) in enumerate(items):
        for model, label, score in predictions:
            hard = (f"{model}.label", f"{model} without score.label")
            found = rows[at][f"{model}.p_{label}"] if score is not None else [rows[at].get(name) for name in hard]
            assert found == score if score is not None else label in found


def test_the_verdicts_of_a_team_are_not_a_model():
    tasks = json.loads((HERE / "label_studio.json").read_text())[:4]
    out = to_label_studio(tasks, [[0.25, 0.75]] * 4, ["Abnormal", "Normal"])
    assert read_label_studio(out).statements == read_label_studio(tasks).statements
    assert read_label_studio(out).notes[-1] == "4 predictions are left out: made by a team, not by a model."
    assert from_label_studio(out, model_version="twoheads")[0].models == ("twoheads",)
    records = [{"id": "a", "q.responses": ["x"], "q.responses.users": ["ann"]}]
    assert [type(each) for each in read_argilla(to_argilla(records, [[1, 0]], ["x", "y"])).statements] == [Answer]


@pytest.mark.parametrize("flat", [True, False])
def test_argilla_back(flat):
    nested = [
        {"id": "a", "fields": {"t": "x"}, "responses": {"q": [{"value": "no", "user_id": "u"}]}, "suggestions": {}}
    ]
    records = [{"id": "a", "t": "x", "q.responses": ["no"], "q.responses.users": ["u"]}] if flat else nested
    before = copy.deepcopy(records)
    out = to_argilla(records, [[0.25, 0.75]], ["no", "yes"], agent="team 1")
    assert records == before
    seen = from_argilla(out)
    assert (seen.models, seen.model_proba[0].tolist()) == (("team 1",), [[0.25, 0.75]])
    assert {name: out[0][name] for name in records[0] if name != "suggestions"} == {
        name: value for name, value in records[0].items() if name != "suggestions"
    }


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ({}, "records must be a list of records"),
        ([], "records must hold at least one record"),
        ([{"id": 1}], "records must hold responses to one question; they hold none."),
        ([{"id": 1, "a.responses": ["x"], "b.suggestion": "y"}], "they hold those of a, b. Name one with question"),
        ([{"id": 1, "a.responses": [["x", "y"]]}], "one label per response and suggestion"),
        ([{"id": 1, "a.responses": ["x"], "a.responses.users": ["u", "v"]}], "1 responses, 2 users and 1 statuses"),
        ([{"id": 1, "a.suggestion": "x", "a.suggestion.score": 3}], "a score from 0 to 1; that of record 1 has 3"),
    ],
)
def test_argilla_that_does_not_fit(records, expected):
    with pytest.raises(InvalidObservations) as caught:
        from_argilla(records)
    assert expected in str(caught.value)


def test_several_models_of_one_class_of_statement():
    tasks = [label_studio_task(1, [("ann", "a")], [("v1", "a", 0.75), ("v1", "b", 0.75)], None)]
    with pytest.raises(InvalidObservations, match=r"scores of a model for one task .* task 1 sum to 1.5"):
        from_label_studio(tasks)
    tasks = [label_studio_task(1, [("ann", "a")], [("v1", "a", None), ("v1", "b", None)], None)]
    with pytest.raises(InvalidObservations, match="'v1' has 'a' and 'b' for task 1"):
        from_label_studio(tasks)


def test_scores_that_are_all_zero_are_not_probabilities():
    tasks = [label_studio_task(1, [("ann", "a")], [("v1", "b", 0)], None)]
    with pytest.raises(InvalidObservations, match=r"those of 'v1' are all 0 \(1 of 1 tasks\). Leave the score out"):
        from_label_studio(tasks)


def test_unsure_is_an_answer_and_not_a_class():
    seen, _ = from_label_studio([label_studio_task(1, [("ann", "Unsure"), ("bob", "a")], [("v1", "b", 0.5)], None)])
    assert (seen.classes.tolist(), seen.unsure.per_item().tolist()) == (["a", "b"], [1])


def test_packed_and_separate(tmp_path):
    text = (HERE / "label_studio.json").read_bytes()
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("project/export.json", text)
    (tmp_path / "export.json.gz").write_bytes(gzip.compress(text))
    whole = scan(HERE / "label_studio.json").fingerprint
    assert {scan(tmp_path / name).fingerprint for name in ("export.zip", "export.json.gz")} == {whole}
    (tmp_path / "model.csv").write_text("item,p_Abnormal,p_Normal\n41,0.5,0.5\n42,0.1,0.9\n")
    (tmp_path / "gold.csv").write_text("item,truth\n42,Normal\n")
    table = scan(answers=HERE / "label_studio.json", model=tmp_path / "model.csv", truth=tmp_path / "gold.csv")
    observations, truth = table.read()
    assert (observations.items.tolist(), truth.tolist()) == (["41", "42", "43"], ["", "Normal", ""])
    assert any("predictions in" in note and "are not used" in note for note in table.notes)
    named = scan(
        answers=HERE / "label_studio.json",
        model=tmp_path / "model.csv",
        truth=tmp_path / "gold.csv",
        format="label-studio",
    )
    assert named.fingerprint == table.fingerprint
    table = scan(tmp_path / "model.csv", truth=HERE / "label_studio.json")
    assert table.read()[1].tolist() == ["Abnormal", ""]


def test_a_format_may_be_named(tmp_path):
    shutil.copy(HERE / "label_studio.json", tmp_path / "tasks.txt")
    assert scan(tmp_path / "tasks.txt", format="label-studio").models == ("resnet-v1", "resnet-v2")
    with pytest.raises(InvalidParameter, match=r"format .* must be csv, tsv,.* or mlflow; it is 'labelstudio'"):
        scan(tmp_path / "tasks.txt", format="labelstudio")
    with pytest.raises(InvalidObservations, match="control 'mood'; they hold those of kind"):
        scan(tmp_path / "tasks.txt", question="mood")
    tasks = [label_studio_task(1, [("ann", "a")], [("p_net", "b", 0.5)], None)]
    (tmp_path / "t.json").write_text(json.dumps(tasks))
    with pytest.raises(InvalidObservations, match=r"must not begin with p_ or human_.*'p_net'"):
        scan(tmp_path / "t.json")


def test_verdicts_into_files(tmp_path):
    verdicts = [
        pa.record_batch({"item": [41, 44], "combined_label": ["Normal", "Abnormal"], "confidence": [0.75, 1.0]})
    ]
    path = tmp_path / "out.json"
    assert write_export(path, HERE / "label_studio.json", Reading("label-studio"), verdicts) == 2
    out = json.loads(path.read_text())
    assert [len(task["predictions"]) for task in out] == [3, 2, 1, 2, 0]
    made = out[0]["predictions"][-1]
    assert (made["model_version"], made["score"], made["result"][0]["value"]) == (
        "twoheads",
        0.75,
        {"choices": ["Normal"]},
    )
    assert {key: value for key, value in out[0].items() if key != "predictions"} == {
        key: value
        for key, value in json.loads((HERE / "label_studio.json").read_text())[0].items()
        if key != "predictions"
    }
    verdicts = [pa.record_batch({"item": ["r1"], "combined_label": ["negative"], "confidence": [0.875]})]
    for suffix in (".parquet", ".jsonl", ".arrow"):
        path = tmp_path / f"out{suffix}"
        assert write_export(path, HERE / "argilla_dataset", Reading("argilla"), verdicts) == 1
        statements = read_argilla(_records(path)).statements
        assert [each.label for each in statements if isinstance(each, Prediction)] == ["negative", "positive"]


def _records(path):
    from twoheads.tables.export_files import records_at

    found = records_at(path, "table", Reading())
    assert found[0]["sentiment.suggestion.agent"] == "twoheads"
    assert found[0]["sentiment.suggestion.score"] == 0.875
    return found


@pytest.mark.parametrize(
    "options",
    [
        {"table": "t.csv", "human": "r_1", "truth": "r_1"},
        {"table": "t.csv", "human": "r_*", "truth": "r_gold"},
        {"answers": "a.csv", "truth": "a.csv"},
        {"answers": "a.csv", "truth": "./a.csv", "truth_column": "label"},
    ],
)
def test_no_column_is_both_answers_and_truth(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("r_1,r_gold,p_a,p_b\na,a,0.5,0.5\n")
    Path("a.csv").write_text("task,worker,label\n1,w,a\n2,w,b\n")
    with pytest.raises(InvalidObservations, match=r"not both; '(r_1|r_gold|label)' is named as both"):
        scan(**options)
