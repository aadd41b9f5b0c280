"""Accuracy against cost: laws of the curves, and what choosing buys where people differ."""

import numpy as np
import pytest

import twoheads as th
from policy.test_asking import crowd
from twoheads.errors import InvalidObservations
from twoheads.policy import choose, simulate_asking


@pytest.fixture(scope="module")
def simulated():
    X, y = crowd(800, [0.95, 0.6, 0.6], share=0.7)
    team = th.recommended().fit(X, y)
    new, truth = crowd(600, [0.95, 0.6, 0.6], seed=1)
    return team, new, truth, simulate_asking(team, new, truth)


def test_curves_begin_with_nobody_and_cost_what_was_asked(simulated):
    team, new, truth, curves = simulated
    assert set(curves) == {"expected_gain", "nobody", "everyone", "random", "least_sure", "threshold"}
    blank = th.Observations.from_arrays(np.full(len(truth), -1), new.model_proba[0])
    start = team.score(blank, truth)
    for name in ("expected_gain", "nobody", "random", "least_sure", "threshold"):
        assert curves[name].accuracy[0] == pytest.approx(start)
        assert curves[name].cost[0] == 0.0
        assert (np.diff(curves[name].cost) == 1.0).all()
        assert curves[name].cost[-1] <= 600
    assert curves["everyone"].cost.tolist() == [1800.0]
    assert curves["everyone"].accuracy[0] == pytest.approx(team.score(new, truth))


def test_all_answers_in_any_order_lead_to_everyone(simulated):
    team, new, truth, _ = simulated
    curves = simulate_asking(team, new[:80], truth[:80], budget=1000)
    for name in ("random", "least_sure"):
        assert curves[name].cost[-1] == 240
        assert curves[name].accuracy[-1] == pytest.approx(team.score(new[:80], truth[:80]))


def test_first_questions_are_those_that_choose_would_ask(simulated):
    team, new, truth, curves = simulated
    blank = th.Observations.from_arrays(np.full(len(truth), -1), new.model_proba[0])
    plan = choose(team, blank, 1)
    curve = curves["expected_gain"]
    assert curve.expected[1] - curve.expected[0] == pytest.approx(plan.gain[0] / 600)


def test_choosing_whom_to_ask_pays_where_people_differ(simulated):
    *_, curves = simulated
    for cost in (60, 150, 300):
        ours = curves["expected_gain"].at(cost)
        assert ours > curves["random"].at(cost)
        assert ours > curves["least_sure"].at(cost)
        assert ours > curves["threshold"].at(cost)


def test_gains_are_promised_honestly(simulated):
    *_, curves = simulated
    curve = curves["expected_gain"]
    promised, had = curve.expected[-1] - curve.expected[0], curve.accuracy[-1] - curve.accuracy[0]
    assert promised == pytest.approx(had, rel=0.2)


def test_two_price_classes():
    """Two experts at 4, four others at 1: ahead of the threshold and of chance at equal cost."""
    accuracy = [0.97, 0.97, 0.65, 0.65, 0.65, 0.65]
    price = {f"p{at}": 4.0 if at < 2 else 1.0 for at in range(6)}
    X, y = crowd(1500, accuracy, n_classes=5, share=0.5)
    team = th.recommended().fit(X, y)
    new, truth = crowd(1500, accuracy, n_classes=5, seed=1)
    curves = simulate_asking(team, new, truth, price=price)
    for cost in (150, 400, 1000, 1500):
        ours = curves["expected_gain"].at(cost)
        assert ours > curves["least_sure"].at(cost)
        assert ours > curves["threshold"].at(cost)
        assert ours > curves["random"].at(cost)


def test_cost_of_an_accuracy(simulated):
    curve = simulated[3]["expected_gain"]
    assert curve.cost_of(curve.accuracy[0]) == 0.0
    assert curve.cost_of(1.1) == np.inf
    assert curve.at(curve.cost_of(curve.accuracy.max())) == curve.accuracy.max()


def test_without_any_answer_nobody_can_be_asked(simulated):
    team, new, truth, _ = simulated
    blank = th.Observations.from_arrays(np.full(20, -1), new.model_proba[0][:20])
    curves = simulate_asking(team, blank, truth[:20])
    assert [len(curve.cost) for curve in curves.values()] == [1] * 6
    assert curves["everyone"].accuracy == pytest.approx(curves["nobody"].accuracy)


def test_truth_must_be_known(simulated):
    team, new, truth, _ = simulated
    with pytest.raises(InvalidObservations, match="y must hold the truth of every item"):
        simulate_asking(team, new, np.where(np.arange(600) == 3, -1, truth))
