"""Log space by hand, at its edges, and against SciPy."""

import numpy as np
import pytest
from scipy.special import log_softmax as scipy_log_softmax
from scipy.special import logsumexp, softmax

from twoheads.kernels.simplex import (
    FLOOR,
    LOG_FLOOR,
    class_major,
    log_simplex,
    log_softmax,
    log_sum,
    normalise_exp,
    normalise_log,
    without_zeros_read,
    zero_as,
)

HARD = np.array(
    [
        [0.0, -1000.0, 1000.0, -np.inf, 700.0, -745.0, -1e300, 0.0],
        [np.log(2), -1000.0, 999.0, -np.inf, 710.0, -740.0, 1e300, -np.inf],
        [np.log(3), -1001.0, -1000.0, -np.inf, 0.0, -750.0, 0.0, -np.inf],
    ]
)


def test_by_hand():
    values = np.log([[0.1, 2.0], [0.3, 6.0]])
    np.testing.assert_allclose(log_sum(values), np.log([0.4, 8.0]))
    np.testing.assert_allclose(np.exp(normalise_log(values.copy())), [[0.25, 0.25], [0.75, 0.75]])
    np.testing.assert_allclose(normalise_exp(values.copy()), [[0.25, 0.25], [0.75, 0.75]])


def test_sums_at_the_edges_agree_with_scipy():
    np.testing.assert_allclose(log_sum(HARD), logsumexp(HARD, axis=0), rtol=1e-14)


def test_normalising_at_the_edges_agrees_with_scipy():
    told = [column for column in range(8) if column != 3]
    np.testing.assert_allclose(
        normalise_log(HARD.copy())[:, told], scipy_log_softmax(HARD[:, told], axis=0), rtol=1e-13, atol=1e-13
    )
    np.testing.assert_allclose(normalise_exp(HARD.copy())[:, told], softmax(HARD[:, told], axis=0), rtol=1e-12)


def test_who_was_told_nothing_gets_the_uniform_distribution():
    np.testing.assert_allclose(normalise_log(HARD.copy())[:, 3], -np.log(3))
    np.testing.assert_allclose(normalise_exp(HARD.copy())[:, 3], 1 / 3)


@pytest.mark.parametrize("normalise", [normalise_log, normalise_exp])
def test_normalising_is_in_place(normalise):
    values = HARD.copy()
    assert normalise(values) is values


def test_probabilities_of_zero_and_one():
    log_proba = log_simplex(np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [1e-320, 1.0]]))
    np.testing.assert_array_equal(log_proba[:, 0], [0.0, LOG_FLOOR])
    np.testing.assert_array_equal(log_proba[:, 1], [LOG_FLOOR, 0.0])
    np.testing.assert_allclose(log_proba[:, 2], np.log([0.25, 0.75]))
    assert log_proba[0, 3] == LOG_FLOOR
    assert np.float32(1.17549435e-38) == FLOOR


def test_rows_are_normalised():
    np.testing.assert_allclose(np.exp(log_simplex(np.array([[0.5005, 0.5005]]))), [[0.5], [0.5]])


def test_logits_are_shifted_and_floored():
    log_proba = log_softmax(np.array([[1.0, 1.0], [1000.0, 0.0], [0.0, -np.inf], [3.0, 3.0 + np.log(3)]]))
    np.testing.assert_allclose(log_proba[:, 0], -np.log(2))
    assert log_proba[:, 1].tolist() == [0.0, LOG_FLOOR]
    assert log_proba[:, 2].tolist() == [0.0, LOG_FLOOR]
    np.testing.assert_allclose(np.exp(log_proba[:, 3]), [0.25, 0.75])


@pytest.mark.parametrize("read", [log_simplex, log_softmax])
def test_the_result_is_class_major_and_the_input_is_left_alone(read):
    for values in (np.full((4, 2), 0.5), np.asfortranarray(np.full((4, 2), 0.5)), np.full((4, 2), 0.5, np.float32)):
        before = values.copy()
        out = read(values)
        assert out.shape == (2, 4)
        assert out.flags.c_contiguous
        assert out.dtype == np.float64
        np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("n_items", [0, 1, 2048, 5000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_classes_come_first_and_nothing_else_changes(n_items, order):
    values = np.random.default_rng(0).random((n_items, 4)).astype(np.float32, order=order)[:, 1:]
    turned = class_major(values)
    assert turned.dtype == np.float64
    assert turned.flags.c_contiguous
    assert not np.shares_memory(turned, values)
    assert np.array_equal(turned, values.T)


def test_a_zero_is_a_quarter_of_the_smallest_positive_probability():
    # two decimals: 0 is anything below .005, whose middle is .0025
    assert zero_as(np.array([[0.99, 0.01, 0.0], [0.5, 0.48, 0.02], [np.nan] * 3])) == pytest.approx(0.0025)
    assert zero_as(np.array([[1.0, 1e-39]])) == 0.25  # what is below the floor is no step
    assert zero_as(np.array([[1.0, 2e-38]])) == FLOOR
    assert zero_as(np.full((1, 2), np.nan)) == FLOOR
    assert zero_as(np.empty((0, 3))) == FLOOR


def test_zeros_are_read_as_told_and_rows_normalised():
    read = np.exp(log_simplex(np.array([[0.99, 0.01, 0.0], [0.2, 0.3, 0.5], [1e-40, 0.5, 0.5]]), 0.0025))
    np.testing.assert_allclose(read.T[0], np.array([0.99, 0.01, 0.0025]) / 1.0025)
    np.testing.assert_allclose(read.T[1], [0.2, 0.3, 0.5])
    np.testing.assert_allclose(read.T[2], np.array([0.0025, 0.5, 0.5]) / 1.0025)


def test_reading_zeros_can_be_undone():
    rows = np.round(np.random.default_rng(0).dirichlet(np.full(5, 0.2), 50), 2)
    rows = rows / rows.sum(axis=1, keepdims=True)
    zero = zero_as(rows)
    np.testing.assert_allclose(without_zeros_read(log_simplex(rows, zero), zero), rows, atol=1e-15)
