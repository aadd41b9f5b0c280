from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from twoheads.kernels.inference.grouped_rows import (
    cluster_count,
    group_means,
    kish_count,
    mean_variances,
    one_group,
    rows_of,
)
from twoheads.kernels.inference.intervals import (
    design_effect,
    effective_counts,
    jeffreys_interval,
)
from twoheads.kernels.inference.prediction_powered import Moments, pooled, powered_means, unit_moments


def sample(n=40, more=200, seed=0, link=0.8):
    """Outcomes and beliefs that resemble them; beliefs alone of more rows."""
    rng = np.random.default_rng(seed)
    belief = rng.random(n + more)
    outcome = (rng.random(n + more) < link * belief + 0.1) * 1.0
    return outcome[:n], belief[:n], belief[n:]


def powered(outcome, belief, elsewhere, **options):
    return powered_means(outcome, belief, one_group(len(outcome)), elsewhere, one_group(len(elsewhere)), **options)


def test_by_hand():
    # y = 0, 1, 1, 1 and f = 0, 1/2, 1, 1: sample moments 1/4, 5/24, 11/48; f elsewhere 0 once and 1 seven times: 1/8,
    # and with the spread of the labelled ones, by degrees of freedom, (7/8 + 3 * 11/48) / 10
    outcome, belief = np.array([0, 1, 1, 1.0]), np.array([0, 0.5, 1, 1.0])
    found = powered(outcome, belief, np.array([0, 1, 1, 1, 1, 1, 1, 1.0]))
    elsewhere = (7 / 8 + 3 * 11 / 48) / 10
    tuning = (5 / 24) / (11 / 48 + 4 / 8 * elsewhere)
    left = (1 / 4 - 2 * tuning * 5 / 24 + tuning**2 * 11 / 48) / 4 * 3 / 2  # 3/2: lambda is learnt
    left += tuning**2 * elsewhere / 8
    assert found.tuning == pytest.approx(tuning)
    assert found.value == pytest.approx(0.75 + tuning * (7 / 8 - 5 / 8))
    assert found.variance == pytest.approx(left)


def test_lambda_is_that_of_the_paper_with_as_much_spread_in_both_parts():
    rng = np.random.default_rng(0)
    belief = rng.random(50)
    outcome = (rng.random(50) < belief) * 1.0
    found = powered(outcome, belief, np.tile(belief, 4))
    covariance = np.cov(outcome, belief)
    spread = (49 * covariance[1, 1] + 199 * np.var(np.tile(belief, 4), ddof=1)) / 248
    assert found.tuning == pytest.approx(covariance[0, 1] / (covariance[1, 1] + 50 / 200 * spread))


def test_without_use_it_is_the_classical_mean():
    outcome, _, _ = sample()
    found = powered(outcome, np.full(40, 0.5), np.full(200, 0.5))
    assert found.tuning == 0
    assert found.value == pytest.approx(outcome.mean())
    assert found.variance == pytest.approx(outcome.var(ddof=1) / 40)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("link", [-0.8, 0.0, 0.8])
def test_never_wider_than_the_labelled_rows_alone(seed, link):
    rng = np.random.default_rng(seed)
    outcome, belief, elsewhere = sample(15, 30, seed, abs(link))
    belief = belief if link > 0 else rng.random(15)
    found = powered(outcome, belief, elsewhere)
    assert found.variance <= outcome.var(ddof=1) / 15 + 1e-15
    assert 0 <= found.tuning <= 1


def test_without_unlabelled_rows_beliefs_change_nothing():
    outcome, belief, _ = sample()
    found = powered(outcome, belief, np.zeros(0))
    assert found.value == outcome.mean()
    assert found.share == 1


def test_the_order_of_rows_and_the_names_of_groups_change_nothing():
    outcome, belief, elsewhere = sample(60, 90)
    rng = np.random.default_rng(1)
    here, there = rng.integers(0, 3, 60), rng.integers(0, 3, 90)
    cluster = rng.integers(0, 20, 60)
    first = powered_means(outcome, belief, rows_of(here, 3, cluster=cluster), elsewhere, rows_of(there, 3))
    order, name = rng.permutation(60), np.array([2, 0, 1])
    again = powered_means(
        outcome[order],
        belief[order],
        rows_of(name[here[order]], 3, cluster=100 - cluster[order]),
        elsewhere,
        rows_of(name[there], 3),
    )
    for one, other in zip(first, again, strict=True):
        assert other[name] == pytest.approx(one)


def test_weight_two_is_a_row_twice_in_its_cluster():
    outcome, belief, elsewhere = sample(20, 50)
    weight, cluster = np.where(np.arange(20) < 5, 2.0, 1.0), np.arange(20)
    there = one_group(50)
    weighted = powered_means(outcome, belief, one_group(20, cluster=cluster, weight=weight), elsewhere, there)
    twice = np.concatenate([np.arange(20), np.arange(5)])
    repeated = powered_means(outcome[twice], belief[twice], one_group(25, cluster=cluster[twice]), elsewhere, there)
    for one, other in zip(weighted, repeated, strict=True):
        assert one == pytest.approx(other)


def test_groups_are_what_each_is_by_itself():
    outcome, belief, elsewhere = sample(60, 120)
    here, there = np.arange(60) % 3, np.arange(120) % 3
    together = powered_means(outcome, belief, rows_of(here, 3), elsewhere, rows_of(there, 3))
    for group in range(3):
        each = powered(outcome[here == group], belief[here == group], elsewhere[there == group])
        for one, other in zip(together, each, strict=True):
            assert one[group] == pytest.approx(other[0])


def test_an_empty_group_is_no_trouble():
    outcome, belief, elsewhere = sample(10, 20)
    zeros = np.zeros(10, dtype=int), np.zeros(20, dtype=int)
    found = powered_means(outcome, belief, rows_of(zeros[0], 2), elsewhere, rows_of(zeros[1], 2))
    assert found.value[1] == 0
    assert found.tuning[1] == 0


def test_clustered_variance_is_that_of_the_clusters_means():
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(12), 4)
    values = rng.normal(size=48) + rng.normal(size=12)[cluster]
    means = values.reshape(12, 4).mean(axis=1)
    assert mean_variances(values, one_group(48, cluster=cluster)) == pytest.approx(means.var(ddof=1) / 12)
    assert cluster_count(one_group(48, cluster=cluster)) == pytest.approx(12)


def test_weighted_means_and_kish_count_by_hand():
    rows = rows_of(np.array([0, 0, 1]), 2, weight=np.array([1.0, 3.0, 5.0]))
    assert group_means(np.array([0.0, 1.0, 0.5]), rows) == pytest.approx([0.75, 0.5])
    assert kish_count(rows) == pytest.approx([16 / 10, 1.0])


def test_covers_whatever_the_beliefs_are():
    held = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = rng.random(460) < 0.7
        belief = np.where(truth, 0.4, 0.1) + 0.2 * rng.random(460)  # far too low, yet telling
        found = powered(truth[:60] * 1.0, belief[:60], belief[60:])
        low, high = jeffreys_interval(*effective_counts(truth[:60] * 1.0, one_group(60), found), 0.9)
        held.append(low[0] <= 0.7 <= high[0])
    assert 0.85 <= np.mean(held) <= 0.95


def test_jeffreys_is_that_of_scipy():
    low, high = jeffreys_interval(np.array([3.0, 0.0, 8.0, 0.0]), np.array([8.0, 8.0, 8.0, 0.0]), 0.9)
    assert (low[0], high[0]) == pytest.approx(stats.beta.interval(0.9, 3.5, 5.5))
    assert (low[1], high[2], low[3], high[3]) == (0, 1, 0, 1)


def test_design_effect_is_one_without_clusters_and_their_size_where_they_agree():
    outcome = np.array([0, 1, 1, 0, 1, 1.0])
    assert design_effect(outcome, one_group(6)) == pytest.approx(1.0)
    cluster = np.repeat(np.arange(6), 4)
    assert design_effect(outcome[cluster], one_group(24, cluster=cluster)) == pytest.approx(4.0)
    assert design_effect(np.ones(24), one_group(24, cluster=cluster)) == pytest.approx(4.0)


def test_effective_counts_of_labelled_rows_alone_are_the_counts():
    outcome = np.array([0, 1, 1, 0, 1, 1.0])
    means = powered(outcome, np.zeros(6), np.zeros(9))
    right, count = effective_counts(outcome, one_group(6), means)
    assert (right[0], count[0]) == pytest.approx((4, 6))


@pytest.mark.parametrize("n_unlabelled", [1, 2, 5])
@pytest.mark.parametrize("n_people", [1, 3])
def test_a_few_items_without_a_label_do_not_make_a_mean_sure(n_unlabelled, n_people):
    """Of 30 labelled items and a few more, 95 % intervals cover: one item's belief shows no spread of its own."""
    rng, n, covered, repeats = np.random.default_rng(n_unlabelled), 30, 0, 600
    difficulty = 1.2 * rng.normal(size=200_000)
    truth = float(np.mean(1 / (1 + np.exp(difficulty - 1.7))))
    here, there = (
        one_group(items * n_people, cluster=np.repeat(np.arange(items), n_people)) for items in (n, n_unlabelled)
    )
    for _ in range(repeats):
        chance = 1 / (1 + np.exp(1.2 * rng.normal(size=(n + n_unlabelled, 1)) - 1.7))
        right = (rng.random((n + n_unlabelled, n_people)) < chance).astype(float)
        belief = 0.6 * right + 0.4 * chance
        means = powered_means(right[:n].ravel(), belief[:n].ravel(), here, belief[n:].ravel(), there)
        low, high = jeffreys_interval(*effective_counts(right[:n].ravel(), here, means), 0.95)
        covered += low[0] <= truth <= high[0]
    assert 0.92 <= covered / repeats <= 0.98


def test_beliefs_spread_alike_with_and_without_a_label():
    # labelled beliefs .2, .4, .6, .8: variance .2/3 with three degrees of freedom; unlabelled .3, .5: .02 with one
    outcome, belief = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.2, 0.4, 0.6, 0.8])
    here, there = one_group(4), one_group(2)
    moments = unit_moments(outcome, belief, here, np.array([0.3, 0.5]), there)
    np.testing.assert_allclose(moments.elsewhere, (3 * 0.2 / 3 + 1 * 0.02) / 4)
    alone = unit_moments(outcome, belief, here, np.array([0.3]), one_group(1))
    np.testing.assert_allclose(alone.elsewhere, 0.2 / 3)


def test_the_design_effect_of_few_clusters_allows_for_what_they_do_not_show():
    outcome, cluster = np.array([1, 0, 1, 1, 0, 1, 1, 1, 0, 1.0]), np.repeat(np.arange(5), 2)
    plain = 5 / 4 * (3 * 0.4**2 + 2 * 0.6**2) / 10 / 0.21  # sums about the share of 0.7, over five items
    by_hand = plain * (2.7764451 / 2.2621572) ** 2  # Student's quantiles of four and nine degrees of freedom
    assert design_effect(outcome, one_group(10, cluster=cluster)) == pytest.approx(by_hand)


@pytest.mark.parametrize("n_items", [2, 3, 5, 10])
def test_the_share_of_all_answers_covers_with_few_items_that_are_hard_for_all(n_items):
    rng, n_people = np.random.default_rng(n_items), 10
    easy = stats.logistic.cdf(1.5 + 2.0 * rng.normal(size=100_000))
    rows = one_group(n_items * n_people, cluster=np.repeat(np.arange(n_items), n_people))
    covered = []
    for _ in range(400):
        right = 1.0 * (rng.random((n_items, n_people)) < rng.choice(easy, n_items)[:, None]).ravel()
        means = powered_means(right, right, rows, np.empty(0), one_group(0))
        low, high = jeffreys_interval(*effective_counts(right, rows, means), 0.95)
        covered.append(low[0] <= easy.mean() <= high[0])
    assert np.mean(covered) > 0.91


def test_pooled_moments_by_hand():
    """Of three and two labelled items ``(2 M_1 + 5 M) / 7`` and ``(1 M_2 + 5 M) / 6``, ``M = (2 M_1 + M_2) / 3``."""
    own, elsewhere = np.array([0.3, 0.0]), np.array([0.2, 0.1])
    here, there = rows_of(np.array([0, 0, 0, 1, 1]), 2), rows_of(np.array([0, 1, 1, 1]), 2)
    found = pooled(Moments(own, own, own, elsewhere), here, there, 5.0)
    assert found.outcome == pytest.approx([(2 * 0.3 + 5 * 0.2) / 7, (0.0 + 5 * 0.2) / 6])
    assert found.elsewhere == pytest.approx([0.1, (2 * 0.1 + 5 * 0.1) / 7])  # no and two degrees of freedom
