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
    middle_cut,
    score_cuts,
    score_levels,
    sides_of,
)


def cuts(scores, share=0.6, second=None, weight=None):
    scores = np.asarray(scores, dtype=float)
    known = np.full(len(scores), np.nan) if second is None else np.asarray(second, dtype=float)
    return score_cuts(scores, lambda: known, np.array([1.0 - share, share]), weight)


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
    assert found.cuts.tolist() == [upper]
    assert not found.silent.any()


def test_what_is_in_the_middle_and_on_no_side_says_nothing():
    scores = np.repeat(np.arange(5.0), 2)
    for second in (None, [np.nan] * 4 + [0.0, 1.0] + [np.nan] * 4):
        found = cuts(scores, 0.5, second)
        assert (found.bounds.tolist(), found.cuts.tolist()) == ([above(0.0), 3.0, 4.0], [2])
        assert found.silent.tolist() == [above(1.0), 3.0]
    lower = cuts(scores, 0.5, [np.nan] * 4 + [0.0, 0.5] + [np.nan] * 4)
    assert (lower.cuts.tolist(), lower.silent.tolist()) == ([3], [0.0, 0.0])
    # Of two scores, as many on each side, only new ones are in the middle.
    assert cuts([1.0, 4.0], 0.5).silent.tolist() == [above(1.0), 4.0]
    assert not cuts([1.0, 4.0], 0.4).silent.any()


def test_levels_are_counted_from_the_cut():
    level = np.arange(4)
    assert from_the_cut(level, 3).tolist() == [-2.5, -1.5, -0.5, 0.5]
    assert level_at(from_the_cut(level, 3), 3).tolist() == level.tolist()
    # Of three classes from the middle of the middle class, so that they are negative in the mirror.
    cuts = np.array([[1, 2], [2, 4]])
    assert middle_cut(cuts).tolist() == [1.5, 3.0]
    assert from_the_cut(level, middle_cut(cuts[:, 0])).tolist() == [-1.0, 0.0, 1.0, 2.0]
    assert level_at(from_the_cut(level, 1.5), 1.5).tolist() == level.tolist()


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
            assert other.cuts == len(one.bounds) + 1 - one.cuts


@pytest.mark.parametrize("seed", range(10))
def test_only_the_rank_of_scores_matters(seed):
    rng = np.random.default_rng(seed)
    scores, new = np.round(rng.normal(size=51), seed % 3), rng.normal(size=200)
    one, other = cuts(scores, 0.5), cuts(np.exp(scores), 0.5)
    assert np.array_equal(score_levels(new, one.bounds), score_levels(np.exp(new), other.bounds))
    assert np.array_equal(one.cuts, other.cuts)


def test_without_counts_a_level_says_nothing_beyond_its_side():
    shares = level_shares(np.zeros((1, N_LEVELS, 2)), np.array([4]), np.array([[2]]))
    assert np.allclose(shares[0, :4], 0.5)  # two levels on each side
    assert np.allclose(shares[0, 4:], 1.0)  # levels that the member does not have


def test_shares_of_a_side_sum_to_one_and_follow_many_counts():
    counts = np.zeros((1, N_LEVELS, 2))
    counts[0, :4] = np.array([[600.0, 100.0], [200.0, 100.0], [100.0, 200.0], [100.0, 600.0]]) * 100
    shares = level_shares(counts, np.array([4]), np.array([[2]]))[0]
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
    shares = level_shares(counts, np.array([3]), np.array([[2]]))[0]
    assert np.allclose(shares[:2, 1], second[:2] / second[:2].sum())
    # Class 0 has its count besides s times that; s is the same on both levels, from 1 to 5,000.
    ratio = shares[0, 0] / shares[1, 0]
    strengths = np.geomspace(1.0, 5000.0, 16)
    assert np.isclose(((1.0 + strengths * first[0]) / (strengths * first[1])), ratio).any()


def test_strength_is_shared_between_neighbouring_levels():
    counts = np.zeros((1, N_LEVELS, 2))
    counts[0, 0], counts[0, 4] = [10.0, 0.0], [0.0, 10.0]
    shares = level_shares(counts, np.array([5]), np.array([[5]]))[0]
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
    assert score_cuts(scores, unknown, np.array([0.4, 0.6])).cuts == 4
    assert score_cuts(scores[1:], unknown, np.full(2, 0.5)).cuts == 4
    with pytest.raises(AssertionError, match="asked"):
        score_cuts(scores, unknown, np.full(2, 0.5))


def graded(scores, shares, ranks=None, weight=None):
    scores = np.asarray(scores, dtype=float)
    known = np.full(len(scores), np.nan) if ranks is None else np.asarray(ranks, dtype=float)
    return score_cuts(scores, lambda: known, np.asarray(shares, dtype=float), weight)


def test_sides_of_three_classes_by_hand():
    # Two scores each at 0..4: below levels 1, 2, 3, 4 there are 20, 40, 60 and 80 %; below the classes 30 and 70 %, as
    # far from 20 as from 40, and from 60 as from 80: towards the middle.
    scores = np.repeat(np.arange(5.0), 2)
    assert graded(scores, [0.3, 0.4, 0.3]).cuts.tolist() == [2, 3]
    assert graded(scores, [0.1, 0.3, 0.6]).cuts.tolist() == [1, 2]
    assert graded(scores, [0.6, 0.25, 0.15]).cuts.tolist() == [3, 4]
    # Both are nearest to 80 %: every class has a level if there are enough.
    assert graded(scores, [0.8, 0.15, 0.05]).cuts.tolist() == [3, 4]
    assert sides_of(np.arange(5), np.array([3, 4])).tolist() == [0, 0, 0, 1, 2]


def test_scores_that_are_the_classes_are_these_classes_whatever_the_shares():
    scores = np.repeat(np.arange(1.0, 6.0), [60, 20, 10, 6, 4])
    assert graded(scores, np.full(5, 0.2)).cuts.tolist() == [1, 2, 3, 4]


def test_with_fewer_levels_than_classes_some_are_never_the_answer():
    found = graded([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], np.full(5, 0.2))
    assert found.cuts.tolist() == [1, 1, 2, 2]
    assert sides_of(np.arange(3), found.cuts).tolist() == [0, 2, 4]
    assert graded([4.0, 4.0], np.full(3, 1 / 3)).cuts.tolist() == [1, 1]
    assert graded([1.0, 4.0], np.full(3, 1 / 3)).silent.tolist() == [above(1.0), 4.0]  # new ones between the two


def test_the_middle_class_has_what_is_in_the_middle():
    scores = np.repeat(np.arange(5.0), 2)
    odd, even = graded(scores, np.full(3, 1 / 3)), graded(scores, np.full(4, 0.25))
    assert odd.cuts.tolist() == [2, 3]
    assert not odd.silent.any()
    assert even.silent.tolist() == [above(1.0), 3.0]
    assert even.cuts.tolist() == [1, 2, 3]


@pytest.mark.parametrize("seed", range(120))
def test_reversed_grades_are_cut_in_the_mirror(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(1, 60)), int(rng.integers(3, 7))
    scores = rng.choice([rng.normal(size=n), rng.integers(-2, 3, n), np.round(rng.normal(size=n), 1)][seed % 3], n)
    ranks, weight = rng.choice([np.nan, 0.0, 0.5, 1.0], n), rng.choice([0.5, 1.0, 2.0], n) if seed % 2 else None
    if seed % 5 == 0:  # nothing leans
        scores, ranks, weight = np.concatenate([scores, -scores]), np.concatenate([ranks, 1.0 - ranks]), None
    drawn = rng.dirichlet(np.ones(n_classes))
    new = np.concatenate([scores, rng.normal(size=100), np.arange(-30, 31) / 20])
    for shares in (np.full(n_classes, 1.0 / n_classes), drawn, 0.5 * (drawn + drawn[::-1])):
        one, other = graded(scores, shares, ranks, weight), graded(-scores, shares[::-1], 1.0 - ranks, weight)
        assert len(one.bounds) == len(other.bounds) < N_LEVELS
        speaks, also = (
            ~((at >= found.silent[0]) & (at < found.silent[1])) for at, found in ((new, one), (-new, other))
        )
        assert np.array_equal(speaks, also)
        if len(one.bounds):
            level, mirrored = score_levels(new[speaks], one.bounds), score_levels(-new[speaks], other.bounds)
            assert np.array_equal(level, len(one.bounds) - mirrored)
            assert np.array_equal(sides_of(level, one.cuts), n_classes - 1 - sides_of(mirrored, other.cuts))


def test_shares_of_three_sides():
    counts = np.zeros((2, N_LEVELS, 3))
    counts[:, :4] = 1e4 * np.array([[6.0, 1.0, 1.0], [2.0, 1.0, 1.0], [1.0, 7.0, 2.0], [1.0, 1.0, 6.0]])
    shares = level_shares(counts, np.array([4, 4]), np.array([[2, 1], [3, 3]]))
    assert np.allclose(shares[0, :4], [[0.75, 0.5, 0.5], [0.25, 0.5, 0.5], [1, 1, 1], [1, 1, 1]], atol=0.01)
    assert np.allclose(shares[1, :4], [[1, 1, 1], [2 / 3, 1 / 8, 1 / 3], [1 / 3, 7 / 8, 2 / 3], [1, 1, 1]], atol=0.01)


def test_sides_of_several_members_at_once():
    cuts = np.array([[1, 2, 1], [1, 5, 3]])
    assert sides_of(np.array([0, 4, 3]), cuts).tolist() == [0, 1, 2]
