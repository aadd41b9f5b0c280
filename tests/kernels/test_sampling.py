"""Samples of items: evenly spaced numbers, and the probability of an item to be in a sample by keys."""

import numpy as np
import pytest

from twoheads.kernels.numerics.sampling import evenly_spaced, weights_in_sample


def test_evenly_spaced():
    np.testing.assert_array_equal(evenly_spaced(0, 3), [])
    np.testing.assert_array_equal(evenly_spaced(1, 3), [0])
    np.testing.assert_array_equal(evenly_spaced(3, 300), [0, 1, 2])
    np.testing.assert_array_equal(evenly_spaced(9, 3), [0, 4, 8])
    assert len(np.unique(evenly_spaced(1000, 300))) == 300


def test_an_item_of_a_sample_counts_for_its_weight_over_its_probability():
    # A key below log 2 has probability 1 - exp(-w log 2): 1/2 at w = 1, 3/4 at w = 2
    weight = np.array([1.0, 2.0])
    assert weights_in_sample(weight, np.log(2.0)) == pytest.approx([2.0, 8.0 / 3.0])
    np.testing.assert_array_equal(weights_in_sample(weight, np.inf), weight)
