"""Intervals of clinical and agreement statistics cover at their level; those of a difference do not claim too much."""

import numpy as np
import pandas as pd
import pytest

from twoheads.evaluation import METRICS, agreement
from twoheads.evaluation.alone import Forecast, one_hot
from twoheads.evaluation.bootstrap import resampling
from twoheads.evaluation.metric import ScoredItems, chosen_metrics
from twoheads.evaluation.registry import score_all
from twoheads.evaluation.score_table import score_table

NAMES = ["balanced_accuracy", "macro_f1", "mcc", "auc", "kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"]
BY_CLASS = ["sensitivity[0]", "specificity[0]", "ppv[0]", "npv[0]"]


def drawn(rng, n_items, prior, apart):
    """Truth and probabilities of a forecaster, (n_classes, n_items)."""
    truth = rng.choice(len(prior), n_items, p=prior)
    logits = rng.normal(size=(len(prior), n_items))
    logits[truth, np.arange(n_items)] += apart
    proba = np.exp(1.5 * logits) * prior[:, None]
    return truth, proba / proba.sum(axis=0)


def scored(rng, n_items, prior, apart):
    truth, proba = drawn(rng, n_items, prior, apart)
    wrong = 1.0 * (proba.argmax(axis=0) != truth)
    return ScoredItems(truth, wrong, proba, np.ones(n_items), resampling(n_items, 2, rng))


def coverage(n_items, prior, apart, n_draws, names, n_large):
    """Share of draws whose intervals hold the values of a large sample."""
    rng, prior = np.random.default_rng(0), np.array(prior)
    metrics = chosen_metrics(METRICS, names, np.arange(len(prior)))
    large = scored(rng, n_large, prior, apart)
    true = {metric.name: metric.score(large).value for metric in metrics}
    held = {metric.name: [] for metric in metrics}
    for _ in range(n_draws):
        for name, score in score_all(scored(rng, n_items, prior, apart), metrics).items():
            if score is not None:
                held[name].append(score.low <= true[name] <= score.high)
    return {name: np.mean(each) for name, each in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "prior", "apart"),
    [(60, [0.5, 0.5], 1.2), (150, [0.3, 0.7], 1.5), (100, [1 / 3, 1 / 3, 1 / 3], 1.2), (300, [0.1, 0.9], 1.5)],
)
def test_intervals_cover_within_three_points(n_items, prior, apart):
    found = coverage(n_items, prior, apart, 1500, NAMES + BY_CLASS, 400_000)
    assert {name: share for name, share in found.items() if not 0.92 <= share <= 0.98} == {}


def test_intervals_cover_in_a_small_simulation():
    found = coverage(60, [0.5, 0.5], 1.2, 60, ["mcc", "auc", "kappa", "sensitivity[0]"], 50_000)
    assert min(found.values()) > 0.86


def test_perfect_labels_do_not_have_a_point_for_an_interval():
    truth = np.array([0, 1] * 15)
    items = ScoredItems(
        truth, np.zeros(30), one_hot(truth, 2), np.ones(30), resampling(30, 2, np.random.default_rng(0))
    )
    for name, score in score_all(items, chosen_metrics(METRICS, NAMES + BY_CLASS, np.array([0, 1]))).items():
        assert score.value == pytest.approx(1.0), name
        assert score.low < 0.97, name
        assert score.high == pytest.approx(1.0), name


def test_what_is_not_defined_has_no_score():
    truth = np.zeros(30, dtype=int)
    proba = np.tile([[0.9], [0.1]], 30)
    items = ScoredItems(truth, np.zeros(30), proba, np.ones(30), resampling(30, 2, np.random.default_rng(0)))
    names = ["auc", "kappa", "krippendorff_alpha", "ppv[1]", "sensitivity[1]"]
    found = score_all(items, chosen_metrics(METRICS, names, np.array([0, 1])))
    assert found == dict.fromkeys(names)


def false_claims(n_draws, n_items, names):
    """Share of draws in which two equally good forecasters differ significantly."""
    rng, prior = np.random.default_rng(0), np.array([0.4, 0.6])
    metrics = chosen_metrics(METRICS, names, np.arange(2))
    claimed = {name: [] for name in names}
    for _ in range(n_draws):
        truth = rng.choice(2, n_items, p=prior)
        shared, rows = rng.normal(size=(2, n_items)), []
        for name in ("one", "two"):
            logits = 0.8 * shared + 0.6 * rng.normal(size=(2, n_items))
            logits[truth, np.arange(n_items)] += 1.5
            proba = np.exp(logits) / np.exp(logits).sum(axis=0)
            rows.append(Forecast(name, "method", one_hot(proba.argmax(axis=0), 2), proba))
        table = score_table(rows, truth, None, metrics, reference="one", how="")
        for name in names:
            claimed[name].append(table.row("two").differences[name].p_value < 0.05)
    return {name: np.mean(each) for name, each in claimed.items()}


@pytest.mark.slow
def test_equally_good_methods_are_seldom_called_different():
    found = false_claims(1000, 60, ["error", "log_loss", "brier_score", "kappa", "auc", "macro_f1", "sensitivity[0]"])
    assert max(found.values()) < 0.065


def test_equally_good_methods_are_not_called_different_in_a_small_simulation():
    assert max(false_claims(40, 60, ["log_loss", "kappa"]).values()) < 0.16


def rated(rng, n_items):
    """Three people who are right in 80 % of cases about one of three classes, with gaps."""
    truth = rng.choice(3, n_items, p=[0.2, 0.3, 0.5])
    frame = {}
    for name in "abc":
        answer = np.where(rng.random(n_items) < 0.8, truth, rng.integers(0, 3, n_items)).astype(object)
        answer[rng.random(n_items) < 0.1] = None
        frame[f"human_{name}"] = answer
    return pd.DataFrame(frame | {f"p_{code}": np.full(n_items, 1 / 3) for code in range(3)})


@pytest.mark.parametrize(
    ("n_draws", "low", "high"), [(40, 0.84, 1.0), pytest.param(1000, 0.92, 0.98, marks=pytest.mark.slow)]
)
def test_intervals_of_agreement_cover(n_draws, low, high):
    rng = np.random.default_rng(0)
    true = agreement(rated(rng, 60_000)).as_dict()
    held = {name: [] for name in ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")}
    for _ in range(n_draws):
        found = agreement(rated(rng, 60))
        for name, each in held.items():
            score = getattr(found, name)
            each.append(score.low <= true[name]["value"] <= score.high)
    assert {name: np.mean(each) for name, each in held.items() if not low <= np.mean(each) <= high} == {}


def differences(truth, labels, names):
    """Of "b" from "a", by metric."""
    forecasts = [Forecast(name, "method", one_hot(label, 2)) for name, label in labels.items()]
    metrics = chosen_metrics(METRICS, names, np.arange(2))
    return score_table(forecasts, truth, np.ones(len(truth)), metrics, reference="a", how="").rows[1].differences


@pytest.mark.parametrize(
    ("n_of_class", "right"), [(3, (0.97, 0.9)), (5, (0.97, 0.9)), (10, (0.97, 0.9)), (5, (0.9, 0.8))]
)
def test_a_difference_of_sensitivities_covers_with_few_items_of_the_class(n_of_class, right):
    rng = np.random.default_rng(n_of_class)
    truth = np.arange(60) < n_of_class
    covered = []
    for _ in range(60):
        one, two = (np.where(rng.random(60) < share, truth, ~truth).astype(int) for share in right)
        found = differences(1 * truth, {"a": one, "b": two}, ["sensitivity[1]"])["sensitivity[1]"]
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
        covered.append(found.low <= right[1] - right[0] <= found.high)
    assert np.mean(covered) > 0.9


def test_sensitivity_and_specificity_are_compared_as_errors_of_the_items_of_the_class_and_of_the_others():
    truth, one, two = np.array([[1] * 8 + [0] * 12, [1] * 7 + [0] * 13, [0] * 5 + [1] * 4 + [0] * 11])
    found = differences(truth, {"a": one, "b": two}, ["sensitivity[1]", "specificity[1]"])
    for name, here in ("sensitivity[1]", truth == 1), ("specificity[1]", truth == 0):
        alone = differences(truth[here], {"a": one[here], "b": two[here]}, ["error"])["error"]
        assert found[name].value == pytest.approx(-alone.value)
        assert (found[name].low, found[name].high) == pytest.approx((-alone.high, -alone.low))
        assert found[name].p_value == pytest.approx(alone.p_value)


def test_labels_that_never_differ_are_not_said_to_be_equal():
    truth = np.array([0, 1] * 10)
    label = np.where(np.arange(20) < 3, 1 - truth, truth)
    found = differences(truth, {"a": label, "b": label}, ["specificity[0]", "kappa"])
    assert found["specificity[0]"].low < -0.1 < 0.1 < found["specificity[0]"].high
    assert (found["kappa"].value, found["kappa"].low, found["kappa"].p_value) == (0.0, None, 1.0)


def test_the_area_of_a_constant_has_an_interval():
    items = ScoredItems(
        np.array([0, 1] * 10),
        np.full(20, 0.5),
        np.full((2, 20), 0.5),
        np.ones(20),
        resampling(20, 10, np.random.default_rng(0)),
    )
    found = score_all(items, chosen_metrics(METRICS, ["auc"], np.arange(2)))["auc"]
    assert found.value == 0.5
    assert 0.1 < found.low < 0.4
    assert 0.6 < found.high < 0.9
