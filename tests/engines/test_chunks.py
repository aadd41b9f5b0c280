"""Blocks in chunks: found again whole, taken apart and put together, whatever they hold."""

import os
from dataclasses import replace

import numpy as np
import pytest

from twoheads.engines.blocks import count_items, map_blocks, sum_blocks, transform_blocks
from twoheads.engines.chunks import ChunkedBlocks, DiskStore, MemoryStore
from twoheads.kernels.answers import Answers
from twoheads.kernels.blocks import Block, joined


def block_of(numbers, *, several=False, rich=False):
    """A block of which everything can be told from the items' numbers."""
    numbers = np.asarray(numbers)
    log_proba = np.log(np.stack([numbers + 1.0, numbers + 2.0]))
    answers = Answers(numbers % 3 - 1)
    if several:
        answers = Answers(np.repeat(numbers % 2, 2), np.arange(len(numbers) + 1) * 2)
    more = {}
    if rich:
        more = {
            "unsure": Answers(numbers % 2 - 1),
            "confidence": answers.column / 7,
            "members": (log_proba, 2 * log_proba),
            "no_model": numbers % 2 == 0,
            "weight": numbers / 2,
        }
    return Block(log_proba, answers, true_label=numbers % 2, number=numbers, **more)


def assert_equal(one, other):
    for name in Block.__slots__:
        mine, theirs = getattr(one, name), getattr(other, name)
        if isinstance(mine, Answers):
            assert mine.per_item().tolist() == theirs.per_item().tolist()
            assert mine.column[mine.column >= 0].tolist() == theirs.column[theirs.column >= 0].tolist()
        elif name == "members":
            assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
        elif mine is None:
            assert theirs is None
        else:
            np.testing.assert_array_equal(mine, theirs, err_msg=name)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("rich", [False, True])
def test_blocks_taken_apart_and_joined_are_what_they_were(several, rich):
    whole = block_of(range(10), several=several, rich=rich)
    parts = [whole.take(np.arange(10)[rows]) for rows in (slice(0, 3), slice(3, 4), slice(4, 10))]
    assert_equal(joined(parts), whole)
    assert_equal(whole.take(np.array([7, 2])), block_of([7, 2], several=several, rich=rich))


def test_joining_single_and_several_answers():
    # 0: none, 1: class 0, 2: class 1; then two answers each
    one = joined([block_of([0, 1, 2]), block_of([3, 4], several=True)])
    assert one.answers.per_item().tolist() == [0, 1, 1, 2, 2]
    assert one.answers.column.tolist() == [0, 1, 1, 1, 0, 0]


def test_what_only_some_blocks_hold_is_filled_up():
    one = joined([block_of([0, 1]), replace(block_of([2, 3], rich=True), members=())])
    assert one.weight.tolist() == [1, 1, 1, 1.5]
    assert one.no_model.tolist() == [False, False, True, False]
    assert one.unsure.per_item().tolist() == [0, 0, 0, 1]


@pytest.fixture(params=["kept", "spilled"])
def store(request):
    chunks = [[block_of([0, 1]), block_of([2])], [block_of([3, 4, 5])], [block_of([6])]]
    if request.param == "kept":
        return MemoryStore(chunks)
    spilled = DiskStore()
    for chunk in chunks:
        spilled.add(chunk)
    return spilled


def numbers_sum(block):
    return float(block.number.sum()), block.n_items


def test_a_store_is_a_sequence_of_blocks(store):
    blocks = ChunkedBlocks(store, {0: [2, 1], 1: [3], 2: [1]}, list)
    assert len(store) == 3
    assert (len(blocks), blocks.n_items, count_items(blocks)) == (4, 7, 7)
    assert [block.number.tolist() for block in blocks] == [[0, 1], [2], [3, 4, 5], [6]]
    assert blocks[2].number.tolist() == [3, 4, 5]
    with pytest.raises(IndexError):
        blocks[4]
    assert sum_blocks(numbers_sum, blocks) == (21, 7)
    assert list(map_blocks(lambda block: block.n_items, blocks)) == [2, 1, 3, 1]
    halves = transform_blocks(lambda block: block.take(np.arange(1)), blocks)
    assert [block.number.tolist() for block in halves] == [[0], [2], [3], [6]]


def test_some_chunks_and_some_of_their_blocks(store):
    blocks = ChunkedBlocks(store, {0: [1], 2: [1]}, lambda chunk: chunk[-1:])
    assert sum_blocks(numbers_sum, blocks) == (8, 2)


def test_spilled_chunks_go_when_nobody_uses_them():
    store = DiskStore()
    store.add([block_of([1])])
    folder = store._folder
    assert os.listdir(folder) == ["0"]
    del store
    assert not folder.exists()
