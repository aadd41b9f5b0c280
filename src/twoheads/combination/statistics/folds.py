"""Counts of labelled items: of all, and of each fold for cross-fitting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from twoheads.confusion.response import ResponseModel
from twoheads.engines.blocks import map_blocks, sum_blocks
from twoheads.kernels.answers import as_crowd, design_effect, hard_counts
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.numerics.content import (
    Marks,
    alike_hashes,
    content_hashes,
    dealt_folds,
    marks_of,
    name_hashes,
    places,
)
from twoheads.kernels.numerics.sampling import Hashes, item_hashes

#: Where annotators share a matrix, an item is predicted from one fitted without its fold.
N_FOLDS = 10


def with_folds(block: Block, *, has_model: bool) -> Block:
    """A block as it is read with the folds of its items, which do not depend on the order of rows.

    They come from a hash of each item's probabilities, answers and truth. Items without a model row have too much in
    common for that: identical items would all be in one fold. They are dealt out by their numbers, or `by_content`.
    """
    if not has_model or block.number is None:
        return block
    fold = (item_hashes(block) % np.uint64(N_FOLDS)).astype(np.intp)
    return replace(block, fold=fold if block.no_model is None else np.where(block.no_model, _dealt(block), fold))


def fold_of(block: Block) -> Codes:
    """The fold of each item of a block, (n_items,)."""
    return _dealt(block) if block.fold is None else block.fold


def by_content(blocks: Sequence[Block], annotators: tuple[str, ...]) -> Callable[[Block], Block]:
    """A function of blocks that gives items without a model row folds that do not depend on the order of rows.

    blocks  of all labelled items
    """
    names, marks = name_hashes(annotators), Marks(*sum_blocks(partial(marks_of, n_annotators=len(annotators)), blocks))
    number, content, alike = map(np.concatenate, zip(*map_blocks(partial(_content, names, marks), blocks), strict=True))
    order = np.argsort(number)
    return partial(_with_dealt_folds, number[order], dealt_folds(content, alike, N_FOLDS)[order])


def _content(names: Hashes, marks: Marks, block: Block) -> tuple[Codes, Hashes, Hashes]:
    assert block.number is not None
    rows, content = _without_model(block), content_hashes(block, names, places(len(block.log_proba)))
    alike = alike_hashes(block, marks.annotators)
    return block.number[rows], content[rows], alike[rows]


def _with_dealt_folds(number: Codes, fold: Codes, block: Block) -> Block:
    """The block with the folds of its items by their numbers, ascending; those with a model row keep theirs."""
    assert block.number is not None
    rows, dealt = _without_model(block), fold_of(block).copy()
    dealt[rows] = fold[np.searchsorted(number, block.number[rows])]
    return replace(block, fold=dealt)


def _without_model(block: Block) -> Codes:
    """The items without a model row."""
    return np.arange(0) if block.no_model is None else np.flatnonzero(block.no_model)


def _dealt(block: Block) -> Codes:
    assert block.number is not None
    return block.number % N_FOLDS


def crowd_counts(block: Block, *, n_classes: int, correlation: float) -> Floats:
    """How often each answer was given under each true class, (n_answers, n_classes), divided by the design effect."""
    assert block.answers is not None
    assert block.true_label is not None
    crowd, share = as_crowd(block.answers, n_classes), _share(block, correlation)
    return hard_counts(crowd, block.true_label, share, n_classes, n_classes)


def crowd_counts_by_fold(blocks: Sequence[Block], *, n_classes: int, correlation: float) -> Floats:
    """The crowd's counts of each fold, (n_folds, n_answers, n_classes), divided by the design effect."""

    def kernel(block: Block) -> tuple[Floats]:
        block = block.by_own_weight()
        assert block.answers is not None
        assert block.true_label is not None
        share, crowd, fold = _share(block, correlation), as_crowd(block.answers, n_classes), fold_of(block)
        truths = [np.where(fold == at, block.true_label, MISSING) for at in range(N_FOLDS)]
        return (np.stack([hard_counts(crowd, truth, share, n_classes, n_classes) for truth in truths]),)

    return np.asarray(sum_blocks(kernel, blocks)[0])


def response_counts_by_fold(blocks: Sequence[Block], response: ResponseModel) -> Floats:
    """The counts of confidence levels and "unsure" of each fold, (n_folds, n_ways, n_classes)."""

    def kernel(block: Block) -> tuple[Floats]:
        block = block.by_own_weight()
        share, fold = weighted_target(block), fold_of(block)
        return (np.stack([response.counts(block, share * (fold == at)) for at in range(N_FOLDS)]),)

    return np.asarray(sum_blocks(kernel, blocks)[0])


def weighted_target(block: Block) -> Floats:
    """Probability of each class times the items' weights, (n_classes, n_items)."""
    share = block.soft_target()
    return share if block.weight is None else share * block.weight


def _share(block: Block, correlation: float) -> Floats:
    """The weight of one answer on each item, (n_items,)."""
    assert block.answers is not None
    share = 1.0 / design_effect(block.answers, correlation)
    return share if block.weight is None else share * block.weight
