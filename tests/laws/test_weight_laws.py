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


@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize("weights", ["two", "ten", "mixed"])
def test_an_item_is_not_predicted_from_its_own_weight(people, weights):
    # Answers that are right in 62 %, beside a model: errors of the record, and of the team on 2,000 fresh items.
    record, fresh, plain = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        (X, y), (others, truth) = (_drawn(rng, n, people) for n in (30, 2000))
        units = {"two": np.full(30, 2.0), "ten": np.full(30, 10.0), "mixed": rng.choice([1.0, 2.0, 5.0, 10.0], 30)}
        team = th.recommended().fit(X, y, sample_weight=units[weights])
        record.append(team.holdout_.errors / team.holdout_.n)
        fresh.append(np.mean(team.predict(others) != truth))
        one = th.recommended().fit(X, y).holdout_
        plain.append(one.errors / one.n)
    # No smaller than the record of the same items without weights, whose team is the better one.
    assert np.mean(record) > np.mean(plain) - 0.01
    assert np.mean(record) > np.mean(fresh) - 0.07


def _drawn(rng, n, people):
    truth = rng.integers(3, size=n)
    columns = {}
    for at in range(people):
        wrong = (truth + rng.integers(1, 3, n)) % 3
        columns[f"human_{at}" if people > 1 else "human"] = np.where(rng.random(n) < 0.62, truth, wrong)
    logits = rng.normal(0, 1, (n, 3)) + 1.1 * np.eye(3)[truth]
    share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return pd.DataFrame(columns | {f"p_{at}": share[:, at] for at in range(3)}), truth


def _permuted(n_items, n_labels, people, *, model, weighted):
    rng = np.random.default_rng(7)
    truth = rng.integers(3, size=n_items)
    columns = {
        f"human_{at}": np.where(rng.random(n_items) < 0.6, truth, rng.integers(3, size=n_items)) for at in range(people)
    }
    if model:
        share = rng.dirichlet(np.ones(3), n_items) + np.eye(3)[truth] * 0.4
        columns |= {f"p_{at}": share[:, at] / share.sum(axis=1) for at in range(3)}
    y = np.where(np.arange(n_items) < n_labels, truth, -1)
    return pd.DataFrame(columns), y, rng.integers(1, 4, n_items) * 1.0 if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("n_items", "n_labels", "people", "model"),
    [(700, 350, 2, True), (2900, 2700, 4, False), (2900, 2700, 4, True)],
    ids=["strengths", "panel of judges", "panel beside a model"],
)
def test_the_order_of_rows_changes_nothing(n_items, n_labels, people, model, weighted):
    X, y, weight = _permuted(n_items, n_labels, people, model=model, weighted=weighted)
    order = np.random.default_rng(8).permutation(n_items)
    team = th.recommended().fit(X, y, sample_weight=weight)
    shuffled = X.iloc[order].reset_index(drop=True)
    other = th.recommended().fit(shuffled, y[order], sample_weight=None if weight is None else weight[order])
    np.testing.assert_allclose(other.predict_proba(X), team.predict_proba(X), atol=1e-9)
    assert other.holdout_.log_loss == pytest.approx(team.holdout_.log_loss, abs=1e-10)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_levels_of_scores_are_those_of_repeated_items(n_classes):
    rng = np.random.default_rng(3)
    truth, times = rng.integers(n_classes, size=200), rng.integers(1, 6, 200)
    X = pd.DataFrame({f"{name}.score": truth + rng.normal(0, 1, 200) for name in ("ann", "bob", "cid")})
    known = np.where(np.arange(200) < 120, truth, -1)
    weighted = th.recommended().fit(X, known, sample_weight=times).levels_
    repeated = th.recommended().fit(
        X.loc[np.repeat(np.arange(200), times)].reset_index(drop=True), np.repeat(known, times)
    )
    for one, other in zip(weighted.bounds, repeated.levels_.bounds, strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.array_equal(weighted.cuts, repeated.levels_.cuts)
    assert not all(
        np.array_equal(one, other)
        for one, other in zip(weighted.bounds, th.recommended().fit(X, known).levels_.bounds, strict=True)
    )


def test_levels_of_confidence_are_those_of_repeated_items():
    rng = np.random.default_rng(4)
    truth, times = rng.integers(2, size=150), rng.integers(1, 6, 150)
    X = pd.DataFrame({"human": truth, "confidence": rng.random(150), "p_0": 0.4, "p_1": 0.6})
    weighted = th.recommended().fit(X, truth, sample_weight=times)
    repeated = th.recommended().fit(
        X.loc[np.repeat(np.arange(150), times)].reset_index(drop=True), np.repeat(truth, times)
    )
    np.testing.assert_array_equal(weighted.response_.bounds_, repeated.response_.bounds_)


def test_labels_of_l_and_l_are_counted_whatever_their_weights():
    X, y = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 25, [0, 1, 0, 1] * 25
    weight = np.where(np.arange(100) < 10, 10.0, 1.0)
    facts = th.LabelLabelCombiner().fit(X, y, sample_weight=weight).facts()
    assert facts["human"]["answers"] == facts["model"]["answers"] == 100
    # Kish's number is (100 + 90)^2 / (1000 + 90) = 33.1: all right, the interval is that of as many.
    low, high = facts["human"]["accuracy"][1:]
    few = th.LabelLabelCombiner().fit(X[:33], y[:33]).facts()["human"]["accuracy"]
    assert low == pytest.approx(few[1], abs=0.003)
    assert high == pytest.approx(few[2], abs=0.003)
    assert "100 labels" in th.LabelLabelCombiner().fit(X, y, sample_weight=weight).describe()


@pytest.mark.parametrize(("n_known", "unit"), [(12, 3.0), (40, 0.1)])
def test_the_unit_of_weights_does_not_decide_whether_members_get_weights_of_their_own(n_known, unit):
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=100)
    answers = np.where(rng.random((100, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    X, y = (
        pd.DataFrame(answers, columns=[f"human_{at}" for at in range(5)]),
        np.where(np.arange(100) < n_known, truth, -1),
    )
    weighted, plain = th.recommended().fit(X, y, sample_weight=np.full(100, unit)), th.recommended().fit(X, y)
    assert ("panel" in weighted.facts()) == ("panel" in plain.facts()) == (n_known == 40)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("people", "n_labels"), [(3, 10), (3, 40), (1, 10)])
def test_weights_from_tiny_to_huge_warn_of_nothing(people, n_labels):
    # Beside weights of 1e12 shares of wrong answers round to 0, or below, and nodes of a posterior vanish.
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.integers(20, size=40)
        columns = {f"human_{at}": np.where(rng.random(40) < 0.9, truth, 0) for at in range(people)}
        share = rng.dirichlet(np.full(20, 0.1), 40)
        X = pd.DataFrame(columns | {f"p_{at}": share[:, at] for at in range(20)})
        y = np.where(np.arange(40) < n_labels, truth, -1)
        seen = th.Observations.from_frame(X, classes=list(range(20)))
        team = th.recommended().fit(seen, y, sample_weight=rng.choice([1e-8, 1.0, 1e6, 1e12], 40))
        assert np.isfinite(team.predict_proba(seen)).all()
