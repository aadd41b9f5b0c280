"""What weights may not change: a weight of 1 is none, an item of weight 0 is none, and large ones can be fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.evaluation import compare

N_ITEMS, N_LABELS = 300, 120


@pytest.fixture(scope="module", params=["labels", "scores", "with a model", "some with a model"])
def table(request):
    """Three members, and the truth of some items."""
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=N_ITEMS)
    columns = {}
    for name in ("ann", "bob", "cid"):
        right = rng.random(N_ITEMS) < 0.8
        score = np.clip(
            np.round(4.5 + np.where(right, 2.5, -2.5) * (2 * truth - 1) + rng.normal(0, 1.5, N_ITEMS)), 0, 9
        )
        is_score = request.param == "scores"
        columns[f"{name}.score" if is_score else f"human_{name}"] = score if is_score else (score > 4.5) * 1
    if "model" in request.param:
        positive = np.clip(0.5 + 0.3 * (2 * truth - 1) + rng.normal(0, 0.25, N_ITEMS), 0.02, 0.98)
        none = (np.arange(N_ITEMS) % 3 == 0) & (request.param == "some with a model")
        columns |= {"p_0": np.where(none, np.nan, 1 - positive), "p_1": np.where(none, np.nan, positive)}
    return pd.DataFrame(columns), np.where(np.arange(N_ITEMS) < N_LABELS, truth, -1), truth


def test_a_weight_of_1_is_none(table):
    X, y, _ = table
    weighted = th.recommended().fit(X, y, sample_weight=np.ones(N_ITEMS))
    np.testing.assert_allclose(weighted.predict_proba(X), th.recommended().fit(X, y).predict_proba(X), atol=1e-10)


def test_an_item_of_weight_0_is_none(table):
    X, y, _ = table
    kept = np.arange(N_ITEMS) % 4 > 0
    team = th.recommended().fit(X, y, sample_weight=kept * 1.0)
    alone = th.recommended().fit(X[kept].reset_index(drop=True), y[kept])
    np.testing.assert_allclose(team.predict_proba(X), alone.predict_proba(X), atol=1e-10)


def test_items_of_weight_0_are_not_judged_as_held_out(table):
    X, y, _ = table
    weight = np.where(np.arange(N_ITEMS) < N_LABELS / 2, 0.0, 1.0)
    team = th.recommended().fit(X, y, sample_weight=weight)
    assert compare(team, X, y, sample_weight=weight, n_bootstrap=50).n_items == N_LABELS / 2


@pytest.mark.parametrize("unit", [2e3, 1e6])
def test_large_weights_can_be_fitted(table, unit):
    X, y, truth = table
    team = th.recommended().fit(X, y, sample_weight=np.full(N_ITEMS, unit))
    assert np.mean(team.predict(X) == truth) > 0.8
