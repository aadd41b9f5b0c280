"""Laws of panels: copies of a member are one member, and independent members lose nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations, as_observations


def panel(error, truth):
    """Observations of two classes from which answers are wrong, (n_items, n_members)."""
    n_items, n_members = error.shape
    label = np.where(error, 1 - truth[:, None], truth[:, None])
    item, member = np.divmod(np.arange(label.size), n_members)
    names = tuple(f"member {at:02}" for at in range(n_members))
    answers = pack_answers(item, member * 2 + label.ravel(), n_items)
    return Observations(np.arange(2), (), answers, names, np.arange(n_items))


def independent(n_items, n_members, seed, rate=0.3):
    rng = np.random.default_rng(seed)
    return rng.random((n_items, n_members)) < rate, rng.integers(2, size=n_items)


def confidence_and_accuracy(team, seen, truth):
    proba = team.predict_proba(seen)
    return proba.max(axis=1).mean(), (proba.argmax(axis=1) == truth).mean()


@pytest.mark.parametrize("n_labels", [60, 300])
@pytest.mark.parametrize("n_copies", [4, 12])
def test_copies_of_a_judge_do_not_make_the_team_surer_than_it_should_be(n_labels, n_copies):
    error, truth = independent(2000, 3, seed=n_copies)
    known = np.where(np.arange(2000) < n_labels, truth, -1)
    copied = np.column_stack([error, *([error[:, 0]] * n_copies)])
    alone, many = (panel(each, truth) for each in (error, copied))
    base, team = th.recommended().fit(alone, known), th.recommended().fit(many, known)
    confidence, accuracy = confidence_and_accuracy(team, many, truth)
    assert confidence < accuracy + 0.05
    assert accuracy > confidence_and_accuracy(base, alone, truth)[1] - 0.05


def test_a_panel_of_one_judge_copied_counts_as_one():
    error, truth = independent(400, 1, seed=0)
    team = th.recommended().fit(panel(np.repeat(error, 6, axis=1), truth), truth)
    np.testing.assert_allclose(team.facts()["panel"]["effective_members"], 1.0)
    confidence, accuracy = confidence_and_accuracy(team, panel(np.repeat(error, 6, axis=1), truth), truth)
    assert abs(confidence - accuracy) < 0.03


def test_independent_members_count_in_full():
    error, truth = independent(2000, 6, seed=1)
    low, high = th.recommended().fit(panel(error, truth), truth).facts()["panel"]["effective_members"][1:]
    assert high == 6.0 or high > 5.5
    assert low > 4.5


@pytest.mark.parametrize("n_labels", [20, pytest.param(50, marks=pytest.mark.slow), 200])
def test_with_independent_members_the_panel_is_never_worse_than_chance_allows(n_labels):
    """Differences of the log loss to the team without a panel, over simulated panels."""
    losses = []
    for seed in range(4):
        rng = np.random.default_rng(100 + seed)
        error, truth = independent(800, 6, seed=seed, rate=rng.uniform(0.15, 0.45, 6))
        seen = panel(error, truth)
        team = th.recommended().fit(seen, np.where(np.arange(800) < n_labels, truth, -1))
        new = np.arange(n_labels, 800)
        own = -np.log(team.predict_proba(seen)[new, truth[new]]).mean()
        team.panel_ = None
        losses.append(own + np.log(team.predict_proba(seen)[new, truth[new]]).mean())
    assert np.mean(losses) < 0.01


def related_judges(seed, kind, share=0.5, n_items=900):
    """A frame of eight judges in two families, by labels or by scores from 0 to 9, and the truth."""
    rng = np.random.default_rng(seed)
    truth, columns = (rng.random(n_items) < share).astype(int), {}
    for family in range(2):
        shared = rng.normal(size=n_items)
        for judge in range(4):
            evidence = rng.uniform(0.4, 0.9) * (2 * truth - 1) + 0.7 * shared + 0.7 * rng.normal(size=n_items)
            score = np.clip(np.round(4.5 + 2.2 * (evidence + rng.normal())), 0, 9)
            columns[f"judge{family}{judge}.{kind}"] = score if kind == "score" else (score > 4).astype(int)
    return as_observations(pd.DataFrame(columns), classes=[0, 1]), truth


def with_labels(seen, truth, items):
    known = np.full(len(truth), -1)
    known[items] = truth[items]
    return th.recommended().fit(seen, known).predict_proba(seen)


@pytest.mark.parametrize("kind", ["label", "score"])
@pytest.mark.parametrize("seed", [0, 1])
def test_two_labels_on_which_most_judges_err_do_not_turn_the_classes_round(kind, seed):
    seen, truth = related_judges(seed, kind)
    alone = th.recommended().fit(seen).predict_proba(seen)
    hard = np.argsort(alone[np.arange(len(truth)), truth])[:2]
    team = with_labels(seen, truth, hard)
    assert (team.argmax(axis=1) != truth).mean() < (alone.argmax(axis=1) != truth).mean() + 0.05


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_beside_a_model_judges_are_not_taken_for_worse_than_chance_either(seed):
    seen, truth = related_judges(seed, "label")
    logit = np.random.default_rng(seed).normal(2 * truth - 1, 2.0)
    proba = np.column_stack([1 / (1 + np.exp(logit)), 1 / (1 + np.exp(-logit))])
    seen = replace(seen, model_proba=(proba,))
    alone = th.recommended().fit(seen).predict_proba(seen)
    hard = np.argsort(alone[np.arange(len(truth)), truth])[:2]
    known = np.where(np.isin(np.arange(len(truth)), hard), truth, -1)
    assert np.diagonal(th.recommended().fit(seen, known).confusion_.crowd_given_true_).mean() > 0.5


@pytest.mark.parametrize("kind", ["label", "score"])
def test_one_label_moves_predictions_little(kind):
    seen, truth = related_judges(2, kind)
    alone = th.recommended().fit(seen).predict_proba(seen)
    for item in (0, 1, 2):
        assert np.abs(with_labels(seen, truth, [item]) - alone).mean() < 0.03


@pytest.mark.parametrize("kind", ["label", pytest.param("score", marks=pytest.mark.slow)])
def test_on_average_labels_do_not_make_a_panel_worse(kind):
    """Means over eight panels: ten labels against none."""
    gains = []
    for seed in range(8):
        seen, truth = related_judges(10 + seed, kind)
        new = np.arange(10, len(truth))
        probas = th.recommended().fit(seen).predict_proba(seen), with_labels(seen, truth, np.arange(10))
        losses = [-np.log(proba[new, truth[new]]).mean() for proba in probas]
        errors = [(proba[new].argmax(axis=1) != truth[new]).mean() for proba in probas]
        gains.append((losses[0] - losses[1], errors[0] - errors[1]))
    loss, error = np.mean(gains, axis=0)
    assert loss > 0
    assert error > -0.01
