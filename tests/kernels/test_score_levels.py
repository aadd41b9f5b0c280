"""Levels of scores, against arithmetic done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.kernels.confusion.score_levels import (
    N_LEVELS,
    SOFT_WEIGHT,
    first_upper_level,
    level_shares,
    limited_counts,
    score_bounds,
    score_levels,
)


def test_few_values_are_levels_and_many_are_cut_at_tenths():
    assert score_bounds(np.array([3.0, 1.0, 3.0, 7.0])).tolist() == [3.0, 7.0]
    assert score_bounds(np.arange(100.0)).tolist() == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    assert score_bounds(np.array([5.0, 5.0])).tolist() == []
    assert score_bounds(np.empty(0)).tolist() == []


def test_ties_at_the_lowest_value_are_one_level():
    scores = np.concatenate([np.zeros(85), np.arange(1.0, 16.0)])
    bounds = score_bounds(scores)
    assert len(bounds) < N_LEVELS - 1
    assert score_levels(np.zeros(1), bounds).tolist() == [0]


def test_scores_beyond_those_of_the_fit_are_in_the_outer_levels():
    assert score_levels(np.array([-9.0, 0.0, 1.0, 99.0]), np.array([1.0, 2.0])).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(("share", "upper"), [(0.1, 4), (0.5, 2), (0.9, 1)])
def test_the_sides_are_cut_where_as_many_scores_are_above_as_the_class_has_items(share, upper):
    # Ten scores at 0..4, two each: above level 1, 2, 3, 4 there are 80, 60, 40 and 20 %.
    scores = np.repeat(np.arange(5.0), 2)
    found = first_upper_level(scores, score_bounds(scores), share)
    assert found == {0.1: 4, 0.5: 2, 0.9: 1}[share] == upper


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
