"""Observations with their truth and weights, as the blocks that a fit goes through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.combination.answering import Answering, answering_of
from twoheads.combination.parted import Parted, parted
from twoheads.confusion.manner import Manner
from twoheads.engines.blocks import Blocks, LazyBlocks, StoredBlocks, block_slices, map_blocks, sum_blocks
from twoheads.engines.cluster import ClusterTable
from twoheads.errors import InvalidParameter
from twoheads.kernels.answers import as_crowd, design_effect, hard_counts
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.agreement import ITEMS
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.observations import Observations, as_observations, as_truth, as_weight

#: Log-probabilities of so many numbers together are kept during a fit (240 MB); beyond, each pass makes them anew.
KEPT_NUMBERS = 30_000_000

#: Where people share a matrix, an item is judged by one learnt without its fold.
FOLDS = 10


@dataclass(frozen=True)
class Labelled:
    """Observations with their truth and weights."""

    seen: Observations
    truth: Codes
    weight: Floats | None
    number: Codes
    make: Callable[[Block], Block] | None = None

    def mapped(self, make: Callable[[Block], Block]) -> Labelled:
        """The same items, ``make(block)`` in place of each block."""
        return replace(self, make=make)

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def n_labelled(self) -> int:
        """How many items' truth is known."""
        return int((self.truth != MISSING).sum())

    def labelled(self) -> Labelled:
        """The items whose truth is known."""
        return self if self.n_labelled == len(self) else self.take(np.flatnonzero(self.truth != MISSING))

    def per_class(self) -> Floats:
        """The weight of the items of each known class, (n_classes,)."""
        known = self.labelled()
        return np.bincount(known.truth, known.weight, self.seen.n_classes).astype(np.float64)

    def answering(self) -> Answering:
        """Who answered how much."""
        n_people, n_classes = max(1, len(self.seen.annotators)), self.seen.n_classes

        def kernel(rows: slice) -> Answering:
            weight = None if self.weight is None else self.weight[rows]
            return answering_of(self.seen.answers.rows(rows), weight, n_people, n_classes)

        return Answering(*sum_blocks(kernel, block_slices(len(self), n_classes, least=n_people)))

    def confidences(self) -> Floats | None:
        """How sure people said they were, where they did; None where nobody did and nobody said "unsure"."""
        seen = self.seen
        if seen.confidence is not None:
            return seen.confidence
        return None if seen.unsure is None else np.empty(0)

    def some(self, limit: int, least: int = 64) -> Sequence[Block]:
        """At most so many of the items, evenly spaced, as blocks."""
        return self.take(evenly_spaced(len(self), limit)).blocks(least)

    def answered_without_truth(self) -> Block | None:
        """At most 300 of the items that have an answer and no truth, evenly spaced; None where there is none."""
        rest = np.flatnonzero((self.truth == MISSING) & (self.seen.answers.per_item() > 0))
        some = self.spread(rest)
        return self.take(some)._block(slice(0, len(some))) if len(some) else None

    def take(self, rows: Codes) -> Labelled:
        """Some of the items."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, seen=self.seen.take(rows), truth=self.truth[rows], weight=weight, number=self.number[rows])

    def weight_of_one(self) -> float:
        """What an item that counts at all counts on average, 1 at the most."""
        if self.weight is None or not (self.weight > 0).any():
            return 1.0
        return min(1.0, float(self.weight[self.weight > 0].mean()))

    def spread(self, items: Codes) -> Codes:
        """At most 300 of the items, evenly spaced; one of weight 2 stands there as if given twice."""
        if self.weight is None or not len(items):
            return items[evenly_spaced(len(items), ITEMS)]
        end = np.cumsum(self.weight[items])
        place = np.searchsorted(end, evenly_spaced(round(end[-1]), ITEMS), side="right")
        return items[np.minimum(place, len(items) - 1)]

    def blocks(self, least: int = 64) -> Blocks[Block]:
        """Blocks of at least so many items; kept where they are small enough together, else made anew in each pass."""
        slices = block_slices(len(self.seen), self.seen.n_classes, least)
        if len(self.seen) * self.seen.n_classes <= KEPT_NUMBERS:
            return StoredBlocks(list(map_blocks(self._block, slices)))
        return LazyBlocks(self._block, slices, len(self.seen))

    def _block(self, rows: slice) -> Block:
        block = self.seen.block(rows, true_label=self.truth, weight=self.weight)
        block = replace(block, number=self.number[rows])
        return block if self.make is None else self.make(block)


Items = Labelled | Parted


def is_table(X: Any) -> bool:
    """Whether X is a table that was looked at and not yet read: `twoheads.tables.scan`; or such a one on a cluster."""
    return hasattr(X, "n_rows") and hasattr(X, "blocks") and hasattr(X, "classes")


def is_small(table: Any) -> bool:
    """Whether a table is small enough to be read whole before a fit."""
    return bool(table.n_rows * len(table.classes) <= KEPT_NUMBERS)


def labelled(
    X: Any, y: Any, sample_weight: ArrayLike | None, model_scale: str, classes: NDArray[Any] | None = None
) -> Items:
    """What a fit is given, checked. A table is read whole if it is small enough, else it stays where it is."""
    if is_table(X):
        if y is not None or sample_weight is not None:
            raise InvalidParameter(
                "y and sample_weight must be None where X is a table: its column of the truth says what is known. "
                "Read it to give your own: X, y = table.read()."
            )
        if isinstance(X, ClusterTable) or not is_small(X):
            return parted(X)
        X, y = X.read()
    seen = as_observations(X, y=y, classes=classes, model_scale=model_scale)
    truth = as_truth(y, seen)
    return Labelled(seen, truth, as_weight(sample_weight, len(seen)), np.arange(len(seen), dtype=np.int32))


def counts_and_crowd(block: Block, n_people: int, n_classes: int, correlation: float) -> tuple[Floats, Floats]:
    """How often each person gave each answer under each true class, and all people together.

    Several answers on one item count for less in the latter, by their design effect.

    returns  (n_people, n_answers, n_classes), (n_answers, n_classes)
    """
    assert block.answers is not None
    assert block.true_label is not None
    answers, truth, weight = block.answers, block.true_label, block.weight
    counts = hard_counts(answers, truth, weight, n_people * n_classes, n_classes).reshape(n_people, -1, n_classes)
    if answers.start is None or not correlation:
        return counts, counts.sum(axis=0)
    share = 1.0 / design_effect(answers, correlation)
    share = share if weight is None else share * weight
    return counts, hard_counts(as_crowd(answers, n_classes), truth, share, n_classes, n_classes)


def crowd_counts_by_fold(blocks: Sequence[Block], n_classes: int, correlation: float) -> Floats:
    """What each fold of the items adds to the counts of all people, (n_folds, n_answers, n_classes).

    Several answers on one item count for less, by their design effect.
    """

    def kernel(block: Block) -> tuple[Floats]:
        assert block.answers is not None
        assert block.true_label is not None
        share = 1.0 / design_effect(block.answers, correlation)
        share = share if block.weight is None else share * block.weight
        crowd, fold = as_crowd(block.answers, n_classes), fold_of(block)
        truths = [np.where(fold == at, block.true_label, MISSING) for at in range(FOLDS)]
        return (np.stack([hard_counts(crowd, truth, share, n_classes, n_classes) for truth in truths]),)

    return np.asarray(sum_blocks(kernel, blocks)[0])


def manner_counts_by_fold(blocks: Sequence[Block], manner: Manner) -> Floats:
    """What each fold of the items adds to the counts of how answers were given, (n_folds, n_ways, n_classes)."""

    def kernel(block: Block) -> tuple[Floats]:
        share, fold = block.soft_target(), fold_of(block)
        if block.weight is not None:
            share *= block.weight
        return (np.stack([manner.counts(block, share * (fold == at)) for at in range(FOLDS)]),)

    return np.asarray(sum_blocks(kernel, blocks)[0])


def fold_of(block: Block) -> Codes:
    """Which fold each item of a block is in, (n_items,)."""
    assert block.number is not None
    return block.number % FOLDS
