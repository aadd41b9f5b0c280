"""Items of earlier fits, from the sample among their statistics; implements `Items`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from twoheads.combination.items.protocol import BlockFunction, Schema, applied, composed, content_places
from twoheads.combination.statistics.folds import with_folds
from twoheads.combination.statistics.reservoir import ItemSample
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.engines.blocks import block_slices
from twoheads.kernels.arrays import Codes
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.dependence.agreement import ITEMS as AGREEMENT_ITEMS
from twoheads.kernels.numerics.sampling import evenly_spaced


@dataclass(frozen=True)
class SampledItems:
    """The sampled items of statistics, each with the weight of those it represents.

    statistics     their statistics, of all items
    function       applied to each block
    only_labelled  whether only labelled items are meant; their weights then sum to their number
    """

    schema: Schema
    statistics: SufficientStatistics
    function: BlockFunction | None = None
    only_labelled: bool = False

    def __len__(self) -> int:
        return sum(sample.n_items for sample in self._samples())

    def labelled(self) -> SampledItems:
        """The items whose truth is known."""
        return replace(self, only_labelled=True)

    def transform(self, function: BlockFunction) -> SampledItems:
        """The same items with ``function`` applied to each block, after earlier functions."""
        return replace(self, function=composed(self.function, function))

    def blocks(self, *, min_items: int = 64) -> Sequence[Block]:
        """All sampled items, in blocks of at least so many."""
        return self._cut(self._whole(), min_items)

    def subsample(self, size: int, *, min_items: int = 64) -> Sequence[Block]:
        """At most so many of the sampled items, in blocks: labelled ones by what they are, else evenly spaced."""
        whole = self._whole()
        if self.only_labelled and whole.n_items > size:
            whole = whole.take(np.sort(self._by_content(whole)[:size]))
        return self._cut(whole.take(evenly_spaced(whole.n_items, size)), min_items)

    def answered_unlabelled(self, size: int = AGREEMENT_ITEMS) -> Block | None:
        """At most so many of the sampled items with an answer and no truth, by what they are; None without any."""
        if self.only_labelled or self.statistics.unlabelled is None:
            return None
        block = self.statistics.unlabelled.block()
        assert block.answers is not None
        rest = block.take(np.flatnonzero(block.answers.per_item() > 0))
        if rest.n_items > size:
            rest = rest.take(np.sort(self._by_content(rest)[:size]))
        return applied(self.function, rest) if rest.n_items else None

    @property
    def is_weighted(self) -> bool:
        """Whether an item may have another weight than 1."""
        return any((sample.weight != 1.0).any() for sample in self._samples())

    def _whole(self) -> Block:
        """The items with the folds that they had where they were first read."""
        block = joined([sample.block(for_all=not self.only_labelled) for sample in self._samples()])
        return with_folds(replace(block, number=np.arange(block.n_items)), has_model=self.schema.has_model)

    def _by_content(self, block: Block) -> Codes:
        """The positions of a block's items in a random order, as in memory: by keys, alike ones come as they came."""
        return content_places([block], self.schema.annotators)

    def _samples(self) -> list[ItemSample]:
        labelled, unlabelled = self.statistics.labelled, self.statistics.unlabelled
        samples = [labelled] if self.only_labelled else [labelled, unlabelled]
        return [sample for sample in samples if sample is not None]

    def _cut(self, whole: Block, min_items: int) -> Sequence[Block]:
        slices = block_slices(whole.n_items, self.schema.n_classes, min_items)
        return [applied(self.function, whole.rows(rows)) for rows in slices]
