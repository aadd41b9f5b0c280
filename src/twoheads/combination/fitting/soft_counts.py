"""Soft counts: sums over items of the responsibilities of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from twoheads.confusion.response import ResponseModel
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.answers import as_crowd, design_effect, soft_counts, vote_shares
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block, one_hot
from twoheads.kernels.confusion.shapes import model_overlap


class SoftCounts(NamedTuple):
    """Sums over items of responsibilities.

    annotators  (n_annotators, n_classes, n_classes) answers under each class
    crowd       (n_classes, n_classes) the same of all annotators, divided by the design effect
    response    (n_ways, n_classes) ways of answering under each class; empty without a response model
    classes     (n_classes,)
    """

    annotators: Floats
    crowd: Floats
    response: Floats
    classes: Floats


def counts_from_votes(
    blocks: Sequence[Block], *, n_annotators: int, correlation: float, unlabelled_weight: float = 1.0
) -> SoftCounts:
    """Soft counts from which EM starts: an item's responsibilities are its truth, or else its vote shares.

    Without any truth, Dawid and Skene start so. Started from a few labels alone, of hard items on which most members
    err, EM would take all classes for each other.
    """

    def kernel(block: Block) -> SoftCounts:
        assert block.answers is not None
        share = vote_shares(block.answers, len(block.log_proba)) * unlabelled_weight
        if block.true_label is not None:
            known = np.flatnonzero(block.true_label != MISSING)
            share[:, known] = one_hot(block.true_label[known], len(share))
        if block.weight is not None:
            share *= block.weight
        return soft_counts_of(block, share, None, n_annotators=n_annotators, correlation=correlation)

    return SoftCounts(*sum_blocks(kernel, blocks))


def overlap_of(blocks: Sequence[Block]) -> Floats:
    """Which classes the model confuses, over all blocks, (n_classes, n_classes)."""
    (overlap,) = sum_blocks(lambda block: (model_overlap(block.log_proba, block.weight),), blocks)
    return np.asarray(overlap)


def soft_counts_of(
    block: Block, share: Floats, response: ResponseModel | None, *, n_annotators: int, correlation: float
) -> SoftCounts:
    """The soft counts of a block.

    share  (n_classes, n_items) responsibilities times the items' weights
    """
    assert block.answers is not None
    answers, n_classes = block.answers, len(share)
    if answers.start is not None:
        share = np.asfortranarray(share)  # item by item, as the sums over several answers read it
    counts = soft_counts(answers, share, n_annotators * n_classes).reshape(n_annotators, n_classes, n_classes)
    ways = np.empty(0) if response is None else response.counts(block, share)
    design = design_effect(answers, correlation) if correlation else np.ones(1)
    if np.ptp(design) == 0:  # as many answers on every item
        crowd = counts.sum(axis=0) / design[0]
    else:
        crowd = soft_counts(as_crowd(answers, n_classes), share, n_classes, 1.0 / design)
    return SoftCounts(counts, crowd, ways, share.sum(axis=1))
