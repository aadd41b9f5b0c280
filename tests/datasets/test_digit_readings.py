"""The example data install with the package, are what their description says, and can be made again."""

import csv
import gzip
import sys

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.datasets import load_digit_readings, recipe


@pytest.fixture(scope="module")
def data():
    return load_digit_readings(as_frame=True)


def written():
    with gzip.open(recipe.FILE, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def test_the_recipe_makes_the_file():
    made, installed = recipe.make_columns(), written()
    assert list(made) == list(installed)
    for name in made:
        if ".p_" in name:  # other versions of scikit-learn's optimiser may end elsewhere in the last digits
            np.testing.assert_allclose(np.array(made[name], float), np.array(installed[name], float), atol=2e-3)
        else:
            assert made[name] == installed[name], name


def test_the_file_is_small():
    assert recipe.FILE.stat().st_size < 200_000


def test_the_description_counts_what_is_there(data):
    for name in recipe.READERS:
        answer = data.table[f"human_{name}"].dropna()
        told = answer[answer != "unsure"].astype(int)
        right = 100 * np.mean(told.to_numpy() == data.truth[told.index])
        line = next(line for line in data.description.splitlines() if line.startswith(f"  {name} "))
        assert line.split()[1:4] == [str(len(answer)), str(len(answer) - len(told)), f"{right:.0f}"]
    assert (data.group == "old").mean() == pytest.approx(1 / 3, abs=0.03)
    assert len(data.truth) == 1300
    assert (data.y >= 0).sum() == 300


def test_readers_err_on_the_same_images(data):
    wrong = pd.DataFrame(
        {
            name: (pd.to_numeric(data.table[f"human_{name}"], errors="coerce").astype(float) != data.truth).where(
                data.table[f"human_{name}"].notna()
            )
            for name in recipe.READERS
        }
    ).astype(float)
    correlation = wrong.corr().to_numpy()[np.triu_indices(5, k=1)]
    assert (correlation > 0).all()
    linear = data.table.filter(like="linear.p_").to_numpy().argmax(axis=1) != data.truth
    assert wrong[linear].stack().mean() > 1.5 * wrong[~linear].stack().mean()


def test_a_frame_and_the_observations_give_the_same_team(data):
    frame = th.recommended().fit(data.table)
    checked = th.recommended().fit(data.observations, data.y)
    np.testing.assert_allclose(
        frame.predict_proba(data.table), checked.predict_proba(data.observations), rtol=0, atol=1e-12
    )
    held_out = data.y == -1
    assert (frame.predict(data.table) != data.truth)[held_out].mean() < 0.07


def test_without_pandas_the_table_is_a_dict(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = load_digit_readings().table
    assert table["human_ana"][0] == "0"
    assert table["truth"].tolist().count(None) == 1000
    with pytest.raises(ImportError, match="as_frame=True needs pandas; install it with: pip install pandas"):
        load_digit_readings(as_frame=True)


def test_classes_are_numbers_with_and_without_truth(data):
    team = th.recommended().fit(data.observations)
    assert (team.predict(data.observations) != data.truth).mean() < 0.08
