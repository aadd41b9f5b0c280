"""Exports and workbooks from the command line: fitted, combined, and written back."""

import json

import numpy as np
import pytest

from twoheads.cli.running import run
from twoheads.tables import scan
from twoheads.tables.interop.label_studio import read_label_studio


def result(label, control="kind"):
    return [{"from_name": control, "to_name": "image", "type": "choices", "value": {"choices": [label]}}]


def task(item, rng):
    truth = "ab"[rng.integers(2)]
    seen = [truth if rng.random() < 0.8 else "ab"[rng.integers(2)] for _ in range(3)]
    people = [{"completed_by": at, "result": result(label)} for at, label in enumerate(seen[:2])]
    gold = [{"completed_by": 9, "result": result(truth), "ground_truth": True}] if item % 2 else []
    model = [{"model_version": "v1", "score": round(0.6 + 0.3 * rng.random(), 3), "result": result(seen[2])}]
    return {"id": item, "data": {"image": f"{item}.jpg"}, "annotations": people + gold, "predictions": model}


@pytest.fixture
def export(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task(item, rng) for item in range(80)]))
    return path


def test_an_export_is_fitted_combined_and_written_back(export, tmp_path, capsys):
    team, out = tmp_path / "team.json", tmp_path / "out.json"
    assert run(["fit", str(export), "-o", str(team)]) == 0
    assert "export.json is read as an export of Label Studio." in capsys.readouterr().err
    assert run(["combine", str(team), str(export), "--format", "label-studio", "-o", str(out)]) == 0
    assert "80 items combined" in capsys.readouterr().err
    before, after = (json.loads(path.read_text()) for path in (export, out))
    assert read_label_studio(after).statements == read_label_studio(before).statements
    assert run(["combine", str(team), str(export), "-o", str(tmp_path / "verdicts.csv")]) == 0
    lines = (tmp_path / "verdicts.csv").read_text().splitlines()[1:]
    made = [each["predictions"][-1] for each in after]
    assert [line.split(",")[1] for line in lines] == [each["result"][0]["value"]["choices"][0] for each in made]
    assert [float(line.split(",")[2]) for line in lines] == [each["score"] for each in made]
    assert {each["model_version"] for each in made} == {"twoheads"}
    assert scan(out).models == ("v1",)  # the verdicts in it are not a model


def test_how_a_table_is_read_is_not_saved_with_a_team(export, tmp_path, capsys):
    team = tmp_path / "team.json"
    assert run(["fit", str(export), "--question", "kind", "--format", "label-studio", "-o", str(team)]) == 0
    (tmp_path / "t.csv").write_bytes("item;human_0;v1.p_a;v1.p_b\nä;a;0,5;0,5\n".encode("cp1252"))
    assert run(["combine", str(team), str(tmp_path / "t.csv"), "-o", "-"]) == 2
    assert "name its encoding (--encoding cp1252" in capsys.readouterr().err
    assert run(["combine", str(team), str(tmp_path / "t.csv"), "--encoding", "cp1252", "-o", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("ä,a,")


def test_mistakes(export, tmp_path, capsys):
    assert run(["fit", str(export), "--format", "studio"]) == 2
    assert "--format" in capsys.readouterr().err
    assert run(["fit", str(export), "--question", "mood"]) == 2
    assert "they hold those of kind" in capsys.readouterr().err
    assert run(["fit", str(export), "-o", str(tmp_path / "team.json")]) == 0
    line = ["combine", str(tmp_path / "team.json"), str(export), "--format", "label-studio", "-o", "-"]
    capsys.readouterr()
    assert run(line) == 2
    assert "--format label-studio writes a file: give its name with -o." in capsys.readouterr().err


def test_truth_marked_in_an_export_changes_no_answer(export, tmp_path):
    tasks = json.loads(export.read_text())
    for each in tasks:
        each["annotations"] = [one for one in each["annotations"] if not one.get("ground_truth")]
    (tmp_path / "without.json").write_text(json.dumps(tasks))
    with_truth, without = scan(export), scan(tmp_path / "without.json")
    assert (with_truth.fingerprint, with_truth.has_truth, without.has_truth) == (without.fingerprint, True, False)
