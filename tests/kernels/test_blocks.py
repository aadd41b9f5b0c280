"""A block's target, weights and sums by hand."""

import numpy as np

from twoheads.kernels.answers import Answers
from twoheads.kernels.blocks import Block, joined, one_hot

LOG_PROBA = np.log(np.array([[0.5, 0.25, 0.125], [0.5, 0.75, 0.875]]))
VALUES = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])


def test_one_hot():
    assert one_hot(np.array([1, 0, 1]), 3).tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]


def test_a_block_of_known_truth():
    block = Block(LOG_PROBA, true_label=np.array([1, 0, 0]))
    assert block.n_items == 3
    assert block.total_weight() == 3.0
    assert block.soft_target().tolist() == [[0, 1, 1], [1, 0, 0]]
    assert block.expected(VALUES).tolist() == [10.0, 2.0, 3.0]
    assert block.weighted_sum(np.array([1.0, 2.0, 3.0])) == 6.0


def test_a_block_of_soft_targets_and_weights():
    target = np.array([[0.5, 1.0, 0.25], [0.5, 0.0, 0.75]])
    block = Block(LOG_PROBA, target=target, weight=np.array([1.0, 0.0, 2.0]))
    assert block.total_weight() == 3.0
    assert block.soft_target() is target
    assert block.expected(VALUES).tolist() == [5.5, 2.0, 23.25]
    assert block.weighted_sum(np.array([1.0, 2.0, 3.0])) == 7.0


def test_hard_targets_are_soft_ones_of_zero_and_one():
    hard = Block(LOG_PROBA, true_label=np.array([1, 0, 1]))
    soft = Block(LOG_PROBA, target=hard.soft_target())
    assert hard.expected(VALUES).tolist() == soft.expected(VALUES).tolist()


def test_consecutive_items_are_those_taken_and_join_again():
    block = Block(
        LOG_PROBA,
        Answers(np.array([0, 3, 1]), np.array([0, 2, 2, 3])),
        true_label=np.array([1, -1, 0]),
        weight=np.array([1.0, 0.0, 2.0]),
        unsure=Answers(np.array([-1, 1, 0])),
        confidence=np.array([0.9, 0.1, 0.5]),
        members=(LOG_PROBA, LOG_PROBA[::-1]),
        no_model=np.array([False, True, False]),
        number=np.arange(3),
    )
    for rows in (slice(0, 1), slice(1, 3), slice(0, 3)):
        same_block(block.rows(rows), block.take(np.arange(3)[rows]))
    same_block(joined([block.rows(slice(0, 1)), block.rows(slice(1, 3))]), block)


def same_block(found, expected):
    for name in ("log_proba", "true_label", "weight", "confidence", "members", "no_model", "number"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    for name in ("answers", "unsure"):
        mine, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_array_equal(mine.per_item(), other.per_item(), err_msg=name)
        np.testing.assert_array_equal(mine.column, other.column, err_msg=name)
