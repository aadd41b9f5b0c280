"""``twoheads check`` on tables as people have them: the commands that it prints work, and no truth is a person."""

import shlex

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import tables
from twoheads.cli.running import run

N = 60
NAMES = np.array(["benign", "malignant"])
RNG = np.random.default_rng(3)
TRUE = (RNG.random(N) < 0.4).astype(int)
SCORE = np.clip(0.3 + 0.35 * TRUE + RNG.normal(0, 0.15, N), 0, 1).round(2)
READERS = [np.where(RNG.random(N) < share, TRUE, 1 - TRUE) for share in (0.9, 0.8, 0.85)]


def column(codes, names=NAMES):
    return [str(names[code]) for code in codes]


def known(values, rest=""):
    return [value if at < 40 else rest for at, value in enumerate(values)]


def write(path, columns, separator=",", above="", encoding="utf-8"):
    """A table by column; values with a separator are in quotation marks."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    text = [separator.join(f'"{cell}"' if separator in str(cell) else str(cell) for cell in row) for row in rows]
    path.write_text(above + "\n".join([*text, ""]), encoding=encoding)
    return path


def base(**others):
    return {
        "Image ID": [f"{at:04d}" for at in range(N)],
        "Reader 1": column(READERS[0]),
        "Reader 2": column(READERS[1]),
        "AI score": SCORE,
        "Ground truth": known(column(TRUE)),
    } | others


def go_on(path, folder, monkeypatch, **options):
    """Run the commands that check prints, word for word; the check and the team."""
    monkeypatch.chdir(folder)
    found = tables.check(path, **options)
    commands = found.commands()
    assert commands
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, command
    return found, th.load(folder / "team.json")


LANGUAGES = {
    "German": ("Bildnummer", "Radiologe A", "Radiologe B", "KI-Wahrscheinlichkeit", "Goldstandard"),
    "French": ("Numéro", "Lecteur 1", "Lecteur 2", "Score IA", "Vérité terrain"),
    "Spanish": ("Imagen", "Lector 1", "Lector 2", "Modelo", "Verdad"),
    "Dutch": ("Nummer", "Radioloog 1", "Radioloog 2", "Model", "Referentie"),
    "Japanese": ("画像ID", "読影者1", "読影者2", "AIスコア", "正解"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_columns_in_other_languages(tmp_path, monkeypatch, language):
    item, one, two, score, truth = LANGUAGES[language]
    table = dict(zip(LANGUAGES[language], base().values(), strict=True)) | {
        score: [str(value).replace(".", ",") for value in SCORE]
    }
    path = write(tmp_path / "t.csv", table, ";", encoding="utf-16")
    found, team = go_on(path, tmp_path, monkeypatch)
    assert (found.roles.item, found.roles.truth) == (item, truth)
    assert list(found.roles.people.values()) == [one, two]
    assert list(found.roles.scores.values()) == [score]
    assert (team.n_labelled_, team.n_unlabelled_) == (40, 20)


@pytest.mark.parametrize("name", ["label", "diagnosis", "is_malignant", "Biopsy result 2", "majority"])
def test_labels_of_nobody_are_never_a_person(tmp_path, monkeypatch, name):
    table = base(**{name: column(TRUE)})
    if name != "Biopsy result 2":
        del table["Ground truth"]
    path = write(tmp_path / "t.csv", table)
    found, team = go_on(path, tmp_path, monkeypatch)
    assert list(found.roles.people.values()) == ["Reader 1", "Reader 2"]
    assert f"--truth {shlex.quote(name)}" in found.doubts()[0]
    assert team.annotators_ == ("Reader 1", "Reader 2", "AI")
    found, team = go_on(path, tmp_path, monkeypatch, truth=name)
    assert found.doubts() == [] or name == "Biopsy result 2"
    assert team.n_labelled_ == N


def test_it_is_asked_whether_one_of_unnamed_people_is_the_truth(tmp_path, capsys):
    table = {"id": range(N), "Ann": column(READERS[0]), "Bob": column(READERS[1]), "Xyz": column(TRUE)}
    path = write(tmp_path / "t.csv", table)
    assert run(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "No column is called truth. If one of Ann, Bob, Xyz holds it, say so: --truth COLUMN" in said
    assert run(["check", str(path), "--truth", "Xyz"]) == 0
    assert "Not clear" not in capsys.readouterr().out
    assert list(tables.check(path, human=["Ann", "Bob"]).roles.people.values()) == ["Ann", "Bob"]


def test_rows_of_titles_and_of_totals_are_dropped(tmp_path, monkeypatch):
    table = {
        name: [*values, last] for (name, values), last in zip(base().items(), ("Total:", 60, 60, 0.4, 40), strict=True)
    }
    path = write(tmp_path / "t.csv", table, above="Reader study,,,,\n2026-05-01,,,,\n,,,,\n")
    found, team = go_on(path, tmp_path, monkeypatch)
    assert found.findings.change_sentences()[:2] == [
        "rows above the column names are dropped (3 rows, the first is row 1).",
        "rows of totals are dropped (1 row, the first is row 61).",
    ]
    assert team.classes_.tolist() == ["benign", "malignant"]
    assert (team.n_labelled_, team.n_unlabelled_) == (40, 20)


def test_an_item_called_total_is_an_item(tmp_path):
    table = base(**{"Image ID": [*(f"{at}" for at in range(N - 1)), "total"]})
    assert tables.check(write(tmp_path / "t.csv", table)).findings.changes == {}


def test_ids_keep_zeros_and_separators(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", base(**{"Image ID": [f"{1000 + at:,}" for at in range(N)]}))
    assert tables.check(path).roles.item == "Image ID"
    path = write(tmp_path / "t.csv", base())
    go_on(path, tmp_path, monkeypatch)
    assert tables.scan("t-clean.csv", positive="malignant").read()[0].items.tolist()[:2] == ["0000", "0001"]


def test_words_for_a_truth_that_is_not_known(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", base(**{"Ground truth": known(column(TRUE), "Pending")}))
    found, team = go_on(path, tmp_path, monkeypatch)
    assert "truth        Ground truth (known for 40 of 60)" in found.sentences()
    assert team.classes_.tolist() == ["benign", "malignant"]
    assert "words for 'no value' become blank (20 cells; in row 41: Pending)" in found.findings.change_sentences()[0]


def test_grades_of_people_are_scores(tmp_path, monkeypatch):
    grades = [np.clip(2 + 2 * reader + RNG.integers(-1, 2, N), 1, 5) for reader in READERS[:2]]
    path = write(tmp_path / "t.csv", base(**{"Reader 1": grades[0], "Reader 2": grades[1]}))
    found, team = go_on(path, tmp_path, monkeypatch)
    assert found.roles.grades == {"Reader 1": "Reader 1", "Reader 2": "Reader 2"}
    assert "people       grades or scores: Reader 1, Reader 2; high means 'malignant'" in found.sentences()
    assert team.classes_.tolist() == ["benign", "malignant"]
    assert team.machines_ == ("AI",)


def test_what_is_about_an_answer_is_no_answer(tmp_path, monkeypatch):
    table = base(
        **{
            "Reader 1 correct": (READERS[0] == TRUE).astype(int),
            "Reader 1 time (s)": RNG.integers(3, 20, N),
            "Reader 1 comment": ["ok", "blurred"] * (N // 2),
            "Reader 1 confidence": RNG.integers(1, 6, N),
        }
    )
    found, team = go_on(write(tmp_path / "t.csv", table), tmp_path, monkeypatch)
    assert list(found.roles.people.values()) == ["Reader 1", "Reader 2"]
    assert found.roles.confidence == {"Reader 1": "Reader 1 confidence"}
    assert team.classes_.tolist() == ["benign", "malignant"]


def test_the_numbers_of_readers_are_never_a_model(tmp_path):
    labels = {"Reader 1": READERS[0], "Reader 2": READERS[1]}
    table = base(**labels, **{"Ground truth": TRUE, "Reader 1 score": SCORE, "Reader 2 p": 1 - SCORE})
    found = tables.check(write(tmp_path / "t.csv", table))
    assert found.roles.models == {}
    assert found.roles.scores == {"AI": "AI score"}


def test_a_model_counts_once(tmp_path):
    table = base(**{"AI label": column(TRUE)})
    found = tables.check(write(tmp_path / "t.csv", table))
    assert found.roles.labellers == {}
    assert found.roles.reasons == {"AI label": "the label of a model whose numbers are used"}
    table = base(**{"AI label": column(TRUE), "AI confidence": SCORE})
    del table["AI score"]
    found = tables.check(write(tmp_path / "t.csv", table))
    assert (found.roles.labellers, found.roles.scores) == ({"AI": "AI label"}, {})
    assert found.roles.reasons == {"AI confidence": "the confidence of a model's label"}


SHARES = np.column_stack([1 - SCORE, SCORE])


@pytest.mark.parametrize(
    ("names", "values", "option"),
    [
        (("prob_benign", "prob_malignant"), 100 * SHARES, []),
        (("logit_benign", "logit_malignant"), np.round(np.log(SHARES + 0.01), 3), ["--model-scale", "logit"]),
        (("DL_v2_benign", "DL_v2_malignant"), SHARES, []),
    ],
)
def test_probabilities_on_other_scales(tmp_path, monkeypatch, names, values, option):
    table = base(**{name: values[:, at] for at, name in enumerate(names)})
    del table["AI score"]
    found, team = go_on(write(tmp_path / "t.csv", table), tmp_path, monkeypatch)
    assert found.roles.shares.columns == set(names)
    assert all(text in shlex.split(found.commands()[-1]) for text in option)
    assert team.n_labelled_ == 40
    if "prob_benign" in names:
        copy = pd.read_csv("t-clean.csv")
        assert copy[["p_benign", "p_malignant"]].to_numpy() == pytest.approx(SHARES)


def test_numbers_that_are_no_probabilities_are_not_used_and_the_reason_is_said(tmp_path):
    table = base(**{f"net_{name}": 3 * SHARES[:, at] - 1 for at, name in enumerate(NAMES)})
    found = tables.check(write(tmp_path / "t.csv", table))
    assert found.roles.models == {}
    assert "logits have a name that says so" in found.roles.reasons["net_benign"]


def test_rows_of_which_nothing_is_known_are_dropped(tmp_path, monkeypatch):
    table = base()
    table["Reader 1"][3], table["Reader 2"][3] = "?", "-"
    table["AI score"] = ["n/a" if at == 3 else value for at, value in enumerate(SCORE)]
    found, team = go_on(write(tmp_path / "t.csv", table), tmp_path, monkeypatch)
    assert "rows without any answer or prediction are dropped (1 row, the first is row 4)." in (
        found.findings.change_sentences()
    )
    assert team.n_labelled_ == 39


def test_rounded_probabilities_at_the_border_are_accepted_by_fit(tmp_path, monkeypatch):
    table = base(p_benign=np.round(0.999 - SCORE * 0.9, 3), p_malignant=np.round(SCORE * 0.9, 3))
    del table["AI score"]
    go_on(write(tmp_path / "t.csv", table), tmp_path, monkeypatch)


def test_gaps_among_probabilities_are_named_and_the_command_waits(tmp_path, capsys):
    table = base(p_benign=["", *(1 - SCORE[1:])], p_malignant=SCORE)
    del table["AI score"]
    assert run(["check", str(write(tmp_path / "t.csv", table))]) == 0
    said = capsys.readouterr().out
    assert "some probabilities of a row are blank, and others not (1 cell; in row 1: some are blank)" in said
    assert "When that is corrected, continue with:" in said


def test_names_in_a_clean_copy_are_unique(tmp_path, monkeypatch):
    table = {"item": ["X-ray"] * N} | base(human_note=["seen"] * N)
    found, _ = go_on(write(tmp_path / "t.csv", table), tmp_path, monkeypatch)
    assert found.renamed()["item"] == "other item"
    assert found.renamed()["Image ID"] == "item"


def test_a_table_of_answers_whose_ids_have_another_name(tmp_path, monkeypatch):
    table = {
        "HITId": np.repeat([f"3H{at}" for at in range(N)], 3),
        "WorkerId": ["A", "B", "C"] * N,
        "Answer.category": NAMES[np.column_stack(READERS).ravel()],
    }
    found, team = go_on(write(tmp_path / "t.csv", table), tmp_path, monkeypatch)
    assert found.roles.item == "HITId"
    assert team.annotators_ == ("A", "B", "C")
    del table["HITId"]
    assert tables.check(write(tmp_path / "t.csv", table)).commands() == []
