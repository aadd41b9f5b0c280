"""Items in memory; implements `CountableItems`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from twoheads.combination.items.protocol import BlockFunction, Schema, composed, content_places
from twoheads.combination.learnt import LearntItems
from twoheads.combination.statistics.folds import with_folds
from twoheads.engines.blocks import Blocks, LazyBlocks, StoredBlocks, block_slices, map_blocks
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.agreement import ITEMS as AGREEMENT_ITEMS
from twoheads.observations import Observations

#: Up to so many log-probabilities are kept during a fit (240 MB); beyond, each pass computes them again.
MAX_NUMBERS = 30_000_000


@dataclass(frozen=True)
class InMemoryItems:
    """Observations with their truth and weights.

    truth        (n_items,) codes, MISSING where unknown
    weight       (n_items,) or None
    number       (n_items,) position of each item among all items of the fit
    function     applied to each block
    max_numbers  up to so many log-probabilities are kept as blocks
    known        what the labelled items are recognised by; None where the observations are as they were given
    """

    schema: Schema
    observations: Observations
    truth: Codes
    weight: Floats | None
    number: Codes
    function: BlockFunction | None = None
    max_numbers: int = MAX_NUMBERS
    known: LearntItems | None = None

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def n_labelled(self) -> int:
        """Number of items whose truth is known."""
        return int((self.truth != MISSING).sum())

    def labelled(self) -> InMemoryItems:
        """The items whose truth is known."""
        return self if self.n_labelled == len(self.truth) else self.take(np.flatnonzero(self.truth != MISSING))

    def take(self, rows: Codes) -> InMemoryItems:
        """The items at these positions."""
        weight = None if self.weight is None else self.weight[rows]
        observations, number = self.observations.take(rows), self.number[rows]
        return replace(self, observations=observations, truth=self.truth[rows], weight=weight, number=number)

    def transform(self, function: BlockFunction) -> InMemoryItems:
        """The same items with ``function`` applied to each block, after earlier functions."""
        return replace(self, function=composed(self.function, function))

    def blocks(self, *, min_items: int = 64) -> Blocks[Block]:
        """Blocks of at least so many items; kept where they are small enough together, else made again in each pass."""
        n_items, n_classes = len(self.truth), self.schema.n_classes
        slices = block_slices(n_items, n_classes, min_items)
        if n_items * n_classes <= self.max_numbers:
            return StoredBlocks(list(map_blocks(self._block, slices)))
        return LazyBlocks(self._block, slices, n_items)

    def subsample(self, size: int, *, min_items: int = 64) -> Sequence[Block]:
        """At most so many items, by what they are, in blocks."""
        items = self if len(self) <= size else self.take(np.sort(self._by_content()[:size]))
        return items.blocks(min_items=min_items)

    def answered_unlabelled(self, size: int = AGREEMENT_ITEMS) -> Block | None:
        """At most so many items with an answer and no truth, by what they are; None where there is none."""
        if not len(self._unlabelled):
            return None
        if len(self._unlabelled) <= size:
            items = self.take(self._unlabelled)
        else:
            rows = np.sort(self._first(self._unlabelled_by_content, size))
            items = replace(self.take(rows), weight=None)  # by which they are drawn
        return items._block(slice(0, len(items)))

    @cached_property
    def _unlabelled(self) -> Codes:
        """The positions of the items with an answer and no truth."""
        there = (self.truth == MISSING) & (self.observations.answers.per_item() > 0)
        return np.flatnonzero(there if self.weight is None else there & (self.weight > 0))

    @cached_property
    def _unlabelled_by_content(self) -> Codes:
        return self._unlabelled[self.take(self._unlabelled)._by_content()]

    @property
    def is_weighted(self) -> bool:
        """Whether an item may have another weight than 1."""
        return self.weight is not None

    def confidences(self) -> tuple[Floats, Floats | None] | None:
        """All confidences and the weights of their items; None if there are none and nobody answered "unsure"."""
        if self.observations.confidence is not None:
            return self.schema.confidences(self.observations.answers, self.observations.confidence, self.weight)
        return None if self.observations.unsure is None else (np.empty(0), None)

    def learnt(self) -> LearntItems:
        """What the labelled items are recognised by."""
        return LearntItems.of(self.observations, self.truth) if self.known is None else self.known

    def _by_content(self) -> Codes:
        """The positions of the items in a random order, which depends on nothing but what they are."""
        return content_places(replace(self, function=None).blocks(), self.schema.annotators)

    def _first(self, rows: Codes, size: int) -> Codes:
        """So many of more rows: the first; by unequal weights, evenly spaced, one of weight 2 in the space of two.

        Of the first, a change of one item changes one at the most. They are no more than all weigh, but at least one.
        """
        if self.weight is None:
            return rows[:size]
        weight = self.weight[rows]
        end = np.cumsum(weight)
        size = min(size, max(1, round(end[-1])))
        if (weight == weight[0]).all():
            return rows[:size]
        place = np.searchsorted(end, (np.arange(size) + 0.5) * (end[-1] / size), side="right")
        return np.asarray(rows[np.minimum(place, len(rows) - 1)])

    def _block(self, rows: slice) -> Block:
        block = self.observations.block(rows, true_label=self.truth, weight=self.weight)
        block = with_folds(replace(block, number=self.number[rows]), has_model=self.schema.has_model)
        return block if self.function is None else self.function(block)
