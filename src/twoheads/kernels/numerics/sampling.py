"""Samples of items: evenly spaced, and by keys that do not depend on the order or the chunks of the items.

Every item has a key, ``E / w``, with w its weight and E an exponential variate that comes from a hash of the item. The
items with the smallest keys are the sample (bottom-k sampling): the sample of two samples together is the sample of all
items. An item of twice the weight is twice as likely to be in it.

Items that look alike have variates of their own: without them a table of few distinct rows (answers only, rounded
probabilities) would be represented by a handful of these. Which of the alike items are in the sample depends on their
numbers in the table; nothing else does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block

Hashes = NDArray[np.uint64]

#: By which the bits of the largest and the smallest probability, of the answers and of the truth are told apart.
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xABC98388FB8FAC03, 0x8CB92BA72F3D8DD7], dtype=np.uint64)


def evenly_spaced(n: int, limit: int) -> Codes:
    """At most ``limit`` of the numbers 0..n-1, evenly spaced."""
    return np.arange(n) if n <= limit else np.linspace(0, n - 1, limit).round().astype(np.intp)


def reservoir_keys(block: Block) -> Floats:
    """The key of each item, (n_items,): the smallest are in the sample, infinite ones never are."""
    return keys_of(_distinct(item_hashes(block), block.number), block.weight)


def keys_of(hashes: Hashes, weight: Floats | None) -> Floats:
    """``E / w``, (n_items,), of items with these hashes and weights."""
    uniform = (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
    key = -np.log(uniform)
    if weight is None:
        return key
    return np.divide(key, weight, out=np.full_like(key, np.inf), where=weight > 0)


def weights_in_sample(weight: Floats, threshold: float) -> Floats:
    """Weight of each item of a sample over its probability of being in it, ``1 - exp(-w threshold)``.

    threshold  the smallest key that is not in the sample; infinite if all are
    """
    if np.isinf(threshold):
        return weight
    return np.asarray(weight / -np.expm1(-weight * threshold))


def item_hashes(block: Block) -> Hashes:
    """64 bits of each item's models' probabilities, answers and truth.

    A label counts as the probability that each model gives it, so that renaming the classes changes nothing; nor does
    the order of the models.
    """
    item = np.arange(block.log_proba.shape[1])
    total = np.zeros(len(item), dtype=np.uint64)
    for log_proba in block.members or (block.log_proba,):
        bits = [leading_bits(log_proba.max(axis=0)), leading_bits(log_proba.min(axis=0))]
        if block.answers is not None:
            bits.append(_answer_bits(block.answers, log_proba, item))
        if block.true_label is not None:
            bits.append(_label_bits(block.true_label, log_proba, item))
        own = np.zeros(len(item), dtype=np.uint64)
        for each, factor in zip(bits, _FACTORS, strict=False):
            own += each * factor
        total += mixed_bits(own)
    return total


def leading_bits(value: Floats) -> Hashes:
    """Not all digits: the last may depend on an item's place in its block, and on the order of the classes."""
    return np.asarray((value.astype(np.float32).view(np.uint32) >> np.uint32(8)).astype(np.uint64))


def _distinct(hashes: Hashes, number: Codes | None) -> Hashes:
    """The same with all but the first of equal hashes replaced, by the items' numbers or else by their order here.

    number  (n_items,) of each item among all
    """
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    again = np.concatenate([[False], ordered[1:] == ordered[:-1]])
    if not again.any():
        return hashes
    if number is None:
        place = np.arange(len(hashes), dtype=np.uint64)
        own = place + np.bitwise_xor.reduce(mixed_bits(ordered + place))
    else:
        again[:] = np.isin(ordered, ordered[again])  # which of them is the first depends on the block
        own = number[order].astype(np.uint64)
    found = hashes.copy()
    found[order] = np.where(again, mixed_bits(ordered ^ mixed_bits(own + np.uint64(1))), ordered)
    return found


def _answer_bits(answers: Answers, log_proba: Floats, item: Codes) -> Hashes:
    """The bits of the labels only: other chunks number the annotators differently."""
    label = np.where(answers.column == MISSING, MISSING, answers.column % len(log_proba))
    if answers.start is None:
        return _label_bits(label, log_proba, item)
    each = _label_bits(label, log_proba, np.repeat(item, np.diff(answers.start)))
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(each, dtype=np.uint64)])
    return np.asarray(total[answers.start[1:]] - total[answers.start[:-1]])


def _label_bits(label: Codes, log_proba: Floats, item: Codes) -> Hashes:
    """The bits of the probabilities of some items' labels; 0 where a label is missing."""
    return np.asarray((leading_bits(log_proba[label, item]) + np.uint64(1)) * (label != MISSING))


def mixed_bits(value: Hashes) -> Hashes:
    """Spread every bit over all 64 (the finaliser of SplitMix64)."""
    value = value ^ (value >> np.uint64(30))
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    return np.asarray(value)
