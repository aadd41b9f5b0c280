"""Scores on ordered levels: their probability under each class, own scores left out, and features."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.kernels.panel.scores import (
    left_out_score_log_likelihood,
    level_counts,
    level_given_true,
    level_kernel,
    level_marginal,
    score_features,
    score_log_likelihood,
    standardised_scores,
)


def scored(n_items=30, n_members=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    level = np.clip(rng.integers(0, 6, (n_items, n_members)) + 4 * truth[:, None], 0, 9)
    level[rng.random(level.shape) < 0.2] = -1
    return level, truth


def test_counts_by_hand():
    level, truth = np.array([[0, 2], [2, -1], [1, 1]]), np.array([0, 1, -1])
    counts = level_counts(level, truth, np.array([1.0, 2.0, 1.0]), 2, 3)
    assert counts[0].tolist() == [[1, 0], [0, 0], [0, 2]]
    assert counts[1].tolist() == [[0, 0], [0, 0], [1, 0]]


def test_one_score_by_hand():
    # One score at level 0 of two, class 0: its mass is spread as (1, e^-1/2) / (1 + e^-1/2), then 8 of the marginal.
    counts, marginal = np.array([[[1.0, 0.0], [0.0, 0.0]]]), np.array([[0.5, 0.5]])
    own = 1 / (1 + np.exp(-0.5))
    np.testing.assert_allclose(level_given_true(counts, marginal)[0, 0], [(own + 4) / 9, 0.5])


def test_probabilities_of_levels_sum_to_one():
    level, truth = scored()
    counts, marginal = level_counts(level, truth, np.ones(30), 2, 10), level_marginal(level, np.ones(30), 10)
    np.testing.assert_allclose(marginal.sum(axis=1), 1.0)
    np.testing.assert_allclose(level_kernel(10).sum(axis=0), 1.0)
    np.testing.assert_allclose(level_given_true(counts, marginal).sum(axis=1), 1.0)


def test_leaving_a_score_out_is_counting_without_it():
    level, truth = scored()
    counts, marginal = level_counts(level, truth, np.ones(30), 2, 10), level_marginal(level, np.ones(30), 10)
    found = left_out_score_log_likelihood(level, truth, counts, marginal)
    for item in range(30):
        weight = np.where(np.arange(30) == item, 0.0, 1.0)
        others = level_given_true(level_counts(level, truth, weight, 2, 10), marginal)
        np.testing.assert_allclose(found[:, item], score_log_likelihood(level[[item]], others)[:, 0], atol=1e-12)


def test_a_member_without_labels_carries_no_information():
    level = np.array([[3], [8], [-1]])
    given_true = level_given_true(np.zeros((1, 10, 2)), level_marginal(level, np.ones(3), 10))
    odds = np.diff(score_log_likelihood(level, given_true), axis=0)
    np.testing.assert_allclose(odds, 0.0, atol=1e-12)


def test_standardised_scores_and_features():
    score = np.array([[1.0, 5.0], [3.0, np.nan]])
    found = standardised_scores(score, np.array([2.0, 5.0]), np.array([1.0, 0.0]))
    assert found.tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    features = score_features(found, np.array([2.0, 1.0]))
    assert features[:, 1].tolist() == [[-0.5, 0.0], [1.0, 0.0]]
    assert not features[:, 0].any()
    assert features.shape == (2, 2, 2)
    assert features[0, 1, 0] == pytest.approx(-0.5)
