"""A bounded sample of items that does not depend on the order or the chunks in which they came.

Every item has a key, ``E / w`` with w its weight and E exponentially distributed, drawn from the item itself: a hash of
what is known of it stands for chance. The items with the smallest keys are the sample; that of two samples together is
the sample of all. An item of twice the weight is twice as likely to be in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block

Hashes = NDArray[np.uint64]


def reservoir_keys(block: Block) -> Floats:
    """The key of each item, (n_items,): smaller is sooner in the sample, infinite never."""
    chance = (_hashes(block) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
    key = -np.log(chance)
    if block.weight is None:
        return key
    return np.divide(key, block.weight, out=np.full_like(key, np.inf), where=block.weight > 0)


def weights_in_sample(weight: Floats, first_left_out: float) -> Floats:
    """What each item of a sample stands for: its weight over its chance to be in it, ``1 - exp(-w key)``.

    first_left_out  the smallest key that is not in the sample; infinite where all are
    """
    if np.isinf(first_left_out):
        return weight
    return np.asarray(weight / -np.expm1(-weight * first_left_out))


def _hashes(block: Block) -> Hashes:
    """64 bits of what the models, the people and the truth say of each item."""
    mixed = np.zeros(block.n_items, dtype=np.uint64)
    for row in (block.log_proba[0], block.log_proba[-1], block.log_proba[len(block.log_proba) // 2]):
        # Not all digits, for the last may hang on where in its block the item stands.
        mixed = _mix(mixed ^ (row.astype(np.float32).view(np.uint32) >> np.uint32(8)).astype(np.uint64))
    if block.answers is not None:
        mixed = _mix(mixed ^ _answer_hashes(block.answers, len(block.log_proba)))
    if block.true_label is not None:
        mixed = _mix(mixed ^ block.true_label.astype(np.uint64))
    return mixed


def _answer_hashes(answers: Answers, n_classes: int) -> Hashes:
    """Of the labels only: people are numbered otherwise in other chunks."""
    each = _mix((np.where(answers.column == MISSING, n_classes, answers.column % n_classes) + 1).astype(np.uint64))
    if answers.start is None:
        return each
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(each, dtype=np.uint64)])
    return np.asarray(total[answers.start[1:]] - total[answers.start[:-1]])


def _mix(value: Hashes) -> Hashes:
    """Spread every bit over all 64 (the finaliser of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))
