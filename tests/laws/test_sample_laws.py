"""Where more items have no truth than a fit looks at, those that it looks at do not depend on the digits of others."""

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import tables
from twoheads.combination.items.open import open_items


def problem(n, seed=0):
    """One person and a model of three classes, with probabilities of many digits."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    proba = np.exp(rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[truth])
    human = np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n))
    return np.column_stack([human, proba / proba.sum(axis=1, keepdims=True)]), truth


@pytest.mark.parametrize("n_labels", [0, 10, 100])
def test_one_probability_hardly_changes_other_items(n_labels):
    X, truth = problem(900)
    y = np.where(np.arange(900) < n_labels, truth, -1) if n_labels else None
    before = th.recommended().fit(X, y).predict_proba(X[:100])
    moved = []
    for item in range(200, 900, 100):
        other = X.copy()
        other[item, 1:] += [1e-4, -1e-4, 0.0]
        moved.append(np.abs(th.recommended().fit(other, y).predict_proba(X[:100]) - before).max())
    assert np.median(moved) < 3e-4
    assert max(moved) < 5e-3  # where the item, or the one that takes its place, is among those looked at


@pytest.mark.parametrize("n_labels", [0, 10])
def test_rounding_to_seven_digits_changes_nothing_to_speak_of(n_labels, tmp_path):
    X, truth = problem(900, 1)
    frame = pd.DataFrame(X, columns=["human", "p_0", "p_1", "p_2"]).astype({"human": int})
    if n_labels:
        frame["truth"] = np.where(np.arange(900) < n_labels, truth.astype(str), "")
    frame.to_csv(tmp_path / "rounded.csv", index=False, float_format="%.7g")
    frame.to_csv(tmp_path / "whole.csv", index=False)
    rounded, whole = (th.recommended().fit(tables.scan(tmp_path / name)) for name in ("rounded.csv", "whole.csv"))
    np.testing.assert_allclose(rounded.predict_proba(X), whole.predict_proba(X), atol=5e-3)


def test_equal_weights_draw_the_same_items_as_none():
    X, truth = problem(700, 2)
    y = np.where(np.arange(700) < 30, truth, -1)
    plain, weighted = th.recommended().fit(X, y), th.recommended().fit(X, y, np.ones(700))
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), atol=1e-12)


def test_items_are_drawn_by_their_weights():
    X, truth = problem(3000, 3)
    y, heavy = np.where(np.arange(3000) < 30, truth, -1), np.arange(3000) % 3 == 0
    drawn = open_items(X, y, sample_weight=np.where(heavy, 8.0, 1.0)).answered_unlabelled()
    of_heavy = np.isin(drawn.log_proba[0].round(9), np.log(X[heavy, 1]).round(9))
    assert drawn.n_items == 300
    assert 0.75 < of_heavy.mean() < 0.85  # 8 of 10
