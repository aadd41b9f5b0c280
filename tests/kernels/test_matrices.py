"""Estimates of confusion matrices from counts, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import dirichlet

from twoheads.kernels.confusion.matrices import column_log_density, log_table, normalise_columns, one_coin


def test_columns_are_normalised_and_an_empty_one_is_uniform():
    counts = np.array([[3.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    expected = [[0.75, 1 / 3, 0.25], [0.25, 1 / 3, 0.25], [0.0, 1 / 3, 0.5]]
    np.testing.assert_allclose(normalise_columns(counts), expected)
    np.testing.assert_allclose(normalise_columns(np.stack([counts, counts])), [expected, expected])


def test_one_coin_spreads_errors_evenly():
    np.testing.assert_allclose(one_coin(0.7, 4), [[0.7 if i == j else 0.1 for j in range(4)] for i in range(4)])


def test_an_answer_that_no_class_gives_tells_nothing():
    table = log_table(np.array([[[1.0, 0.5], [0.0, 0.5]], [[0.0, 0.0], [1.0, 1.0]]]))
    np.testing.assert_allclose(table, [[0, np.log(0.5)], [-np.inf, np.log(0.5)], [0, 0], [0, 0]])


def test_density_differs_from_scipys_dirichlet_by_a_constant():
    pseudo_counts = np.array([[2.7, 0.1], [0.1, 2.7]])
    rng = np.random.default_rng(3)
    one, other = (rng.dirichlet([2, 2], 2).T for _ in range(2))

    def expected(matrix):
        return sum(dirichlet.logpdf(matrix[:, j], pseudo_counts[:, j] + 1) for j in range(2))

    found = column_log_density(one, pseudo_counts) - column_log_density(other, pseudo_counts)
    assert found == pytest.approx(expected(one) - expected(other))


def test_density_ignores_zeros_where_there_is_no_prior():
    assert column_log_density(np.eye(2), np.zeros((2, 2))) == 0.0
    assert column_log_density(np.eye(2), np.full((2, 2), 0.1)) == -np.inf
    both = np.stack([np.full((2, 2), 0.5)] * 3)
    assert column_log_density(both, np.full((2, 2), 1.0)) == pytest.approx(12 * np.log(0.5))
