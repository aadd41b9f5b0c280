"""Running studies: tables and figures, partial data, mistakes, and Ctrl-C."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from studies.small_files import read_table, write_cifar10h, write_imagenet16h
from twoheads import studies
from twoheads.errors import CannotWrite, InvalidObservations, InvalidParameter, MissingExtra, TwoheadsError
from twoheads.studies.catalogue import CATALOGUE

COLUMNS = [
    "dataset",
    "model",
    "noise_level",
    "method",
    "n_labelled",
    "n_seeds",
    "metric",
    "mean",
    "sd",
    "published_mean",
    "published_sd",
    "behaviour",
]
TABLES = {
    "error-rates": "error_rates.csv",
    "calibration": "calibration.csv",
    "learning-curves": "learning_curves.csv",
    "confidence-ratios": "confidence_ratios.csv",
    "independence": "independence.csv",
    "individuals": "individuals.csv",
    "overview": "overview.csv",
}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """All studies on small files."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    place = tmp_path_factory.mktemp("all")
    write_cifar10h(place / "data" / "cifar10h", annotators=True)
    write_imagenet16h(place / "data" / "imagenet16h", models=("vgg19",))
    told = []
    outcome = studies.run(
        "all", place / "data", place / "out", seeds=1, jobs=1, progress=lambda *said: told.append(said)
    )
    return outcome, place / "out", told


@pytest.mark.parametrize("study", TABLES)
def test_every_table_is_tidy(everything, study):
    table = read_table(everything[1] / TABLES[study])
    assert list(table[0]) == COLUMNS
    assert {row["behaviour"] for row in table} == {"paper_2021", "correct"}
    assert {row["dataset"] for row in table} == {"CIFAR-10H", "ImageNet-16H"}
    assert {row["noise_level"] for row in table if row["dataset"] == "CIFAR-10H"} == {""}
    assert {row["noise_level"] for row in table if row["dataset"] == "ImageNet-16H"} <= {"80", "110"}
    assert all(row["mean"] for row in table)
    keys = [tuple(row[name] for name in COLUMNS if name not in ("mean", "sd")) for row in table]
    assert len(set(keys)) == len(keys)


def test_methods_are_the_papers_columns(everything):
    table = read_table(everything[1] / "error_rates.csv")
    of = {
        behaviour: {row["method"] for row in table if row["behaviour"] == behaviour}
        for behaviour in ("paper_2021", "correct")
    }
    columns = {"Human", "Model", "L+L", "Uncalibrated", "TS", "ETS", "IMax"}
    assert of["paper_2021"] == columns | {"L+L, images split", "TS, images split"}
    assert of["correct"] == columns | {"Recommended"}
    table = read_table(everything[1] / "learning_curves.csv")
    curves = {row["method"] for row in table if row["behaviour"] == "paper_2021"}
    assert curves == {"Human", "Model", "LR on m", "SP", "L+L", "P+L", "P+L-EM", "Bayes"}
    assert {row["method"] for row in table} == curves | {"LR on log m", "Recommended"}
    table = read_table(everything[1] / "calibration.csv")
    assert {(row["method"], row["n_labelled"]) for row in table if row["behaviour"] == "paper_2021"} == {
        ("Model", "0"), ("Comb.", "0"), ("Model", "10"), ("Comb.", "10"), ("Model", "5000"), ("Comb.", "5000"),
        ("Recal. Comb.", "5000"),
    }  # fmt: skip
    assert {row["metric"] for row in table} == {"ECE", "cwECE", "NLL"}


def test_published_numbers_stand_beside_ours(everything):
    rows = read_table(everything[1] / "error_rates.csv")
    human = next(r for r in rows if (r["model"], r["noise_level"], r["method"]) == ("VGG-19", "110", "Human"))
    assert (human["published_mean"], human["published_sd"]) == ("22.99", "0.71")
    assert {r["published_mean"] for r in rows if r["method"] == "Recommended"} == {""}


def test_what_splitting_answers_was_worth_is_told(everything):
    rows = read_table(everything[1] / "error_rates.csv")
    at = {(r["noise_level"], r["method"]): float(r["mean"]) for r in rows if r["behaviour"] == "paper_2021"}
    changes = [
        f"{at[noise, 'L+L']:.2f} -> {at[noise, 'L+L, images split']:.2f} at noise {noise}" for noise in ("80", "110")
    ]
    note = f"VGG-19: the error of L+L if images are split, not answers: {', '.join(changes)}."
    assert note in everything[0].notes
    assert {r["dataset"] for r in rows if r["method"].endswith("images split")} == {"ImageNet-16H"}


def test_theorem_1_holds_in_every_row(everything):
    rows = read_table(everything[1] / "confidence_ratios.csv")
    at = {(r["model"], r["noise_level"], r["behaviour"], r["method"], r["metric"]): float(r["mean"]) for r in rows}
    checked = 0
    for key, error in at.items():
        if key[-1] == "error" and key[-2] not in ("Human", "Model") and key[2] == "correct":
            stronger = at[(*key[:-1], "error at most (Theorem 1, stronger)")]
            assert error <= stronger + 1e-9
            assert stronger <= at[(*key[:-1], "error at most (Theorem 1)")] + 1e-9
            checked += 1
    assert checked == 4 * 26


def test_people_with_few_answers_are_left_out(everything):
    rows = read_table(everything[1] / "individuals.csv")
    people = {float(row["mean"]) for row in rows if row["metric"] == "people" and row["dataset"] == "CIFAR-10H"}
    assert people == {40.0}


def test_figures_and_the_page_are_there(everything):
    outcome, out, _ = everything
    names = {path.name for path in outcome.files}
    assert names == set(os.listdir(out))  # and nothing half-written
    for stem in (
        "overview",
        "learning_curves_resnet-110",
        "learning_curves_vgg-19",
        "confidence_ratios",
        "independence_cifar-10h",
        "independence_vgg-19",
    ):
        assert (out / f"{stem}.svg").read_bytes().startswith(b"<?xml")
        assert (out / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "Error rates on CIFAR-10H" in page
    assert "published 4.62 ± 0.33" in page
    assert page.count("data:image/svg+xml") == sum(name.endswith(".svg") for name in names)
    assert "http://" not in page
    assert "https://" not in page


def test_the_text_speaks_of_every_table_and_of_what_is_missing(everything):
    text = everything[0].text
    assert "Error rates on CIFAR-10H: " in text
    assert " of 14 cells agree within rounding (14 more have no data here)." in text
    assert "compare the shape, not the digits" in text
    assert "  ResNet-164 on CIFAR-10H: no file resnet-110.csv" in text


def test_progress_is_told_for_every_study(everything):
    told = everything[2]
    assert {study for study, _, _ in told} == set(TABLES)
    for study in TABLES:
        done = [done for name, done, _ in told if name == study]
        total = {total for name, _, total in told if name == study}
        assert done == list(range(len(done)))
        assert total == {len(done) - 1}


def test_processes_give_the_same_numbers(cifar_folder, tmp_path):
    for jobs in (1, 2):
        studies.run("error-rates", cifar_folder, tmp_path / str(jobs), seeds=2, jobs=jobs)
    one, two = ((tmp_path / str(jobs) / "error_rates.csv").read_bytes() for jobs in (1, 2))
    assert one == two


@pytest.mark.parametrize("study", ["error-rates", "calibration", "independence"])
def test_the_stated_protocol_runs(whole_folder, tmp_path, study):
    pytest.importorskip("matplotlib")
    outcome = studies.run(study, whole_folder, tmp_path / "out", protocol="stated", seeds=1, jobs=1)
    assert {row.n_seeds for row in outcome.rows} == {1}


def test_a_study_without_its_data(cifar_folder, tmp_path):
    with pytest.raises(
        InvalidObservations, match=r"individuals has nothing to run on in .*no file annotators\.parquet"
    ):
        studies.run("individuals", cifar_folder, tmp_path / "out", jobs=1)
    assert os.listdir(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"name": "error-rate"},
            r"name must be one of overview, error-rates, .* it is 'error-rate'\. Did you mean 'error-rates'\?",
        ),
        ({"protocol": "mine"}, "protocol must be one of published, stated; it is 'mine'"),
        ({"seeds": 0}, "seeds must be a whole number of 1 or more; it is 0"),
        ({"jobs": 0}, "jobs must be a whole number of 1 or more; it is 0"),
    ],
)
def test_mistakes_are_named_before_anything_is_read(tmp_path, options, message):
    with pytest.raises(InvalidParameter, match=message) as caught:
        studies.run(**({"name": "all", "data": tmp_path / "nowhere", "out": tmp_path / "out"} | options))
    assert isinstance(caught.value, TwoheadsError)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made(cifar_folder, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        InvalidParameter, match=r"out must be a folder that can be written; '.*file' is not \(File exists\)"
    ):
        studies.run("error-rates", cifar_folder, tmp_path / "file", seeds=1, jobs=1)


def test_every_study_has_a_title_and_a_heading_in_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    for name, study in CATALOGUE.items():
        assert study.title
        assert f"| `{name}` |" in text


def test_ctrl_c_leaves_finished_studies_and_nothing_else(cifar_folder, tmp_path):
    pytest.importorskip("matplotlib")

    def interrupt(study, done, total):
        if study == "calibration" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        studies.run("all", cifar_folder, tmp_path / "out", seeds=1, jobs=1, progress=interrupt)
    assert sorted(os.listdir(tmp_path / "out")) == ["error_rates.csv", "overview.csv", "overview.png", "overview.svg"]


def test_a_file_that_cannot_be_written_leaves_none(cifar_folder, tmp_path, monkeypatch):
    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(CannotWrite, match=r"error_rates\.csv cannot be written: the disk is full"):
        studies.run("error-rates", cifar_folder, tmp_path / "out", seeds=1, jobs=1)
    assert os.listdir(tmp_path / "out") == []


def test_a_missing_extra_is_named(cifar_folder, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"needs matplotlib; install it with: pip install 'twoheads\[cli\]'"):
        studies.run("independence", cifar_folder, tmp_path / "out", seeds=1, jobs=1)
