"""Several models: better than one where they differ, no surer where they are the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime

import twoheads as th
from strategies import simulate, softmax
from twoheads.kernels.arrays import MISSING
from twoheads.kernels.panel.models import model_features
from twoheads.kernels.simplex import log_softmax_sums
from twoheads.observations import Observations

TEAMS = {"recommended": th.recommended, "P+L": th.ProbabilityLabelCombiner}


def two_models(n_items=3000, n_classes=4, seed=0):
    """A problem, its model, and another model that has seen the truth through noise of its own."""
    problem = simulate(n_items, n_classes, seed=seed)
    rng = np.random.default_rng(seed + 1)
    other = softmax(1.5 * np.eye(n_classes)[problem.truth] + 1.5 * rng.normal(size=(n_items, n_classes)))
    return problem, other


def observed(problem, models):
    return Observations.from_arrays(problem.human, models)


def log_loss(team, seen, truth):
    return -team.predict_log_proba(seen)[np.arange(len(truth)), truth].mean()


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
@pytest.mark.parametrize("labels", ["all", "some", "none"])
def test_two_models_that_err_apart_are_better_than_either(make, labels):
    problem, other = two_models()
    known = {"all": problem.truth, "some": np.where(np.arange(3000) < 100, problem.truth, MISSING), "none": None}
    models = {"both": {"one": problem.model, "two": other}, "one": {"one": problem.model}, "two": {"two": other}}
    loss = {}
    for name, some in models.items():
        seen = observed(problem, some)
        loss[name] = log_loss(make().fit(seen, known[labels]), seen, problem.truth)
    assert loss["both"] < min(loss["one"], loss["two"])


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
@pytest.mark.parametrize("labels", [True, False])
def test_the_same_model_twice_counts_once(make, labels):
    problem, _ = two_models(2000)
    truth = problem.truth if labels else None
    once, twice = (observed(problem, dict.fromkeys(names, problem.model)) for names in (("a",), ("a", "b")))
    single, double = (make().fit(seen, truth).predict_proba(seen) for seen in (once, twice))
    np.testing.assert_allclose(double, single, atol=0.02 if labels else 1e-9)
    assert (double.argmax(axis=1) == single.argmax(axis=1)).mean() > 0.995


def test_a_model_that_knows_nothing_gets_little_weight_and_does_little_harm():
    problem, _ = two_models()
    noise = softmax(np.random.default_rng(9).normal(size=problem.model.shape))
    seen = observed(problem, {"model": problem.model, "noise": noise})
    alone = observed(problem, {"model": problem.model})
    team = th.recommended().fit(seen, problem.truth)
    assert team.pool_.weight_[0] > 0.7
    single = th.recommended().fit(alone, problem.truth)
    assert log_loss(team, seen, problem.truth) < log_loss(single, alone, problem.truth) + 0.002


def test_items_that_only_some_models_have_seen():
    problem, other = two_models(1500)
    gaps = problem.model.copy(), other.copy()
    gaps[0][::3] = np.nan
    gaps[1][1::3] = np.nan
    seen = observed(problem, {"one": gaps[0], "two": gaps[1]})
    team = th.recommended().fit(seen, problem.truth)
    proba = team.predict_proba(seen)
    assert np.isfinite(proba).all()
    full = observed(problem, {"one": problem.model, "two": other})
    np.testing.assert_allclose(team.predict_proba(full)[2::3], proba[2::3], atol=1e-12)
    only = team.predict_proba(observed(problem, {"two": gaps[1]}))
    np.testing.assert_allclose(only[::3], proba[::3], atol=1e-12)


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
def test_the_explanation_names_each_model_and_adds_up(make):
    problem, other = two_models(300)
    seen = observed(problem, {"one": problem.model, "two": other})
    team = make().fit(seen, problem.truth)
    explained, log_proba = team.explain(seen), team.predict_log_proba(seen)
    assert {"one", "two", "human"} <= set(explained.parts)
    total = sum(explained.parts.values())
    np.testing.assert_allclose(total, log_proba.max(axis=1, keepdims=True) - log_proba, atol=1e-8)


def test_a_saved_pool_is_the_same(tmp_path):
    problem, other = two_models(300)
    seen = observed(problem, {"one": problem.model, "two": other})
    team = th.recommended().fit(seen, problem.truth)
    team.save(tmp_path / "team.json")
    np.testing.assert_array_equal(th.load(tmp_path / "team.json").predict_proba(seen), team.predict_proba(seen))


def test_the_gradient_of_the_weights():
    rng = np.random.default_rng(3)
    logs, truth, weight = [rng.normal(size=(3, 20)) for _ in range(2)], rng.integers(3, size=20), rng.random(20)
    at = np.array([0.7, 0.4])
    _, slope = log_softmax_sums(logs, at, truth, weight)
    numeric = approx_fprime(at, lambda scale: log_softmax_sums(logs, scale, truth, weight)[0], 1e-7)
    np.testing.assert_allclose(slope, numeric, rtol=1e-5)


def relatives(n_items=800, n_classes=3, seed=0, asked=False):
    """Four models that share most of their noise, and one with little of its own."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    shared, hot = rng.normal(size=(n_items, n_classes)), np.eye(n_classes)[truth]
    noise = [1.5 * shared + 0.3 * rng.normal(size=hot.shape) for _ in range(4)] + [1.2 * rng.normal(size=hot.shape)]
    answer = np.where(asked & (rng.random(n_items) < 0.7), truth, -1)
    models = {f"model {at}": softmax(1.5 * hot + each) for at, each in enumerate(noise)}
    return th.Observations.from_arrays(answer, models), truth


def test_related_models_have_weights_of_their_own():
    seen, truth = relatives()
    new, new_truth = relatives(seed=1)
    team = th.recommended().fit(seen, truth)
    pool = team.pool_
    own = pool.coefficient_[-5:]
    assert pool.own_share_ > 0.9
    assert own.argmax() == 4
    corrected = -team.predict_log_proba(new)[np.arange(len(new_truth)), new_truth].mean()
    pool.own_share_ = 0.0
    averaged = -team.predict_log_proba(new)[np.arange(len(new_truth)), new_truth].mean()
    assert corrected < averaged - 0.02


def test_the_models_own_weights_are_told_explained_and_saved(tmp_path):
    seen, truth = relatives(300)
    team = th.recommended().fit(seen, truth)
    found = team.facts()["model_panel"]
    share = team.pool_.own_share_
    assert found["own_weights"] == pytest.approx(share / (share + 9 * (1 - share)))
    assert list(found["weights"]) == [f"model {at}" for at in range(5)]
    assert "that models need weights beyond this average is" in team.describe()
    explained, log_proba = team.explain(seen), team.predict_log_proba(seen)
    total = sum(explained.parts.values())
    np.testing.assert_allclose(total, log_proba.max(axis=1, keepdims=True) - log_proba, atol=1e-8)
    team.save(tmp_path / "team.json")
    np.testing.assert_array_equal(th.load(tmp_path / "team.json").predict_proba(seen), team.predict_proba(seen))


@pytest.mark.parametrize(("n_items", "asked", "has_own"), [(29, False, False), (30, False, True), (30, True, False)])
def test_own_weights_need_labels_and_nobody_else(n_items, asked, has_own):
    seen, truth = relatives(n_items, asked=asked)
    assert (len(th.recommended().fit(seen, truth).pool_.coefficient_) > 0) == has_own


def test_a_model_without_rows_adds_nothing_to_the_panel():
    rng = np.random.default_rng(0)
    logs = [np.log(rng.dirichlet(np.ones(3), 4).T) for _ in range(2)]
    logs[1][:, 2] = np.nan
    features = model_features(logs)
    by_hand = (logs[0] - logs[0].mean(axis=0)).T
    np.testing.assert_allclose(features[:, :, 0], by_hand / np.array([2, 2, 1, 2])[:, None])
    np.testing.assert_array_equal(features[2, :, 1], 0.0)


def test_without_truth_the_order_of_the_classes_does_not_matter():
    """Two people disagree on many items: such a tie is no answer for the class whose name comes first."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    people = [np.where(rng.random(300) < 0.75, truth, 1 - truth) for _ in range(2)]
    models = {}
    for name, noise in (("a", 1.5), ("b", 2.5)):
        odds = np.exp(noise * rng.normal(size=(300, 2)) + 2 * np.eye(2)[truth])
        models[name] = odds / odds.sum(axis=1, keepdims=True)
    found = []
    for names in (["good", "bad"], ["apple", "zebra"]):
        frame = pd.DataFrame({f"human_{at}": np.array(names)[label] for at, label in enumerate(people)})
        for name, proba in models.items():
            frame = frame.assign(**{f"{name}.p_{label}": proba[:, at] for at, label in enumerate(names)})
        team = th.recommended().fit(frame)
        found.append(team.predict_proba(frame)[:, team.classes_.tolist().index(names[0])])
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
