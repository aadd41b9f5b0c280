"""Class shares of a crowd without a model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

from twoheads.kernels.answers import pack_answers
from twoheads.kernels.class_shares import crowd_class_shares, majority_counts, shares_by_labels


def test_the_majority_by_hand():
    # Item 0: two votes for class 1, one for 0. Item 1: a tie of 0 and 2. Item 2: nobody. Item 3, weight 2: class 2.
    item, person, label = np.array([0, 0, 0, 1, 1, 3]), np.array([0, 1, 2, 0, 1, 0]), np.array([1, 1, 0, 0, 2, 2])
    answers = pack_answers(item, person * 3 + label, 4)
    assert majority_counts(answers, 3, None).tolist() == [0.5, 1.0, 1.5]
    assert majority_counts(answers, 3, np.array([1.0, 1.0, 5.0, 2.0])).tolist() == [0.5, 1.0, 2.5]


def test_shares_by_hand():
    # (15.5, .5)^.75 without labels, which are worth 20, 60 or 200 labels.
    power = np.array([15.5, 0.5]) ** 0.75
    shares = crowd_class_shares(np.array([15.0, 0.0]), np.zeros(2))
    np.testing.assert_allclose(shares, power / power.sum())


def test_shares_by_labels_against_scipy():
    labels, expected, strengths = np.array([10, 20]), np.array([0.9, 0.1]), np.array([20.0, 60.0, 200.0])
    evidence = np.array([dirichlet_multinomial.pmf(labels, s * expected, 30) for s in strengths])
    means = (labels + strengths[:, None] * expected) / (30 + strengths[:, None])
    np.testing.assert_allclose(shares_by_labels(labels.astype(float), expected), evidence @ means / evidence.sum())


def test_labels_that_contradict_the_majority_count_for_more_than_those_that_do_not():
    expected = np.array([0.5, 0.5])
    moved = [shares_by_labels(np.array([n - k, k], dtype=float), expected)[1] - 0.5 for n, k in ((10, 6), (10, 10))]
    assert moved[1] > 5 * moved[0] > 0
    many = shares_by_labels(np.array([100.0, 900.0]), expected)
    np.testing.assert_allclose(many, [0.1, 0.9], atol=0.01)


def test_one_label_moves_shares_by_at_most_a_twentieth():
    for expected in (np.array([0.5, 0.5]), np.array([0.05, 0.05, 0.9])):
        moved = shares_by_labels(np.eye(len(expected))[0], expected) - expected
        assert np.abs(moved).max() < 0.05


def test_no_class_vanishes():
    assert crowd_class_shares(np.array([1e6, 0.0, 0.0]), np.zeros(3)).min() > 1e-6
    assert crowd_class_shares(np.zeros(3), np.zeros(3)) == pytest.approx(np.full(3, 1 / 3))
