"""The test and the interval of a difference of errors: they agree always, and hold at their level."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, multinomial, ttest_1samp

from twoheads.kernels.inference.discordant import (
    Discordant,
    differing_items,
    mid_p_value,
    paired_interval,
)
from twoheads.kernels.inference.paired import paired_t


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
    assert differing_items(np.zeros(4), np.array([3.0, 1.0, 1.0, 1.0])) == Discordant(0.0, 0.0, 1.0)


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


def kish_of_those_that_differ(difference, weight):
    """How many below and above, if heavy items that do not differ told nothing."""
    weighted = weight * difference
    number = np.abs(weighted).sum() ** 2 / (weighted**2).sum()
    ahead = weighted.sum() / np.abs(weighted).sum()
    return number * (1 - ahead) / 2, number * (1 + ahead) / 2


def test_equal_weights_of_any_unit_are_a_plain_count():
    rng = np.random.default_rng(0)
    for unit in (1.0, 0.3, 1000.0):
        difference = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 60)
        found = differing_items(difference, np.full(60, unit))
        assert (found.below, found.above) == pytest.approx(kish_of_those_that_differ(difference, np.ones(60)))
    whole = differing_items(np.repeat([-1.0, 0.0, 1.0], [7, 20, 3]), np.full(30, 1000.0))
    assert (whole.below, whole.above) == pytest.approx((7.0, 3.0))


def test_one_item_of_nearly_all_the_weight_leaves_nothing_to_be_said():
    # 29 items of weight 1 all differ one way, one of weight 1000 does not: 1029^2 / 1000029 = 1.06 items.
    difference, weight = np.repeat([1.0, 0.0], [29, 1]), np.repeat([1.0, 1000.0], [29, 1])
    kish = 1029**2 / 1_000_029
    found = differing_items(difference, weight)
    assert (found.below, found.above) == pytest.approx((0.0, 29 / 1029 * kish))
    assert mid_p_value(found) > 0.9
    low, high = paired_interval(difference, weight, 0.95)
    assert low < -0.5
    assert high > 0.5
    p = paired_t(difference, weight, 0.95).p_value
    assert p > 0.9
    # The heavy one alone differs: one item, whose mid-p is 1/2.
    assert mid_p_value(differing_items(1.0 - difference, weight)) == pytest.approx(0.5)


def equal_in_the_population(rng, *, scale):
    """8,000 items on which one is better where it is easy, and the other where it is hard: 0 on average."""
    hard = rng.normal(0, 1.2, 8000)
    difference = 1.0 * (rng.random(8000) < expit(scale + 1.2 * hard)) - (rng.random(8000) < expit(scale))
    ahead = int(difference.sum())
    swapped = rng.choice(np.flatnonzero(difference == np.sign(ahead)), abs(ahead) // 2, replace=False)
    difference[swapped] *= -1.0
    return hard, difference


@pytest.mark.parametrize("size", [60, 250])
def test_equal_ones_are_rarely_called_different_whatever_is_drawn_more_often(size):
    old, new, repeats = 0, 0, 400
    for repeat in range(repeats):
        rng = np.random.default_rng([7, repeat, size])
        hard, difference = equal_in_the_population(rng, scale=-1.4)
        chance = np.where(hard > 0, 0.9, 0.03)
        chance *= size / chance.sum()
        drawn = rng.random(8000) < chance
        apart, weight = difference[drawn], 1.0 / chance[drawn]
        old += mid_p_value(Discordant(*kish_of_those_that_differ(apart, weight), 1.0)) < 0.05
        new += mid_p_value(differing_items(apart, weight)) < 0.05
    assert old / repeats > 0.1
    assert new / repeats < 0.05 + 2 * (0.05 * 0.95 / repeats) ** 0.5


def test_a_paired_t_counts_heavy_items_too():
    rng = np.random.default_rng(1)
    difference, weight = rng.normal(0.3, 1.0, 50), np.full(50, 7.0)
    plain = ttest_1samp(difference, 0.0)
    found = paired_t(difference, weight, 0.95)
    # One item more, and Kish's number of the squares in place of n - 1: beside a plain t a little more careful.
    assert plain.pvalue < found.p_value < 1.5 * plain.pvalue + 0.01
    heavy = np.append(weight, 7.0 * 5000)
    assert paired_t(np.append(difference, 0.0), heavy, 0.95).p_value > 0.5
