"""Class shares of a crowd without a model."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.kernels.answers import pack_answers
from twoheads.kernels.class_shares import crowd_class_shares, majority_counts


def test_the_majority_by_hand():
    # Item 0: two votes for class 1, one for 0. Item 1: a tie of 0 and 2. Item 2: nobody. Item 3, weight 2: class 2.
    item, person, label = np.array([0, 0, 0, 1, 1, 3]), np.array([0, 1, 2, 0, 1, 0]), np.array([1, 1, 0, 0, 2, 2])
    answers = pack_answers(item, person * 3 + label, 4)
    assert majority_counts(answers, 3, None).tolist() == [0.5, 1.0, 1.5]
    assert majority_counts(answers, 3, np.array([1.0, 1.0, 5.0, 2.0])).tolist() == [0.5, 1.0, 2.5]


def test_shares_by_hand():
    # (15.5, .5)^.75 without labels; ten labels' worth of it beside 30 labels.
    power = np.array([15.5, 0.5]) ** 0.75
    shares = crowd_class_shares(np.array([15.0, 0.0]), np.zeros(2))
    np.testing.assert_allclose(shares, power / power.sum())
    with_labels = crowd_class_shares(np.array([15.0, 0.0]), np.array([10.0, 20.0]))
    np.testing.assert_allclose(with_labels, (np.array([10.0, 20.0]) + 10 * shares) / 40)


def test_no_class_vanishes():
    assert crowd_class_shares(np.array([1e6, 0.0, 0.0]), np.zeros(3)).min() > 1e-6
    assert crowd_class_shares(np.zeros(3), np.zeros(3)) == pytest.approx(np.full(3, 1 / 3))
