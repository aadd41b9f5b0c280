"""The commands as a user types them: what they write, print and promise."""

import csv
import json
import re
import subprocess
import sys
from datetime import UTC, datetime

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import twoheads as th
from twoheads.cli.methods import METHODS
from twoheads.cli.running import run


def write_table(
    path, n=120, classes=("cat", "dog", "emu"), *, truth="all", seed=0, delimiter=",", bom=False, item=True, first=0
):
    """A simulated team as a CSV file; returns its columns."""
    rng = np.random.default_rng(seed)
    k = len(classes)
    logits = rng.normal(scale=2, size=(n, k))
    chances = np.exp(logits / 2) / np.exp(logits / 2).sum(axis=1, keepdims=True)
    true = (chances.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    human = np.where(rng.random(n) < 0.8, true, rng.integers(0, k, n))
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    known = {"all": n, "none": 0}.get(truth, truth)
    with path.open("w", newline="", encoding="utf-8-sig" if bom else "utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        names = (["item"] if item else []) + ["human", *(f"p_{name}" for name in classes)]
        writer.writerow(names + ([] if truth == "none" else ["truth"]))
        for i in range(n):
            row = ([f"i{first + i}"] if item else []) + [classes[human[i]], *(f"{p:.9f}" for p in proba[i])]
            if truth != "none":
                row.append(classes[true[i]] if i < known else "")
            writer.writerow(row)
    return human, proba, true


@pytest.fixture
def made(tmp_path, capsys):
    """A folder with a labelled table, a held-out one and a fitted team."""
    write_table(tmp_path / "labelled.csv")
    write_table(tmp_path / "held-out.csv", n=300, seed=1, first=1000)
    assert run(["fit", str(tmp_path / "labelled.csv"), "-o", str(tmp_path / "team.json")]) == 0
    capsys.readouterr()
    return tmp_path


def test_fit_keeps_a_team_that_python_reads(made, capsys):
    team = th.load(made / "team.json")
    assert team.classes_.tolist() == ["cat", "dog", "emu"]
    assert team.n_labelled_ == 120
    assert team.provenance_["method"] == "recommended"


def test_fit_speaks_to_stderr_and_leaves_stdout_to_data(made, capsys):
    assert run(["fit", str(made / "labelled.csv"), "-o", str(made / "other.json")]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "Fitted on 120 items with truth" in said.err
    assert f"The team is saved in {made / 'other.json'}." in said.err.replace("\n", "")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_combine_writes_a_row_per_item_in_any_format(made, suffix, capsys):
    out = made / f"verdicts{suffix}"
    arguments = ["combine", str(made / "team.json"), str(made / "held-out.csv"), "--digits", "17"]
    assert run([*arguments, "-o", str(out)]) == 0
    rows = duckdb.sql(f"select * from '{out}'").fetchall()
    columns = duckdb.sql(f"select * from '{out}'").columns
    assert columns == ["item", "combined_label", "confidence", "p_cat", "p_dog", "p_emu"]
    assert len(rows) == 300
    assert rows[0][0] == "i1000"
    for row in rows[:20]:
        assert sum(row[3:]) == pytest.approx(1)
        assert row[2] == max(row[3:])
        assert row[1] == ["cat", "dog", "emu"][int(np.argmax(row[3:]))]
    assert "300 items combined" in capsys.readouterr().err


def test_combine_gives_what_the_team_predicts(made):
    human, proba, _ = write_table(made / "more.csv", n=50, seed=5)
    run(["combine", str(made / "team.json"), str(made / "more.csv"), "--digits", "17", "-o", str(made / "out.parquet")])
    written = pq.read_table(made / "out.parquet").to_pydict()
    seen = th.Observations.from_arrays(human, proba.round(9), classes=["cat", "dog", "emu"])
    expected = th.load(made / "team.json").predict_proba(seen)
    assert np.column_stack([written[f"p_{c}"] for c in ("cat", "dog", "emu")]) == pytest.approx(expected, abs=1e-9)


#: Class names whose order as text is not that of the numbers.
TWELVE = [str(number) for number in range(12)]


def write_numbered(path, seed, *, kind="text", names=TWELVE, n=400):
    """A table of sure and able members whose labels are texts of numbers, or the numbers; returns the truth."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, len(names), n)
    human = np.where(rng.random(n) < 0.95, true, rng.integers(0, len(names), n))
    logits = rng.normal(size=(n, len(names))) + 7 * np.eye(len(names))[true]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    cast = int if kind == "number" else str
    columns = {"item": [f"i{seed}-{row}" for row in range(n)], "human": [cast(names[code]) for code in human]}
    columns |= {f"p_{name}": proba[:, at] for at, name in enumerate(names)}
    table = pa.table(columns | {"truth": [cast(names[code]) for code in true]})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    return [names[code] for code in true]


FORMS = {
    "csv": ("t.csv", "text"),
    "parquet text": ("t.parquet", "text"),
    "parquet numbers": ("n.parquet", "number"),
    "json text": ("t.jsonl", "text"),
    "json numbers": ("n.jsonl", "number"),
}


@pytest.mark.parametrize("names", [TWELVE, ["2", "10", "9"]], ids=["0 to 11", "2, 10, 9"])
@pytest.mark.parametrize("fitted_on", FORMS)
def test_labels_are_right_where_class_names_are_texts_of_numbers(tmp_path, capsys, fitted_on, names):
    for folder, seed in (("fit", 0), ("use", 1)):
        (tmp_path / folder).mkdir()
        for name, kind in FORMS.values():
            truth = write_numbered(tmp_path / folder / name, seed, kind=kind, names=names)
    team = tmp_path / "team.json"
    assert run(["fit", str(tmp_path / "fit" / FORMS[fitted_on][0]), "-o", str(team)]) == 0
    answers = []
    for name, _ in FORMS.values():
        table, out = str(tmp_path / "use" / name), tmp_path / "out.parquet"
        assert run(["combine", str(team), table, "-o", str(out)]) == 0
        rows = pq.read_table(out).to_pydict()
        labels = [str(label) for label in rows["combined_label"]]
        assert labels == [max(names, key=lambda name: rows[f"p_{name}"][row]) for row in range(len(labels))]
        capsys.readouterr()
        assert run(["evaluate", str(team), table, "--json"]) == 0
        error = json.loads(capsys.readouterr().out)["combination"]["error"]["value"]
        accuracy = np.mean([label == true for label, true in zip(labels, truth, strict=True)])
        assert accuracy == pytest.approx(1 - error)
        assert accuracy > 0.99
        answers.append(np.column_stack([rows[f"p_{name}"] for name in names]))
    for other in answers[1:]:
        assert other == pytest.approx(answers[0], abs=1e-9)


def test_evaluate_says_first_whether_the_team_beats_its_better_half(made, capsys):
    assert run(["evaluate", str(made / "team.json"), str(made / "held-out.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"On 300 items \(held out\) the combination errs on [\d.]+ % \[[\d.]+, [\d.]+\].*", lines[0])
    assert [line.split("  ")[0] for line in lines[3:]] == ["human", "model", "model, calibrated", "combination"]


def test_evaluate_measures_the_error(made, capsys):
    human, _, true = write_table(made / "again.csv", n=300, seed=1, first=1000)
    run(["evaluate", str(made / "team.json"), str(made / "again.csv"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["human"]["error"]["value"] == pytest.approx(np.mean(human != true))
    assert found["n_items"] == 300


def test_evaluate_cross_validates_on_the_table_the_team_was_fitted_on(made, capsys):
    assert run(["evaluate", str(made / "team.json"), str(made / "labelled.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "cross-validation" in found["how"]
    assert any("cross-validat" in note for note in found["notes"])
    run(["evaluate", str(made / "team.json"), str(made / "held-out.csv"), "--json"])
    assert json.loads(capsys.readouterr().out)["how"] == "held out"


def test_items_that_were_fitted_on_are_left_out(made, capsys):
    lines = (made / "labelled.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    more = (made / "held-out.csv").read_text(encoding="utf-8").replace("\ni", "\nh").splitlines(keepends=True)[1:]
    (made / "both.csv").write_text("".join([*lines, *more]), encoding="utf-8")
    assert run(["evaluate", str(made / "team.json"), str(made / "both.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_items"] == 300
    assert found["notes"][0].startswith("The team was fitted on 120 of 420 items with truth; these are left out")


def test_truth_found_later_judges_the_team_as_it_is(tmp_path, capsys):
    write_table(tmp_path / "few.csv", n=200, truth=30)
    write_table(tmp_path / "all.csv", n=200)
    team = str(tmp_path / "team.json")
    run(["fit", str(tmp_path / "few.csv"), "-o", team])
    capsys.readouterr()
    assert run(["evaluate", team, str(tmp_path / "all.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["how"], found["n_items"]) == ("held out", 170)
    human, proba, true = write_table(tmp_path / "again.csv", n=200)
    seen = th.Observations.from_arrays(human, proba.round(9), classes=["cat", "dog", "emu"])
    wrong = th.load(team).predict(seen)[30:] != np.array(["cat", "dog", "emu"])[true[30:]]
    assert found["combination"]["error"]["value"] == pytest.approx(wrong.mean())


def test_a_column_that_may_be_the_truth_is_pointed_at(tmp_path, capsys):
    write_table(tmp_path / "t.csv")
    text = (
        (tmp_path / "t.csv")
        .read_text(encoding="utf-8")
        .replace(",truth\n", ",true_label\n")
        .replace(",truth\r", ",true_label\r")
    )
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert run(["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "team.json")]) == 0
    assert "--truth true_label" in capsys.readouterr().err


def test_without_truth_nothing_is_dressed_as_measured(tmp_path, capsys):
    table, team = tmp_path / "t.csv", tmp_path / "team.json"
    write_table(table, truth="none")
    assert run(["fit", str(table), "-o", str(team)]) == 0
    assert "items without truth" in capsys.readouterr().err
    assert run(["combine", str(team), str(table), "-o", str(tmp_path / "v.csv")]) == 0
    assert run(["evaluate", str(team), str(table), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "agreement" in found
    assert "error" not in found
    assert run(["evaluate", str(team), str(table)]) == 0
    assert "errs on" not in capsys.readouterr().out


def test_people_are_measured_by_the_truth_of_the_table_or_else_by_that_of_the_fit(tmp_path, capsys):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 120)
    lines = {"item,human_ann,human_bob,p_a,p_b,truth": None}
    for at, label in enumerate(truth):
        ann, bob = ("ab"[label ^ (rng.random() < wrong)] for wrong in (0.3, 0.1))
        lines[f"{at},{ann},{bob},{0.3 + 0.4 * (label == 0)},{0.3 + 0.4 * (label == 1)},{'ab'[label]}"] = None
    head, *rows = lines
    for name, some in (("fit", rows[:60]), ("new", rows[60:])):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *some]))
    blank = [row.rsplit(",", 1)[0] + "," for row in rows[60:]]
    (tmp_path / "blank.csv").write_text("\n".join([head, *blank]))
    team = str(tmp_path / "team.json")
    assert run(["fit", str(tmp_path / "fit.csv"), "-o", team, "--method", "P+L"]) == 0
    for table, basis in (("new", "Measured on 60 items with truth."), ("blank", "No truth is given for these items:")):
        capsys.readouterr()
        assert run(["evaluate", team, str(tmp_path / f"{table}.csv")]) == 0
        said = capsys.readouterr()
        assert "measured right % [95 %]" in said.out
        assert said.out.index("bob  ") < said.out.index("ann  ")  # the most accurate first
        assert basis in said.err.replace("\n", " ")


def test_truth_that_people_did_not_answer_about_is_not_said_to_be_missing(tmp_path, capsys):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    said = np.where(rng.random((3, 80)) < 0.8, truth, 1 - truth)
    names = ("human_ann", "human_bob", "gpt.label")
    table = pd.DataFrame(
        {"item": np.arange(80)} | {name: np.array(["a", "b"])[each] for name, each in zip(names, said, strict=True)}
    )
    table["truth"] = np.array(["a", "b"])[truth]
    table[:60].to_csv(tmp_path / "fit.csv", index=False)
    team = str(tmp_path / "team.json")
    assert run(["fit", str(tmp_path / "fit.csv"), "-o", team]) == 0
    measured = "accuracies were measured on the items with truth of the fit."
    apart = table[60:].copy()
    apart.loc[60:69, "truth"], apart.loc[70:, ["human_ann", "human_bob"]] = None, None
    for new, reason in (
        (table[60:].drop(columns=["human_ann", "human_bob"]), "Nobody answered about these items with truth"),
        (apart, "Nobody answered about these items with truth"),
        (table[60:].drop(columns="human_bob"), "Only one person answered about these items"),
        (table[60:].drop(columns="truth"), "No truth is given for these items"),
    ):
        new.to_csv(tmp_path / "new.csv", index=False)
        capsys.readouterr()
        assert run(["evaluate", team, str(tmp_path / "new.csv"), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["people"]["basis"] == f"{reason}: {measured}"
    table[:60].drop(columns="truth").to_csv(tmp_path / "blind.csv", index=False)
    assert run(["fit", str(tmp_path / "blind.csv"), "-o", team]) == 0
    table[60:].drop(columns="human_bob").to_csv(tmp_path / "new.csv", index=False)
    capsys.readouterr()
    assert run(["evaluate", team, str(tmp_path / "new.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["people"]["basis"] == (
        "Only one person answered about these items, and no truth was known at fit: accuracies are what the team "
        "believes, from how people agree."
    )


def test_every_command_that_needs_truth_names_a_column_that_may_hold_it(made, tmp_path, capsys):
    table = pd.read_csv(made / "held-out.csv").rename(columns={"truth": "Truth"})
    table.to_csv(tmp_path / "new.csv", index=False)
    new, team = str(tmp_path / "new.csv"), str(made / "team.json")
    for words in (
        ["evaluate", team, new],
        ["report", team, new, "-o", str(tmp_path / "r.html")],
        ["fit", new, "-o", str(tmp_path / "t.json")],
    ):
        capsys.readouterr()
        assert run(words) == 0
        told = " ".join(capsys.readouterr().err.split())
        assert "There is no column truth; if 'Truth' holds the truth, use: --truth Truth" in told
    assert run(["compare", new, "--methods", "P+L"]) == 2
    assert "use: --truth Truth" in capsys.readouterr().err
    assert run(["evaluate", team, new, "--truth", "Truth"]) == 0
    assert "There is no column" not in capsys.readouterr().err


def test_show_tells_what_was_learnt(made, capsys):
    assert run(["show", str(made / "team.json")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("recommended, fitted ")
    assert "Fitted on 120 items with truth" in said
    assert run(["show", str(made / "team.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labelled"] == 120
    assert found["labels_per_class"].keys() == {"cat", "dog", "emu"}


def test_report_writes_one_page_and_the_same_numbers_as_json(made, capsys):
    page, asked = made / "report.html", ["report", str(made / "team.json"), str(made / "held-out.csv")]
    assert run([*asked, "-o", str(page), "--title", "Cats & dogs"]) == 0
    verdict, statistics = capsys.readouterr().err.splitlines()[:2]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>Cats &amp; dogs</title>" in text
    assert run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"]["sentence"], found["statistics"]) == (verdict, statistics)
    assert found["date"] == datetime.now(UTC).strftime("%Y-%m-%d")
    assert found["source"]["fitted"] != found["date"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_combines_evaluates_and_shows(made, method, capsys):
    team, table = str(made / "m.json"), str(made / "held-out.csv")
    assert run(["fit", str(made / "labelled.csv"), "-o", team, "--method", method]) == 0
    assert run(["combine", team, table, "-o", str(made / "m.csv")]) == 0
    assert run(["evaluate", team, table]) == 0
    assert run(["show", team]) == 0
    assert run(["show", team, "--json"]) == 0


def test_truth_for_few_of_many_rows(tmp_path, capsys):
    write_table(tmp_path / "t.csv", n=500, truth=10)
    assert run(["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "team.json")]) == 0
    assert "Fitted on 10 items with truth and 490 without" in capsys.readouterr().err
    assert run(["evaluate", str(tmp_path / "team.json"), str(tmp_path / "t.csv")]) == 0


@pytest.mark.parametrize("n", [1, 2])
def test_a_table_of_one_row_works_and_says_how_little_it_can_know(tmp_path, n, capsys):
    write_table(tmp_path / "t.csv", n=n)
    assert run(["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "team.json")]) == 0
    assert f"Fitted on {n} item" in capsys.readouterr().err
    assert run(["combine", str(tmp_path / "team.json"), str(tmp_path / "t.csv"), "-o", str(tmp_path / "v.csv")]) == 0
    code = run(["evaluate", str(tmp_path / "team.json"), str(tmp_path / "t.csv")])
    said = capsys.readouterr()
    assert code == 0 or "truth" in said.err


@pytest.mark.parametrize(
    "classes",
    [
        ("yes", "no"),
        ("big cat", "dog, small", "ёж 猫", 'quo"te'),
        tuple(f"class {i}" for i in range(60)),
        ("0", "1", "10"),
    ],
    ids=["two", "odd names", "sixty", "numbers"],
)
def test_any_class_names(tmp_path, classes):
    table, team, out = tmp_path / "t.csv", str(tmp_path / "team.json"), tmp_path / "v.csv"
    write_table(table, classes=classes)
    assert run(["fit", str(table), "-o", team]) == 0
    assert run(["combine", team, str(table), "-o", str(out)]) == 0
    with out.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert set(header[3:]) == {f"p_{name}" for name in classes}
    assert {row[1] for row in rows} <= set(classes)


def test_semicolons_and_a_byte_order_mark(tmp_path):
    write_table(tmp_path / "t.csv", delimiter=";", bom=True)
    assert run(["fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "team.json")]) == 0


def test_a_folder_of_parquet_files(made):
    folder = made / "days"
    folder.mkdir()
    for day in range(3):
        of_day = f"select * replace ('d{day}' || item as item) from '{made / 'held-out.csv'}'"
        duckdb.sql(f"copy ({of_day}) to '{folder}/{day}.parquet'")
    out = made / "v.parquet"
    assert run(["combine", str(made / "team.json"), str(folder), "-o", str(out)]) == 0
    assert pq.read_table(out).num_rows == 900


def test_columns_by_option_are_remembered(tmp_path):
    write_table(tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    text = text.replace("item,human,p_cat,p_dog,p_emu,truth", "id,reader,score_cat,score_dog,score_emu,gold")
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    options = ["--item", "id", "--human", "reader", "--model-columns", "score_*", "--truth", "gold"]
    team = str(tmp_path / "team.json")
    assert run(["fit", str(tmp_path / "t.csv"), "-o", team, *options]) == 0
    assert run(["combine", team, str(tmp_path / "t.csv"), "-o", str(tmp_path / "v.csv")]) == 0
    assert (tmp_path / "v.csv").read_text(encoding="utf-8").startswith("id,combined_label")
    assert run(["evaluate", team, str(tmp_path / "t.csv")]) == 0


def test_separate_tables_in_any_order(made, capsys):
    source = made / "labelled.csv"
    duckdb.sql(f"copy (select item, p_cat, p_dog, p_emu from '{source}' order by hash(item)) to '{made}/model.parquet'")
    answered = f"select item, 'ann' as annotator, human as answer from '{source}' where item <> 'i7'"
    duckdb.sql(f"copy ({answered} order by hash(human, item)) to '{made}/answers.csv'")
    duckdb.sql(f"copy (select item, truth from '{source}' where item not in ('i1', 'i2')) to '{made}/truth.csv'")
    files = [
        "--answers",
        str(made / "answers.csv"),
        "--model",
        str(made / "model.parquet"),
        "--truth",
        str(made / "truth.csv"),
    ]
    assert run(["fit", *files, "-o", str(made / "joined.json")]) == 0
    said = capsys.readouterr().err
    assert "i7" in said
    team = th.load(made / "joined.json")
    assert (team.n_labelled_, team.n_unlabelled_) == (118, 2)


def test_help_teaches_with_an_example(capsys):
    for command in ("demo", "fit", "combine", "evaluate", "report", "show", "study"):
        assert run([command, "--help"]) == 0
        assert f"Example:  twoheads {command}" in " ".join(capsys.readouterr().out.split("\n")).replace(
            "   ", " "
        ).replace("Example: twoheads", "Example:  twoheads")


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"twoheads {th.__version__}\n"


def test_the_demo_runs_the_whole_path(tmp_path, capsys):
    assert run(["demo", str(tmp_path / "demo")]) == 0
    said = capsys.readouterr()
    assert "simulated" in said.err
    for command in ("fit", "combine", "evaluate", "report"):
        assert f"$ twoheads {command} " in said.err
    assert "fewer errors than people combined, without the model" in said.out
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [
        "held-out.csv",
        "labelled.csv",
        "report.html",
        "team.json",
        "verdicts.csv",
    ]


def test_the_installed_command_exits_with_its_code(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from twoheads.cli import main; main()", "show", "nothing.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "There is no file nothing.json" in done.stderr


def test_combine_writes_csv_to_stdout(made, capsys):
    arguments = ["combine", str(made / "team.json"), str(made / "held-out.csv"), "-o"]
    assert run([*arguments, str(made / "verdicts.csv")]) == 0
    assert run([*arguments, "-"]) == 0
    said = capsys.readouterr()
    assert said.out == (made / "verdicts.csv").read_text()
    assert "300 items combined.\n" in said.err


def test_combine_without_anyones_answers_calibrates_the_model_alone(made, capsys):
    _, proba, _ = write_table(made / "more.csv", n=50, seed=5)
    lines = [line.split(",") for line in (made / "more.csv").read_text().splitlines()]
    (made / "model.csv").write_text("\n".join(",".join([line[0], *line[2:5]]) for line in lines) + "\n")
    assert (
        run(["combine", str(made / "team.json"), "--model", str(made / "model.csv"), "--digits", "17", "-o", "-"]) == 0
    )
    said = capsys.readouterr()
    assert "only the model is used" in said.err
    rows = list(csv.DictReader(said.out.splitlines()))
    nobody = th.Observations.from_arrays(np.full(50, -1), proba.round(9), classes=["cat", "dog", "emu"])
    expected = th.load(made / "team.json").predict_proba(nobody)
    written = np.array([[float(row[f"p_{name}"]) for name in ("cat", "dog", "emu")] for row in rows])
    assert written == pytest.approx(expected, abs=1e-9)


def test_one_item_is_not_called_items(made, capsys):
    lines = (made / "held-out.csv").read_text().splitlines()
    (made / "one.csv").write_text("\n".join(lines[:2]) + "\n")
    assert run(["combine", str(made / "team.json"), str(made / "one.csv"), "-o", "-"]) == 0
    assert "1 item combined.\n" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_mistake(made):
    twoheads = f"{sys.executable} -c 'from twoheads.cli import main; main()'"
    command = f"{twoheads} combine {made / 'team.json'} {made / 'held-out.csv'} -o - | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "item,combined_label,confidence,p_cat,p_dog,p_emu\n"
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_rounded_probabilities_are_normalised_where_that_is_asked_for(tmp_path, capsys):
    _, proba, _ = write_table(tmp_path / "exact.csv")
    lines = (tmp_path / "exact.csv").read_text().splitlines()
    rounded = [re.sub(r"0\.\d{9}", lambda found: f"{float(found[0]):.2f}", line) for line in lines]
    (tmp_path / "rounded.csv").write_text("\n".join(rounded) + "\n")
    table, team, out = (str(tmp_path / name) for name in ("rounded.csv", "team.json", "out.csv"))
    assert (abs(np.round(proba, 2).sum(axis=1) - 1) > 1e-3).any()
    assert run(["fit", table, "-o", team]) == 2
    assert "divide each row by its sum (normalise=True, --normalise)" in capsys.readouterr().err
    assert run(["fit", table, "-o", team, "--normalise"]) == 0
    assert run(["combine", team, table, "-o", out]) == 0  # as at fit
    assert run(["evaluate", team, table]) == 0
