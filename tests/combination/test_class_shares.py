"""Label shift at use: ``class_prior="shift"``, `class_shares` and ``--class-shares``."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks.label_shift import in_world

import twoheads as th
from twoheads.cli.running import run
from twoheads.evaluation import compare, log_loss

NAMES = np.array(["cat", "cow", "dog"])
EVEN, SKEWED = np.full(3, 1 / 3), np.array([0.85, 0.1, 0.05])


def table(rng, shares, n, *, with_truth=True):
    truth = rng.choice(3, n, p=shares)
    evidence = 1.2 * rng.normal(size=(n, 3))
    evidence[np.arange(n), truth] += 1.8
    proba = np.exp(evidence) / np.exp(evidence).sum(axis=1, keepdims=True)
    human = np.where(rng.random(n) < 0.7, truth, rng.integers(0, 3, n))
    columns = {f"p_{name}": proba[:, at] for at, name in enumerate(NAMES)}
    frame = pd.DataFrame({"item": np.arange(n), "human": NAMES[human], **columns})
    return frame.assign(truth=NAMES[truth]) if with_truth else (frame, NAMES[truth])


@pytest.fixture(scope="module")
def fitted():
    frame = table(np.random.default_rng(0), EVEN, 300)
    frame.loc[100:, "truth"] = None
    return th.recommended(class_prior="shift").fit(frame)


@pytest.fixture(scope="module")
def skewed():
    return table(np.random.default_rng(1), SKEWED, 400, with_truth=False)


def loss(team, X, y):
    return log_loss(y, team.predict_proba(X), classes=team.classes_)


def test_a_shift_is_found_and_corrected(fitted, skewed):
    X, y = skewed
    found = fitted.class_shares(X)
    assert found.shifted
    drawn = (y[:, None] == NAMES).mean(axis=0)
    assert (found.low <= drawn).all()
    assert (found.high >= drawn).all()
    assert found.sentence().startswith(
        "On 400 items the class shares differ from those at fit; believed of the population they come from, with 95 %"
    )
    assert loss(fitted, X, y) < loss(th.recommended().fit(*_training()), X, y) - 0.05


def _training():
    frame = table(np.random.default_rng(0), EVEN, 300)
    frame.loc[100:, "truth"] = None
    return frame, None


def test_without_a_shift_predictions_stay(fitted):
    X, _ = table(np.random.default_rng(2), EVEN, 400, with_truth=False)
    assert not fitted.class_shares(X).shifted
    assert "no clear evidence" in fitted.class_shares(X).sentence()
    plain = th.recommended().fit(*_training()).predict_proba(X)
    assert np.abs(fitted.predict_proba(X) - plain).max() < 0.02


@pytest.mark.parametrize("n", [30, 100, 300])
def test_intervals_hold_the_shares_of_the_population_and_known_shares_gain_little(n):
    # 64 shares, dependent within a fit: 95 % intervals may hold 88 % of them.
    kinds = ("geometric", "any")
    rows = [in_world(4, 1.8, kind, n, 300, np.random.default_rng([seed, 5])) for kind in kinds for seed in range(8)]
    _, shift, _, known, population, _, _ = np.mean(rows, axis=0)
    assert population >= 0.88
    assert shift - known <= 0.01


def test_without_a_shift_it_costs_little():
    rows = [in_world(4, 1.8, "none", 100, 300, np.random.default_rng([seed, 6])) for seed in range(8)]
    as_at_fit, shift, *_ = np.mean(rows, axis=0)
    assert shift - as_at_fit <= 0.003


def test_the_correction_is_a_factor_on_each_posterior(fitted, skewed):
    X, _ = skewed
    shares = fitted.class_shares(X)
    plain = th.recommended().fit(*_training()).predict_proba(X) * np.exp(shares.log_ratio)
    np.testing.assert_allclose(fitted.predict_proba(X), plain / plain.sum(axis=1, keepdims=True), atol=1e-12)
    held = fitted.with_class_shares(shares)
    np.testing.assert_allclose(held.predict_proba(X.head(5)), fitted.predict_proba(X)[:5], atol=1e-12)


def test_it_is_the_same_whatever_the_road(fitted, skewed, tmp_path):
    X, _ = skewed
    expected = fitted.predict_proba(X)
    fitted.save(tmp_path / "team.json", keep_sample=False)
    np.testing.assert_allclose(th.load(tmp_path / "team.json").predict_proba(X), expected, atol=1e-12)
    X.to_parquet(tmp_path / "t.parquet")
    scanned = th.tables.scan(tmp_path / "t.parquet", classes=fitted.classes_)
    np.testing.assert_allclose(fitted.predict_proba(scanned), expected, atol=1e-9)
    mixed = np.random.default_rng(3).permutation(len(X))
    np.testing.assert_allclose(fitted.predict_proba(X.iloc[mixed]), expected[mixed], atol=1e-9)


def test_compare_and_explain_use_the_shares(fitted, skewed):
    X, y = skewed
    right = fitted.predict(X) == y
    assert compare(fitted, X, y).combination.as_dict()["error"]["value"] == pytest.approx(1 - right.mean())
    held = fitted.with_class_shares(fitted.class_shares(X))
    explained, log_proba = held.explain(X), held.predict_log_proba(X)
    assert explained.label.tolist() == fitted.predict(X).tolist()
    best = log_proba.max(axis=1, keepdims=True)
    np.testing.assert_allclose(explained.log_odds, best - log_proba, atol=1e-6)


def test_the_command_learns_shares_or_reads_them(fitted, skewed, tmp_path, capsys):
    X, _ = skewed
    training, _ = _training()
    team = th.recommended().fit(training)
    team.save(tmp_path / "team.json")
    X.to_csv(tmp_path / "t.csv", index=False)
    combine = ["combine", str(tmp_path / "team.json"), str(tmp_path / "t.csv"), "-o", str(tmp_path / "out.csv")]
    assert run([*combine, "--class-shares", "learn"]) == 0
    assert "the class shares differ from those at fit" in capsys.readouterr().err
    learnt = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(learnt[[f"p_{name}" for name in NAMES]], fitted.predict_proba(X), atol=1e-6)

    assert run([*combine, "--class-shares", "learn", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)["class_shares"]
    assert found["kind"] == "believed"
    assert found["classes"]["cat"]["low"] < SKEWED[0] < found["classes"]["cat"]["high"]

    (tmp_path / "shares.csv").write_text("class,share\ncat,0.85\ncow,0.1\ndog,0.05\n")
    (tmp_path / "shares.json").write_text(json.dumps(dict(zip(NAMES.tolist(), SKEWED.tolist(), strict=True))))
    given = team.set_params(class_prior=dict(zip(NAMES.tolist(), SKEWED.tolist(), strict=True))).predict_proba(X)
    (tmp_path / "german.csv").write_text("class;share\ncat;0,85\ncow;0,1\ndog;0,05\n")
    (tmp_path / "percent.csv").write_text("class,share\ncat,85 %\ncow,10%\ndog,5 %\n")
    for name in "shares.csv", "shares.json", "german.csv", "percent.csv":
        assert run([*combine, "--class-shares", str(tmp_path / name)]) == 0
        read = pd.read_csv(tmp_path / "out.csv")
        np.testing.assert_allclose(read[[f"p_{name}" for name in NAMES]], given, atol=1e-6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        ("cat,cow\n0.5,0.5\n", "does not hold the share of each class"),
        ("class,share\ncat,0.5\ncat,0.4\ncow,0.3\ndog,0.3\n", "does not hold the share of each class, once"),
        ("class,share\ncat,0.5\ncow,0.5\n", "s.csv (--class-shares) must name each of the 3 classes once"),
        ("class,share\ncat,85\ncow,10\ndog,5\n", "s.csv (--class-shares) must hold 3 positive numbers that sum to 1"),
    ],
)
def test_bad_shares_are_refused(content, message, skewed, fitted, tmp_path, capsys):
    skewed[0].to_csv(tmp_path / "t.csv", index=False)
    fitted.save(tmp_path / "team.json")
    if content is not None:
        (tmp_path / "s.csv").write_text(content)
    out = tmp_path / "out.csv"
    files = [str(tmp_path / "team.json"), str(tmp_path / "t.csv"), "-o", str(out)]
    assert run(["combine", *files, "--class-shares", str(tmp_path / "s.csv")]) != 0
    assert message in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_evaluate_and_report_say_so(fitted, skewed, tmp_path, capsys):
    X, y = skewed
    fitted.save(tmp_path / "team.json")
    X.assign(truth=y).to_csv(tmp_path / "t.csv", index=False)
    files = [str(tmp_path / "team.json"), str(tmp_path / "t.csv")]
    assert run(["evaluate", *files, "--class-shares", "learn", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["class_shares"]["kind"] == "believed"
    assert found["class_shares"]["sentence"] in found["notes"]
    assert found["combination"]["error"]["value"] == pytest.approx(np.mean(fitted.predict(X) != y))
    assert run(["evaluate", *files, "--class-shares", "fit", "--json"]) == 0
    assert "class_shares" not in json.loads(capsys.readouterr().out)
