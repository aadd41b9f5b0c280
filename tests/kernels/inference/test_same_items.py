"""Whether two tables are of the same items, where nothing in a single row tells."""

import numpy as np
import pytest
from scipy.stats import binom, chi2, multinomial

from twoheads.kernels.inference.same_items import (
    aligned_p_value,
    equal_counts_p_value,
    other_numbers_p_value,
    other_values_p_value,
)


def test_agreement_at_every_shift_by_hand():
    # All four rows agree where they begin together; at the next shifts 0 of 3, 2 of 2 and 0 of 1 on either side.
    first = np.array([0, 1, 0, 1])
    overall, near = (4 + 2 * 2) / 16, (4 + 0.5) / (12 + 1)
    assert aligned_p_value(first, first) == pytest.approx(2 * binom.sf(3, 4, max(overall, near)))


@pytest.mark.parametrize("shift", [0, 40, 150])
def test_the_same_rows_are_seen_at_any_shift_and_with_some_values_changed(shift):
    rng = np.random.default_rng(shift)
    first = rng.integers(0, 3, 300)
    again = first[shift : shift + 100].copy()
    again[:15] = (again[:15] + 1) % 3
    assert aligned_p_value(first, again) < 1e-6


@pytest.mark.parametrize("in_order", [False, True])
def test_other_rows_seldom_look_the_same(in_order):
    rng = np.random.default_rng(7)
    chances = []
    for _ in range(200):
        truths = [rng.integers(0, 3, 60) for _ in range(2)]
        truths = [np.sort(truth) if in_order else truth for truth in truths]
        first, second = (np.where(rng.random(60) < 0.8, truth, rng.integers(0, 3, 60)) for truth in truths)
        chances.append(aligned_p_value(first, second))
    assert np.mean(np.array(chances) < 0.01) <= 0.03  # 0.01, and three standard errors


def test_rows_that_are_all_alike_show_nothing():
    assert aligned_p_value(np.zeros(50, dtype=int), np.zeros(50, dtype=int)) == 1.0


def test_numbers_of_another_kind_are_seen():
    rng = np.random.default_rng(3)
    first, second = rng.random((2, 200)), rng.random((2, 150))
    assert other_numbers_p_value(first, second) > 0.01 > other_numbers_p_value(first, second**3)


def test_frequencies_by_hand():
    first, second = np.repeat([0, 1], [30, 20]), np.repeat([0, 1], [20, 30])
    # Expected are 25 of each: 4 times 25 / 25.
    assert other_values_p_value(first, second) == pytest.approx(chi2.sf(4.0, 1))
    assert other_values_p_value(np.zeros(9, dtype=int), np.zeros(5, dtype=int)) == 1.0


def test_equal_counts_come_by_chance_as_often_as_two_draws_agree():
    first = np.repeat([0, 1, 2], [20, 12, 8])
    shares, counts = np.array([20, 12, 8]) / 40, [(a, b, 40 - a - b) for a in range(41) for b in range(41 - a)]
    by_chance = (multinomial.pmf(counts, 40, shares) ** 2).sum()
    assert equal_counts_p_value(first, first[::-1]) == pytest.approx(by_chance, rel=0.05)
    assert equal_counts_p_value(first, np.repeat([0, 1, 2], [21, 11, 8])) == 1.0
    assert equal_counts_p_value(first, first[1:]) == 1.0


def test_few_numbers_that_are_wholly_apart_are_as_likely_as_counting_says():
    assert other_numbers_p_value(np.zeros((1, 1)), np.ones((1, 1))) == 1.0
    first, second = np.arange(4.0)[None], 10.0 + np.arange(4.0)[None]
    assert other_numbers_p_value(first, second) == pytest.approx(2 / 70)  # of the choices of four of eight, two
