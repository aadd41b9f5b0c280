"""Confidence and "unsure" in a team: worth what they prove to be worth, and nothing where they prove nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from strategies import simulate
from twoheads.kernels.answers import Answers
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
    np.testing.assert_allclose(team.manner_.unsure_given_true_, rates, atol=0.05 if labels == "all" else 0.15)
    nobody = replace(seen, unsure=None)
    silent = th.recommended().fit(nobody, problem.truth if labels == "all" else None)
    assert log_loss(team, seen, problem.truth) < log_loss(silent, nobody, problem.truth)


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
