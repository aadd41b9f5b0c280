"""Samples of items: evenly spaced numbers, and the probability of an item to be in a sample by keys."""

import numpy as np
import pytest

from twoheads.kernels.answers import Answers
from twoheads.kernels.blocks import Block
from twoheads.kernels.numerics.sampling import evenly_spaced, item_hashes, reservoir_keys, weights_in_sample


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


def test_a_table_of_few_distinct_rows_is_sampled_evenly():
    rng = np.random.default_rng(0)
    share = np.array([0.5, 0.25, 0.15, 0.1])
    kind = rng.choice(4, 8_000, p=share)
    log_proba = np.log(np.column_stack([(1.0 + kind) / 10.0, 1.0 - (1.0 + kind) / 10.0]).T)
    block = Block(np.ascontiguousarray(log_proba), Answers(kind % 2, None))
    key = reservoir_keys(block)
    assert len(np.unique(key)) == len(key)
    kept = kind[np.argsort(key)[:1_000]]
    assert np.bincount(kept, minlength=4) / 1_000 == pytest.approx(share, abs=0.05)
    halves = [block.take(rows) for rows in (np.arange(4_000), np.arange(4_000, 8_000))]
    both = np.concatenate([reservoir_keys(half) for half in halves])
    assert len(np.unique(both)) >= len(both) - 4  # the first copies look alike


def test_the_order_of_models_changes_no_hash():
    rng = np.random.default_rng(3)
    members = tuple(np.log(rng.dirichlet(np.ones(3), 50).T) for _ in range(3))
    found = [item_hashes(Block(members[0], members=each)) for each in (members, members[::-1])]
    assert len(np.unique(found[0])) == 50
    np.testing.assert_array_equal(*found)


def test_renaming_the_classes_changes_no_hash():
    rng = np.random.default_rng(1)
    order = np.array([2, 0, 3, 1])
    log_proba, label, truth = (
        np.log(rng.dirichlet(np.ones(4), 200).T),
        rng.integers(-1, 4, 200),
        rng.integers(-1, 4, 200),
    )
    renamed = np.argsort(order)

    def hashes(log_proba, label, truth):
        return item_hashes(Block(np.ascontiguousarray(log_proba), Answers(label), truth))

    def again(codes):
        return np.where(codes < 0, codes, renamed[codes])

    expected = hashes(log_proba, label, truth)
    assert len(np.unique(expected)) == 200
    np.testing.assert_array_equal(hashes(log_proba[order], again(label), again(truth)), expected)
    other = np.where(truth < 0, truth, (truth + 1) % 4)
    np.testing.assert_array_equal(hashes(log_proba, label, other) == expected, truth < 0)
