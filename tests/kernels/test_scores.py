"""Scores against arithmetic by hand and against other people's code."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from twoheads.kernels.scoring import scores
from twoheads.kernels.simplex import FLOOR


def test_weighted_mean_by_hand():
    assert scores.weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0])) == 2.0


def test_log_losses_by_hand_with_certainty_and_impossibility():
    proba = np.array([[1.0, 0.0, 0.25], [0.0, 1.0, 0.75]])
    losses = scores.log_losses(proba, np.array([0, 0, 0]))
    np.testing.assert_allclose(losses, [0.0, -np.log(FLOOR), np.log(4)])
    assert not np.signbit(losses[0])


def test_brier_scores_by_hand():
    proba = np.array([[0.5, 1.0], [0.3, 0.0], [0.2, 0.0]])
    # (1/2)^2 + 0.3^2 + 0.2^2 = 0.38; the second is certain of the wrong class: 1 + 1
    np.testing.assert_allclose(scores.brier_scores(proba, np.array([0, 2])), [0.38, 2.0])


def test_brier_scores_leave_their_argument_alone():
    proba = np.array([[0.5], [0.5]])
    scores.brier_scores(proba, np.array([0]))
    assert proba.tolist() == [[0.5], [0.5]]


def test_equal_mass_bins_hold_the_same_number_of_different_values():
    values = np.random.default_rng(0).permutation(30) / 30
    bins = scores.bin_codes(values, scores.equal_mass_boundaries(values, np.ones(30), 15))
    assert np.bincount(bins).tolist() == [2] * 15
    assert bins[np.argsort(values)].tolist() == sorted(bins.tolist())


@pytest.mark.parametrize("n", [1, 2, 7, 15, 16, 31, 100])
def test_equal_mass_boundaries_are_order_statistics_by_exact_arithmetic(n):
    values = np.random.default_rng(n).random(n)
    expected = [np.sort(values)[int(Fraction(k * n, 15))] for k in range(1, 15)]
    assert scores.equal_mass_boundaries(values, np.ones(n), 15).tolist() == expected


def test_equal_mass_boundaries_with_whole_weights_are_those_of_repeated_rows():
    rng = np.random.default_rng(1)
    values, weight = rng.random(40), rng.integers(1, 5, 40)
    repeated = np.repeat(values, weight)
    expected = scores.equal_mass_boundaries(repeated, np.ones(repeated.size), 15)
    assert scores.equal_mass_boundaries(values, weight.astype(float), 15).tolist() == expected.tolist()


def test_equal_mass_boundaries_do_not_depend_on_the_unit_of_weight():
    values = np.arange(10) / 10
    for unit in (1.0, 0.1, 1 / 3, 1e-9, 7e8):
        assert scores.equal_mass_boundaries(values, np.full(10, unit), 5).tolist() == [0.2, 0.4, 0.6, 0.8]


def test_equal_width_boundaries_by_hand():
    assert scores.equal_width_boundaries(4).tolist() == [0.25, 0.5, 0.75]
    assert scores.equal_width_boundaries(1).tolist() == []


def test_a_value_on_a_boundary_belongs_above_it():
    assert scores.bin_codes(np.array([0.0, 0.49, 0.5, 1.0]), np.array([0.5])).tolist() == [0, 0, 1, 1]
    assert scores.bin_codes(np.array([0.3, 0.5]), np.array([0.5, 0.5, 0.7])).tolist() == [0, 2]


def test_calibration_error_by_hand():
    # below 1/2: says 0.1 and 0.3, comes true once: |0.4 - 1| = 0.6; above: says 0.8, comes true: 0.2. (0.6 + 0.2) / 3
    predicted, outcome = np.array([0.1, 0.8, 0.3]), np.array([1.0, 1.0, 0.0])
    error = scores.calibration_error(predicted, outcome, np.ones(3), np.array([0.5]))
    assert error == pytest.approx(0.8 / 3)


def test_classwise_calibration_error_against_a_loop_over_split_ranks():
    rng = np.random.default_rng(2)
    proba, true_label = rng.dirichlet(np.ones(3), 60).T, rng.integers(0, 3, 60)
    expected = 0.0
    for code in range(3):
        for part in np.array_split(np.argsort(proba[code]), 5):
            gap = proba[code][part].mean() - (true_label[part] == code).mean()
            expected += part.size / 60 * abs(gap) / 3
    assert scores.classwise_calibration_error(proba, true_label, np.ones(60), 5) == pytest.approx(expected, abs=1e-12)


def test_binned_truth_by_hand():
    # two bins of p_0: {0.1, 0.3} and {0.6, 0.8}; of p_1: {0.2, 0.4} and {0.7, 0.9}
    proba = np.array([[0.1, 0.3, 0.6, 0.8], [0.9, 0.7, 0.4, 0.2]])
    predicted, frequency = scores.binned_truth(proba, np.array([1, 0, 0, 0]), np.ones(4), 2)
    np.testing.assert_allclose(predicted, [0.8, 0.2, 0.7, 0.7])
    np.testing.assert_allclose(frequency, [0.5, 0.5, 1.0, 1.0])


def test_binned_truth_with_ties_leaves_no_empty_bin_behind():
    predicted, frequency = scores.binned_truth(np.full((2, 6), 0.5), np.array([0, 0, 0, 0, 1, 1]), np.ones(6), 15)
    np.testing.assert_allclose(predicted, 0.5)
    np.testing.assert_allclose(frequency, [2 / 3] * 4 + [1 / 3] * 2)


@pytest.mark.parametrize(("right", "count"), [(0, 1), (1, 1), (3, 10), (10, 10), (57, 60)])
def test_wilson_interval_is_scipys(right, count):
    low, high = scores.wilson_interval(np.array([right / count]), np.array([float(count)]), 1.959963984540054)
    expected = binomtest(right, count).proportion_ci(0.95, method="wilson")
    assert low[0] == pytest.approx(expected.low, abs=1e-12)
    assert high[0] == pytest.approx(expected.high, abs=1e-12)
