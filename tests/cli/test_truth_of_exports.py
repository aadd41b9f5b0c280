"""What an export marks as the truth is not also an answer, on whichever day and in whichever file it is marked."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import twoheads as th
from twoheads import tables
from twoheads.cli.running import run

N_TASKS, N_KNOWN = 40, 25
KEEP = ["--method", "P+L", "--keep-items"]


def chosen(label):
    return [{"from_name": "kind", "to_name": "image", "type": "choices", "value": {"choices": [label]}}]


def annotation(who, label, *, gold=False):
    return {"completed_by": who, "result": chosen(label), "ground_truth": gold}


def tasks(*, gold, plain=True):
    """Tasks that 1 and 2 answer, 2 wrongly in every third; the annotations of 3 are right, and the first perhaps gold.

    plain  whether there are other annotations, predictions and tasks too
    """
    made = []
    for item in range(N_TASKS if plain else N_KNOWN):
        right, wrong = ("cat", "dog") if item % 2 else ("dog", "cat")
        people = [annotation(1, right), annotation(2, right if item % 3 else wrong)] if plain else []
        predictions = [{"model_version": "v1", "score": 0.75, "result": chosen(right if item % 4 else wrong)}]
        third = annotation(3, right, gold=gold and item < N_KNOWN)
        made.append(
            {"id": item, "data": {}, "annotations": [*people, third], "predictions": predictions if plain else []}
        )
    return made


@pytest.fixture
def exports(tmp_path, monkeypatch):
    """before.json, marked.json with truth, and gold.json with nothing but truth; none.json, a team without any."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "before.json").write_text(json.dumps(tasks(gold=False)))
    (tmp_path / "marked.json").write_text(json.dumps(tasks(gold=True)))
    (tmp_path / "gold.json").write_text(json.dumps(tasks(gold=True, plain=False)))
    return tmp_path


def fitted(name):
    return json.loads(Path(name).read_text())["sha256"]


def kept_answers_of(folder, person):
    (path,) = folder.glob("*/answers.parquet")
    return pq.read_table(path).column("annotator").to_pylist().count(person)


@pytest.mark.parametrize(
    "marked", [["marked.json"], ["gold.json"], ["--truth", "marked.json"], ["--truth", "gold.json"]]
)
def test_an_annotation_that_is_marked_later_is_no_answer_any_more(exports, marked):
    assert run(["fit", "marked.json", *KEEP, "-o", "one.json"]) == 0
    assert run(["fit", "before.json", *KEEP, "-o", "team.json"]) == 0
    assert kept_answers_of(exports / "team.items", "3") == N_TASKS
    assert run(["update", "team.json", *marked]) == 0
    assert kept_answers_of(exports / "team.items", "3") == N_TASKS - N_KNOWN
    assert fitted("team.json") == fitted("one.json")
    assert th.load("team.json").n_labelled_ == N_KNOWN


def test_an_export_of_before_does_not_bring_it_back(exports):
    assert run(["fit", "marked.json", *KEEP, "-o", "team.json"]) == 0
    before = (exports / "team.json").read_bytes()
    assert run(["update", "team.json", "before.json"]) == 0
    assert (exports / "team.json").read_bytes() == before


def test_nor_does_another_team(exports):
    assert run(["fit", "marked.json", *KEEP, "-o", "marked-team.json"]) == 0
    assert run(["fit", "before.json", *KEEP, "-o", "before-team.json"]) == 0
    for first, second in (("marked", "before"), ("before", "marked")):
        assert run(["merge", f"{first}-team.json", f"{second}-team.json", "-o", "both.json"]) == 0
        assert fitted("both.json") == fitted("marked-team.json")


def test_the_truth_of_another_export(exports):
    table = tables.scan(answers="before.json", truth="marked.json")
    seen, truth = table.read()
    assert sum(label != "" for label in truth.tolist()) == N_KNOWN
    assert seen.answers.column.size == 3 * N_TASKS - N_KNOWN
    assert "before.json: 25 answers are left out: by whoever stated the truth of the same item." in table.notes


def test_an_answer_beside_the_own_truth(tmp_path):
    both = [annotation("ann", "cat"), annotation("ann", "cat", gold=True), annotation("bob", "dog")]
    (tmp_path / "export.json").write_text(json.dumps([{"id": 1, "data": {}, "annotations": both, "predictions": []}]))
    table = tables.scan(tmp_path / "export.json")
    seen, truth = table.read()
    assert seen.annotators == ("bob",)
    assert truth.tolist() == ["cat"]
    assert any(
        note.endswith("1 answer is left out: by whoever stated the truth of the same item.") for note in table.notes
    )


def test_an_item_whose_only_answer_became_its_truth_waits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    more = {"id": 99, "data": {}, "annotations": [annotation(3, "cat")], "predictions": []}
    (tmp_path / "before.json").write_text(json.dumps([*tasks(gold=False), more]))
    (tmp_path / "gold.json").write_text(json.dumps([more | {"annotations": [annotation(3, "cat", gold=True)]}]))
    (tmp_path / "rest.json").write_text(json.dumps(tasks(gold=False)))
    assert run(["fit", "before.json", *KEEP, "-o", "team.json"]) == 0
    assert run(["update", "team.json", "gold.json"]) == 0
    assert run(["fit", "rest.json", *KEEP, "-o", "rest-team.json"]) == 0
    assert th.load("team.json").n_unlabelled_ == th.load("rest-team.json").n_unlabelled_ == N_TASKS
    assert th.load("team.json").n_labelled_ == 0


@pytest.mark.parametrize("command", ["fit", "combine", "evaluate"])
def test_an_export_of_nothing_but_truth(exports, capsys, command):
    assert run(["fit", "before.json", "--method", "P+L", "-o", "team.json"]) == 0
    capsys.readouterr()
    team = [] if command == "fit" else ["team.json"]
    output = ["-o", "verdicts.csv"] if command == "combine" else []
    assert run([command, *team, "gold.json", *output]) == 2
    assert capsys.readouterr().err == (
        "Error: gold.json must hold answers or predictions; it holds only the truth. "
        "Give it with truth (--truth) together with them, or to twoheads update.\n"
    )


def test_history_names_each_file_once(exports):
    assert run(["fit", "marked.json", *KEEP, "-o", "team.json"]) == 0
    assert [each["files"] for each in th.load("team.json").history()] == [["marked.json"]]


def test_feedback_of_who_stated_the_expectation():
    def assessment(who, **value):
        return {
            "assessment_name": "ok",
            "trace_id": "tr-1",
            "source": {"source_type": "HUMAN", "source_id": who},
        } | value

    own = [assessment("chief", expectation={"value": "yes"}), assessment("chief", feedback={"value": "yes"})]
    other = assessment("ann", feedback={"value": "no"})
    seen, truth = tables.from_mlflow([*own, other])
    assert (seen.annotators, truth.tolist()) == (("ann",), ["yes"])
    # "default" is the name of whoever has none: those may be several people.
    nobody = [assessment("default", expectation={"value": "yes"}), assessment("default", feedback={"value": "no"})]
    assert tables.from_mlflow(nobody)[0].annotators == ("default",)
