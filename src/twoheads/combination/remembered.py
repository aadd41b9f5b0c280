"""What `Labelled` is, for items of which only a memory is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.answering import Answering
from twoheads.combination.labelled import Labelled
from twoheads.combination.memory import Memory, united
from twoheads.combination.parted import Parted
from twoheads.engines.blocks import block_slices
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.dependence.agreement import ITEMS
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.observations import Observations


@dataclass(frozen=True)
class Remembered:
    """What `Labelled` is, for items of which a memory is left.

    seen        the latest items, for classes and people
    only_known  whether only the items with truth are meant
    make        what is made of each block
    """

    seen: Observations
    memory: Memory
    only_known: bool = False
    make: Callable[[Block], Block] | None = None

    @classmethod
    def of(cls, memories: Sequence[Memory], annotators: tuple[str, ...], classes: NDArray[Any]) -> Remembered:
        """What several memories hold together, the people numbered as given."""
        memory = united(memories, annotators)
        held = [sample for sample in (memory.labelled_, memory.unlabelled_) if sample is not None]
        no_model = all(sample.no_model_ is not None and sample.no_model_.all() for sample in held)
        proba = () if no_model else (np.empty((0, len(classes))),)
        return cls(Observations(classes, proba, Answers(np.empty(0, np.intp)), annotators, np.empty(0)), memory)

    def mapped(self, make: Callable[[Block], Block]) -> Remembered:
        """The same items, ``make(block)`` in place of each block."""
        return replace(self, make=make)

    def __len__(self) -> int:
        return self._whole().n_items

    @property
    def n_labelled(self) -> int:
        """How many items' truth is known."""
        return 0 if self.memory.labelled_ is None else self.memory.labelled_.n_items

    def labelled(self) -> Remembered:
        """The items whose truth is known."""
        return replace(self, only_known=True)

    def per_class(self) -> Floats:
        """The weight of the items of each known class, (n_classes,)."""
        assert self.memory.labelled_ is not None
        block = self.memory.labelled_.block()
        assert block.true_label is not None
        return np.bincount(block.true_label, block.weight, self.seen.n_classes).astype(np.float64)

    def answering(self) -> Answering:
        """Who answered how much."""
        return self.memory.answering()

    def confidences(self) -> Floats | None:
        """How sure people said they were; None where nobody did and nobody said "unsure"."""
        return None if self.memory.manner_bounds_ is None else np.empty(0)

    def weight_of_one(self) -> float:
        """What an item that counts at all counts on average, 1 at the most."""
        weight = self._whole().weight
        return 1.0 if weight is None else min(1.0, float(weight[weight > 0].mean()))

    def some(self, limit: int, least: int = 64) -> Sequence[Block]:
        """At most so many of the items, evenly spaced, as blocks."""
        whole = self._whole()
        return self._cut(whole.take(evenly_spaced(whole.n_items, limit)), least)

    def answered_without_truth(self) -> Block | None:
        """At most 300 of the items that have an answer and no truth; None where there is none."""
        if self.memory.unlabelled_ is None:
            return None
        block = self.memory.unlabelled_.block()
        assert block.answers is not None
        rest = np.flatnonzero(block.answers.per_item() > 0)
        return self._made(block.take(rest[evenly_spaced(len(rest), ITEMS)])) if len(rest) else None

    def blocks(self, least: int = 64) -> Sequence[Block]:
        """The items as blocks of at least so many."""
        return self._cut(self._whole(), least)

    def _whole(self) -> Block:
        held = [self.memory.labelled_] if self.only_known else [self.memory.labelled_, self.memory.unlabelled_]
        block = joined([sample.block(for_all=not self.only_known) for sample in held if sample is not None])
        return replace(block, number=np.arange(block.n_items))

    def _cut(self, whole: Block, least: int) -> Sequence[Block]:
        slices = block_slices(whole.n_items, self.seen.n_classes, least)
        return [self._made(whole.rows(rows)) for rows in slices]

    def _made(self, block: Block) -> Block:
        return block if self.make is None else self.make(block)


AnyItems = Labelled | Parted | Remembered
