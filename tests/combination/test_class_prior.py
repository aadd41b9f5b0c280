"""How common classes are: learnt, given, and other where the team is used than where it was fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import dirichlet_multinomial

import twoheads as th
from strategies import simulate
from twoheads.errors import InvalidParameter
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations

TEAMS = {"recommended": th.recommended, "P+L": th.ProbabilityLabelCombiner}


def make_team(name, prior):
    return TEAMS[name]().set_params(class_prior=prior)


def rare_class(n_items=3000, seed=0, per_item=3, accuracy=0.85, prevalence=(0.9, 0.1)):
    """A crowd without a model, and a class that is rare."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(2, n_items, p=prevalence)
    item, person = np.repeat(np.arange(n_items), per_item), np.tile(np.arange(per_item), n_items)
    label = np.where(rng.random(len(item)) < accuracy, truth[item], 1 - truth[item])
    answers = pack_answers(item, 2 * person + label, n_items)
    names = tuple(f"person {at}" for at in range(per_item))
    return Observations(np.arange(2), (), answers, names, np.arange(n_items)), truth


@pytest.mark.parametrize("name", TEAMS)
@pytest.mark.parametrize("labels", [True, False])
def test_a_rare_class_is_learnt_and_helps(name, labels):
    seen, truth = rare_class()
    known = truth if labels else None
    learnt, flat = (make_team(name, prior).fit(seen, known) for prior in ("learn", [0.5, 0.5]))
    if labels or name == "P+L":
        np.testing.assert_allclose(learnt.prevalence_, [0.9, 0.1], atol=0.02 if labels else 0.05)
    else:  # held, and drawn towards equal shares
        assert 0.7 < learnt.prevalence_[0] < 0.9
    assert learnt.score(seen, truth) > flat.score(seen, truth) - (0.005 if labels else 0)


@pytest.mark.parametrize("n_labels", [0, 40])
def test_a_crowd_without_a_model_has_the_shares_of_its_majority_and_labels(n_labels):
    seen, truth = rare_class(n_items=400)
    known = np.where(np.arange(400) < n_labels, truth, -1)
    teams = [th.recommended(class_prior=prior).fit(seen, known) for prior in ("model", "learn")]
    majority = (seen.answers.column.reshape(400, 3) % 2).sum(axis=1) > 1
    power = (np.bincount(majority, minlength=2) + 0.5) ** 0.75
    labels, strength = np.bincount(truth[:n_labels], minlength=2), np.array([20.0, 60.0, 200.0])
    prior = strength[:, None] * power / power.sum()
    evidence = np.array([dirichlet_multinomial.pmf(labels, each, n_labels) for each in prior])
    shares = evidence @ ((prior + labels) / (strength + n_labels)[:, None]) / evidence.sum()
    for team in teams:
        np.testing.assert_allclose(np.exp(team.rule().log_class_prior), shares)
    np.testing.assert_array_equal(teams[0].predict_proba(seen), teams[1].predict_proba(seen))


def test_class_shares_cannot_collapse():
    """A class that nearly all votes name, and that is true of half the items, does not take over all of them."""
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=600)
    label = np.where((truth[:, None] == 1) & (rng.random((600, 5)) < 0.6), 1, 0)
    item, person = np.divmod(np.arange(3000), 5)
    answers = pack_answers(item, 2 * person + label.ravel(), 600)
    seen = Observations(np.arange(2), (), answers, tuple("abcde"), np.arange(600))
    team = th.recommended(class_prior="learn").fit(seen)
    assert 0.2 < np.mean(team.predict(seen) == 1) < 0.8


def test_an_item_nobody_answered_has_the_class_shares():
    seen, _ = rare_class(n_items=100)
    team = th.recommended().fit(seen)
    unseen = Observations(
        np.arange(2), (), pack_answers(np.array([1]), np.array([0]), 2), seen.annotators, np.arange(2)
    )
    proba = team.predict_proba(unseen)[0]
    assert proba[0] > 0.6


def test_bayes_rule_by_hand():
    # One person, right three times of four, no model: posterior of his answer under a prior of 0.9 and 0.1.
    confusion = th.DirichletConfusion(prior_accuracy=0.75, prior_strength=1e9)
    table = pd.DataFrame({"item": ["x", "y"], "annotator": ["ann", "ann"], "answer": ["a", "b"]})
    seen = Observations.from_answers(table)
    team = th.ProbabilityLabelCombiner(confusion, class_prior=[0.9, 0.1]).fit(seen, ["a", "b"])
    proba = team.predict_proba(seen)
    assert proba[0, 0] == pytest.approx(0.9 * 0.75 / (0.9 * 0.75 + 0.1 * 0.25))
    assert proba[1, 1] == pytest.approx(0.1 * 0.75 / (0.1 * 0.75 + 0.9 * 0.25))


@pytest.mark.parametrize("name", TEAMS)
def test_classes_more_common_in_use_than_at_fit(name):
    problem = simulate(20_000, 2, seed=5)
    rng = np.random.default_rng(6)
    keep = rng.random(20_000) < np.where(problem.truth == 1, 0.15, 1.0)  # class 1 is now rarer than the model thinks
    rows = np.column_stack([problem.human, problem.model])
    team = TEAMS[name]().fit(rows[:5000], problem.truth[:5000])
    use, truth = rows[keep][3000:], problem.truth[keep][3000:]
    common = np.bincount(truth) / len(truth)

    def log_loss(each):
        return -each.predict_log_proba(use)[np.arange(len(truth)), truth].mean()

    corrected = make_team(name, common).fit(rows[:5000], problem.truth[:5000])
    assert log_loss(corrected) < log_loss(team) - 0.01
    np.testing.assert_allclose(corrected.predict_proba(use).mean(axis=0), common, atol=0.02)
    same = make_team(name, team.prevalence_).fit(rows[:5000], problem.truth[:5000])
    np.testing.assert_allclose(same.predict_proba(use), team.predict_proba(use), atol=1e-12)


@pytest.mark.parametrize("prior", ["flat", [0.5, 0.6], [1.0, 0.0], [0.2, 0.3, 0.5]])
def test_a_prior_that_is_none_is_refused(prior):
    problem = simulate(30, 2, seed=1)
    rows = np.column_stack([problem.human, problem.model])
    with pytest.raises(InvalidParameter, match=r"^class_prior must"):
        th.ProbabilityLabelCombiner(class_prior=prior).fit(rows, problem.truth)


def test_the_explanation_names_the_prior():
    seen, truth = rare_class(200)
    team = make_team("P+L", [0.9, 0.1]).fit(seen, truth)
    explained, log_proba = team.explain(seen), team.predict_log_proba(seen)
    total = sum(explained.parts.values())
    np.testing.assert_allclose(total, log_proba.max(axis=1, keepdims=True) - log_proba, atol=1e-8)
    assert np.abs(explained.parts["prior"]).max() == pytest.approx(np.log(9))
