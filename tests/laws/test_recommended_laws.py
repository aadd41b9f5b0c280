"""Laws of the recommended combiner, on problems from easy to hopeless, with all, some or no truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from strategies import problems, simulate
from twoheads.combination import recommended

SHARES = st.sampled_from([0.0, 0.4, 1.0])
CLOSE = {"rtol": 1e-5, "atol": 1e-7}


def partly(problem, share):
    return np.where(np.arange(len(problem)) < share * len(problem), problem.truth, -1)


@settings(max_examples=30)
@given(problems(), SHARES)
def test_probabilities_are_finite_and_sum_to_one(problem, share):
    team = recommended().fit(problem.X, partly(problem, share))
    proba = team.predict_proba(problem.X)
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(team.dependence_.weight_).all()
    np.testing.assert_allclose(team.confusion_.human_given_true_.sum(axis=0), 1.0)
    assert team.describe()


@settings(max_examples=15)
@given(problems(), SHARES)
def test_weight_two_is_the_item_twice_in_all_that_is_counted(problem, share):
    truth = partly(problem, share)
    weighted = recommended().fit(problem.X, truth, sample_weight=problem.weight)
    repeated = recommended().fit(np.repeat(problem.X, problem.weight, axis=0), np.repeat(truth, problem.weight))
    for name in ("counts", "labels_per_class", "overlap", "temperature_values", "answered", "annotation_counts"):
        one, other = (getattr(team.statistics_, name) for team in (weighted, repeated))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(weighted.confusion_.human_given_true_, repeated.confusion_.human_given_true_, **CLOSE)
    if weighted.holdout_ is None:  # nothing was left out: one of two equal rows would be predicted from the other
        np.testing.assert_allclose(weighted.predict_proba(problem.X), repeated.predict_proba(problem.X), **CLOSE)


@settings(max_examples=15)
@given(problems(), SHARES)
def test_renaming_classes_permutes(problem, share):
    order = problem.rng.permutation(problem.n_classes)
    place = np.argsort(order)
    truth = partly(problem, share)
    proba = recommended().fit(problem.X, truth).predict_proba(problem.X)
    human = np.where(problem.human < 0, -1, place[problem.human])
    X = np.column_stack([human, problem.model[:, order]])
    renamed = recommended().fit(X, np.where(truth < 0, -1, place[truth])).predict_proba(X)
    np.testing.assert_allclose(renamed, proba[:, order], **CLOSE)


@settings(max_examples=15)
@given(problems(), SHARES)
def test_the_order_of_items_does_not_matter(problem, share):
    order = problem.rng.permutation(len(problem))
    truth = partly(problem, share)
    proba = recommended().fit(problem.X, truth).predict_proba(problem.X)
    shuffled = recommended().fit(problem.X[order], truth[order]).predict_proba(problem.X)
    np.testing.assert_allclose(shuffled, proba, **CLOSE)


@settings(max_examples=15)
@given(problems(), st.sampled_from([0.4, 1.0]))
def test_close_calls_move_towards_the_partner_alone(problem, share):
    team = recommended().fit(problem.X, partly(problem, share))
    preference = replace(team.holdout_.preference(), chances=(1.0, 1.0))
    block = team.block(team.observe(problem.X), slice(0, len(problem)))
    before, after = (np.exp(replace(team.rule(), preference=each).log_joint(block)).T for each in (None, preference))
    partner = problem.human if preference.human_leads else problem.model.argmax(axis=1)
    moved = ~np.isclose(before, after, rtol=1e-9, atol=1e-15).all(axis=1)
    assert (problem.human[moved] >= 0).all()
    assert (after[moved, partner[moved]] > before[moved, partner[moved]]).all()
    share = after / before
    share[np.arange(len(problem)), partner] = np.nan
    spread = np.nanmax(share[moved], axis=1) / np.nanmin(share[moved], axis=1)
    np.testing.assert_allclose(spread, 1.0, rtol=1e-9)  # the other classes keep their proportions


@pytest.mark.parametrize("n_people", [1, 3])
def test_no_item_without_truth_makes_a_jump(n_people):
    # Items without truth of which nothing can be learnt: the model is indifferent, and people differ. Whatever twenty
    # of them change, by being there at all, one of them may change no more than its share.
    rng = np.random.default_rng(5)
    problem = simulate(80, 3, seed=5)
    answers = np.where(rng.random((80, n_people)) < 0.75, problem.truth[:, None], rng.integers(0, 3, (80, n_people)))
    answers[:, 0] = problem.human
    columns = [*(f"human_{at}" for at in range(n_people)), "p_0", "p_1", "p_2"]
    frame = pd.DataFrame(np.column_stack([answers, problem.model]), columns=columns)
    empty = pd.DataFrame([[*range(n_people), 1 / 3, 1 / 3, 1 / 3]], columns=columns)
    found = {}
    for n_unlabelled in (0, 1, 20):
        X = pd.concat([frame.iloc[:60], *[empty] * n_unlabelled], ignore_index=True)
        truth = np.append(problem.truth[:60], [-1] * n_unlabelled)
        found[n_unlabelled] = recommended().fit(X, truth).predict_proba(frame.iloc[60:])
    one, twenty = (np.abs(found[n_unlabelled] - found[0]).max() for n_unlabelled in (1, 20))
    assert 0 < one < 0.1 * twenty


def witnesses(n, *, human, model, correlation, sharpness=1.0, seed=0):
    """Two Gaussian witnesses of two classes, of these accuracies and this correlation, as X and truth.

    The person says on which side of 0 their signal is; the model gives its log-odds, times ``sharpness``.
    """
    rng = np.random.default_rng(seed)
    truth, distance = rng.integers(0, 2, n), norm.ppf([human, model])
    noise = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], n)
    signal = noise + np.outer(2 * truth - 1, distance)
    proba = expit(2 * sharpness * distance[1] * signal[:, 1])
    return np.column_stack([signal[:, 0] > 0, 1 - proba, proba]), truth


def errors(team, X, truth):
    """Error of the team, of the person and of the model."""
    return [np.mean(label != truth) for label in (team.predict(X), X[:, 0], X[:, 1:].argmax(axis=1))]


def test_a_weak_person_who_shares_the_models_errors_counts_against():
    # Where such a person differs from the model, the model is right even more often: the right weight is negative.
    at = {"human": 0.85, "model": 0.94, "correlation": 0.9}
    team = recommended().fit(*witnesses(300, **at))
    combined, _, model = errors(team, *witnesses(4000, seed=1, **at))
    assert team.dependence_.weights()[1] < 0
    assert combined < model - 0.002


@pytest.mark.parametrize("sharpness", [0.7, 1.0])
def test_without_truth_it_does_not_follow_the_weaker_partner(sharpness):
    at = {"human": 0.64, "model": 0.79, "correlation": 0.3, "sharpness": sharpness}
    team = recommended().fit(witnesses(800, **at)[0])
    combined, human, model = errors(team, *witnesses(2000, seed=1, **at))
    assert combined < (human + model) / 2 + 0.03
    assert "nor which is right where they differ" in team.describe()


@pytest.mark.parametrize("human", [0.64, 0.75])
def test_with_labels_it_is_as_good_as_the_better_partner(human):
    at = {"human": human, "model": 0.9, "correlation": 0.4}
    X, truth = witnesses(600, seed=2, **at)
    team = recommended().fit(X, np.where(np.arange(600) < 100, truth, -1))
    combined, weaker, better = errors(team, *witnesses(4000, seed=3, **at))
    assert weaker > better
    assert combined < better + 0.005


@pytest.mark.parametrize(("n", "most"), [(0, 0.05), (1, 0.01), (10, 0.01), (60, 0.01)])
def test_no_label_makes_a_jump(n, most):
    # A label whose weight is a thousandth changes next to nothing; where it is the first one, less than a label does.
    X, truth = witnesses(200, human=0.7, model=0.85, correlation=0.3)
    weight = np.where(np.arange(200) == n, 1e-3, 1.0)
    without, known = (np.where(np.arange(200) < labels, truth, -1) for labels in (n, n + 1))
    before = recommended().fit(X, without, sample_weight=weight).predict_proba(X)
    after = recommended().fit(X, known, sample_weight=weight).predict_proba(X)
    assert np.abs(after - before).max() < most
