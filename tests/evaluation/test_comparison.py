"""Human, model and combination side by side: numbers by other means, intervals that cover, sentences by hand."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.simulation import simulate_crowd
from scipy.stats import binom, binomtest
from scipy.stats import t as student

import twoheads as th
from twoheads.combination.rival import Rival
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.evaluation import (
    Comparison,
    Difference,
    Member,
    Predictions,
    Score,
    brier_score,
    classwise_calibration_error,
    compare,
    compare_predictions,
    cross_validated,
    error_rate,
    expected_calibration_error,
    log_loss,
    predictions,
)
from twoheads.evaluation.bootstrap import GROUPS, resampling
from twoheads.kernels.inference.shares import share_interval


def problem(n, seed=0, n_classes=4, accuracy=0.8, strength=2.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n, n_classes))
    logits[np.arange(n), y] += strength
    proba = np.exp(1.5 * logits)
    proba /= proba.sum(axis=1, keepdims=True)
    human = np.where(rng.random(n) < accuracy, y, rng.integers(0, n_classes, n))
    return np.column_stack([human, proba]), y


def given(truth, human, model, team, n_classes=2, weight=None):
    """Predictions that are right or wrong as the labels say, all 90 % sure."""
    truth, human = np.array(truth), np.array(human)

    def rows(label):
        proba = np.full((len(truth), n_classes), 0.1 / (n_classes - 1))
        proba[np.arange(len(truth)), label] = 0.9
        return proba

    error = np.where((human < 0) | (truth < 0), np.nan, human != truth)
    here = np.ones(len(truth), dtype=bool)
    ids = np.arange(len(truth))
    return Predictions(np.arange(n_classes), ids, truth, human, error, here, rows(model), None, rows(team), weight)


@pytest.fixture(scope="module")
def judged():
    X, y = problem(900)
    team = th.ProbabilityLabelCombiner().fit(X[:300], y[:300])
    return team, X[300:], y[300:], compare(team, X[300:], y[300:], n_bootstrap=500)


def test_scores_are_those_of_the_metrics(judged):
    team, X, y, found = judged
    for member, proba in (
        (found.model, X[:, 1:]),
        (found.calibrated_model, predictions(team, X).calibrated_proba),
        (found.combination, team.predict_proba(X)),
    ):
        assert member.n_items == 600
        for metric in (error_rate, log_loss, expected_calibration_error, classwise_calibration_error, brier_score):
            name = "error" if metric is error_rate else metric.__name__
            score = getattr(member, name)
            assert score.value == pytest.approx(metric(y, proba))
            assert score.low <= score.value <= score.high
    assert found.human.error.value == np.mean(X[:, 0] != y)
    assert found.human.log_loss is None


def test_the_p_value_is_mcnemars_mid_p_by_scipy(judged):
    team, X, y, found = judged
    better = X[:, 0] if found.difference.better == "human" else X[:, 1:].argmax(axis=1)
    right, other = team.predict(X) == y, better == y
    won, lost = int((right & ~other).sum()), int((~right & other).sum())
    assert (found.difference.n_won, found.difference.n_lost) == (won, lost)
    mid_p = binomtest(won, won + lost).pvalue - binom.pmf(won, won + lost, 0.5)
    assert found.difference.p_value == pytest.approx(mid_p, rel=1e-9)
    assert found.difference.difference.value == pytest.approx((lost - won) / len(y))


def test_rescued_and_lost_by_hand():
    #                truth human model team
    rows = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 1], [1, 1, 0, 1]])
    found = compare_predictions(given(*rows.T), n_bootstrap=50)
    human, model = found.human_exchange, found.model_exchange
    assert (human.rescued, human.lost, human.both_right, human.both_wrong) == (3, 1, 2, 1)
    assert (model.rescued, model.lost, model.both_right, model.both_wrong) == (2, 0, 3, 2)


def test_unknown_truth_is_left_out_and_counted_and_the_human_judged_where_asked():
    found = compare_predictions(given([0, 1, -1, 0], [0, -1, 0, 1], [0, 1, 0, 0], [0, 1, 0, 1]), n_bootstrap=50)
    assert (found.n_items, found.n_unknown, found.n_not_asked) == (3, 1, 1)
    assert (found.human.n_items, found.human.error.value) == (2, 0.5)
    assert found.notes() == [
        "With 3 items of known truth the intervals are wide.",
        "1 item of unknown truth was left out.",
        "1 item has no person's answer: people are evaluated on the others.",
    ]


def test_people_who_answered_about_no_item_are_not_evaluated_on_others():
    notes = compare_predictions(given([0, 1, 0], [-1, -1, -1], [0, 1, 0], [0, 1, 1]), n_bootstrap=50).notes()
    assert "Nobody answered about these items: people are not evaluated." in notes
    assert not any("on the others" in note for note in notes)


def test_weight_2_is_the_item_twice():
    truth, human = [0, 1, 1, 0], [0, 1, 0, 1]
    weighted = compare_predictions(given(truth, human, human, truth, weight=np.array([1.0, 1, 2, 0])), n_bootstrap=20)
    twice = compare_predictions(given([0, 1, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 1, 1]), n_bootstrap=20)
    assert weighted.human.error.value == twice.human.error.value == 0.5
    assert weighted.model.log_loss.value == pytest.approx(twice.model.log_loss.value)


def test_several_people_count_by_their_majority():
    import pandas as pd

    X = pd.DataFrame({"human_a": ["x", "x", "y"], "human_b": ["x", "y", None], "human_c": ["y", None, None]})
    X["p_x"], X["p_y"] = [0.9, 0.9, 0.9], [0.1, 0.1, 0.1]
    y = ["x", "x", "x"]
    found = predictions(th.ProbabilityLabelCombiner().fit(X, y), X, y)
    assert found.human_error.tolist() == [0.0, 0.5, 1.0]  # a majority, a tie, one who is wrong
    compared = compare_predictions(found, n_bootstrap=20)
    assert compared.human.error.value == pytest.approx(0.5)
    exchange = compared.human_exchange
    assert exchange.rescued + exchange.lost + exchange.both_right + exchange.both_wrong == 2  # the tie is in none


def test_several_people_are_also_judged_as_the_team_combines_them():
    accuracy = np.array([0.95, 0.95, 0.4, 0.4, 0.4])
    crowd = {"per_item": 5, "n_classes": 4, "rng": np.random.default_rng(0)}
    seen, truth = simulate_crowd(1200, accuracy, **crowd)
    learn, judge = np.arange(600), np.arange(600, 1200)
    team = th.recommended().fit(seen.take(learn), truth[learn])
    found = predictions(team, seen.take(judge), truth[judge])
    alone = team.predict_proba(replace(seen.take(judge), model_proba=(), models=()))
    np.testing.assert_array_equal(found.crowd_proba, alone)
    compared = compare_predictions(found, n_bootstrap=20)
    wrong = (alone.argmax(axis=1) != truth[judge]).mean()
    assert compared.crowd.error.value == pytest.approx(wrong)
    assert wrong < 0.5 * compared.human.error.value  # two who know outvoted by three who do not
    assert compared.difference.better == "crowd"
    assert "people combined, without the model (" in compared.headline()
    judged = cross_validated(th.recommended(), seen.take(learn), truth[learn])
    assert judged.crowd_proba.shape == (600, 4)


@pytest.mark.parametrize("why", ["one answer each", "no model"])
def test_there_is_no_crowd_beside_the_human(why):
    per_item = 1 if why == "one answer each" else 3
    crowd = {"per_item": per_item, "n_classes": 3, "rng": np.random.default_rng(0)}
    seen, truth = simulate_crowd(200, np.full(4, 0.8), **crowd)
    if why == "no model":
        seen = replace(seen, model_proba=(), models=())
    found = compare(th.recommended().fit(seen, truth), seen, truth, n_bootstrap=20)
    assert found.crowd is None
    assert "crowd" not in [rival.key for rival in found.rivals]
    assert found.difference.better in {rival.key for rival in found.rivals}


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(1)
    covered = {"error": 0, "log_loss": 0, "difference": 0}
    for _ in range(80):
        team_wrong = rng.random(150) < 0.2
        human_wrong = np.where(rng.random(150) < 0.5, team_wrong, rng.random(150) < 0.3)  # 25 % in all, paired
        truth = np.zeros(150, dtype=int)
        found = compare_predictions(
            given(truth, human_wrong * 1, np.ones(150, dtype=int), team_wrong * 1), n_bootstrap=200
        )
        error, loss, difference = found.combination.error, found.combination.log_loss, found.difference.difference
        covered["error"] += error.low <= 0.2 <= error.high
        expected = -0.8 * np.log(0.9) - 0.2 * np.log(0.1)
        covered["log_loss"] += loss.low <= expected <= loss.high
        covered["difference"] += difference.low <= -0.05 <= difference.high
    assert all(70 <= times <= 80 for times in covered.values()), covered  # 95 % of 80 is 76, sd 1.9


def test_a_calibrated_forecaster_is_not_called_miscalibrated():
    rng = np.random.default_rng(2)
    from_zero = 0
    for _ in range(40):
        sure = rng.uniform(0.5, 1.0, 400)
        truth = (rng.random(400) > sure) * 1
        proba = np.column_stack([sure, 1 - sure])
        some = given(truth, truth, truth, truth)
        score = compare_predictions(replace(some, combined_proba=proba), n_bootstrap=200).combination
        from_zero += score.expected_calibration_error.low == 0.0
    assert from_zero >= 35


def test_an_overconfident_forecaster_is_called_so():
    truth = np.arange(400) % 3 // 2  # a third is wrong
    score = compare_predictions(given(truth, truth, truth, np.zeros(400, dtype=int)), n_bootstrap=200).combination
    assert score.expected_calibration_error.value == pytest.approx(0.9 - 267 / 400, abs=1e-9)
    assert 0.15 < score.expected_calibration_error.low < 0.23 < score.expected_calibration_error.high < 0.31


def test_no_error_among_few_items_does_not_mean_none():
    truth = np.zeros(20, dtype=int)
    error = compare_predictions(given(truth, truth, truth, truth), n_bootstrap=100).combination.error
    assert (error.value, error.low) == (0.0, 0.0)
    assert error.high == pytest.approx(1 - 0.0375 ** (1 / 20))  # (1 - p)^20 = 1.5 * .025


def test_grouped_resampling_gives_the_same_intervals(monkeypatch):
    from twoheads.evaluation import bootstrap

    X, y = problem(4000, seed=3)
    team = th.ProbabilityLabelCombiner().fit(X[:500], y[:500])
    every_item = compare(team, X, y, n_bootstrap=1000)
    monkeypatch.setattr(bootstrap, "GROUPS", 500)
    grouped = compare(team, X, y, n_bootstrap=1000)
    for name in ("error", "log_loss", "brier_score", "expected_calibration_error"):
        one, two = getattr(every_item.combination, name), getattr(grouped.combination, name)
        assert two.value == one.value
        assert two.high - two.low == pytest.approx(one.high - one.low, rel=0.2)


def test_many_items_are_resampled_in_groups():
    # The cost of a replicate is that of 4,096 groups, whatever the number of items.
    n_items = 3 * GROUPS + 1
    draws = resampling(n_items, 50, np.random.default_rng(0))
    assert draws.drawn.shape == (50, GROUPS)
    sizes = np.bincount(draws.group, minlength=GROUPS)
    assert (sizes.min(), sizes.max()) == (3, 4)
    assert (draws.drawn.sum(axis=1) == GROUPS).all()


def test_the_same_seed_gives_the_same_numbers_and_json_can_hold_them(judged):
    team, X, y, found = judged
    assert compare(team, X, y, n_bootstrap=500) == found
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert told["headline"] == found.headline()
    assert told["combination"]["error"]["value"] == found.combination.error.value


def comparison(
    team_error, low, high, better, better_error, p_value, n_items=3000, n_shared=None, on_shared=None, n_rivals=2
):
    error = Member(n_items, {"error": Score(team_error, low, high)})
    shared = team_error if on_shared is None else on_shared
    words = Rival(better, "", 1, 1, 0, 0, 0, 0, 1.0, 1, True, 0).words
    n_shared, nothing = n_shared or n_items, Score(0.0, None, None)
    numbers = n_shared, better_error, shared, nothing, None, 0, 0, p_value
    difference = Difference(better, "", words, n_rivals, n_rivals, *numbers)
    return Comparison("held out", n_items, 0, 0, 0, error, None, error, None, error, difference, None, None)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            comparison(0.0202, 0.0156, 0.0251, "model", 0.0326, 1e-9),
            "On 3,000 items (held out) the combination errs on 2.0 % [1.6, 2.5]: 38 % fewer errors than the "
            "model alone (3.3 %), the better half; the difference is significant (p < 0.001).",
        ),
        (
            comparison(0.09, 0.05, 0.14, "human", 0.10, 0.214, 100),
            "On 100 items (held out) the combination errs on 9.0 % [5.0, 14.0]: 9 errors, against 10 by the "
            "human alone (10.0 %), the better half; no significant difference (p = 0.21). Label more items "
            "before preferring the team.",
        ),
        (
            comparison(0.13, 0.11, 0.15, "human", 0.10, 0.0042, 20_000),
            "On 20,000 items (held out) the combination errs on 13.00 % [11.00, 15.00]: 30 % more errors than "
            "the human alone (10.00 %), the better half; the difference is significant (p = 0.004). Use the "
            "human alone instead, or fit the team on more items with truth.",
        ),
        (
            comparison(0.11, 0.09, 0.13, "model", 0.10, 0.5, 900),
            "On 900 items (held out) the combination errs on 11.0 % [9.0, 13.0]: 10 % more errors than the model "
            "alone (10.0 %), the better half; no significant difference (p = 0.50). Label more items before "
            "preferring the team.",
        ),
        (
            comparison(0.0, 0.0, 0.793, "human", 0.0, 1.0, 1),
            "On 1 item (held out) the combination errs on 0.0 % [0.0, 79.3]: as many errors as the human alone "
            "(0.0 %), the better half. Label more items before preferring the team.",
        ),
        (
            comparison(0.05, 0.03, 0.07, "human", 0.08, 0.01, 500, 400, 0.04),
            "On 500 items (held out) the combination errs on 5.0 % [3.0, 7.0]; on the 400 that the better "
            "half labelled, on 4.0 %: 50 % fewer errors than the human alone (8.0 %); the difference is significant "
            "(p = 0.01).",
        ),
        (
            comparison(0.05, 0.03, 0.07, "human", 0.08, 0.01, 500, 400, 0.04, n_rivals=1),
            "On 500 items (held out) the combination errs on 5.0 % [3.0, 7.0]; on the 400 with a label to compare "
            "with, on 4.0 %: 50 % fewer errors than the human alone (8.0 %); the difference is significant (p = 0.01).",
        ),
        (
            comparison(0.07, 0.03, 0.13, "model", 0.02, 0.0496, 100),
            "On 100 items (held out) the combination errs on 7.0 % [3.0, 13.0]: 7 errors, against 2 by the model "
            "alone (2.0 %), the better half; the difference is significant (p = 0.0496). Use the model alone "
            "instead, or fit the team on more items with truth.",
        ),
        (  # two people who are tied on an item err on half of it
            comparison(0.055, 0.03, 0.13, "human", 0.0625, 0.0513, 40),
            "On 40 items (held out) the combination errs on 5.5 % [3.0, 13.0]: 0.8 points fewer errors than the "
            "human alone (6.2 %), the better half; no significant difference (p = 0.051). Label more items "
            "before preferring the team.",
        ),
        (
            comparison(0.5, 0.1, 0.9, "human", 0.0, 0.01, 8),
            "On 8 items (held out) the combination errs on 50.0 % [10.0, 90.0]: 4 errors, against 0 by the human "
            "alone (0.0 %), the better half; the difference is significant (p = 0.01). Use the human alone "
            "instead, or fit the team on more items with truth.",
        ),
        (
            comparison(0.071, 0.058, 0.086, "crowd", 0.122, 1e-9, 1200),
            "On 1,200 items (held out) the combination errs on 7.1 % [5.8, 8.6]: 42 % fewer errors than people "
            "combined, without the model (12.2 %), the better half; the difference is significant (p < 0.001).",
        ),
        (
            comparison(0.11, 0.09, 0.13, "crowd", 0.10, 0.5, 900),
            "On 900 items (held out) the combination errs on 11.0 % [9.0, 13.0]: 10 % more errors than people "
            "combined, without the model (10.0 %), the better half; no significant difference (p = 0.50). Label "
            "more items before preferring the team.",
        ),
        (
            comparison(0.08, 0.07, 0.09, "human", 0.10, 1e-9, n_rivals=1),
            "On 3,000 items (held out) the combination errs on 8.0 % [7.0, 9.0]: 20 % fewer errors than the "
            "human alone (10.0 %); the difference is significant (p < 0.001).",
        ),
    ],
)
def test_headlines(found, sentence):
    assert found.headline() == sentence


def test_a_headline_without_partners():
    found = replace(comparison(0.5, None, None, "human", 0.5, 1.0), difference=None)
    assert found.headline() == "On 3,000 items (held out) the combination errs on 50.0 %."


def test_items_that_agree_count_in_the_test_by_their_weights():
    truth, team = np.zeros(60, dtype=int), np.zeros(60, dtype=int)
    human = (np.arange(60) < 20) * 1
    weight = np.where(np.arange(60) < 30, 1.0, 2.0)
    found = compare_predictions(given(truth, human, human, team, weight=weight), n_bootstrap=50)
    # 20 of 90 in weight, of 90^2 / 150 = 54 items, a little fewer since the half of them has most of the weight.
    kish, freedom = 90**2 / 150, 150**2 / (30 + 30 * 16)
    number = 20 / 90 * kish * (student.ppf(0.975, kish - 1) / student.ppf(0.975, freedom - 1)) ** 2
    assert found.difference.p_value == pytest.approx(0.5**number)  # all one way, by mid-p
    equal = compare_predictions(given(truth, human, human, team, weight=np.full(60, 2.0)), n_bootstrap=50)
    assert equal.difference.p_value == pytest.approx(0.5**20)


def test_what_cannot_be_judged():
    X, y = problem(50)
    team = th.ProbabilityLabelCombiner().fit(X, y)
    with pytest.raises(
        InvalidObservations, match=r"y must be known for at least one item to evaluate a team; it is missing"
    ):
        compare(team, X, [None] * 50)
    with pytest.raises(InvalidParameter, match="n_bootstrap must be a whole number of at least 1; it is 0"):
        compare(team, X, y, n_bootstrap=0)


def test_the_interval_of_the_best_person_is_corrected_for_the_choice():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    answers = {f"human_{name}": np.where(rng.random(120) < 0.85, y, 1 - y) for name in "abcde"}
    X = pd.DataFrame(answers | {"p_0": 0.5, "p_1": 0.5})
    found = compare(th.ProbabilityLabelCombiner().fit(X, y), X, y, held_out=True).rivals
    (best,) = (rival for rival in found if rival.key == "best_person")
    expected = share_interval(best.error.value, 120, 1 - 0.05 / 5)
    assert (best.error.low, best.error.high) == pytest.approx(expected)
