"""Sequences of blocks: the same maps and sums wherever the blocks are, and transformations that compose."""

from itertools import pairwise

import numpy as np
import pytest

from twoheads.engines import threads as engine
from twoheads.engines.blocks import (
    LazyBlocks,
    StoredBlocks,
    as_blocks,
    block_slices,
    count_items,
    map_blocks,
    sum_blocks,
    transform_blocks,
)
from twoheads.engines.chunks import ChunkedBlocks, MemoryStore
from twoheads.kernels.blocks import Block

SIZES = (3, 2, 4)
SLICES = [slice(0, 3), slice(3, 5), slice(5, 9)]


def block_of(rows):
    return Block(np.zeros((2, rows.stop - rows.start)), number=np.arange(rows.start, rows.stop))


def stored():
    return StoredBlocks([block_of(rows) for rows in SLICES])


def lazy():
    return LazyBlocks(block_of, SLICES, 9)


def chunked():
    chunks = [[block_of(SLICES[0]), block_of(SLICES[1])], [block_of(SLICES[2])]]
    return ChunkedBlocks(MemoryStore(chunks), {0: [3, 2], 1: [4]}, list)


@pytest.fixture(params=[1, 2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr(engine, "n_threads", lambda: request.param)


@pytest.fixture(params=[stored, lazy, chunked, lambda: list(stored())], ids=["stored", "lazy", "chunked", "list"])
def blocks(request, threads):
    return request.param()


def numbers(block):
    return block.number.tolist()


def tens(block):
    return Block(block.log_proba, number=10 * block.number)


def plus_one(block):
    return Block(block.log_proba, number=1 + block.number)


def test_blocks_are_a_sequence(blocks):
    assert (len(blocks), count_items(blocks)) == (3, 9)
    assert [numbers(block) for block in blocks] == [[0, 1, 2], [3, 4], [5, 6, 7, 8]]
    assert numbers(blocks[1]) == [3, 4]
    with pytest.raises(IndexError):
        blocks[3]


def test_maps_and_sums_by_hand(blocks):
    assert list(map_blocks(lambda block: block.n_items, blocks)) == [3, 2, 4]
    total, squares = sum_blocks(lambda block: (block.number.sum(), np.array([block.number @ block.number, 1])), blocks)
    assert total == 36
    assert squares.tolist() == [204, 3]


def test_transformations_compose(blocks):
    once = transform_blocks(tens, blocks)
    twice = once.transform(plus_one)
    assert [numbers(block) for block in twice] == [[1, 11, 21], [31, 41], [51, 61, 71, 81]]
    assert [numbers(block) for block in once] == [[0, 10, 20], [30, 40], [50, 60, 70, 80]]
    assert (len(twice), count_items(twice), numbers(twice[1])) == (3, 9, [31, 41])


def test_stored_blocks_are_the_same_blocks(blocks):
    kept = transform_blocks(tens, blocks).stored()
    assert [numbers(block) for block in kept] == [[0, 10, 20], [30, 40], [50, 60, 70, 80]]
    assert count_items(kept) == 9
    assert kept.stored() is kept


def test_lazy_blocks_are_made_in_each_pass_and_stored_ones_once(threads):
    made = []

    def make(rows):
        made.append(rows)
        return block_of(rows)

    blocks = LazyBlocks(make, SLICES, 9)
    assert made == []
    for count in (3, 6):
        assert list(blocks.map(lambda block: block.n_items)) == [3, 2, 4]
        assert len(made) == count
    kept = blocks.stored()
    assert len(made) == 9
    assert sum_blocks(lambda block: (block.n_items,), kept) == (9,)
    assert len(made) == 9


def test_stored_blocks_are_transformed_once(threads):
    made = []

    def function(block):
        made.append(block)
        return block

    blocks = stored().transform(function)
    assert len(made) == 3
    list(blocks.map(numbers))
    assert len(made) == 3


def test_blocks_stay_what_they_are():
    blocks = lazy()
    assert as_blocks(blocks) is blocks


@pytest.mark.parametrize(
    ("n_items", "n_classes"), [(1, 2), (300_000 // 10, 10), (300_000 // 10 + 1, 10), (1_000_000, 10), (500, 1_000_000)]
)
def test_slices_cover_every_item_once(n_items, n_classes):
    slices = block_slices(n_items, n_classes)
    assert slices[0].start == 0
    assert slices[-1].stop == n_items
    assert all(one.stop == two.start for one, two in pairwise(slices))
    assert all(rows.stop > rows.start for rows in slices)


def test_no_items_no_slices():
    assert block_slices(0, 3) == []
