"""Metrics by hand, against scikit-learn, and at the edges of what may be given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from twoheads import evaluation
from twoheads.errors import InvalidParameter

ALL = (
    evaluation.error_rate,
    evaluation.log_loss,
    evaluation.brier_score,
    evaluation.expected_calibration_error,
    evaluation.classwise_calibration_error,
    evaluation.marginal_calibration_error,
)
BINNED = ALL[3:]


def _problem(n=300, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(n_classes, 0.5), n)
    y = np.array([rng.choice(n_classes, p=row) for row in proba])
    return y, proba, rng.integers(1, 4, n).astype(float)


def test_error_rate_by_hand():
    y, proba = [0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]
    assert evaluation.error_rate(y, proba) == pytest.approx(1 / 3)
    assert evaluation.error_rate(y, proba, sample_weight=[1, 2, 1]) == pytest.approx(1 / 2)


def test_error_rate_of_a_tie_takes_the_first_class():
    assert evaluation.error_rate([0, 1], [[0.5, 0.5], [0.5, 0.5]]) == 0.5


def test_error_rate_of_hard_labels():
    assert evaluation.error_rate(["a", "b", "a"], ["a", "a", "a"]) == pytest.approx(1 / 3)
    assert evaluation.error_rate([3, 4], np.array([3.0, 5.0]), sample_weight=[3, 1]) == 0.25
    assert evaluation.error_rate(["3", "4"], [3, 3], classes=[3, 4]) == 0.5


def test_log_loss_is_scikit_learns():
    y, proba, weight = _problem()
    assert evaluation.log_loss(y, proba) == pytest.approx(sklearn_metrics.log_loss(y, proba), rel=1e-12)
    expected = sklearn_metrics.log_loss(y, proba, sample_weight=weight)
    assert evaluation.log_loss(y, proba, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_log_loss_of_a_truth_held_impossible_is_large_and_finite():
    # the smallest normal single-precision number, 2^-126
    assert evaluation.log_loss([1, 0], [[1.0, 0.0], [1.0, 0.0]]) == pytest.approx(126 * np.log(2) / 2)


def test_log_loss_of_certainty_is_zero():
    assert evaluation.log_loss([0, 1], [[1.0, 0.0], [0.0, 1.0]]) == 0.0


def test_brier_score_is_scikit_learns_and_twice_the_binary_one():
    y, proba, weight = _problem(n_classes=2)
    binary = sklearn_metrics.brier_score_loss(y, proba[:, 1], sample_weight=weight)
    assert evaluation.brier_score(y, proba, sample_weight=weight) == pytest.approx(2 * binary, rel=1e-12)
    y, proba, _ = _problem()
    expected = ((proba - np.eye(4)[y]) ** 2).sum(axis=1).mean()
    assert evaluation.brier_score(y, proba) == pytest.approx(expected, rel=1e-12)


def test_expected_calibration_error_by_hand():
    # confidences 0.6, 0.7 | 0.8, 0.9: right in none of two, both of two: (1.3 + 0.3) / 4
    y, proba = [1, 1, 0, 0], [[0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1]]
    assert evaluation.expected_calibration_error(y, proba, n_bins=2) == pytest.approx(0.4)
    # all in one bin: |0.75 - 0.5|
    assert evaluation.expected_calibration_error(y, proba, n_bins=1) == pytest.approx(0.25)
    # one item each: (0.6 + 0.7 + 0.2 + 0.1) / 4
    assert evaluation.expected_calibration_error(y, proba, n_bins=15) == pytest.approx(0.4)


def test_expected_calibration_error_of_equal_width_by_hand():
    # [1/2, 3/4) holds 0.6 and 0.7, never right; [3/4, 1] holds 0.75, right
    y, proba = [1, 1, 0], [[0.6, 0.4], [0.7, 0.3], [0.75, 0.25]]
    error = evaluation.expected_calibration_error(y, proba, n_bins=4, strategy="equal_width")
    assert error == pytest.approx((1.3 + 0.25) / 3)


def test_equal_confidences_stay_in_one_bin():
    # 100 items of one confidence, right in 80 of 100, wrong ones first: cut into bins they would look badly calibrated
    y, proba = np.repeat([1, 0], [20, 80]), np.tile([0.8, 0.2], (100, 1))
    assert evaluation.expected_calibration_error(y, proba) == pytest.approx(0.0, abs=1e-12)


def test_expected_calibration_error_does_not_depend_on_the_order_of_ties():
    rng = np.random.default_rng(0)
    top = rng.choice([0.55, 0.7, 0.9, 1.0], 200)
    y, proba = rng.integers(0, 2, 200), np.column_stack([top, 1 - top])
    order = rng.permutation(200)
    first, second = (evaluation.expected_calibration_error(y[rows], proba[rows]) for rows in (slice(None), order))
    assert first == pytest.approx(second, abs=1e-12)


def test_classwise_calibration_error_by_hand():
    # class 0 says 0.9, 0.6 | 0.2, 0.1 with truths 1, 0 | 0, 0: |1.5 - 1| and 0.3; class 1 is its mirror image
    y, proba = [0, 1, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.1, 0.9]]
    assert evaluation.classwise_calibration_error(y, proba, n_bins=2) == pytest.approx(0.8 / 4)


def test_marginal_calibration_error_by_hand():
    # the truth's own bins: item 0 in class 0's upper one, |0.75 - 1/2|; item 1 in class 1's lower one {0.1, 0.4},
    # |0.25 - 1/2|; items 2 and 3 in class 1's upper one {0.8, 0.9}, |0.85 - 1|
    y, proba = [0, 1, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.1, 0.9]]
    assert evaluation.marginal_calibration_error(y, proba, n_bins=2) == pytest.approx((0.25 + 0.25 + 0.15 + 0.15) / 4)


def test_marginal_calibration_error_approaches_its_definition():
    # the model says m where q(m) = m^2 / (m^2 + (1-m)^2) is true: sum_j E[1{y=j} |q_j - m_j|] is an integral over m
    rng = np.random.default_rng(5)
    m = rng.random(200_000)
    q = m**2 / (m**2 + (1 - m) ** 2)
    y = (rng.random(m.size) < q).astype(int)
    grid = (np.arange(100_000) + 0.5) / 100_000
    expected = np.abs(grid**2 / (grid**2 + (1 - grid) ** 2) - grid).mean()
    found = evaluation.marginal_calibration_error(y, np.column_stack([1 - m, m]), n_bins=100)
    assert found == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize("metric", BINNED)
def test_calibration_errors_vanish_with_much_data_from_a_calibrated_model(metric):
    y, proba, _ = _problem(n=20_000, seed=3)
    assert 0.0 < metric(y, proba) < 0.02


@pytest.mark.parametrize("metric", ALL)
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(metric):
    y, proba, weight = _problem(n=80)
    weight[:9] = 0.0
    rows = np.repeat(np.arange(80), weight.astype(int))
    assert metric(y, proba, sample_weight=weight) == pytest.approx(metric(y[rows], proba[rows]), rel=1e-9)


@pytest.mark.parametrize("metric", ALL)
def test_named_classes_in_any_order_of_columns(metric):
    y, proba, weight = _problem()
    names, columns = np.array(["ant", "bee", "cat", "dog"]), [2, 0, 3, 1]
    expected = metric(y, proba, sample_weight=weight)
    assert metric(names[y], proba, sample_weight=weight) == expected
    shuffled = metric(names[y], proba[:, columns], classes=names[columns], sample_weight=weight)
    assert shuffled == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", ALL)
def test_arrays_of_other_kinds_and_a_single_item(metric):
    y, proba, _ = _problem(n=64)
    single = proba.astype(np.float32)
    expected = metric(y, single.astype(np.float64))
    frozen = np.asfortranarray(single)
    frozen.flags.writeable = False
    assert metric(y.tolist(), frozen) == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(metric([1], [[0.0, 1.0, 0.0]]))


@pytest.mark.parametrize("metric", BINNED)
@pytest.mark.parametrize("n_bins", [0, -1, 2.5, True, "15"])
def test_the_number_of_bins_is_a_whole_number(metric, n_bins):
    with pytest.raises(InvalidParameter, match="n_bins must be a whole number of at least 1; it is"):
        metric([0, 1], [[0.5, 0.5], [0.5, 0.5]], n_bins=n_bins)


def test_an_unknown_strategy_is_named():
    with pytest.raises(InvalidParameter, match="strategy must be 'equal_mass' or 'equal_width'; it is 'quantile'"):
        evaluation.expected_calibration_error([0, 1], [[0.5, 0.5], [0.5, 0.5]], strategy="quantile")
