"""Intervals of a share and of a paired difference, against exact coverage and draws."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from twoheads.kernels.inference.shares import paired_interval, share_interval
from twoheads.kernels.scoring.scores import wilson_interval


def of_counts(below, above, n):
    return paired_interval(np.repeat([-1.0, 0.0, 1.0], [below, n - below - above, above]), np.ones(n), 0.95)


def test_with_many_of_both_kinds_a_share_has_wilsons_interval():
    low, high = wilson_interval(np.array([0.2]), np.array([50.0]), 1.959963984540054)
    assert share_interval(0.2, 50.0, 0.95) == pytest.approx((low[0], high[0]))


def test_one_error_has_the_limit_of_a_poisson_number():
    # P(one or more) = 1 - exp(-m) = .05 at m = .0513.
    assert share_interval(1 / 30, 30.0, 0.95)[0] == pytest.approx(-np.log(0.95) / 30)
    assert share_interval(29 / 30, 30.0, 0.95)[1] == pytest.approx(1 + np.log(0.95) / 30)


@pytest.mark.parametrize("n", [30, 100, 300])
def test_a_share_is_never_covered_in_less_than_92_percent(n):
    ends = np.array([share_interval(right / n, float(n), 0.95) for right in range(n + 1)])
    shares = np.geomspace(0.1 / n, 0.5, 200)
    held = [binom.pmf(np.arange(n + 1), n, p)[(ends[:, 0] <= p) & (p <= ends[:, 1])].sum() for p in shares]
    assert min(held) > 0.92
    often = np.array(held)[shares * n > 3]
    assert np.mean(np.abs(often - 0.95) <= 0.025) > 0.95


def test_a_paired_interval_is_the_posterior_of_a_dirichlet():
    drawn = np.random.default_rng(0).dirichlet([7.5, 20.5, 3.5], 200_000)
    expected = np.quantile(drawn[:, 2] - drawn[:, 0], [0.025, 0.975])
    assert of_counts(7, 3, 30) == pytest.approx(expected, abs=0.003)


def test_a_paired_interval_covers_at_its_level_where_three_items_or_more_differ():
    n = 30
    counts = [(b, c) for b, c in product(range(n + 1), repeat=2) if b + c <= 15]
    ends = np.array([of_counts(b, c, n) for b, c in counts])
    for differ, part in product((0.12, 0.25), (0.1, 0.3, 0.5)):
        below, above = differ * (1 - part), differ * part
        chance = multinomial.pmf([(b, c, n - b - c) for b, c in counts], n, [below, above, 1 - differ])
        held = chance[(ends[:, 0] <= above - below) & (above - below <= ends[:, 1])].sum() / chance.sum()
        assert held == pytest.approx(0.95, abs=0.025)


def test_fractions_count_as_fewer_differences_of_a_smaller_size():
    halves = paired_interval(np.repeat([-0.5, 0.0, 0.5], [7, 20, 3]), np.ones(30), 0.95)
    assert halves == pytest.approx(np.array(of_counts(7, 3, 30)) / 2)
    assert paired_interval(np.zeros(30), np.full(30, 2.0), 0.95) == pytest.approx(of_counts(0, 0, 30))
