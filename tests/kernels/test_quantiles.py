"""Weighted quantiles, against those of repeated values."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.kernels.numerics.quantiles import higher_quantiles

TENTHS = np.arange(1, 10) / 10


@pytest.mark.parametrize("n", [1, 2, 11, 101, 500])
def test_whole_weights_are_repeated_values(n):
    rng = np.random.default_rng(n)
    values, times = np.round(rng.normal(size=n), 1), rng.integers(1, 7, n)
    expected = np.quantile(np.repeat(values, times), TENTHS, method="higher")
    np.testing.assert_array_equal(higher_quantiles(values, TENTHS, times * 1.0), expected)


@pytest.mark.parametrize("unit", [1e-3, 0.1, 1.0])
def test_equal_weights_of_at_most_1_are_none(unit):
    values = np.random.default_rng(0).normal(size=200)
    found = higher_quantiles(values, TENTHS, np.full(200, unit))
    np.testing.assert_array_equal(found, np.quantile(values, TENTHS, method="higher"))


def test_by_hand():
    # Weights 1, 4, 5: places 0, 1..4 and 5..9; a half is ceil(.5 * 9) = 5, a tenth is 1.
    found = higher_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.1, 0.4, 0.5]), np.array([5.0, 1.0, 4.0]))
    assert found.tolist() == [2.0, 2.0, 3.0]
