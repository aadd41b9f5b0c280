"""``twoheads ask``: who should look at what next."""

import csv
import io

import duckdb
import numpy as np
import pytest

import twoheads as th
from twoheads import tables
from twoheads.cli.running import run

CLASSES = ["cat", "dog", "emu"]


def write_table(path, n, *, people=("human",), answered=True, seed=0):
    """A simulated team as CSV; the second person errs more than the first."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=2, size=(n, 3))
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    chances = np.sqrt(proba) / np.sqrt(proba).sum(axis=1, keepdims=True)
    truth = (chances.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *(people if answered else ()), *(f"p_{name}" for name in CLASSES), "truth"])
        right = [np.where(rng.random(n) < 0.9 - 0.3 * at, truth, rng.integers(0, 3, n)) for at in range(len(people))]
        for i in range(n):
            given = [CLASSES[answer[i]] for answer in right] if answered else []
            writer.writerow([f"i{i}", *given, *(f"{p:.9f}" for p in proba[i]), CLASSES[truth[i]]])


@pytest.fixture
def made(tmp_path, capsys):
    write_table(tmp_path / "labelled.csv", 300, people=("human_ann", "human_bob"))
    write_table(tmp_path / "today.csv", 80, answered=False, seed=1)
    assert run(["fit", str(tmp_path / "labelled.csv"), "-o", str(tmp_path / "team.json")]) == 0
    capsys.readouterr()
    return tmp_path


def test_questions_go_to_stdout_best_first_and_words_to_stderr(made, capsys):
    assert run(["ask", str(made / "team.json"), str(made / "today.csv"), "--budget", "7", "-o", "-"]) == 0
    said = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert list(rows[0]) == ["item", "annotator", "expected_gain", "price"]
    assert len(rows) == 7
    assert {row["annotator"] for row in rows} == {"ann"}  # who errs less, at the same price
    gains = [float(row["expected_gain"]) for row in rows]
    assert gains == sorted(gains, reverse=True)
    assert "7 questions to 1 person, for 7 of a budget of 7." in said.err
    assert "Expected accuracy over 80 items" in said.err
    assert "More would pay: the next question is expected to correct 0." in said.err
    assert "labels per unit of price." in said.err


def test_price_decides_who_is_asked(made, capsys):
    out = made / "questions.parquet"
    order = ["ask", str(made / "team.json"), str(made / "today.csv"), "--budget", "20", "-o", str(out)]
    assert run([*order, "--price", "ann=9", "--price", "bob=0.5"]) == 0
    assert capsys.readouterr().out == ""
    rows = duckdb.sql(f"select * from '{out}'").fetchall()
    assert {row[1] for row in rows} == {"bob"}
    assert sum(row[3] for row in rows) <= 20


def test_people_whom_the_team_does_not_know_are_named(made, capsys):
    order = ["ask", str(made / "team.json"), str(made / "today.csv"), "--budget", "2"]
    assert run([*order, "--people", "bbo,bob"]) == 0
    told = "--people names 1 person unknown to the team (bbo): the crowd's average accuracy is assumed."
    assert told in capsys.readouterr().err
    assert run([*order, "--people", "bob"]) == 0
    assert "unknown" not in capsys.readouterr().err


def test_a_name_with_a_comma_stands_in_quotation_marks(made, capsys):
    order = ["ask", str(made / "team.json"), str(made / "today.csv"), "--budget", "4", "--price", "ann=100"]
    assert run([*order, "--people", '"o\'brien, pat", ann']) == 0
    said = capsys.readouterr()
    assert "--people names 1 person unknown to the team (o'brien, pat):" in said.err
    assert {row["annotator"] for row in csv.DictReader(io.StringIO(said.out))} == {"o'brien, pat"}


def test_asking_is_what_python_says(made, capsys):
    assert run(["ask", str(made / "team.json"), str(made / "today.csv"), "--budget", "5", "--people", "bob,new"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    seen, _ = tables.scan(made / "today.csv").read()
    plan = th.choose(th.load(made / "team.json"), seen, 5, people=["bob", "new"])
    assert [row["item"] for row in rows] == plan.item.tolist()
    assert [row["annotator"] for row in rows] == plan.annotator


def test_nobody_is_asked_again_and_more_does_not_pay(made, capsys):
    assert run(["ask", str(made / "team.json"), str(made / "labelled.csv"), "--budget", "1000"]) == 0
    said = capsys.readouterr()
    assert said.out == "item,annotator,expected_gain,price\n"
    assert "Nothing to ask about 300 items" in said.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--price", "ann=dear"], "--price must be a number or NAME=NUMBER; it is 'ann=dear'."),
        (
            ["--price", "zoe=2"],
            "price must name people who can be asked; 'zoe' is none of them (1 of 1 names are off).",
        ),
        (["--price", "0"], "price must be positive; it is 0."),
        (["--price", "1", "--price", "2"], "--price must name the person if it is repeated; '1' does not."),
        (["--budget", "-1"], "budget must be a number that is not negative; it is -1.0."),
        (["--people", '"Doe, Ann'], "--people must be names with commas between them; it is '\"Doe, Ann'."),
        (["--people", ","], "people must name at least one person; it names none."),
    ],
)
def test_mistakes_are_one_message(made, capsys, options, message):
    assert run(["ask", str(made / "team.json"), str(made / "today.csv"), "--budget", "9", *options]) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")


def test_a_team_that_foretells_nothing_says_so(made, capsys):
    write_table(made / "one.csv", 200)
    assert run(["fit", str(made / "one.csv"), "--method", "LR", "-o", str(made / "lr.json")]) == 0
    assert run(["ask", str(made / "lr.json"), str(made / "today.csv"), "--budget", "1"]) == 2
    assert "does not predict what people will answer" in capsys.readouterr().err.replace("\n", " ")
