"""Levels of confidence and "unsure", against the formulas written out and rates that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln

from twoheads.kernels.confusion.response import (
    STRENGTH,
    level_bounds,
    level_probabilities,
    levels_of,
    unsure_probabilities,
)


def test_levels_are_quarters_and_ties_merge():
    confidence = np.arange(100.0)
    bounds = level_bounds(confidence)
    assert np.bincount(levels_of(confidence, bounds)).tolist() == [25, 25, 25, 25]
    three = np.repeat([1.0, 2.0, 3.0], [10, 80, 10])
    assert level_bounds(three).tolist() == [2.0]
    assert levels_of(np.array([1.0, 2.0, 3.0, np.nan]), level_bounds(three)).tolist() == [0, 1, 1, 2]
    assert level_bounds(np.full(7, 0.5)).tolist() == []
    assert level_bounds(np.empty(0)).tolist() == []


def test_levels_do_not_depend_on_the_scale_of_confidence():
    confidence = np.random.default_rng(0).random(200)
    low, high = (levels_of(each, level_bounds(each)) for each in (confidence, 100 * confidence**3))
    np.testing.assert_array_equal(low, high)


def test_level_probabilities_written_out():
    counts = np.random.default_rng(1).integers(0, 9, (3, 4, 3)).astype(float)
    total = counts.sum(axis=(0, 2))
    common = (total + 1) / (total.sum() + 4)
    right = sum(counts[i, :, i] for i in range(3))
    psi = {True: (right + 5 * common) / (right.sum() + 5)}
    psi[False] = (total - right + 5 * common) / ((total - right).sum() + 5)
    evidence = []
    for s in STRENGTH:
        value = -0.5 * ((np.log(s) - np.log(100)) / 1.5) ** 2
        for i in range(3):
            for j in range(3):
                cell = counts[i, :, j]
                value += gammaln(s) - gammaln(s + cell.sum())
                value += (gammaln(s * psi[i == j] + cell) - gammaln(s * psi[i == j])).sum()
        evidence.append(value)
    s = STRENGTH[np.argmax(evidence)]
    found = level_probabilities(counts)
    for i in range(3):
        for j in range(3):
            expected = (counts[i, :, j] + s * psi[i == j]) / (counts[i, :, j].sum() + s)
            np.testing.assert_allclose(found[i, :, j], expected, rtol=1e-12)


def test_levels_that_are_as_common_among_wrong_answers_tell_nothing():
    counts = np.einsum("ij,l->ilj", np.array([[900.0, 100], [100, 900]]), [0.25, 0.25, 0.25, 0.25])
    given = level_probabilities(counts)
    np.testing.assert_allclose(given, 0.25, atol=1e-3)


@pytest.mark.parametrize("rates", [(0.1, 0.1, 0.1), (0.05, 0.1, 0.4)])
def test_rates_of_unsure_are_found_again(rates):
    n = 20_000
    unsure = n * np.array(rates)
    np.testing.assert_allclose(unsure_probabilities(unsure, n - unsure), rates, atol=2e-3)


def test_few_unsure_answers_tell_little_of_the_class():
    chance = unsure_probabilities(np.array([2.0, 0.0, 0.0]), np.array([20.0, 20.0, 20.0]))
    assert np.log(chance.max() / chance.min()) < np.log(3)
    np.testing.assert_allclose(unsure_probabilities(np.zeros(3), np.zeros(3)), 0.5)
