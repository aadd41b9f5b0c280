"""The test and the interval of a difference of errors: they agree always, and hold at their level."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from twoheads.kernels.inference.discordant import (
    Discordant,
    differing_items,
    discordant,
    mid_p_value,
    paired_interval,
)


def of_counts(below, above, n, **given):
    return paired_interval(np.repeat([-1.0, 0.0, 1.0], [below, n - below - above, above]), np.ones(n), 0.95, **given)


def test_the_p_value_is_the_mid_p_of_a_binomial():
    for below, above in product(range(21), repeat=2):
        fewer, n = min(below, above), below + above
        expected = min(1.0, 2.0 * (binom.cdf(fewer, n, 0.5) - binom.pmf(fewer, n, 0.5) / 2.0))
        assert mid_p_value(Discordant(below, above, 1.0)) == pytest.approx(expected if below != above else 1.0)
    assert mid_p_value(Discordant(5, 0, 1.0)) == 0.03125  # 2 * (1/32) / 2


@pytest.mark.parametrize("n", [30, 100, 300, 5000])
def test_the_interval_has_0_where_the_difference_is_not_significant(n):
    for below, above in product(range(21), repeat=2):
        if below + above <= n:
            low, high = of_counts(below, above, n)
            p = mid_p_value(Discordant(below, above, 1.0))
            assert (low > 0 or high < 0) == (p < 0.05), (below, above)
            assert low <= (above - below) / n <= high


def test_so_it_has_with_weights_and_halves():
    rng = np.random.default_rng(0)
    significant = 0
    for _ in range(300):
        n = int(rng.integers(10, 200))
        tilt = rng.uniform(0.0, 0.3)
        difference = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], n, p=[0.2 - tilt / 2, 0.1, 0.4, 0.1, 0.2 + tilt / 2])
        weight = rng.gamma(rng.uniform(0.5, 5.0), size=n)
        low, high = paired_interval(difference, weight, 0.95)
        p = mid_p_value(differing_items(difference, weight))
        assert (low > 0 or high < 0) == (p < 0.05)
        significant += p < 0.05
    assert 20 < significant < 200


@pytest.mark.parametrize("n_picked", [2, 7, 160])
def test_so_it_has_where_the_other_was_picked(n_picked):
    for below, above in product(range(26), repeat=2):
        low, high = of_counts(below, above, 100, n_picked=n_picked)
        p = mid_p_value(Discordant(below, above, 1.0))
        assert (low > 0) == (above > below and p * n_picked < 0.05)
        assert (high < 0) == (below > above and p < 0.05)


def test_equal_ones_are_rarely_called_different():
    rejected = np.zeros(301)
    for n in range(301):
        p = np.array([mid_p_value(Discordant(below, n - below, 1.0)) for below in range(n + 1)])
        rejected[n] = binom.pmf(np.arange(n + 1), n, 0.5)[p < 0.05].sum()
    for n, differ in product((30, 100, 300), np.linspace(0.005, 0.6, 120)):
        assert binom.pmf(np.arange(n + 1), n, differ) @ rejected[: n + 1] < 0.0502


@pytest.mark.parametrize("n", [30, 100, 300])
def test_a_difference_is_covered_at_its_level_where_eight_items_differ(n):
    most = min(n, 45)
    counts = np.array([(b, c) for b, c in product(range(most + 1), repeat=2) if b + c <= most])
    ends = np.array([of_counts(b, c, n) for b, c in counts])
    for expected, part in product((0.5, 2.0, 3.0, 5.0, 8.0, 15.0), (0.02, 0.1, 0.3, 0.5)):
        shares = np.array([1.0 - part, part]) * expected / n
        chance = multinomial.pmf(np.column_stack([counts, n - counts.sum(axis=1)]), n, [*shares, 1.0 - shares.sum()])
        true = shares[1] - shares[0]
        held = chance[(ends[:, 0] <= true) & (true <= ends[:, 1])].sum() / chance.sum()
        assert held >= 0.95 - 1e-3
        if expected >= 8:
            assert held <= 0.975
        if expected >= 5:
            assert held <= 0.986


def test_the_interval_is_of_the_share_that_differs_and_the_part_above():
    rng, n, below, above = np.random.default_rng(0), 100, 11, 4
    share = rng.beta(below + above + 1.0, n - below - above + 0.5, 400_000)
    half = rng.random(len(share)) < 0.5
    part = np.where(half, rng.beta(above, below + 1, len(share)), rng.beta(above + 1, below, len(share)))
    drawn = share * (2.0 * part - 1.0)
    assert of_counts(below, above, n) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1e-3)
    assert of_counts(below, above, n, n_picked=10)[0] == pytest.approx(np.quantile(drawn, 0.0025), abs=2e-3)


def test_without_an_item_that_differs_the_interval_is_that_of_none_seen():
    # Half of the distribution is on each side: P(share > end) = .05, with Beta(1, n + 1/2).
    end = 1.0 - 0.05 ** (1.0 / 30.5)
    assert of_counts(0, 0, 30) == pytest.approx((-end, end))


def test_fractions_and_weights_count_as_fewer_items_of_their_size():
    plain = np.array(of_counts(7, 3, 30))
    halves = np.repeat([-0.5, 0.0, 0.5], [7, 20, 3])
    assert paired_interval(halves, np.ones(30), 0.95) == pytest.approx(plain / 2)
    assert paired_interval(2.0 * halves, np.full(30, 2.0), 0.95) == pytest.approx(plain)
    # one item of weight 3 and three of weight 1: (3 + 3)^2 / (9 + 3) = 3 items
    found = differing_items(np.ones(4), np.array([3.0, 1.0, 1.0, 1.0]))
    assert (found.below, found.above, found.unit) == pytest.approx((0.0, 3.0, 2.0))
    assert discordant(0.0, 0.0, 0.0) == Discordant(0.0, 0.0, 1.0)


def test_the_lower_end_holds_where_the_best_of_many_was_picked():
    # Ten rivals as good as the team: the best of them is ahead by luck, and the interval of the difference knows it.
    rng, n, n_rivals = np.random.default_rng(0), 100, 10
    too_high, too_low = [], []
    for _ in range(1500):
        team = rng.random(n) < 0.15
        rivals = np.where(rng.random((n_rivals, n)) < 0.6, team, rng.random((n_rivals, n)) < 0.15)
        difference = 1.0 * team - rivals[rivals.sum(axis=1).argmin()]
        low, high = paired_interval(difference, np.ones(n), 0.95, n_picked=n_rivals)
        too_high.append(low > 0)
        too_low.append(high < 0)
    assert np.mean(too_high) < 0.025 + 0.01
    assert np.mean(too_low) < 0.025 + 0.01
