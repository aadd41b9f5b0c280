"""Mutual information against arithmetic by hand, scikit-learn and shuffling one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import mutual_info_score

from twoheads.kernels.scoring import information


def _three_labels(n=200, seed=0):
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 3, n)
    first = (given + (rng.random(n) < 0.4)) % 3
    second = (given + (rng.random(n) < 0.3) * rng.integers(0, 4, n)) % 4
    return first, second, given


def test_joint_codes_are_equal_where_all_codes_are():
    codes = information.joint_codes(np.array([0, 0, 1, 1, 0]), np.array([5, 5, 5, 0, 0]), np.array([2, 2, 2, 2, 0]))
    assert (codes[:, None] == codes).sum() == 5 + 2  # each with itself, and the first two with each other


def test_count_log_count_by_hand():
    assert information.count_log_count(np.array([4, 4, 4, 0])) == pytest.approx(3 * np.log(3))


def test_mutual_information_by_hand():
    # 3/8 on the diagonal, 1/8 off it, margins 1/2: 2 (3/8 log 3/2 + 1/8 log 1/2)
    first = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    second = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    expected = 2 * (3 / 8 * np.log(3 / 2) + 1 / 8 * np.log(1 / 2))
    assert information.mutual_information(first, second) == pytest.approx(expected, abs=1e-14)


def test_mutual_information_is_scikit_learns():
    first, second, _ = _three_labels()
    assert information.mutual_information(first, second) == pytest.approx(mutual_info_score(first, second), abs=1e-12)


def test_conditional_mutual_information_is_the_mean_over_conditions():
    first, second, given = _three_labels()
    expected = sum(
        (given == value).mean() * mutual_info_score(first[given == value], second[given == value]) for value in range(3)
    )
    assert information.conditional_mutual_information(first, second, given) == pytest.approx(expected, abs=1e-12)


def test_information_is_never_negative_by_rounding():
    constant = np.zeros(7, dtype=np.intp)
    assert information.mutual_information(np.arange(7), constant) == 0.0
    assert information.conditional_mutual_information(np.arange(7), np.arange(7), np.arange(7)) == 0.0


def _by_definition(table):
    """I(A; B | C) from a table of counts, [c, a, b], by its definition."""
    p = table / table.sum()
    independent = p.sum(2, keepdims=True) * p.sum(1, keepdims=True) / p.sum((1, 2), keepdims=True)
    return (p[p > 0] * np.log(p[p > 0] / independent[p > 0])).sum()


def test_permutations_have_the_distribution_of_shuffling_one_by_one():
    first, second, given = _three_labels(n=60)
    rng = np.random.default_rng(7)
    drawn = information.permuted_conditional_mutual_information(first, second, given, 2000, rng)
    shuffled = np.empty(2000)
    for turn in range(2000):
        mixed = second.copy()
        for value in range(3):
            mixed[given == value] = rng.permutation(mixed[given == value])
        table = np.zeros((3, 3, 4))
        np.add.at(table, (given, first, mixed), 1.0)
        shuffled[turn] = _by_definition(table)
    assert drawn.mean() == pytest.approx(shuffled.mean(), rel=0.03)
    assert ks_2samp(drawn.round(9), shuffled.round(9)).pvalue > 0.001


def test_permutations_leave_what_cannot_change():
    first, given = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1])
    drawn = information.permuted_conditional_mutual_information(
        first, np.array([3, 3, 3, 1]), given, 5, np.random.default_rng(0)
    )
    # in the first group both labels are constant; in the second, half of the items, all pairs differ: log 2
    np.testing.assert_allclose(drawn, np.log(2) / 2)


def test_permutations_come_in_blocks_of_bounded_size(monkeypatch):
    first, second, given = _three_labels(n=60)
    monkeypatch.setattr(information, "TABLE_BLOCK", 24)
    drawn = information.permuted_conditional_mutual_information(first, second, given, 101, np.random.default_rng(0))
    assert drawn.shape == (101,)
    assert np.isfinite(drawn).all()
    assert drawn.std() > 0


def test_a_single_permutation_is_one_number():
    first, second, given = _three_labels(n=60)
    drawn = information.permuted_conditional_mutual_information(first, second, given, 1, np.random.default_rng(0))
    assert drawn.shape == (1,)
