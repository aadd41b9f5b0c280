"""Spearman's rank correlation of counts, against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from twoheads.kernels.inference.rank_correlation import rank_correlation


@pytest.mark.parametrize("seed", range(5))
def test_it_is_that_of_the_observations(seed):
    rng = np.random.default_rng(seed)
    row = rng.integers(0, 6, 80)
    column = np.clip(row // 2 + rng.integers(-1, 2, 80), 0, 3)
    counts = np.zeros((6, 4))
    np.add.at(counts, (row, column), 1.0)
    estimate, low, high = rank_correlation(counts, 80, 0.95)
    assert np.isclose(estimate, spearmanr(row, column).statistic)
    assert low < estimate < high
    assert np.allclose(rank_correlation(2.0 * counts, 80, 0.95), (estimate, low, high))


def test_its_interval_is_that_of_fisher():
    counts = np.array([[30.0, 20.0], [20.0, 30.0]])  # 0.2
    assert np.allclose(
        rank_correlation(counts, 103, 0.95),
        (0.2, *np.tanh(np.arctanh(0.2) + np.array([-1, 1]) * 1.959964 * 0.0106**0.5)),
    )


def test_nothing_is_said_of_what_does_not_vary_and_little_of_little():
    assert np.isnan(rank_correlation(np.array([[3.0, 0.0], [4.0, 0.0]]), 7, 0.95)).all()
    assert np.isnan(rank_correlation(np.zeros((3, 3)), 0, 0.95)).all()
    assert rank_correlation(np.eye(2), 2, 0.95)[1:] == (-1.0, 1.0)


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_its_interval_covers(rho):
    rng, hits = np.random.default_rng(4), 0
    cuts = [-0.8, 0.0, 0.8]

    def table(n):
        x = rng.normal(size=n)
        y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)
        counts = np.zeros((4, 4))
        np.add.at(counts, (np.searchsorted(cuts, x), np.searchsorted(cuts, y)), 1.0)
        return counts

    true = rank_correlation(table(1_000_000), 1_000_000, 0.9)[0]
    for _ in range(1000):
        _, low, high = rank_correlation(table(60), 60, 0.9)
        hits += low <= true <= high
    assert 0.87 < hits / 1000 < 0.94
