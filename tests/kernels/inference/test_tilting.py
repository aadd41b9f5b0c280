"""Intervals of means by exponential tilting."""

import numpy as np
import pytest
from scipy.stats import binom

from twoheads.kernels.inference.tilting import possible_losses, tilting_interval


def test_of_a_share_it_is_close_to_the_mid_p_interval():
    low, high = tilting_interval(np.repeat([1.0, 0.0], [20, 80]), np.ones(100), 0.95)
    for end, tail in ((low, binom.sf(20, 100, low)), (high, binom.cdf(19, 100, high))):
        assert tail + binom.pmf(20, 100, end) / 2 == pytest.approx(0.025, abs=0.003)


def test_a_mean_of_normal_values_has_the_t_interval():
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    half = 1.966 * values.std() / 20
    assert tilting_interval(values, np.ones(400), 0.95) == pytest.approx(
        (values.mean() - half, values.mean() + half), rel=0.02
    )


def test_skewed_values_have_a_longer_upper_side():
    values = np.repeat([0.05, 4.0], [27, 3])
    low, high = tilting_interval(values, np.ones(30), 0.95)
    assert values.min() < low < values.mean() < high
    assert high - values.mean() > 1.5 * (values.mean() - low)


def test_what_was_not_seen_is_possible():
    # No error among 30: 3.7 / 30 would be the exact upper limit, 1 - .025^(1/30) = .116.
    possible = np.array([-1.0, 0.0, 1.0]), np.full(3, 0.5)
    low, high = tilting_interval(np.zeros(30), np.ones(30), 0.95, possible=possible)
    assert 0.06 < high < 0.13
    assert low == pytest.approx(-high, abs=1e-6)


def test_means_within_reach_have_the_whole_error_at_the_lower_end():
    values = np.repeat([0.0, 1.0], [28, 2])
    two_sided, one_sided = (tilting_interval(values, np.ones(30), level)[0] for level in (0.95, 0.9))
    assert tilting_interval(values, np.ones(30), 0.95, reach=0.2)[0] == pytest.approx(one_sided)
    assert tilting_interval(values, np.ones(30), 0.95, reach=0.001)[0] == pytest.approx(two_sided)
    between = (two_sided + one_sided) / 2
    assert tilting_interval(values, np.ones(30), 0.95, reach=between)[0] == pytest.approx(between)


def test_weights_count_as_kish_says():
    values = np.random.default_rng(1).exponential(1.0, 60)
    twice = tilting_interval(values, np.full(60, 2.0), 0.95)
    assert twice == pytest.approx(tilting_interval(values, np.ones(60), 0.95))
    # Each value again with a tenth of the weight: the same mean, and 60 * 1.1^2 / 1.01 = 71.9 values.
    more = tilting_interval(np.tile(values, 2), np.repeat([1.0, 0.1], 60), 0.95)
    assert (more[1] - more[0]) / (twice[1] - twice[0]) == pytest.approx((60 / 71.9) ** 0.5, rel=0.03)


def test_possible_losses_keep_their_weight_and_mean():
    rng = np.random.default_rng(2)
    proba = rng.dirichlet(np.ones(5), 200).T
    loss = -np.log(proba)
    value, weight = possible_losses(loss, proba, items=2.0, mislabelled=0.0)
    assert len(value) <= 257
    assert weight.sum() == pytest.approx(2.0)
    assert weight @ value / 2.0 == pytest.approx((proba * loss).sum() / 200)


def test_a_wrong_label_costs_the_mean_of_all_classes_but_the_best():
    loss, proba = np.array([[0.1, 3.0], [2.0, 0.2], [4.0, 5.0]]), np.full((3, 2), 1 / 3)
    value, weight = possible_losses(loss, proba, items=2.0, mislabelled=0.1)
    assert value[-1] == pytest.approx((2.0 + 4.0 + 3.0 + 5.0) / 4)
    assert weight[-1] == pytest.approx(0.2)
