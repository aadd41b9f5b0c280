"""Orders by what items are: by hand, and under permutations."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.numerics.content import content_order


def test_distinct_items_are_in_the_order_of_their_hashes():
    own = np.array([7, 3, 9], dtype=np.uint64)
    assert content_order(own, np.zeros(3, dtype=np.uint64)).tolist() == [1, 0, 2]


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2**63, 40).astype(np.uint64)[rng.integers(40, size=500)]
    content = rng.integers(0, 3, 500).astype(np.uint64)
    order, shuffle = content_order(own, content), rng.permutation(500)
    other = shuffle[content_order(own[shuffle], content[shuffle])]
    np.testing.assert_array_equal(own[order], own[other])
    np.testing.assert_array_equal(content[order], content[other])


def test_alike_items_are_spread_over_the_order():
    # A thousand items of two kinds: the first hundred hold both, about as often as there are of each.
    own = np.repeat(np.array([1 << 40, 1 << 63], dtype=np.uint64), [700, 300])
    first = own[content_order(own, np.zeros(1000, dtype=np.uint64))[:100]]
    assert abs(np.mean(first == own[0]) - 0.7) < 0.15
