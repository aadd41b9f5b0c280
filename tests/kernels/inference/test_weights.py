"""What weighted items are worth: by hand, and against the variance of a weighted mean in draws."""

import numpy as np
import pytest

from twoheads.kernels.inference.grouped_rows import heavy, item_count, one_group, rows_of, uneven
from twoheads.kernels.inference.intervals import design_effect
from twoheads.kernels.inference.people import uneven_crowd
from twoheads.kernels.inference.weights import effective_number, heavy_factor, kish_number


def test_by_hand():
    weight, wrong = np.array([1.0, 1.0, 2.0]), np.array([1.0, 0.0, 0.0])
    assert kish_number(weight) == pytest.approx(16 / 6)
    # mean 1/4: W sum w d^2 / sum w^2 d^2 = 4 (9 + 1 + 2) / (9 + 1 + 4) = 48/14, more than Kish's number
    assert effective_number(wrong, weight) == pytest.approx(16 / 6)
    # the wrong one is the heavy one, mean 1/2: 4 (1 + 1 + 2) / (1 + 1 + 4) = 16/6 again
    assert effective_number(wrong[::-1], weight) == pytest.approx(16 / 6)
    # all 1, and one of weight 9 that is wrong: mean 1/2, 18 * 18 / (9 + 81) = 3.6; Kish 18^2 / 90 = 3.6
    heavy_one = np.append(np.ones(9), 9.0)
    assert kish_number(heavy_one) == pytest.approx(3.6)


@pytest.mark.parametrize("unit", [1.0, 1000.0, 0.01])
def test_equal_weights_are_as_many_items_in_any_unit(unit):
    values = np.random.default_rng(0).random(30)
    assert effective_number(values, np.full(30, unit)) == pytest.approx(30)
    rows = one_group(30, weight=np.full(30, unit))
    assert heavy(rows) == pytest.approx(1.0)
    assert uneven(values, rows) == pytest.approx(1.0)
    assert item_count(rows) == pytest.approx(30)


def test_it_is_never_more_than_the_items_there_are():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 40))
        weight, values = rng.gamma(0.3, size=n) + 1e-6, (rng.random(n) < 0.3) * 1.0
        assert 1.0 < effective_number(values, weight) <= kish_number(weight) + 1e-9 <= n + 1e-9


def test_where_weights_go_with_values_fewer_items_count():
    # A tenth of the items has weight 10 and is wrong in 40 %, the others have weight 1 and are wrong in 5 %.
    rng = np.random.default_rng(2)
    weight, chance = np.repeat([10.0, 1.0], [100, 900]), np.repeat([0.4, 0.05], [100, 900])
    drawn = rng.integers(0, 1000, (2000, 1000))
    wrong = rng.random(drawn.shape) < chance[drawn]
    means = (weight[drawn] * wrong).sum(axis=1) / weight[drawn].sum(axis=1)
    share, found = means.mean(), [effective_number(1.0 * one, weight[at]) for one, at in zip(wrong, drawn, strict=True)]
    assert np.mean(found) < 0.8 * kish_number(weight)
    assert share * (1 - share) / np.mean(found) == pytest.approx(means.var(), rel=0.15)


def test_a_few_heavy_items_count_as_fewer():
    assert heavy_factor(20.0, 20.0) == 1.0
    assert heavy_factor(20.0, 5.0) > 1.5
    assert heavy_factor(1000.0, 1.0) < 2.7
    rows = rows_of(np.repeat([0, 1], 20), 2, weight=np.concatenate([np.ones(20), np.full(4, 4.0), np.ones(16)]))
    assert heavy(rows)[0] == pytest.approx(1.0)
    assert heavy(rows)[1] > 1.0


def test_items_are_counted_by_the_mean_weight_of_their_rows():
    # Items of three answers and one, of weights 1 and 2: 3^2 / 5 items, not 5^2 / (9 + 4).
    rows = one_group(4, cluster=np.array([0, 0, 0, 1]), weight=np.array([1.0, 1.0, 1.0, 2.0]))
    assert item_count(rows) == pytest.approx(9 / 5)


def test_copies_of_answers_under_weights_are_one_answer():
    # Five people who answer alike: the design effect is five, whatever the weights of the items.
    rng = np.random.default_rng(3)
    weight, right = rng.integers(1, 20, 200) * 1.0, (rng.random(200) < 0.8) * 1.0
    rows = one_group(1000, cluster=np.repeat(np.arange(200), 5), weight=np.repeat(weight, 5))
    alone = one_group(200, cluster=np.arange(200), weight=weight)
    effect = design_effect(np.repeat(right, 5), rows) / design_effect(right, alone)
    assert effect == pytest.approx(5.0, rel=0.02)


def test_people_share_how_far_weights_go_with_errors():
    rows = rows_of(np.repeat([0, 1], 50), 2)
    residual = np.tile(np.append(np.full(10, 0.8), np.full(40, -0.2)), 2)
    np.testing.assert_allclose(uneven_crowd(residual, rows), 1.0)
    on_heavy = rows_of(np.repeat([0, 1], 50), 2, weight=np.where(residual > 0, 3.0, 1.0))
    assert (uneven_crowd(residual, on_heavy) > 1.0).all()
