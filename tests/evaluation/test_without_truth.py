"""Without truth: what is measured is measured, what is estimated is called so."""

import json

import numpy as np
import pytest

import twoheads as th
from twoheads.evaluation import compare, without_truth


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    logits = rng.normal(size=(n, 4))
    logits[np.arange(n), y] += 2
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return np.column_stack([np.where(rng.random(n) < 0.85, y, rng.integers(0, 4, n)), proba]), y


def test_where_the_assumptions_hold_the_estimates_are_near_the_truth():
    X, y = problem(3000)
    team = th.ProbabilityLabelCombiner().fit(X)
    found, measured = without_truth(team, X), compare(team, X, y, n_bootstrap=50)
    assert found.agreement.value == np.mean(X[:, 0] == X[:, 1:].argmax(axis=1))
    assert found.at_least_one_wrong == 1 - found.agreement.value
    assert found.human_accuracy.value == pytest.approx(1 - measured.human.error.value, abs=0.04)
    assert found.combination_accuracy.value == pytest.approx(1 - measured.combination.error.value, abs=0.04)
    proba = team.predict_proba(X)
    assert found.combination_accuracy.value == pytest.approx(proba.max(axis=1).mean())
    assert found.model_accuracy.value == pytest.approx(proba[np.arange(3000), X[:, 1:].argmax(axis=1)].mean())
    json.dumps(found.as_dict(), allow_nan=False)


def test_words():
    X, _ = problem(200)
    team = th.ProbabilityLabelCombiner().fit(X)
    found = without_truth(team, X)
    assert found.headline().startswith("No truth is known for these 200 items, so no error can be measured; human")
    assert "if its assumptions hold, the team's estimate of its own accuracy is" in found.headline()
    assert found.notes()[0].startswith("Measured: human and model disagree on ")
    one = without_truth(team, X[:1])
    assert one.headline().startswith("No truth is known for this item, so no error can be measured; if its")
    assert one.combination_accuracy.low is None


def test_nobody_was_asked():
    X, _ = problem(50)
    team = th.ProbabilityLabelCombiner().fit(X)
    X[:, 0] = -1
    found = without_truth(team, X)
    assert (found.agreement, found.human_accuracy, found.n_both) == (None, None, 0)
    assert "agree" not in found.headline()
