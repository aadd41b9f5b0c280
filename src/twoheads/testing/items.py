"""The contract of `Items`, as small checks on a few hundred items, labelled and unlabelled ones among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from twoheads.combination.items.protocol import CountableItems, Items
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, joined


def whole(items: Items) -> Block:
    """All items as one block."""
    return joined(list(items.blocks()))


def truth_of(block: Block) -> Codes:
    """The truth of a block."""
    assert block.true_label is not None
    return block.true_label


def weight_of(block: Block) -> Floats:
    """The weights of a block."""
    return np.ones(block.n_items) if block.weight is None else block.weight


def check_blocks_hold_every_item_once(items: Items) -> None:
    """Blocks hold every item once."""
    block = whole(items)
    assert block.n_items == len(items)
    assert block.number is not None
    assert len(np.unique(block.number)) == len(items)


def check_blocks_fit_the_schema(items: Items) -> None:
    """Numbers of classes, annotators and models in the blocks are those of the schema."""
    n_columns = items.schema.n_annotators * items.schema.n_classes
    for block in items.blocks():
        assert len(block.log_proba) == items.schema.n_classes
        assert block.answers is not None
        assert block.answers.column.max(initial=MISSING) < n_columns
        assert truth_of(block).max(initial=MISSING) < items.schema.n_classes
        assert len(block.members) in (0, len(items.schema.models))


def check_labelled_items_are_those_with_truth(items: Items) -> None:
    """Labelled items are those with truth."""
    labelled, block = items.labelled(), whole(items)
    assert len(labelled) == np.count_nonzero(truth_of(block) != MISSING)
    if len(labelled):
        assert (truth_of(whole(labelled)) != MISSING).all()
        assert labelled.answered_unlabelled() is None


def check_functions_compose(items: Items) -> None:
    """Functions are applied one after another, and the items themselves stay as they are."""

    def halved(block: Block) -> Block:
        return replace(block, weight=weight_of(block) / 2)

    def raised(block: Block) -> Block:
        return replace(block, weight=weight_of(block) + 1)

    before = weight_of(whole(items))
    changed = items.transform(halved).transform(raised)
    np.testing.assert_allclose(weight_of(whole(changed)), before / 2 + 1)
    np.testing.assert_array_equal(weight_of(whole(items)), before)
    sampled = joined(list(changed.subsample(7)))
    assert (weight_of(sampled) >= 1).all()


def check_a_subsample_is_bounded(items: Items) -> None:
    """A subsample has at most as many items as asked for, and all of them where they are fewer."""
    for size in (1, 7, len(items), 2 * len(items)):
        assert sum(block.n_items for block in items.subsample(size)) == min(size, len(items))


def check_answered_unlabelled_items(items: Items) -> None:
    """Answered unlabelled items have an answer and no truth, and are at most as many as asked for."""
    block = whole(items)
    assert block.answers is not None
    n_answered = np.count_nonzero((block.answers.per_item() > 0) & (truth_of(block) == MISSING))
    found = items.answered_unlabelled(5)
    assert (found is None) == (n_answered == 0)
    if found is not None:
        assert found.answers is not None
        assert 1 <= found.n_items <= 5
        assert (found.answers.per_item() > 0).all()
        assert (truth_of(found) == MISSING).all()


def check_unweighted_items_have_the_weight_1(items: Items) -> None:
    """Items that are not weighted have the weight 1."""
    if not items.is_weighted:
        np.testing.assert_array_equal(weight_of(joined(list(items.blocks())).by_own_weight()), 1.0)


def check_the_number_of_labelled_items(items: CountableItems) -> None:
    """The number of labelled items is that of the blocks."""
    assert items.n_labelled == np.count_nonzero(truth_of(whole(items)) != MISSING)


def check_confidences_are_those_of_the_blocks(items: CountableItems) -> None:
    """Confidences are those of the blocks; None where there are none, and no "unsure"."""
    blocks, found = list(items.blocks()), items.confidences()
    assert (found is None) == all(block.confidence is None and block.unsure is None for block in blocks)
    if found is not None:
        total = sum(0.0 if block.confidence is None else np.nansum(block.confidence) for block in blocks)
        np.testing.assert_allclose(np.nansum(found[0]), total)


#: Checks of all items, and of those whose statistics can be collected.
CHECKS: Sequence[Callable[[Items], None]] = (
    check_blocks_hold_every_item_once,
    check_blocks_fit_the_schema,
    check_labelled_items_are_those_with_truth,
    check_functions_compose,
    check_a_subsample_is_bounded,
    check_answered_unlabelled_items,
    check_unweighted_items_have_the_weight_1,
)
COUNTABLE_CHECKS: Sequence[Callable[[CountableItems], None]] = (
    check_the_number_of_labelled_items,
    check_confidences_are_those_of_the_blocks,
)


def check_items(items: Items) -> None:
    """Run every check of `Items`; the first that fails raises AssertionError."""
    for check in CHECKS:
        check(items)


def check_countable_items(items: CountableItems) -> None:
    """Run every check of `CountableItems`; the first that fails raises AssertionError."""
    check_items(items)
    for check in COUNTABLE_CHECKS:
        check(items)
