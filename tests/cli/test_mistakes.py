"""Wrong input in many ways: each one clear message, exit code 2, no traceback, nothing half-written."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import twoheads as th
from twoheads import tables
from twoheads.cli.running import run

HEADER = "item,human,p_a,p_b,truth\n"
ROWS = "1,a,0.7,0.3,a\n2,b,0.4,0.6,b\n3,a,0.8,0.2,a\n4,b,0.1,0.9,a\n"


def mistaken(capsys, arguments, *parts):
    """Run a command that must fail with one message that holds each of the parts."""
    code = run([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert "Traceback" not in said.err
    message = " ".join(said.err.split())
    for part in parts:
        assert part in message, message
    return message


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def team(here, capsys):
    (here / "good.csv").write_text(HEADER + ROWS)
    assert run(["fit", "good.csv"]) == 0
    capsys.readouterr()
    return here / "team.json"


WRONG_TABLES = {
    "no model columns": ("item,human,score_a,score_b\n1,a,0.5,0.5\n", ["p_<class>", "score_a", "--model-columns"]),
    "no human column": ("item,hmuan,p_a,p_b\n1,a,0.5,0.5\n", ["human", "hmuan", "--human"]),
    "an empty file": ("", ["t.csv", "empty"]),
    "a header only": (HEADER, ["t.csv"]),
    "text in a probability column": (HEADER + "1,a,high,0.3,a\n", ["p_a", "high", "row 1"]),
    "rows that do not sum to 1": (HEADER + "1,a,0.7,0.7,a\n2,a,0.5,0.5,a\n", ["sum to 1", "1.4", "1 of 2"]),
    "percentages": (HEADER + "1,a,70,30,a\n2,a,50,50,a\n", ["percentages", "divide by 100"]),
    "logits unannounced": (HEADER + "1,a,2.5,-1.0,a\n", ["negative", "logit"]),
    "an infinite probability": (HEADER + "1,a,inf,0.3,a\n", ["finite"]),
    "an unknown human label": (HEADER + "1,c,0.7,0.3,a\n2,a,0.7,0.3,a\n", ["human", "'c'", "1 of 2"]),
    "an unknown true label": (HEADER + "1,a,0.7,0.3,A\n2,a,0.7,0.3,a\n", ["truth", "'A'"]),
    "an item twice": (HEADER + "1,a,0.7,0.3,a\n1,b,0.7,0.3,a\n", ["item", "1"]),
    "a column twice": ("item,human,p_a,p_a,p_b\n1,a,0.5,0.3,0.2\n", ["p_a", "2"]),
    "a single class": ("item,human,p_a,truth\n1,a,1.0,a\n", ["both classes"]),
    "ragged rows": (HEADER + "1,a,0.7\n2,a,0.5,0.5,a\n", ["t.csv"]),
    "a row with nothing in it": (HEADER + "1,,,,a\n2,a,0.5,0.5,a\n", ["neither"]),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_a_wrong_table(name, here, capsys):
    text, parts = WRONG_TABLES[name]
    (here / "t.csv").write_text(text)
    mistaken(capsys, ["fit", "t.csv", "-o", "team.json"], *parts)
    assert [path.name for path in here.iterdir()] == ["t.csv"]


def test_a_file_that_is_not_there_names_the_nearest(here, capsys):
    (here / "labelled.csv").write_text(HEADER + ROWS)
    mistaken(capsys, ["fit", "labeled.csv"], "labeled.csv", "labelled.csv")


def test_a_folder_without_tables(here, capsys):
    (here / "empty").mkdir()
    mistaken(capsys, ["fit", "empty"], "empty")


def test_a_pattern_that_matches_nothing(here, capsys):
    mistaken(capsys, ["fit", "days/*.parquet"], "days/*.parquet")


def test_a_truncated_parquet_file(here, capsys):
    (here / "t.parquet").write_bytes(b"PAR1 and then nothing")
    mistaken(capsys, ["fit", "t.parquet"], "t.parquet")


def test_a_binary_file_called_csv(here, capsys):
    (here / "t.csv").write_bytes(bytes(range(256)) * 20)
    mistaken(capsys, ["fit", "t.csv"], "t.csv")


def test_another_encoding(here, capsys):
    (here / "t.csv").write_bytes((HEADER + "1,a,0.7,0.3,ä\n").encode("latin-1"))
    mistaken(capsys, ["fit", "t.csv"], "t.csv", "UTF-8")


def test_no_table_at_all(here, capsys):
    mistaken(capsys, ["fit"], "TABLE")


def test_a_column_option_that_names_no_column(here, capsys):
    (here / "t.csv").write_text(HEADER + ROWS)
    mistaken(capsys, ["fit", "t.csv", "--human", "reader"], "reader", "human")


def test_an_unknown_method(here, capsys):
    (here / "t.csv").write_text(HEADER + ROWS)
    mistaken(capsys, ["fit", "t.csv", "--method", "magic"], "--method", "magic", "recommended")


def test_an_unknown_scale(here, capsys):
    (here / "t.csv").write_text(HEADER + ROWS)
    mistaken(capsys, ["fit", "t.csv", "--model-scale", "odds"], "model_scale", "odds")


def test_an_unknown_option(here, capsys):
    mistaken(capsys, ["fit", "t.csv", "--colour", "red"], "--colour")


def test_an_unknown_command(here, capsys):
    mistaken(capsys, ["fti", "t.csv"], "fti")


def test_an_output_folder_that_is_not_there(team, capsys):
    mistaken(capsys, ["fit", "good.csv", "-o", "nowhere/team.json"], "nowhere")
    mistaken(capsys, ["combine", "team.json", "good.csv", "-o", "nowhere/v.csv"], "nowhere")
    mistaken(capsys, ["report", "team.json", "good.csv", "-o", "nowhere/r.html"], "nowhere")


def test_an_unknown_method_of_a_report(team, capsys):
    mistaken(capsys, ["report", "team.json", "good.csv", "--methods", "P+Q"], "it has 'P+Q'")


def test_an_output_that_is_an_input_or_a_folder(team, capsys):
    for arguments in (
        ["fit", "good.csv", "-o", "good.csv"],
        ["combine", "team.json", "good.csv", "-o", "./good.csv"],
        ["combine", "team.json", "good.csv", "-o", "team.json"],
        ["report", "team.json", "good.csv", "-o", "good.csv"],
    ):
        mistaken(capsys, arguments, "would destroy it")
    mistaken(capsys, ["report", "team.json", "good.csv", "-o", "."], "is a folder")
    assert (team.parent / "good.csv").read_text() == HEADER + ROWS


def test_team_and_table_swapped(team, capsys):
    mistaken(capsys, ["combine", "good.csv", "team.json", "-o", "v.csv"], "looks like a table", "the team comes first")


def test_no_output_for_combine(team, capsys):
    mistaken(capsys, ["combine", "team.json", "good.csv"], "-o")


def test_an_output_of_unknown_format(team, capsys):
    mistaken(capsys, ["combine", "team.json", "good.csv", "-o", "v.xlsx"], "v.xlsx")


def test_a_team_that_is_not_there(here, capsys):
    mistaken(capsys, ["show", "team.json"], "There is no file team.json", "twoheads fit")


def test_a_team_that_is_a_folder(here, capsys):
    mistaken(capsys, ["show", "."], "folder")


def test_a_team_that_is_no_team(here, capsys):
    (here / "team.json").write_text("[1, 2, 3]")
    mistaken(capsys, ["show", "team.json"], "not a saved team")


def test_a_damaged_team(team, capsys):
    team.write_text(team.read_text()[:500])
    mistaken(capsys, ["show", team], "damaged")


def test_a_team_of_another_version(team, capsys):
    content = json.loads(team.read_text())
    content["version"] = 99
    team.write_text(json.dumps(content))
    mistaken(capsys, ["show", team], "version 99")


def test_a_calibrator_in_place_of_a_team(here, capsys):
    from twoheads.storage import artifact

    artifact.save(th.TemperatureScaling().fit([[0.7, 0.3], [0.4, 0.6]], [0, 1]), here / "t.json")
    mistaken(capsys, ["show", "t.json"], "TemperatureScaling", "not a team")


def test_a_table_with_other_classes(team, capsys):
    (team.parent / "t.csv").write_text("item,human,p_a,p_c\n1,a,0.5,0.5\n")
    mistaken(capsys, ["combine", "team.json", "t.csv", "-o", "v.csv"], "p_b")
    assert not (team.parent / "v.csv").exists()


def test_a_mistake_in_a_late_row_leaves_nothing_written(team, capsys):
    rows = "".join(f"{i},a,0.5,0.5\n" for i in range(200_000)) + "x,a,0.9,0.9\n"
    (team.parent / "t.csv").write_text("item,human,p_a,p_b\n" + rows)
    mistaken(capsys, ["combine", "team.json", "t.csv", "-o", "v.csv"], "sum to 1")
    assert sorted(path.name for path in team.parent.iterdir()) == ["good.csv", "t.csv", "team.json"]


def test_a_full_disk(team, capsys, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "v.csv")

    monkeypatch.setattr(tables, "write", full, raising=False)
    mistaken(capsys, ["combine", "team.json", "good.csv", "-o", "v.csv"], "disk is full", "v.csv")


def test_a_file_where_the_demo_wants_a_folder(here, capsys):
    (here / "demo").write_text("")
    mistaken(capsys, ["demo", "demo"], "is a file")


@pytest.mark.parametrize("name", ["labelled.csv", "held-out.csv", "team.json", "report.html"])
def test_the_demo_replaces_no_file_of_others(name, here, capsys):
    (here / name).write_text("mine")
    mistaken(capsys, ["demo", "."], f"did not write {name}")
    assert (here / name).read_text() == "mine"


def test_truth_of_a_single_item_works(here, capsys):
    (here / "t.csv").write_text(HEADER + "1,a,0.7,0.3,a\n2,b,0.4,0.6,\n3,a,0.8,0.2,\n")
    assert run(["fit", "t.csv"]) == 0
    assert "Fitted on 1 item with truth and 2 without" in capsys.readouterr().err
    assert run(["evaluate", "team.json", "t.csv"]) == 0
    assert "learnt from: too kind" in capsys.readouterr().out


def test_ctrl_c_leaves_nothing_half_written_and_exits_130(team):
    rows = "".join(f"{i},a,0.5,0.5\n" for i in range(400_000))
    (team.parent / "t.csv").write_text("item,human,p_a,p_b\n" + rows)
    code = (
        "import sys, time\n"
        "from twoheads.combination.combiner import Combiner\n"
        "before = Combiner.predict_proba\n"
        "def slow(self, X):\n"
        "    print('working', flush=True); time.sleep(0.2); return before(self, X)\n"
        "Combiner.predict_proba = slow\n"
        "from twoheads.cli import main\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "combine", "team.json", "t.csv", "-o", "v.csv"],
        cwd=team.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "working\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert sorted(path.name for path in team.parent.iterdir()) == ["good.csv", "t.csv", "team.json"]


ANSWERS = "item,annotator,answer\n1,ann,a\n2,bob,b\n2,ann,a\n3,ann,a\n4,bob,b\n"
MODEL = "item,p_a,p_b\n1,0.7,0.3\n2,0.4,0.6\n3,0.8,0.2\n4,0.1,0.9\n"


def test_judging_needs_a_column_of_answers_and_names_no_option_that_cannot_help(team, capsys):
    (team.parent / "model.csv").write_text(MODEL)
    message = mistaken(capsys, ["evaluate", "team.json", "--model", "model.csv"], "blank where nobody was asked")
    assert "--human" not in message


def test_a_team_without_a_model_needs_answers(here, capsys):
    (here / "answers.csv").write_text(ANSWERS)
    (here / "model.csv").write_text(MODEL)
    assert run(["fit", "--answers", "answers.csv"]) == 0
    capsys.readouterr()
    mistaken(capsys, ["combine", "team.json", "model.csv", "-o", "v.csv"], "a person's answers", "blank where nobody")


@pytest.mark.parametrize("method", ["L+L", "LR"])
@pytest.mark.parametrize("truth", ["", ",truth"])
def test_a_method_that_needs_truth_names_the_options(method, truth, here, capsys):
    rows = [line.rsplit(",", 1)[0] + truth.replace("truth", "") for line in ROWS.splitlines()]
    (here / "t.csv").write_text("\n".join(["item,human,p_a,p_b" + truth, *rows]) + "\n")
    message = mistaken(capsys, ["fit", "t.csv", "--method", method], f"--method {method}", "--truth", "--method P+L")
    assert "ProbabilityLabelCombiner" not in message
    assert not (here / "team.json").exists()


def test_tables_that_cannot_be_cut_are_refused_before_a_cluster_starts(team, capsys, monkeypatch):
    from twoheads.cli import engines

    def started(scheduler):
        raise AssertionError("a cluster was started")

    monkeypatch.setattr(engines, "cluster_at", started)
    (team.parent / "answers.csv").write_text(ANSWERS)
    (team.parent / "model.csv").write_text(MODEL)
    separate = ["--answers", "answers.csv", "--model", "model.csv", "--engine", "dask"]
    mistaken(capsys, ["fit", *separate, "-o", "other.json"], "separate tables", "Parquet")
    mistaken(capsys, ["combine", "team.json", *separate, "-o", "v"], "separate tables", "Parquet")


def test_names_of_classes_may_hold_commas(here, capsys):
    (here / "answers.csv").write_text('item,annotator,answer\n1,ann,"cat, red"\n2,ann,dog\n3,bob,dog\n')
    assert run(["fit", "--answers", "answers.csv", "--classes", '"cat, red",dog,emu']) == 0
    assert th.load(here / "team.json").classes_.tolist() == ["cat, red", "dog", "emu"]
    mistaken(capsys, ["fit", "--answers", "answers.csv", "--classes", '"cat, red'], "--classes", "quotation marks")
