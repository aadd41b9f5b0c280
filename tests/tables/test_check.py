"""``twoheads check``: what a table holds, what is wrong with it, a clean copy, and the command that fits it."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import tables
from twoheads.cli.running import run
from twoheads.tables.checking.cells import Number, is_blank, number_in
from twoheads.tables.checking.models import machine_name
from twoheads.text import spelling

CLASSES = ("cat", "dog", "emu")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def people_and_probabilities(n=40, seed=0):
    """A table by the conventions, with two readers of different names."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    proba = np.round(0.1 + 0.7 * np.eye(3)[truth], 3)
    answers = np.where(rng.random((2, n)) < 0.8, truth, rng.integers(0, 3, (2, n)))
    names = np.array(CLASSES)
    columns = {f"p_{name}": proba[:, at] for at, name in enumerate(CLASSES)}
    return pd.DataFrame(
        {"item": [f"i{at}" for at in range(n)], "human_ann": names[answers[0]], "human_bob": names[answers[1]]}
        | columns
        | {"truth": names[truth]}
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,5", Number(0.5, False)),
        ("50 %", Number(50.0, True)),
        ("1e-3", Number(0.001, False)),
        ("1,2,3", None),
        ("", None),
    ],
)
def test_numbers_in_cells(text, expected):
    assert number_in(text) == expected


def test_blanks_and_spellings():
    assert all(map(is_blank, (None, "", " ", "n/a", "NA", "-", "?", "#N/A")))
    assert not is_blank("no")
    assert spelling(" Very  Good ") == spelling("very good")


def test_a_table_by_the_conventions_needs_no_option(tmp_path):
    people_and_probabilities().to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv")
    assert found.roles.people == {"ann": "human_ann", "bob": "human_bob"}
    assert found.roles.models == {"model": {name: f"p_{name}" for name in CLASSES}}
    assert found.findings.changes == found.findings.problems == {}
    assert found.commands() == [f"twoheads fit {tmp_path / 't.csv'} -o team.json"]


@pytest.mark.parametrize("truth", ["truth", "Ground truth"])
def test_people_alone_are_fitted_by_the_command(tmp_path, truth):
    table = people_and_probabilities().drop(columns=[f"p_{name}" for name in CLASSES]).rename(columns={"truth": truth})
    table.to_csv(tmp_path / "t.csv", index=False)
    (command,) = tables.check(tmp_path / "t.csv").commands()
    arguments = shlex.split(command)[1:]
    path, named = str(tmp_path / "t.csv"), [] if truth == "truth" else ["--truth-column", truth]
    assert arguments[1:-2] == ["--answers", path, "--truth", path, *named]
    assert run([*arguments[:-1], str(tmp_path / "team.json")]) == 0
    assert th.load(tmp_path / "team.json").annotators_ == ("ann", "bob")


def test_people_alone_need_ids(tmp_path):
    table = people_and_probabilities()[["human_ann", "human_bob"]]
    table.to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv")
    assert found.missing() == [
        "No column of ids was found; people's answers without a model need one, named item.",
    ]
    assert found.commands() == []


def test_a_score_that_a_third_class_rules_out_is_named(tmp_path):
    rows = [f"{at};{'bad' if at % 2 else 'good'};0,{at % 2}{at}" for at in range(10, 40)]
    text = "\n".join(["Image ID;Reader 1;AI score", *rows, "40;godo;0,5", ""])
    found = tables.check(write(tmp_path / "t.csv", text))
    assert "not used     AI score (a score needs two classes, or numbers as classes; there are 3)" in found.sentences()


GRADES = (
    "Scores (gpt score) are read as rising or falling with the class from 1 to 5. If these numbers are no grades, only "
    "names of classes, leave the scores out."
)


def graded(n=200, sign=1):
    """A table of grades from 1 to 5, with a judge who scores from 0 to 100 and a reader who grades as the truth is."""
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, n)
    score = sign * (20 * truth - 10 + rng.integers(-15, 16, n))
    human = np.clip(truth + rng.integers(-1, 2, n), 1, 5)
    return pd.DataFrame({"item": [f"i{at}" for at in range(n)], "human": human, "gpt score": score, "truth": truth})


@pytest.mark.parametrize("sign", [1, -1])
def test_a_score_beside_grades_is_read_and_the_commands_fit_it(tmp_path, monkeypatch, sign):
    monkeypatch.chdir(tmp_path)
    graded(sign=sign).to_csv("t.csv", index=False)
    found, positive = tables.check("t.csv"), "5" if sign == 1 else "1"
    assert f"model gpt    a score: gpt score; high means '{positive}'" in found.sentences()
    assert found.doubts() == [GRADES]
    for command in found.commands():
        assert run(shlex.split(command)[1:]) == 0
    team = th.load("team.json")
    assert (team.levels_.positive, team.annotators_) == (positive, ("human", "gpt"))
    assert "reversed" not in team.facts()["scores"]
    assert tables.check("t.csv", positive="1").as_dict()["positive"] == "1"
    with pytest.raises(th.errors.InvalidObservations) as caught:
        tables.check("t.csv", positive="3")
    assert str(caught.value) == (
        "positive (--positive) must be the greatest or the smallest of more than two classes, '5' or '1'; it is '3'."
    )


def test_a_reader_who_gives_numbers_beside_grades_gives_scores(tmp_path):
    frame = graded().rename(columns={"gpt score": "Dr Smith"}).drop(columns="human")
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv").as_dict()
    assert found["grades"] == {"Dr Smith": "Dr Smith"}
    assert found["classes"] == ["1", "2", "3", "4", "5"]
    frame.assign(**{"Dr Smith": graded()["human"]}).to_csv(tmp_path / "t.csv", index=False)
    assert tables.check(tmp_path / "t.csv").as_dict()["people"] == {"Dr Smith": "Dr Smith"}


def test_other_names_become_options(tmp_path):
    names = {"item": "Image ID", "human_ann": "Reader A", "human_bob": "Reader B", "truth": "Ground truth"}
    names |= {f"p_{name}": f"prob_{name}" for name in CLASSES}
    people_and_probabilities().rename(columns=names).to_csv(tmp_path / "t.csv", index=False)
    (command,) = tables.check(tmp_path / "t.csv").commands()
    arguments = shlex.split(command)[1:]
    assert arguments[2:-2] == [
        *("--item", "Image ID", "--human", "Reader *", "--model-columns", "prob_*", "--truth", "Ground truth")
    ]
    assert run([*arguments[:-1], str(tmp_path / "team.json")]) == 0
    assert th.load(tmp_path / "team.json").annotators_ == ("A", "B")


def test_readers_are_never_proposed_as_a_model(tmp_path):
    frame = people_and_probabilities().rename(columns={"human_ann": "reader_cat", "human_bob": "reader_dog"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv")
    assert set(found.roles.people.values()) == {"reader_cat", "reader_dog"}
    assert set(found.roles.models) == {"model"}


def test_a_clean_copy_lists_every_change_and_loses_nothing(tmp_path, capsys):
    frame = people_and_probabilities().astype(object)
    frame.loc[3, "human_ann"] = " Dog "
    frame.loc[4, "human_bob"] = "n/a"
    frame.loc[5, ["p_cat", "p_dog", "p_emu"]] = [0.5, 0.3, 0.19]
    frame["remarks"] = "n/a"
    frame = pd.concat([frame, frame.iloc[[0]]])
    frame.to_csv(tmp_path / "t.csv", index=False)
    before = (tmp_path / "t.csv").read_bytes()
    assert run(["check", str(tmp_path / "t.csv"), "--fix", str(tmp_path / "clean.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (tmp_path / "t.csv").read_bytes() == before
    assert found["to_mend"] == []
    text = " ".join(found["written"])
    for what in ("repeat an earlier one exactly", "' Dog ' becomes 'Dog'", "'Dog' becomes 'dog'", "n/a", "0.99"):
        assert what in text
    clean = pd.read_csv(tmp_path / "clean.csv", keep_default_na=False)
    assert len(clean) == 40
    assert clean.loc[3, "human_ann"] == "dog"
    assert clean.loc[4, "human_bob"] == ""
    assert clean.loc[5, ["p_cat", "p_dog", "p_emu"]].sum() == pytest.approx(1.0)
    assert set(clean["remarks"]) == {"n/a"}  # not a column that is used: it stays as it is
    assert tables.check(tmp_path / "clean.csv").findings.changes == {}


def test_what_only_the_owner_can_mend_is_left_and_said(tmp_path, capsys):
    frame = people_and_probabilities().astype(object)
    frame.loc[3, "human_ann"] = "dgo"
    frame.loc[7, ["p_cat", "p_dog", "p_emu"]] = [0.5, 0.3, 0.5]
    frame.loc[9, "item"] = frame.loc[8, "item"]
    frame.loc[11, "p_cat"] = "high"
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert run(["check", str(tmp_path / "t.csv"), "--fix", str(tmp_path / "clean.csv")]) == 0
    said = capsys.readouterr().out
    for what in ("not a class (1 cell; in row 4: dgo)", "a sum of 1.3", "occur again", "texts among numbers"):
        assert what in said
    clean = pd.read_csv(tmp_path / "clean.csv")
    assert clean.loc[3, "human_ann"] == "dgo"
    assert clean.loc[11, "p_cat"] == "high"


def radiology_sheet(path):
    """A spreadsheet of a group of five readers, saved by a program with decimal commas: 120 images, 60 with truth."""
    rng = np.random.default_rng(0)
    names, truth = np.array(["benign", "malignant"]), (rng.random(120) < 0.4).astype(int)
    rows = []
    for at, true in enumerate(truth):
        right = rng.random(5) < (0.9, 0.85, 0.8, 0.75, 0.7)
        readers = np.where(rng.random(5) < 0.15, "", names[np.where(right, true, 1 - true)]).tolist()
        score = f"{np.clip(0.3 + 0.35 * true + rng.normal(0, 0.15), 0, 1):.2f}".replace(".", ",")
        rows.append([f"IMG-{at:03d}", *readers, score, names[true] if at < 60 else "", f"Site {at % 3}"])
    rows[3][1], rows[5][2], rows[7][3], rows[9][7] = "Malignant", "benign  ", "n/a", names[truth[9]].upper()
    rows.insert(20, list(rows[10]))
    rows.insert(40, [""] * 9)
    header = ["Image ID", *(f"Reader {at}" for at in range(1, 6)), "AI score", "Ground truth", "Site"]
    path.write_text("".join(";".join(row) + "\r\n" for row in [header, *rows]), encoding="utf-8-sig", newline="")
    return names[truth]


def test_the_spreadsheet_of_a_radiology_group_goes_to_a_report_without_an_editor(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    truth = radiology_sheet(tmp_path / "reads.csv")
    before = (tmp_path / "reads.csv").read_bytes()
    assert run(["check", "reads.csv", "--fix", "clean.csv"]) == 0
    told = capsys.readouterr().out
    changed = [line.removeprefix("  - ") for line in told.splitlines() if line.startswith("  - ")]
    assert changed == [
        "column 'Image ID' is called 'item'.",
        *(f"column 'Reader {at}' is called 'human_Reader {at}'." for at in range(1, 6)),
        "column 'AI score' is called 'AI.score'.",
        "column 'Ground truth' is called 'truth'.",
        "rows that repeat an earlier one exactly are dropped (1 row, the first is row 21).",
        "empty rows are dropped (1 row, the first is row 41).",
        "column 'AI score': decimal commas become points, though a fit reads commas too "
        "(120 cells; in row 1: '0,34' becomes '0.34').",
        "column 'Ground truth': spellings are matched (1 cell; in row 10: 'BENIGN' becomes 'benign').",
        "column 'Reader 1': spellings are matched (1 cell; in row 4: 'Malignant' becomes 'malignant').",
        "column 'Reader 2': blanks around values are removed (1 cell; in row 6: 'benign  ' becomes 'benign').",
        "column 'Reader 3': words for 'no value' become blank (1 cell; in row 8: n/a).",
    ]
    assert "To correct" not in told
    assert (tmp_path / "reads.csv").read_bytes() == before
    command = told.splitlines()[-1]
    assert command == "twoheads fit clean.csv --positive malignant -o team.json"
    assert run(shlex.split(command)[1:]) == 0
    team = th.load(tmp_path / "team.json")
    assert team.annotators_ == (*(f"Reader {at}" for at in range(1, 6)), "AI")
    assert (team.machines_, team.n_labelled_, team.n_unlabelled_) == (("AI",), 60, 60)
    assert np.mean(team.predict(tables.scan("clean.csv", positive="malignant")) == truth) > 0.9
    assert run(["report", "team.json", "clean.csv", "-o", "report.html"]) == 0
    assert "model AI alone" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_percentages_become_shares(tmp_path):
    frame = people_and_probabilities()
    for name in CLASSES:
        frame[f"p_{name}"] = [f"{100 * share:.1f} %" for share in frame[f"p_{name}"]]
    frame.to_csv(tmp_path / "t.csv", index=False)
    tables.check(tmp_path / "t.csv").fix(tmp_path / "clean.csv")
    clean = pd.read_csv(tmp_path / "clean.csv")
    expected = people_and_probabilities()[[f"p_{name}" for name in CLASSES]].to_numpy()
    assert clean[[f"p_{name}" for name in CLASSES]].to_numpy() == pytest.approx(expected, abs=1e-9)


def test_a_table_of_answers_is_recognised(tmp_path):
    rows = [(item, who, "yes" if item % 2 else "no") for item in range(6) for who in ("ann", "bob")]
    text = "task,rater,label,gold\n" + "".join(f"{item},{who},{label},{label}\n" for item, who, label in rows)
    (command,) = tables.check(write(tmp_path / "t.csv", text)).commands()
    assert shlex.split(command)[2:-2] == [
        *("--answers", str(tmp_path / "t.csv"), "--annotator", "rater", "--truth", "gold")
    ]


def test_without_people_there_is_no_command(tmp_path, capsys):
    frame = people_and_probabilities().drop(columns=["human_ann", "human_bob", "truth"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert run(["check", str(tmp_path / "t.csv")]) == 0
    said = capsys.readouterr().out
    assert "No column of people's answers was found" in said
    assert "twoheads fit" not in said


def test_judges_who_give_labels_or_scores_need_no_people(tmp_path):
    text = "id,gpt.label,judge.score,truth\n1,yes,3,yes\n2,no,1,no\n3,yes,2,no\n"
    (command,) = tables.check(write(tmp_path / "t.csv", text), positive="yes").commands()
    assert run([*shlex.split(command)[1:-1], str(tmp_path / "team.json")]) == 0


def test_columns_called_after_language_models_are_scores_in_columns_that_line_up(tmp_path):
    names = ["gpt-4o", "qwen2.5-72b", "mistral-large", "DeepSeek-R1", "LLaMA-3 score (0-10)"]
    rng = np.random.default_rng(0)
    good = rng.random(60) < 0.5
    table = pd.DataFrame({"response_id": [f"r{at}" for at in range(60)]})
    for name in names:
        table[name] = np.where(good, 7, 3) + rng.integers(0, 3, 60)
    table["gold"] = np.where(good, "good", "bad")
    table.to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv")
    assert list(found.roles.scores) == [*names[:-1], "LLaMA-3"]
    assert found.roles.groups == ()
    about_models = [line for line in found.sentences() if line.startswith("model")]
    assert len({line.index("  a score: ") for line in about_models}) == 1
    assert found.commands()[-1].endswith("--positive good -o team.json")


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("gpt-4o score (0-10)", "gpt-4o"),
        ("AI score (%)", "AI"),
        ("AI score (v2)", "AI (v2)"),
        ("score (AI)", "AI"),
        ("p(abnormal)", "abnormal"),
        ("risk [0.0 to 1.0]", "model"),
    ],
)
def test_models_are_called_without_the_scale_and_half_a_bracket(column, name):
    assert machine_name(column) == name


def test_a_misspelt_label_does_not_take_the_column_of_its_class(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    names = np.array(["2", "9", "10"])
    table = pd.DataFrame({"Case ID": [f"c{at}" for at in range(60)], "Reader A": names[truth], "Biopsy": names[truth]})
    for at, name in enumerate(names):
        table[f"CNN grade {name}"] = np.where(truth == at, 0.8, 0.1)
    table.loc[7, "Reader A"] = "9?"
    table.to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv")
    assert found.roles.models == {"CNN grade": {name: f"CNN grade {name}" for name in names}}
    (sentence,) = found.findings.problem_sentences()
    assert sentence == "column 'Reader A': labels that are not a class (1 cell; in row 8: 9?)."


@pytest.mark.parametrize(
    "name", ["Reader A confidence (1-5)", "Confidence of reader A", "confidence level reader A (%)"]
)
def test_a_confidence_is_known_by_its_persons_name_whatever_the_scale(tmp_path, name):
    rows = [f"c{at},{'yes' if at % 2 else 'no'},{'no' if at % 3 else 'yes'},{at % 5 + 1}" for at in range(30)]
    path = write(tmp_path / "t.csv", "\n".join([f"Case ID,Reader A,Reader B,{name}", *rows, ""]))
    assert tables.check(path).roles.confidence == {"Reader A": name}


def test_numbers_that_nobody_is_named_for_are_pointed_out_where_no_model_is_found(tmp_path):
    rows = [
        f"c{at},{'yes' if at % 2 else 'no'},{'no' if at % 3 else 'yes'},{at % 7},{at % 9}.5,{30 + at % 40}"
        for at in range(80)
    ]
    path = write(tmp_path / "t.csv", "\n".join(["Case ID,Reader A,Reader B,Malignancy,Toxicity %,Age", *rows, ""]))
    said = "\n".join(tables.check(path).sentences())
    for name in ("Malignancy", "Toxicity %"):
        assert f"{name} (numbers; if a model gave them, call it <model>.score)" in said
    assert "Age (" not in said


def test_the_output_must_not_be_the_input(tmp_path, capsys):
    people_and_probabilities().to_csv(tmp_path / "t.csv", index=False)
    before = (tmp_path / "t.csv").read_bytes()
    assert run(["check", str(tmp_path / "t.csv"), "--fix", str(tmp_path / "t.csv")]) == 2
    assert "also an input" in capsys.readouterr().err
    assert (tmp_path / "t.csv").read_bytes() == before


def test_how_a_file_is_read_is_part_of_the_command(tmp_path):
    book = Path(__file__).parents[1] / "formats" / "reads.xlsx"
    found = tables.check(book, sheet="Reads")
    assert (found.roles.truth, found.n_rows) == ("truth", 3)
    assert found.notes == (f"1 empty row of {book} is skipped, and not counted.",)
    assert "--sheet Reads" in found.commands()[0]
    found.fix(tmp_path / "clean.csv")
    assert len(tables.scan(tmp_path / "clean.csv")) == 3
    with pytest.raises(
        th.InvalidObservations, match=r"is an export of Label Studio.* Continue with: twoheads fit .*json -o team"
    ):
        tables.check(book.with_name("label_studio.json"))


def test_unsure_is_an_answer_but_not_a_truth(tmp_path, capsys):
    table = people_and_probabilities()
    table.loc[3, "human_ann"], table.loc[5, "truth"] = "Unsure", "unsure"
    table.to_csv(tmp_path / "t.csv", index=False)
    assert run(["check", str(tmp_path / "t.csv")]) == 0
    said = "".join(capsys.readouterr())
    assert "column 'truth': labels that are not a class (1 cell; in row 6: unsure)" in said
    assert "human_ann': labels that are not a class" not in said


def test_unsure_is_no_class_that_would_cost_a_score(tmp_path):
    rows = [
        ("A", "yes", 81),
        ("B", "no", 12),
        ("C", "unsure", 55),
        ("D", "yes", 70),
        ("E", "no", 33),
        ("F", "Unsure", 48),
    ]
    text = "".join(f"{item},{answer},{score}\n" for item, answer, score in rows)
    found = tables.check(write(tmp_path / "t.csv", "Case ID,Reader Ann,AI score\n" + text))
    assert (list(found.roles.classes), found.roles.scores) == (["no", "yes"], {"AI": "AI score"})


def test_words_for_unsure_are_pointed_out(tmp_path):
    rows = ["A,yes,no", "B,Not sure,no", "C,not sure,yes", "D,no,yes"]
    found = tables.check(write(tmp_path / "t.csv", "\n".join(["Case ID,Reader Ann,Reader Bob", *rows, ""])))
    (sentence,) = found.findings.problem_sentences()
    assert sentence == (
        "column 'Reader Ann': a label that may mean that somebody was unsure; if so, name it with --unsure: an answer, "
        "but not a class (2 cells; in row 2: Not sure)."
    )
    assert not found.findings.blocks_fit
    found = tables.check(tmp_path / "t.csv", unsure="not sure")
    assert (found.findings.problem_sentences(), found.as_dict()["classes"]) == ([], ["no", "yes"])


def unsure_table(path):
    """Two people, one of whom says unsure in his own words, and four models, one of which names one class only."""
    rows = [
        f"{at},{('no', 'yes')[at % 2]},{('yes', 'no', 'weiß nicht')[at % 3]},{at % 2},{1 - at % 2}" for at in range(30)
    ]
    more = [f",0.{1 + 7 * (at % 2)},{at % 2 + at % 3},{('no', 'yes')[at % 2] if at < 12 else ''}" for at in range(30)]
    head = "item,human_ann,human_bob,a.p_yes,a.p_no,b.p_yes,c.score,truth"
    return write(path, "\n".join([head, *map("".join, zip(rows, more, strict=True)), ""]))


def test_a_model_of_one_column_is_used_as_a_fit_uses_it_whatever_people_say(tmp_path):
    path = unsure_table(tmp_path / "t.csv")
    found = tables.check(path)
    assert found.roles.models == {"a": {"yes": "a.p_yes", "no": "a.p_no"}, "b": {"yes": "b.p_yes"}}
    assert found.unused == []
    assert {*tables.scan(path, positive="yes").models} == {"a", "b"}


def test_another_word_for_unsure_is_named_and_part_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    unsure_table(Path("t.csv"))
    assert tables.check("t.csv").findings.problem_sentences() == [
        "column 'human_bob': labels that are not a class; if they mean that somebody was unsure, name them with "
        "--unsure (10 cells; in row 3: weiß nicht)."
    ]
    assert run(["check", "t.csv", "--unsure", "Weiß nicht"]) == 0
    said = "".join(capsys.readouterr())
    assert "  unsure       'Weiß nicht'\n" in said
    assert "To correct by hand" not in said
    command = said.strip().splitlines()[-1]
    assert command == "twoheads fit t.csv --positive yes --unsure 'Weiß nicht' -o team.json"
    assert run(shlex.split(command)[1:]) == 0
    assert "10 answers are unsure." in "".join(capsys.readouterr())
    assert run(["check", "t.csv", "--unsure", "Weiß nicht", "--fix", "clean.csv"]) == 0
    copy = "".join(capsys.readouterr()).strip().splitlines()[-1]
    assert copy == command.replace("t.csv", "clean.csv")
    assert run(shlex.split(copy)[1:]) == 0
    assert "10 answers are unsure." in "".join(capsys.readouterr())


def test_unsure_costs_no_score_and_no_person_where_labels_name_the_classes(tmp_path):
    rows = [f"{at},{('no', 'yes')[at % 2]},{('yes', '-', 'no', 'k. A.')[at % 4]},{at % 7}" for at in range(40)]
    path = write(tmp_path / "t.csv", "\n".join(["item,human_ann,human_bob,gpt.score", *rows, ""]))
    before = tables.check(path, positive="yes")
    assert before.roles.scores == {}  # for want of two classes
    found = tables.check(path, unsure=["k. a.", "-"], positive="yes")
    assert (found.roles.scores, found.as_dict()["classes"]) == ({"gpt": "gpt.score"}, ["no", "yes"])
    assert found.findings.changes == {}
    (command,) = found.commands()
    assert command == f"twoheads fit {path} --positive yes --unsure 'k. a.' --unsure=- -o team.json"
    table = tables.scan(path, positive="yes", unsure=["k. a.", "-"])
    assert table.classes.tolist() == ["no", "yes"]
    assert table.read()[0].unsure.per_item().sum() == 20


@pytest.mark.parametrize(
    ("unsure", "message"),
    [
        ("dunno", r"unsure \(--unsure\) must be texts in a column of answers \(.*\); 'dunno' is in none\. Check its"),
        ("Yes", r"unsure \(--unsure\) must hold words that mean \"don't know\"; 'Yes' is a class\."),
        ("nobody", r"blank \(--blank\) and unsure \(--unsure\) must not hold the same text; 'nobody' is in both\."),
    ],
)
def test_a_word_for_unsure_that_cannot_be_one_is_refused(tmp_path, unsure, message):
    with pytest.raises(th.InvalidParameter, match=message):
        tables.check(unsure_table(tmp_path / "t.csv"), unsure=unsure, blank="nobody" if unsure == "nobody" else ())


def test_the_csv_of_label_studio_is_refused(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("annotation_id,annotator,id,image,kind,lead_time\n1,7,1,a.png,cat,3.5\n2,8,1,a.png,dog,2.5\n")
    with pytest.raises(th.InvalidObservations) as caught:
        tables.check(path)
    assert str(caught.value) == (
        f"{path} is Label Studio's CSV, which has no predictions and does not show what is ground truth. Export it as "
        "JSON; or, if no annotation is ground truth, name the column of answers: "
        f"twoheads fit --answers {path} --item id --annotator annotator --human COLUMN"
    )


def test_without_ids_other_items_may_have_the_same_answers(tmp_path):
    path = write(tmp_path / "t.csv", "human,gpt.label,truth\n" + "cat,cat,cat\ndog,dog,dog\n" * 20)
    assert tables.check(path).findings.changes == {}
    path = write(tmp_path / "u.csv", "item,human,gpt.label,truth\n" + "1,cat,cat,cat\n2,dog,dog,dog\n" * 2)
    assert [kind for _, kind in tables.check(path).findings.changes] == [
        "rows that repeat an earlier one exactly are dropped"
    ]


def test_minus_one_is_no_class_unless_a_column_says_so(tmp_path):
    path = write(tmp_path / "t.csv", "human,gpt.label,truth\n" + "0,1,-1\n1,0,1\n-1,1,0\n" * 5)
    found = tables.check(path)
    assert found.as_dict()["classes"] == tables.scan(path).classes.astype(str).tolist() == ["0", "1"]
    assert "truth        truth (known for 10 of 15)" in found.sentences()
    path = write(tmp_path / "u.csv", "human,p_-1,p_1,truth\n" + "-1,0.5,0.5,-1\n1,0.5,0.5,1\n" * 5)
    found = tables.check(path)
    assert set(found.as_dict()["classes"]) == {*tables.scan(path).classes.astype(str)} == {"-1", "1"}
    assert found.findings.problems == {}


def test_several_columns_of_people_can_be_named_in_python(tmp_path):
    path = write(tmp_path / "t.csv", "Ann,Bob,p_no,p_yes\nno,yes,0.5,0.5\n")
    assert tables.scan(path, human=["Ann", "Bob"]).annotators == ("Ann", "Bob")


def test_people_with_labels_and_people_with_grades_are_both_named(tmp_path):
    rows = "".join(f"{('no', 'yes')[at % 2]},{at % 5 + 3 * (at % 2)},{('no', 'yes')[at % 2]}\n" for at in range(20))
    found = tables.check(write(tmp_path / "t.csv", "human_ann,human_gus.score,truth\n" + rows)).sentences()
    assert found[1:3] == ["people       human_ann", "people       grades or scores: human_gus.score; high means 'yes'"]


def with_classes(names, n=60):
    """Two people, a model's labels and the truth, of these classes, with gaps."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, len(names), n)
    said = np.where(rng.random((3, n)) < 0.8, truth, rng.integers(0, len(names), (3, n)))
    texts = np.array(names, dtype=object)
    columns = dict(zip(("human_ann", "human_bob", "gpt.label"), texts[said], strict=True))
    return pd.DataFrame({"item": [f"i{at}" for at in range(n)]} | columns | {"truth": texts[truth]})


def test_a_word_for_no_value_that_would_be_a_third_class_beside_scores_is_asked_about(tmp_path):
    frame = with_classes(("none", "mild", "severe")).drop(columns="gpt.label")
    frame["gpt.score"] = np.arange(60) % 11
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    found = tables.check(path)
    assert found.as_dict()["classes"] == ["mild", "severe"]
    assert found.doubts() == [
        "'none' is read as no value, though answers and truth hold it: scores (gpt.score) need two classes, or "
        "numbers as classes. If it is a class, leave gpt.score out, or give labels or probabilities instead."
    ]
    assert tables.check(path, blank="none").doubts() == []
    frame.assign(truth=frame["truth"].where(frame["truth"] != "none")).to_csv(path, index=False)
    assert tables.check(path).doubts() == []  # nobody's truth: it is how people say that they gave no answer


def test_a_class_whose_name_may_mean_no_answer_is_asked_about_and_the_command_makes_it_blank(tmp_path, capsys):
    frame = with_classes(("none", "some"))
    n_rows = int((frame == "none").any(axis=1).sum())
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    found = tables.check(path)
    assert (found.as_dict()["classes"], found.findings.changes) == (["none", "some"], {})
    assert "truth        truth (known for 60 of 60)" in found.sentences()
    (doubt,) = found.doubts()
    told, _, command = doubt.partition("make it blank: ")
    assert told == f"'none' is read as a class, on {n_rows} of 60 rows; if it means 'no answer', "
    copy = tmp_path / "blank.csv"
    assert run([*shlex.split(command)[1:-1], str(copy)]) == 0
    capsys.readouterr()
    clean = pd.read_csv(copy, keep_default_na=False).set_index("item")
    expected = frame.set_index("item").replace("none", "")
    expected = expected[(expected[["human_ann", "human_bob", "gpt.label"]] != "").any(axis=1)]
    assert clean.to_dict() == expected.to_dict()


def test_a_model_that_names_the_class_leaves_no_doubt(tmp_path):
    frame = with_classes(("none", "some")).assign(p_none=0.25, p_some=0.75)
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert (tables.check(tmp_path / "t.csv").doubts(), tables.check(tmp_path / "t.csv").findings.changes) == ([], {})


def test_a_blank_text_that_is_in_no_column_of_labels_is_refused(tmp_path):
    with_classes(("none", "some")).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(th.InvalidParameter, match=r"'nobe' is in none\. Check its spelling"):
        tables.check(tmp_path / "t.csv", blank="nobe")


def test_decimal_commas_that_a_fit_reads_need_no_copy(tmp_path):
    frame = people_and_probabilities()
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    found = tables.check(tmp_path / "t.csv")
    assert found.commands() == [f"twoheads fit {tmp_path / 't.csv'} -o team.json"]
    assert all("though a fit reads commas too (40 cells" in each for each in found.findings.change_sentences())
    read, _ = tables.scan(tmp_path / "t.csv").read()
    np.testing.assert_allclose(read.model_proba[0], frame[[f"p_{name}" for name in CLASSES]])


def test_decimal_commas_between_commas_need_a_copy(tmp_path):
    frame = people_and_probabilities()
    numbers = [f"p_{name}" for name in CLASSES]
    frame[numbers] = frame[numbers].astype(str).replace(r"\.", ",", regex=True)
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv")
    assert [shlex.split(each)[1] for each in found.commands()] == ["check", "fit"]
    assert all("decimal commas become points (40 cells" in each for each in found.findings.change_sentences())


def probabilities_called_by_the_classes(n=60, seed=2):
    frame = with_classes(("no", "yes"), n)
    second = np.round(np.where(frame["truth"] == "yes", 0.7, 0.2) + np.random.default_rng(seed).random(n) / 5, 3)
    return frame.assign(no=1 - second, yes=second)


def test_probabilities_called_just_by_the_classes_are_recognised_and_renamed(tmp_path, capsys):
    frame, path = probabilities_called_by_the_classes(), tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    found = tables.check(path)
    assert "model model  probabilities: no, yes" in found.sentences()
    fix, fit = (shlex.split(command) for command in found.commands())
    clean = tmp_path / "clean.csv"
    assert run([*fix[1:-1], str(clean)]) == 0
    assert run(["fit", str(clean), *fit[3:-1], str(tmp_path / "team.json")]) == 0
    assert th.load(tmp_path / "team.json").models_ == ("model",)
    read, _ = tables.scan(clean).read()
    np.testing.assert_allclose(read.model_proba[0], frame[["no", "yes"]], atol=1e-12)


@pytest.mark.parametrize(
    "columns",
    [
        {"yes": 0.4},  # one class alone
        {"no": 0.4, "yes": 0.9},  # not of a sum of 1
        {"no": 0.4, "yes": [0.2, 1.0] * 30},  # of a mean sum of 1
        {"no": [0, 1] * 30, "yes": [1, 0] * 30},  # tags
        {"no": 0.4, "yes": 0.6, "p_no": 0.3, "p_yes": 0.7, "maybe": 0.1},  # beside a model
    ],
)
def test_other_numbers_called_by_the_classes_are_no_probabilities(tmp_path, columns):
    with_classes(("no", "yes")).assign(**columns).to_csv(tmp_path / "t.csv", index=False)
    found = tables.check(tmp_path / "t.csv")
    is_second_model = "p_no" in columns
    assert set(found.roles.models) == ({"model", "probability"} if is_second_model else set())
    assert found.findings.problems == {}


def test_a_fit_says_that_it_does_not_read_probabilities_called_just_by_the_classes(tmp_path):
    frame, path = probabilities_called_by_the_classes(), tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    note = (
        f"columns 'no', 'yes' of {path} look like probabilities of these classes; they are not read. "
        "Rename them p_no, p_yes, as twoheads check --fix does."
    )
    assert note in tables.scan(path).notes
    for other in (frame.assign(no=0.9), frame.drop(columns="no"), frame.assign(no="x")):
        other.to_csv(path, index=False)
        assert not any("look like probabilities" in each for each in tables.scan(path).notes)


def test_the_labels_of_a_team_are_nobodys_answers(tmp_path):
    frame = people_and_probabilities()[["item", "p_cat", "p_dog", "p_emu"]].assign(combined_label="cat", confidence=0.8)
    frame.to_csv(tmp_path / "verdicts.csv", index=False)
    found = tables.check(tmp_path / "verdicts.csv")
    assert (found.roles.people, [*found.roles.undecided]) == ({}, ["combined_label"])
    assert found.commands() == []


def test_points_among_decimal_commas_need_a_copy(tmp_path):
    frame = people_and_probabilities(80)
    numbers = [f"p_{name}" for name in CLASSES]
    frame[numbers] = frame[numbers].astype(str)
    frame.loc[:69, numbers] = frame.loc[:69, numbers].replace(r"\.", ",", regex=True)
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";")
    with pytest.raises(th.InvalidObservations, match="must have decimal commas in every row"):
        tables.scan(tmp_path / "t.csv").read()
    found = tables.check(tmp_path / "t.csv")
    assert [shlex.split(each)[1] for each in found.commands()] == ["check", "fit"]
    found.fix(tmp_path / "clean.csv")
    read, _ = tables.scan(tmp_path / "clean.csv").read()
    np.testing.assert_allclose(read.model_proba[0], frame[numbers].replace(",", ".", regex=True).astype(float))


@pytest.mark.parametrize(
    ("column", "value", "aside"),
    [
        ("vit.score", 0.5, "other vit score"),
        ("human_gus.score", 0.5, "other human_gus score"),
        ("zero.p_cat", 0.5, "other zero p_cat"),
        ("confidence_bob", "low", "other confidence_bob"),
    ],
)
def test_a_column_that_is_not_used_has_a_name_in_a_clean_copy_that_no_fit_reads(
    tmp_path, monkeypatch, capsys, column, value, aside
):
    monkeypatch.chdir(tmp_path)
    frame = people_and_probabilities()
    frame[column] = value
    frame[f"other {column}".replace(".", " ") if column == "vit.score" else "note"] = "x"
    frame.to_csv("t.csv", index=False)
    assert run(["check", "t.csv", "--fix", "clean.csv"]) == 0
    command = "".join(capsys.readouterr()).strip().splitlines()[-1]
    aside = f"other {aside}" if column == "vit.score" else aside  # the name is taken
    assert pd.read_csv("clean.csv")[aside].tolist() == [value] * len(frame)
    assert run(shlex.split(command)[1:]) == 0
    team = th.load("team.json")
    assert (team.annotators_, team.classes_.tolist()) == (("ann", "bob"), list(CLASSES))


def test_a_clean_copy_of_people_alone_is_read_as_theirs_next_to_a_label_of_nobody(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = people_and_probabilities()[["item", "human_ann", "human_bob"]].assign(label="x", worker=7)
    frame.to_csv("t.csv", index=False)
    assert run(["check", "t.csv", "--human", "human_*", "--fix", "clean.csv"]) == 0
    command = "".join(capsys.readouterr()).strip().splitlines()[-1]
    assert run(shlex.split(command)[1:]) == 0
    assert th.load("team.json").annotators_ == ("ann", "bob")
