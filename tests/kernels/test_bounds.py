"""The pieces of Theorems 1 and 2 by hand."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.kernels.scoring import bounds


def test_truth_and_rest_by_hand():
    weight = np.array([[0.5, 0.2], [0.3, 0.7], [0.2, 0.1]])
    truth, rest = bounds.truth_and_rest(weight, np.array([0, 2]), stronger=False)
    np.testing.assert_allclose(truth, [0.5, 0.1])
    np.testing.assert_allclose(rest, [0.5, 0.9])
    truth, rest = bounds.truth_and_rest(weight, np.array([0, 2]), stronger=True)
    np.testing.assert_allclose(truth, [0.5, 0.1])
    np.testing.assert_allclose(rest, [0.3, 0.7])


def test_truth_and_rest_leave_their_argument_alone():
    weight = np.array([[0.5], [0.5]])
    bounds.truth_and_rest(weight, np.array([0]), stronger=False)
    assert weight.tolist() == [[0.5], [0.5]]


def test_confidence_ratio_at_its_ends():
    truth, rest = np.array([0.75, 1.0, 0.0, 0.0, 1.0]), np.array([0.25, 0.0, 1.0, 0.0, 5e-324])
    assert bounds.confidence_ratio(truth, rest).tolist() == [3.0, np.inf, 0.0, 0.0, np.inf]


def test_surely_right_is_strict():
    one, half = np.array([1.0]), np.array([0.5])
    assert bounds.surely_right((one, half), (one, one)).tolist() == [True]
    assert bounds.surely_right((half, half), (half, half)).tolist() == [False]
    assert bounds.surely_right((half, one), (one, one)).tolist() == [False]


@pytest.mark.parametrize(("truth", "rest"), [(0.0, 0.0), (0.0, 1.0)])
def test_a_truth_held_impossible_is_never_sure(truth, rest):
    certain = (np.array([1.0]), np.array([0.0]))
    assert not bounds.surely_right((np.array([truth]), np.array([rest])), certain)[0]


def test_product_label_by_hand_and_in_a_tie():
    first = np.array([[0.6, 0.5, 0.0], [0.4, 0.5, 1.0]])
    second = np.array([[0.3, 0.5, 1.0], [0.7, 0.5, 0.0]])
    # 0.18 against 0.28; 0.25 twice; 0 twice
    assert bounds.product_label(first, second).tolist() == [1, 0, 0]


def test_product_label_does_not_underflow():
    assert bounds.product_label(np.array([[1e-300], [1e-299]]), np.array([[1e-300], [1e-300]])).tolist() == [1]


def test_estimation_error_bound_by_hand():
    true, estimate = np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([[0.7, 0.2], [0.3, 0.8]])
    assert bounds.estimation_error_bound(true, estimate, 0.1) == pytest.approx(0.5)
