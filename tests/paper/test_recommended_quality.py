"""The recommended combiner on real sets, as `benchmarks.quality` draws and judges them; and that command itself.

Margins are half of what 25 draws gave: log loss .02 to .11 below that of P+L (MAP).
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks import quality
from benchmarks.real_sets import UnreadableSet, find_sets

from strategies import simulate

BASE, OURS = quality.BASE, quality.OURS


@pytest.fixture(scope="module")
def real_sets(data_folder):
    return {f"{each.family}/{each.name}": each for each in find_sets(data_folder)[0]}


@pytest.mark.parametrize(
    ("name", "margin"),
    [
        ("cifar10s/densenet-bc-L190-k40", {30: 0.0, 100: 0.012}),
        ("cifar10s/human_model_truth_cifar10h", {30: 0.005, 100: 0.02}),
        ("imagenet16h/vgg19, noise 110", {30: 0.025, 100: 0.045}),
        ("imagenet16h/alexnet, noise 110", {30: 0.025, 100: 0.045}),
    ],
)
def test_log_loss_is_below_that_of_plain_p_plus_l(real_sets, name, margin):
    if name not in real_sets:
        pytest.skip(f"{name} is not among the real data; set TWOHEADS_DATA to the folder that holds it")
    gains = {n: [] for n in margin}
    for number in range(5):
        X, y, X_test, y_test = quality.draw(real_sets[name], [7, number])
        for n in margin:
            found = {
                method: quality.judged(y_test, predicted)
                for method, predicted in quality.methods(X, y, n, X_test, slow=False)
            }
            gains[n].append(found[BASE][1] - found[OURS][1])
            partner = min(found["human"][0], found["model, calibrated"][0])
            assert found[OURS][0] < partner + 5.0
    for n, least in margin.items():
        assert np.mean(gains[n]) > least


@pytest.fixture
def folder(tmp_path):
    """A folder of two small sets, by two models, in Parquet."""
    item = [f"i{number}" for number in range(120)]
    poor, good = (simulate(120, 3, seed=0, sharpness=sharpness) for sharpness in (2.0, 5.0))
    models = [
        pd.DataFrame(problem.model, columns=["p0", "p1", "p2"]).assign(item_id=item, model=name)
        for name, problem in (("poor", poor), ("good", good))
    ]
    answers = {"item_id": item, "human_label": good.human, "true_label": good.truth}
    people = [pd.DataFrame(answers | {"annotator_id": person}) for person in (0, 1)]
    (tmp_path / "small").mkdir()
    pd.concat(people).to_parquet(tmp_path / "small" / "labels.parquet")
    pd.concat(models).to_parquet(tmp_path / "small" / "probs.parquet")
    return tmp_path


def test_the_command_prints_tables_and_keeps_numbers(folder, capsys):
    quality.main([str(folder), "--draws", "2", "--only", "good", "--out", str(folder / "numbers.json")])
    printed = capsys.readouterr().out
    assert "small/good: 120 items, 3 classes" in printed
    assert "small/poor" not in printed
    for heading in ("n = 0", "n = 30", "n = all", "mean over families", "recommended - P+L (MAP), ± standard error"):
        assert heading in printed
    assert "n = 100" not in printed.split("mean over families")[0]  # 84 items to learn from
    kept = json.loads((folder / "numbers.json").read_text())
    table = kept["results"][0]["table"]
    assert set(table) == set(quality.METHODS) - {"logistic"}
    cell = table[OURS]["30"]["log loss"]
    assert cell["difference"] == pytest.approx(cell["mean"] - table[BASE]["30"]["log loss"]["mean"])
    assert kept["bars"]["30"]["sets"] == 1


def test_draws_hold_one_answer_of_each_item(folder):
    data = find_sets(folder)[0][0]
    X, y, X_test, y_test = quality.draw(data, [0, 0])
    assert (X.shape, X_test.shape) == ((84, 4), (36, 4))
    assert data.votes.sum(axis=1).tolist() == [2.0] * 120
    again = quality.draw(data, [0, 0])
    np.testing.assert_array_equal(again[0], X)
    assert not np.array_equal(quality.draw(data, [0, 1])[0], X)
    rows = {tuple(row) for row in np.concatenate([X, X_test])[:, 1:]}
    assert rows == {tuple(row) for row in data.proba}
    assert sorted([*y, *y_test]) == sorted(data.truth)


def test_scores_by_hand():
    proba = np.array([[0.8, 0.2], [0.6, 0.4]])
    error, log_loss, _, brier = quality.judged(np.array([0, 1]), proba)
    assert error == 50
    assert log_loss == pytest.approx(-(np.log(0.8) + np.log(0.4)) / 2)
    assert brier == pytest.approx((2 * 0.2**2 + 2 * 0.6**2) / 2)
    assert quality.judged(np.array([0, 1]), np.array([0, 0]))[0] == 50


def test_other_layouts(tmp_path):
    problem = simulate(30, 10, seed=3)
    votes = np.eye(10)[problem.human] * 3
    (tmp_path / "cifar10h").mkdir()
    np.savetxt(
        tmp_path / "cifar10h" / "a.csv", np.column_stack([votes, problem.model, problem.truth + 1]), delimiter=","
    )
    np.savetxt(tmp_path / "cifar10h" / "b.csv", np.column_stack([problem.truth, votes, problem.model]), delimiter=",")
    (tmp_path / "harder").mkdir()
    pd.DataFrame(
        {
            "item_id": np.arange(5, 30),
            "human_label": problem.human[5:],
            "true_label": problem.truth[5:],
            "is_repeat": False,
        }
    ).to_parquet(tmp_path / "harder" / "labels.parquet")
    (tmp_path / "images").mkdir()
    classes = ["cat", "dog"]
    pd.DataFrame(
        {"image_name": np.arange(30), "noise_level": 80, "participant_classification": np.repeat(classes, 15)}
    ).to_csv(tmp_path / "images" / "people.csv")
    pd.DataFrame(
        {
            "image_name": np.arange(30),
            "noise_level": 80,
            "model_name": "m",
            "category": classes * 15,
            "cat": 1,
            "dog": 0.25,
        }
    ).to_csv(tmp_path / "images" / "models.csv")
    sets, problems = find_sets(tmp_path)
    assert problems == []
    found = {f"{each.family}/{each.name}": each for each in sets}
    assert list(found) == ["cifar10h/a", "cifar10h/b", "harder/a", "harder/b", "images/m, noise 80"]
    for name in ("cifar10h/a", "cifar10h/b"):
        np.testing.assert_allclose(found[name].proba, problem.model)
        np.testing.assert_array_equal(found[name].truth, problem.truth)
        np.testing.assert_array_equal(found[name].votes, votes)
    np.testing.assert_allclose(found["harder/b"].proba, problem.model[5:])
    np.testing.assert_allclose(found["images/m, noise 80"].proba[0], [0.8, 0.2])
    assert found["images/m, noise 80"].votes[0].tolist() == [1, 0]


def test_wrong_files_are_named(tmp_path, capsys):
    with pytest.raises(UnreadableSet, match="is no folder"):
        find_sets(tmp_path / "nowhere")
    for name in ("few", "wrong", "empty", "lonely"):
        (tmp_path / name).mkdir()
    np.savetxt(tmp_path / "few" / "a.csv", np.ones((3, 7)), delimiter=",")
    pd.DataFrame({"item": [1]}).to_parquet(tmp_path / "wrong" / "labels.parquet")
    pd.DataFrame({"item": [1]}).to_parquet(tmp_path / "wrong" / "probs.parquet")
    pd.DataFrame({"item": [1]}).to_parquet(tmp_path / "lonely" / "probs.parquet")
    sets, problems = find_sets(tmp_path)
    assert sets == []
    assert len(problems) == 4
    words = "\n".join(problems)
    for part in (
        "has 7 columns; 21 were expected",
        "has no column human_label, true_label",
        "no CSV files",
        "beside it",
    ):
        assert part in words
    with pytest.raises(SystemExit) as stopped:
        quality.main([str(tmp_path)])
    assert stopped.value.code == 2
    assert "no set to run was found" in capsys.readouterr().err
