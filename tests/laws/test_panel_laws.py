"""Laws of panels: copies of a member are one member, and independent members lose nothing."""

from __future__ import annotations

import numpy as np
import pytest

import twoheads as th
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations


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
