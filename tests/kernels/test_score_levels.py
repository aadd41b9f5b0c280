"""Levels of scores, against arithmetic done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.kernels.confusion.score_levels import (
    N_LEVELS,
    SOFT_WEIGHT,
    from_the_cut,
    level_at,
    level_shares,
    limited_counts,
    score_cuts,
    score_levels,
)


def cuts(scores, share=0.6, second=None, weight=None):
    scores = np.asarray(scores, dtype=float)
    known = np.full(len(scores), np.nan) if second is None else np.asarray(second, dtype=float)
    return score_cuts(scores, lambda: known, share, weight)


def above(value):
    return np.nextafter(value, np.inf)


def test_few_values_are_levels_and_many_are_cut_at_tenths():
    assert cuts([3.0, 1.0, 3.0, 7.0]).bounds.tolist() == [above(1.0), 7.0]
    lower, upper = [above(each) for each in (9.0, 19.0, 29.0, 39.0, 49.0)], [60.0, 70.0, 80.0, 90.0]
    assert cuts(np.arange(100.0)).bounds.tolist() == lower + upper
    assert cuts(np.arange(100.0), share=0.4).bounds.tolist() == [*lower[:-1], 50.0, *upper]
    assert cuts([5.0, 5.0]).bounds.tolist() == []
    assert cuts([]).bounds.tolist() == []


def test_a_cut_is_where_it_is_nearest_to_a_tenth():
    # 27 values: a tenth is at 2.7 of them, three tenths at 8.1, eight tenths at 21.6.
    bounds = cuts(np.arange(27.0)).bounds
    assert bounds[[0, 2]].tolist() == [above(2.0), above(7.0)]
    assert bounds[7] == 22.0


def test_ties_at_the_lowest_value_are_one_level():
    found = cuts(np.concatenate([np.zeros(85), np.arange(1.0, 16.0)]))
    assert len(found.bounds) < N_LEVELS - 1
    assert score_levels(np.zeros(1), found.bounds).tolist() == [0]


def test_scores_beyond_those_of_the_fit_are_in_the_outer_levels():
    assert score_levels(np.array([-9.0, 0.0, 1.0, 99.0]), np.array([1.0, 2.0])).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(("share", "upper"), [(0.1, 4), (0.5, 2), (0.9, 1)])
def test_the_sides_are_cut_where_as_many_scores_are_above_as_the_class_has_items(share, upper):
    # Ten scores at 0..4, two each: above level 1, 2, 3, 4 there are 80, 60, 40 and 20 %. With a share of one half,
    # neither 60 nor 40 % are nearer; the items in the middle are known to be of the second class.
    found = cuts(np.repeat(np.arange(5.0), 2), share, second=[np.nan] * 4 + [1.0, 1.0] + [np.nan] * 4)
    assert found.upper == {0.1: 4, 0.5: 2, 0.9: 1}[share] == upper
    assert not found.silent.any()


def test_what_is_in_the_middle_and_on_no_side_says_nothing():
    scores = np.repeat(np.arange(5.0), 2)
    for second in (None, [np.nan] * 4 + [0.0, 1.0] + [np.nan] * 4):
        found = cuts(scores, 0.5, second)
        assert (found.bounds.tolist(), found.upper) == ([above(0.0), 3.0, 4.0], 2)
        assert found.silent.tolist() == [above(1.0), 3.0]
    lower = cuts(scores, 0.5, [np.nan] * 4 + [0.0, 0.5] + [np.nan] * 4)
    assert (lower.upper, lower.silent.tolist()) == (3, [0.0, 0.0])
    # Of two scores, as many on each side, only new ones are in the middle.
    assert cuts([1.0, 4.0], 0.5).silent.tolist() == [above(1.0), 4.0]
    assert not cuts([1.0, 4.0], 0.4).silent.any()


def test_levels_are_counted_from_the_cut():
    level = np.arange(4)
    assert from_the_cut(level, 3).tolist() == [-2.5, -1.5, -0.5, 0.5]
    assert level_at(from_the_cut(level, 3), 3).tolist() == level.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_reversed_scores_are_cut_in_the_mirror(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    scores = rng.choice([rng.normal(size=n), rng.integers(-2, 3, n), np.round(rng.normal(size=n), 1)][seed % 3], n)
    second = rng.choice([np.nan, 0.0, 0.5, 1.0], n)
    weight = rng.choice([0.5, 1.0, 2.0], n) if seed % 2 else None
    new = np.concatenate([scores, rng.normal(size=200), np.arange(-30, 31) / 20])
    for share in (0.5, 0.3, float(rng.random())):
        one, other = cuts(scores, share, second, weight), cuts(-scores, 1.0 - share, 1.0 - second, weight)
        level, mirrored = score_levels(new, one.bounds), score_levels(-new, other.bounds)
        speaks, also = (
            ~((at >= found.silent[0]) & (at < found.silent[1])) for at, found in ((new, one), (-new, other))
        )
        assert np.array_equal(speaks, also)
        assert np.array_equal(level[speaks], len(one.bounds) - mirrored[speaks])
        if len(one.bounds):
            assert other.upper == len(one.bounds) + 1 - one.upper


@pytest.mark.parametrize("seed", range(10))
def test_only_the_rank_of_scores_matters(seed):
    rng = np.random.default_rng(seed)
    scores, new = np.round(rng.normal(size=51), seed % 3), rng.normal(size=200)
    one, other = cuts(scores, 0.5), cuts(np.exp(scores), 0.5)
    assert np.array_equal(score_levels(new, one.bounds), score_levels(np.exp(new), other.bounds))
    assert one.upper == other.upper


def test_without_counts_a_level_says_nothing_beyond_its_side():
    shares = level_shares(np.zeros((1, N_LEVELS, 2)), np.array([4]), np.array([2]))
    assert np.allclose(shares[0, :4], 0.5)  # two levels on each side
    assert np.allclose(shares[0, 4:], 1.0)  # levels that the member does not have


def test_shares_of_a_side_sum_to_one_and_follow_many_counts():
    counts = np.zeros((1, N_LEVELS, 2))
    counts[0, :4] = np.array([[600.0, 100.0], [200.0, 100.0], [100.0, 200.0], [100.0, 600.0]]) * 100
    shares = level_shares(counts, np.array([4]), np.array([2]))[0]
    assert np.allclose(shares[:2].sum(axis=0), 1.0)
    assert np.allclose(shares[2:4].sum(axis=0), 1.0)
    assert np.allclose(shares[:4], [[0.75, 0.5], [0.25, 0.5], [0.5, 0.25], [0.5, 0.75]], atol=0.01)


def test_a_case_by_hand():
    # Two levels on the lower side and one above; one count, at level 0 where class 0 is true.
    counts = np.zeros((1, N_LEVELS, 2))
    counts[0, 0, 0] = 1.0
    near, far = np.exp(-0.5), np.exp(-2.0)
    smooth = np.array([1.0, near, far]) / (1.0 + near + far)  # of that count over the three levels
    marginal = (smooth + 1 / 3) / 2.0  # it and a third of a count each, of two in all
    first, second = smooth + 8.0 * marginal, 8.0 * marginal
    first, second = first / first.sum(), second / second.sum()
    shares = level_shares(counts, np.array([3]), np.array([2]))[0]
    assert np.allclose(shares[:2, 1], second[:2] / second[:2].sum())
    # Class 0 has its count besides s times that; s is the same on both levels, from 1 to 5,000.
    ratio = shares[0, 0] / shares[1, 0]
    strengths = np.geomspace(1.0, 5000.0, 16)
    assert np.isclose(((1.0 + strengths * first[0]) / (strengths * first[1])), ratio).any()


def test_strength_is_shared_between_neighbouring_levels():
    counts = np.zeros((1, N_LEVELS, 2))
    counts[0, 0], counts[0, 4] = [10.0, 0.0], [0.0, 10.0]
    shares = level_shares(counts, np.array([5]), np.array([5]))[0]
    odds = shares[:5, 0] / shares[:5, 1]
    assert (np.diff(odds) < 0).all()  # also at levels that were never seen


def test_soft_counts_weigh_no_more_than_a_few_labels():
    labelled = np.zeros((N_LEVELS, 2))
    labelled[0] = [5.0, 1.0]
    soft = np.zeros((N_LEVELS, 2))
    soft[1] = [300.0, 0.0]
    found = limited_counts(labelled + soft, labelled)
    assert np.allclose(found[0], [5.0, 1.0])
    assert np.allclose(found[1], [SOFT_WEIGHT, 0.0])
    few = labelled.copy()
    few[1] = [2.0, 0.0]
    assert np.allclose(limited_counts(few, labelled), few)


def test_what_is_known_of_items_is_asked_only_where_it_decides():
    def unknown():
        raise AssertionError("asked")

    scores = np.arange(9.0)  # the middle one may be on either side
    assert score_cuts(scores, unknown, 0.6).upper == 4
    assert score_cuts(scores[1:], unknown, 0.5).upper == 4
    with pytest.raises(AssertionError, match="asked"):
        score_cuts(scores, unknown, 0.5)
