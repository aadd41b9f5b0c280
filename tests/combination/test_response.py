"""Confidence and "unsure" in a team: worth what they prove to be worth, and nothing where they prove nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from strategies import simulate, softmax
from twoheads.kernels.answers import Answers, pack_answers
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations

TEAMS = {"recommended": th.recommended, "P+L": th.ProbabilityLabelCombiner}


def observed(problem, **more):
    classes = np.arange(problem.n_classes)
    seen = Observations.from_arrays(problem.human, problem.model, classes=classes)
    return replace(seen, **more)


def log_loss(team, seen, truth):
    return -team.predict_log_proba(seen)[np.arange(len(truth)), truth].mean()


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
@pytest.mark.parametrize("labels", [600, 0])
def test_one_confidence_for_all_changes_nothing(make, labels):
    problem = simulate(600, 3, seed=1)
    truth = problem.truth if labels else None
    plain, constant = observed(problem), observed(problem, confidence=np.full(600, 0.8))
    expected = make().fit(plain, truth).predict_proba(plain)
    np.testing.assert_allclose(make().fit(constant, truth).predict_proba(constant), expected, atol=1e-12)


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
@pytest.mark.parametrize("labels", ["all", "some", "none"])
def test_confidence_that_tells_right_from_wrong_helps_and_noise_hardly_hurts(make, labels):
    problem = simulate(3000, 4, seed=2)
    rng = np.random.default_rng(3)
    known = {"all": problem.truth, "some": np.where(np.arange(3000) < 300, problem.truth, MISSING), "none": None}[
        labels
    ]
    sure = rng.beta(np.where(problem.human == problem.truth, 4, 2), 2)
    loss = {}
    for name, confidence in {"none": None, "telling": sure, "noise": rng.permutation(sure)}.items():
        seen = observed(problem, confidence=confidence)
        loss[name] = log_loss(make().fit(seen, known), seen, problem.truth)
    assert loss["telling"] < loss["none"] - 0.01
    assert loss["noise"] < loss["none"] + 0.005


@pytest.mark.parametrize("labels", ["all", "none"])
def test_unsure_tells_of_classes_that_make_people_unsure(labels):
    problem = simulate(4000, 3, seed=4)
    rng = np.random.default_rng(5)
    rates = np.array([0.05, 0.05, 0.5])
    unsure = rng.random(4000) < rates[problem.truth]
    seen = observed(
        problem,
        answers=Answers(np.where(unsure, MISSING, problem.human)),
        unsure=Answers(np.where(unsure, 0, MISSING)),
    )
    team = th.recommended().fit(seen, problem.truth if labels == "all" else None)
    np.testing.assert_allclose(team.response_.unsure_given_true_, rates, atol=0.05 if labels == "all" else 0.15)
    nobody = replace(seen, unsure=None)
    silent = th.recommended().fit(nobody, problem.truth if labels == "all" else None)
    assert log_loss(team, seen, problem.truth) < log_loss(silent, nobody, problem.truth)


def unsure_crowd(rates, seed, with_model=0.0, n_items=2000):
    """Answers of one to four people each, "unsure" at the rate of the true class; 4 % of the items have nothing else.

    Classes are as common as 35 % to 5 %; a model has seen some of the items.
    """
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, n_items, p=[0.35, 0.25, 0.2, 0.15, 0.05])
    item = np.repeat(np.arange(n_items), rng.integers(1, 5, n_items))
    person = (rng.integers(30, size=n_items)[item] + np.arange(len(item))) % 30
    right = rng.random(len(item)) < rng.uniform(0.6, 0.95, 30)[person]
    label = np.where(right, truth[item], (truth[item] + rng.integers(1, 5, len(item))) % 5)
    unsure = (rng.random(n_items) < 0.04)[item] | (rng.random(len(item)) < np.asarray(rates)[truth[item]])
    model = softmax(rng.normal(size=(n_items, 5)) + 2.0 * np.eye(5)[truth])
    model[rng.random(n_items) >= with_model] = np.nan
    seen = Observations(
        np.arange(5),
        (model,) if with_model else (),
        pack_answers(item[~unsure], (person * 5 + label)[~unsure], n_items),
        tuple(f"person {at:02}" for at in range(30)),
        np.arange(n_items),
        ("model",) if with_model else (),
        unsure=pack_answers(item[unsure], person[unsure], n_items),
    )
    return seen, truth


@pytest.mark.parametrize("labels", [0, 100])
@pytest.mark.parametrize("with_model", [0.0, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_unsure_that_tells_nothing_is_not_taken_to_tell_where_nothing_else_is_known(labels, with_model, seed):
    seen, truth = unsure_crowd([0.1] * 5, seed, with_model)
    team = th.recommended().fit(seen, np.where(np.arange(len(truth)) < labels, truth, MISSING))
    given = team.response_.unsure_given_true_
    assert given.max() / given.min() < 2.0
    dark = (seen.answers.per_item() == 0) & ~seen.has_model()
    assert dark.sum() > 50
    assert team.predict_proba(seen)[dark].max(axis=1).mean() < 0.45  # every class is as likely before: 0.2


def test_items_of_which_nobody_said_more_than_unsure_teach_nothing_of_people():
    seen, _ = unsure_crowd([0.1, 0.1, 0.1, 0.1, 0.3], 2)
    dark = seen.answers.per_item() == 0
    all_items, others = th.recommended().fit(seen), th.recommended().fit(seen.take(np.flatnonzero(~dark)))
    np.testing.assert_allclose(all_items.response_.unsure_given_true_, others.response_.unsure_given_true_, rtol=0.02)
    np.testing.assert_allclose(all_items.confusion_.human_given_true_, others.confusion_.human_given_true_, atol=0.01)


def test_unsure_of_a_class_is_learnt_from_the_answers_of_others():
    rates = np.array([0.3, 0.05, 0.05, 0.05, 0.05])
    seen, _ = unsure_crowd(rates, 3)
    np.testing.assert_allclose(th.recommended().fit(seen).response_.unsure_given_true_, rates, atol=0.1)


def test_an_item_that_has_but_unsure_is_predicted_alone_as_among_others():
    rows = [(1, "a", "cat"), (1, "b", "dog"), (2, "a", "dog"), (2, "b", "dog"), (3, "a", "unsure")]
    answers = pd.DataFrame(rows, columns=["item", "annotator", "answer"])
    model = pd.DataFrame({"item": [1, 2, 3], "p_cat": [0.7, 0.2, 0.5], "p_dog": [0.3, 0.8, 0.5]})
    seen = Observations.from_answers(answers, model)
    team = th.recommended().fit(seen, ["cat", "dog", "dog"])
    np.testing.assert_allclose(team.predict_proba(seen[[2]]), team.predict_proba(seen)[[2]], atol=1e-12)


def test_an_answer_without_confidence_among_answers_with_it():
    problem = simulate(800, 3, seed=6)
    confidence = np.random.default_rng(7).beta(np.where(problem.human == problem.truth, 4, 2), 2)
    team = th.recommended().fit(observed(problem, confidence=confidence), problem.truth)
    blank = team.predict_proba(observed(problem, confidence=np.full(800, np.nan)))
    np.testing.assert_allclose(blank, team.predict_proba(observed(problem)), atol=1e-12)
    assert np.isfinite(blank).all()


def test_renaming_classes_permutes():
    problem = simulate(500, 3, seed=8)
    confidence = np.random.default_rng(9).beta(np.where(problem.human == problem.truth, 4, 2), 2)
    seen = observed(problem, confidence=confidence)
    order = np.array([2, 0, 1])
    renamed = Observations.from_arrays(np.argsort(order)[problem.human], problem.model[:, order], classes=np.arange(3))
    expected = th.recommended().fit(seen, problem.truth).predict_proba(seen)[:, order]
    renamed = replace(renamed, confidence=confidence)
    found = th.recommended().fit(renamed, np.argsort(order)[problem.truth]).predict_proba(renamed)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_explanation_adds_up_and_a_saved_team_is_the_same(tmp_path):
    problem = simulate(400, 3, seed=10)
    confidence = np.random.default_rng(11).beta(np.where(problem.human == problem.truth, 4, 2), 2)
    seen = observed(problem, confidence=confidence)
    team = th.recommended().fit(seen, problem.truth)
    explained = team.explain(seen)
    log_proba = team.predict_log_proba(seen)
    assert "confidence" in explained.parts
    total = sum(explained.parts.values())
    np.testing.assert_allclose(total, log_proba.max(axis=1, keepdims=True) - log_proba, atol=1e-8)
    team.save(tmp_path / "team.json")
    np.testing.assert_array_equal(th.load(tmp_path / "team.json").predict_proba(seen), team.predict_proba(seen))
