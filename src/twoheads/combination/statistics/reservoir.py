"""A bounded sample of the items of earlier fits (bottom-k sampling); it does not depend on their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from twoheads.confusion.base import columns_of
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.numerics.sampling import reservoir_keys, weights_in_sample
from twoheads.storage.artifact import register

#: Items of a sample: about so many probabilities together, within these bounds.
_NUMBERS, _FEWEST, _MOST = 100_000, 200, 2000
#: Samples that are merged at a time.
_AT_ONCE = 100


def sample_size(n_classes: int) -> int:
    """Most items of a sample: as many labelled ones, and as many unlabelled ones."""
    return int(np.clip(_NUMBERS // n_classes, _FEWEST, _MOST))


@register
@dataclass(frozen=True, eq=False)
class ItemSample(BaseEstimator):
    """The items with the smallest keys, as the arrays of a `Block`.

    key        (n_items,) the keys, ascending
    threshold  the smallest key that is not in the sample; infinite where all items are
    """

    log_proba: Floats
    members: tuple[Floats, ...]
    no_model: NDArray[np.bool_] | None
    column: Codes
    start: Codes | None
    unsure_column: Codes | None
    unsure_start: Codes | None
    confidence: Floats | None
    true_label: Codes | None
    weight: Floats
    key: Floats
    threshold: float = np.inf

    @classmethod
    def of(cls, block: Block, key: Floats, threshold: float = np.inf) -> ItemSample:
        """The items of a block."""
        assert block.answers is not None
        return cls(
            log_proba=block.log_proba,
            members=block.members,
            no_model=block.no_model,
            column=block.answers.column,
            start=block.answers.start,
            unsure_column=None if block.unsure is None else block.unsure.column,
            unsure_start=None if block.unsure is None else block.unsure.start,
            confidence=block.confidence,
            true_label=block.true_label,
            weight=np.ones(len(key)) if block.weight is None else block.weight,
            key=key,
            threshold=float(threshold),
        )

    @property
    def n_items(self) -> int:
        """Number of items in the sample."""
        return len(self.key)

    def block(self, *, for_all: bool = False) -> Block:
        """The items; if ``for_all`` each has the weight of all items that it represents."""
        weight = weights_in_sample(self.weight, self.threshold)
        if not for_all and not np.isinf(self.threshold):
            weight = weight * (len(weight) / weight.sum())
        given = self.as_given()
        return replace(given, weight=None if (weight == 1.0).all() else weight, own_weight=given.weight)

    def as_given(self) -> Block:
        """The items with their original weights."""
        return Block(
            self.log_proba,
            Answers(self.column, self.start),
            self.true_label,
            weight=self.weight,
            unsure=None if self.unsure_column is None else Answers(self.unsure_column, self.unsure_start),
            confidence=self.confidence,
            members=self.members,
            no_model=self.no_model,
        )

    def reindexed(self, place: Codes, n_classes: int) -> ItemSample:
        """The same with annotator ``p`` at position ``place[p]``."""
        unsure = None if self.unsure_column is None else columns_of(self.unsure_column, place, 1)
        return replace(self, column=columns_of(self.column, place, n_classes), unsure_column=unsure)

    def discounted(self, keep: float) -> ItemSample:
        """The same with every weight multiplied by ``keep``."""
        return replace(self, weight=keep * self.weight, key=self.key / keep, threshold=self.threshold / keep)


def merge_samples(samples: Sequence[ItemSample | None], limit: int) -> ItemSample | None:
    """The sample of all items that several samples come from."""
    held = [sample for sample in samples if sample is not None and sample.n_items]
    if not held:
        return None
    key = np.concatenate([sample.key for sample in held])
    threshold = min(sample.threshold for sample in held)
    order = np.argsort(key, kind="stable")
    kept = order[key[order] < threshold][:limit]
    if len(held) == 1 and len(kept) == len(order):
        return held[0]
    if len(kept) < len(order):
        threshold = min(threshold, float(key[order[len(kept)]]))
    return ItemSample.of(joined([sample.as_given() for sample in held]).take(kept), key[kept], threshold)


@dataclass(frozen=True)
class SampleSum:
    """A lazy sum of samples: merged a hundred at a time."""

    samples: list[ItemSample | None]
    limit: int

    def __add__(self, other: SampleSum) -> SampleSum:
        samples = [*self.samples, *other.samples]
        merged = [merge_samples(samples, self.limit)] if len(samples) >= _AT_ONCE else samples
        return SampleSum(merged, self.limit)

    def merged(self) -> ItemSample | None:
        """The sample of all items that they come from; None where there are none."""
        return merge_samples(self.samples, self.limit)


def key_bound(limit: int, n_items: int) -> float:
    """A bound below which more than ``limit`` of so many keys are, almost surely."""
    share = (limit + 8.0 * limit**0.5) / max(n_items, 1)
    return float(-np.log1p(-share)) if share < 1.0 else np.inf


def sample_block(block: Block | None, limit: int, bound: float) -> ItemSample | None:
    """The items of a block with the smallest keys, all below the bound."""
    if block is None:
        return None
    key = reservoir_keys(block)
    kept = np.flatnonzero(key < bound)
    threshold = float(key[key >= bound].min()) if len(kept) < len(key) else np.inf
    kept = kept[np.argsort(key[kept], kind="stable")]
    if len(kept) > limit:
        kept, threshold = kept[:limit], float(key[kept[limit]])
    return ItemSample.of(replace(block.take(kept), number=None), key[kept], threshold)
