"""A probability of 0 is one below the resolution of a model's numbers, which a team finds where it is fitted."""

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import tables
from twoheads.combination.items.open import open_items
from twoheads.evaluation import log_loss
from twoheads.kernels.simplex import FLOOR


def problem(n_items=900, n_classes=6, seed=0):
    """People right on 75 %, and a model of graded evidence whose probabilities reach down to about 1e-6."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    logits = 2.2 * rng.normal(size=(n_items, n_classes)) + 5.0 * np.eye(n_classes)[truth]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    human = np.where(rng.random(n_items) < 0.75, truth, rng.integers(0, n_classes, n_items))
    return human, proba, truth


def rounded(proba, decimals):
    cut = np.round(proba, decimals)
    return cut / cut.sum(axis=1, keepdims=True)


def known(truth, n):
    return np.where(np.arange(len(truth)) < n, truth, -1)


@pytest.mark.parametrize("n_labels", [30, 300])
def test_two_decimals_cost_little(n_labels):
    lost, as_zero = [], []
    for seed in range(6):
        human, proba, truth = problem(seed=seed)
        losses = []
        for rows, zeros in ((proba, ()), (rounded(proba, 2), ()), (rounded(proba, 2), None)):
            X = np.column_stack([human, rows])
            items = open_items(X, known(truth, n_labels), zeros=zeros)
            posterior = th.recommended().fit_items(items).predict_proba(X[300:])
            losses.append(log_loss(truth[300:], posterior, classes=range(6)))
        lost.append(losses[1] - losses[0])
        as_zero.append(losses[2] - losses[0])
    assert np.mean(lost) < 0.015
    assert np.mean(lost) < 0.5 * np.mean(as_zero)  # as certainties zeros cost much more


def test_shares_of_votes_are_such_numbers_too():
    human, proba, truth = problem()
    votes = np.stack([np.random.default_rng(1).multinomial(40, row) for row in proba]) / 40.0
    team = th.recommended().fit(np.column_stack([human, votes]), known(truth, 200))
    assert team.zeros_ == (pytest.approx(1 / 160),)


def test_rows_without_a_zero_are_as_they_were():
    human, proba, truth = problem()
    X = np.column_stack([human, proba])
    found, not_looked_for = (
        th.recommended().fit_items(open_items(X, known(truth, 200), zeros=zeros)).predict_proba(X)
        for zeros in ((), None)
    )
    np.testing.assert_array_equal(found, not_looked_for)


def test_a_zero_is_the_smallest_number_where_no_team_looks_for_it():
    human, proba, truth = problem()
    X = np.column_stack([human, rounded(proba, 2)])
    assert th.ProbabilityLabelCombiner().fit(X, truth).zeros_ == ()
    assert th.Observations.from_arrays([0], [[1.0, 0.0]]).block(slice(None)).log_proba.min() == np.log(FLOOR)


def test_logits_have_no_zero():
    human, proba, truth = problem()
    team = th.recommended(model_scale="log").fit(np.column_stack([human, np.log(proba)]), truth)
    assert team.zeros_ == ()


def test_a_row_at_a_time_is_read_as_at_fit():
    human, proba, truth = problem()
    X = np.column_stack([human, rounded(proba, 2)])
    team = th.recommended().fit(X, known(truth, 300))
    assert team.zeros_ == (pytest.approx(0.0025, rel=0.05),)
    together = team.predict_proba(X[:40])
    np.testing.assert_allclose(np.concatenate([team.predict_proba(row[None]) for row in X[:40]]), together, atol=1e-12)


def test_it_stays_when_the_fit_goes_on_and_when_the_team_is_saved(tmp_path):
    human, proba, truth = problem()
    X = np.column_stack([human, rounded(proba, 2)])
    team = th.recommended().fit(X[:400], known(truth[:400], 200))
    before = team.zeros_
    team.partial_fit(np.column_stack([human, rounded(proba, 4)])[400:], truth[400:])
    assert team.zeros_ == before
    team.save(tmp_path / "team.json")
    np.testing.assert_array_equal(th.load(tmp_path / "team.json").predict_proba(X), team.predict_proba(X))
    assert th.recommended().fit(X[:400], truth[:400]).merge(team).zeros_ == before


def test_each_of_several_models_has_its_own():
    human, proba, truth = problem()
    X = th.Observations.from_arrays(human, {"fine": rounded(proba, 4), "coarse": rounded(proba, 1)})
    team = th.recommended().fit(X, truth)
    assert team.zeros_ == (pytest.approx(2.5e-5, rel=0.05), pytest.approx(0.025, rel=0.3))
    alone = X.with_models(("coarse", "fine"))  # the other order: each is still read by its own
    np.testing.assert_allclose(team.predict_proba(alone), team.predict_proba(X), atol=1e-12)


def test_a_table_on_disk_is_read_in_the_same_way(tmp_path):
    human, proba, truth = problem()
    rows = rounded(proba, 2)
    frame = pd.DataFrame({"human": human, **{f"p_{k}": rows[:, k] for k in range(6)}})
    frame["truth"] = pd.Series(truth).where(np.arange(900) < 300).astype("Int64")
    frame.to_csv(tmp_path / "table.csv", index=False)
    table = tables.scan(tmp_path / "table.csv")
    whole = th.recommended().fit(*table.read())
    chunked = th.recommended().fit_items(open_items(table, max_numbers=10))
    np.testing.assert_allclose(chunked.predict_proba(table), whole.predict_proba(table), atol=1e-10)
    assert chunked.learnt_.recognise(table.read()[0]).learnt[:300].all()
