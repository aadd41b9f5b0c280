"""Observations with their truth and weights, as the blocks that a fit goes through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twoheads.engines.local import Passing, block_slices, map_blocks, sum_blocks
from twoheads.kernels.agreement import evenly_spaced
from twoheads.kernels.answers import hard_counts
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.observations import Observations

#: Log-probabilities of so many numbers together are kept during a fit (240 MB); beyond, each pass makes them anew.
KEPT_NUMBERS = 30_000_000


@dataclass(frozen=True)
class Labelled:
    """Observations with their truth and weights."""

    seen: Observations
    truth: Codes
    weight: Floats | None

    def take(self, rows: Codes) -> Labelled:
        """Some of the items."""
        return Labelled(self.seen.take(rows), self.truth[rows], None if self.weight is None else self.weight[rows])

    def weight_of_one(self) -> float:
        """What an item that counts at all counts on average, 1 at the most."""
        if self.weight is None or not (self.weight > 0).any():
            return 1.0
        return min(1.0, float(self.weight[self.weight > 0].mean()))

    def spread(self, items: Codes) -> Codes:
        """At most 300 of the items, evenly spaced; one of weight 2 stands there as if given twice."""
        if self.weight is None or not len(items):
            return items[evenly_spaced(len(items))]
        end = np.cumsum(self.weight[items])
        place = np.searchsorted(end, evenly_spaced(round(end[-1])), side="right")
        return items[np.minimum(place, len(items) - 1)]

    def blocks(self, least: int = 64) -> Sequence[Block]:
        """Blocks of at least so many items; kept where they are small enough together, else made anew in each pass."""
        slices = block_slices(len(self.seen), self.seen.n_classes, least)

        def make(rows: slice) -> Block:
            return self.seen.block(rows, true_label=self.truth, weight=self.weight)

        if len(self.seen) * self.seen.n_classes <= KEPT_NUMBERS:
            return list(map_blocks(make, slices))
        return Passing(make, slices)


def counts_of(blocks: Sequence[Block], n_people: int, n_classes: int) -> Floats:
    """How often each person gave each answer under each true class, (n_people, n_answers, n_classes)."""

    def kernel(block: Block) -> tuple[Floats]:
        assert block.answers is not None
        assert block.true_label is not None
        return (hard_counts(block.answers, block.true_label, block.weight, n_people * n_classes, n_classes),)

    (counts,) = sum_blocks(kernel, blocks)
    return np.asarray(counts).reshape(n_people, -1, n_classes)
