"""The bins behind a reliability diagram."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import binomtest

from twoheads.errors import InvalidParameter
from twoheads.evaluation import expected_calibration_error, reliability_curve


def _problem(n=500, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(3, 0.4), n).round(2)
    proba[:, 2] = np.maximum(1.0 - proba[:, 0] - proba[:, 1], 0.0)
    return rng.integers(0, 3, n), proba, rng.integers(0, 4, n).astype(float)


def test_two_bins_by_hand():
    y, proba = [1, 1, 0, 0], [[0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1]]
    curve = reliability_curve(y, proba, n_bins=2)
    np.testing.assert_allclose(curve.mean_confidence, [0.65, 0.85])
    assert curve.accuracy.tolist() == [0.0, 1.0]
    assert curve.count.tolist() == [2, 2]
    assert curve.weight.tolist() == [2.0, 2.0]
    assert curve.lower_edge.tolist() == [0.0, 0.8]
    assert curve.upper_edge.tolist() == [0.8, 1.0]


def test_equal_width_leaves_out_bins_without_items():
    curve = reliability_curve([0, 0], [[0.55, 0.45], [0.95, 0.05]], n_bins=10, strategy="equal_width")
    assert curve.lower_edge.tolist() == [0.5, 0.9]
    assert curve.upper_edge.tolist() == [0.6, 1.0]


def test_weights_count_items():
    y, proba = [0, 1], [[0.6, 0.4], [0.8, 0.2]]
    curve = reliability_curve(y, proba, n_bins=1, sample_weight=[3, 1])
    np.testing.assert_allclose(curve.mean_confidence, [(3 * 0.6 + 0.8) / 4])
    assert curve.accuracy.tolist() == [0.75]
    assert curve.count.tolist() == [2]
    assert curve.weight.tolist() == [4.0]


def test_intervals_are_wilsons():
    y, proba, _ = _problem()
    sole = np.diff(np.sort(proba, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9  # no tie: every item is right or wrong
    curve = reliability_curve(y[sole], proba[sole], classes=[0, 1, 2])
    for at, count in enumerate(curve.count.tolist()):
        expected = binomtest(round(curve.accuracy[at] * count), count).proportion_ci(0.95, method="wilson")
        assert curve.accuracy_low[at] == pytest.approx(expected.low, abs=1e-12)
        assert curve.accuracy_high[at] == pytest.approx(expected.high, abs=1e-12)


@pytest.mark.parametrize("strategy", ["equal_mass", "equal_width"])
def test_the_mean_gap_is_the_expected_calibration_error(strategy):
    y, proba, weight = _problem()
    curve = reliability_curve(y, proba, strategy=strategy, sample_weight=weight)
    gap = np.average(np.abs(curve.mean_confidence - curve.accuracy), weights=curve.weight)
    expected = expected_calibration_error(y, proba, strategy=strategy, sample_weight=weight)
    assert gap == pytest.approx(expected, abs=1e-12)


def test_every_confidence_lies_between_the_edges_of_its_bin():
    y, proba, _ = _problem()
    curve = reliability_curve(y, proba)
    top = proba.max(axis=1)
    top = top * (1.0 + 1e-12)  # equal but for rounding to the edge at which a bin begins
    inside = (top[:, None] >= curve.lower_edge) & ((top[:, None] < curve.upper_edge) | (curve.upper_edge == 1.0))
    assert inside.sum(axis=0).tolist() == curve.count.tolist()
    assert curve.count.sum() == 500


def test_classes_name_the_columns():
    curve = reliability_curve(["b", "b"], [[0.9, 0.1], [0.2, 0.8]], classes=["b", "a"], n_bins=1)
    assert curve.accuracy.tolist() == [0.5]


def test_a_curve_cannot_be_changed():
    curve = reliability_curve([0, 1], [[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.accuracy = np.zeros(2)


def test_an_unknown_strategy_is_named():
    with pytest.raises(InvalidParameter, match="strategy must be"):
        reliability_curve([0, 1], [[0.9, 0.1], [0.2, 0.8]], strategy="uniform")
