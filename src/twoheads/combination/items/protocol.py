"""The protocol of the items that a fit learns from. `twoheads.testing.check_items` tests an implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.learnt import LearntItems
from twoheads.confusion.response import scored_rank
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.engines.blocks import map_blocks, sum_blocks
from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import Answers, item_of_answers
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block, without_annotators
from twoheads.kernels.dependence.agreement import ITEMS as AGREEMENT_ITEMS
from twoheads.kernels.numerics.content import Marks, content_order, marks_of, name_hashes, sample_hashes
from twoheads.kernels.numerics.sampling import Hashes
from twoheads.observations import Observations
from twoheads.text import count

#: A step that is applied to each block before a fit uses it, such as pooling several models.
BlockFunction = Callable[[Block], Block]


@dataclass(frozen=True, eq=False)
class Schema:
    """What all items have in common.

    classes     (n_classes,) the class labels
    annotators  their names, in the order of the columns of S
    models      their names; empty where there is no model
    has_model   whether there is a model
    columns     the columns of the frame that the items come from; None where there was none
    machines    the annotators that are machines
    levels      of scores, where any of the annotators give scores
    zeros       what a probability of 0 is read as, of each model
    n_features  number of columns of the same items as a frame: annotators, then a probability per model and class
    """

    classes: NDArray[Any]
    annotators: tuple[str, ...]
    models: tuple[str, ...]
    has_model: bool
    columns: tuple[str, ...] | None = None
    machines: tuple[str, ...] = ()
    levels: ScoreLevels | None = None
    zeros: tuple[float, ...] = ()
    n_classes: int = field(init=False)
    n_annotators: int = field(init=False)
    n_features: int = field(init=False)

    def __post_init__(self) -> None:
        n_classes, n_annotators = len(self.classes), len(self.annotators)
        n_features = n_annotators + max(1, len(self.models)) * n_classes if self.columns is None else len(self.columns)
        for name, number in ("n_classes", n_classes), ("n_annotators", n_annotators), ("n_features", n_features):
            object.__setattr__(self, name, number)

    @classmethod
    def of(cls, observations: Observations, levels: ScoreLevels | None = None) -> Schema:
        """The schema of observations, in which scores are answers by these levels."""
        if observations.scores is not None:
            raise InvalidObservations(
                "X must hold labels or probabilities for this method; it holds scores of "
                f"{observations.scores.names[0]!r} ({count(len(observations.scores.names), 'column')}). "
                "Leave them out, or use a method that reads scores: recommended() (--method recommended)."
            )
        return cls(
            observations.classes,
            observations.annotators or ("human",),
            observations.models,
            bool(observations.model_proba),
            observations.columns,
            observations.machines,
            levels,
            observations.zeros,
        )

    @property
    def people(self) -> list[int]:
        """The numbers of the annotators that are people."""
        return [at for at, name in enumerate(self.annotators) if name not in self.machines]

    @property
    def machine_numbers(self) -> list[int]:
        """The numbers of the annotators that are machines."""
        return [at for at, name in enumerate(self.annotators) if name in self.machines]

    @property
    def machines_beside_people(self) -> tuple[int, ...]:
        """The numbers of the machines where there are people too, else none."""
        return tuple(self.machine_numbers) if self.people else ()

    def people_only(self, block: Block) -> Block:
        """A block without the answers of machines."""
        if not self.machines or block.answers is None:
            return block
        return without_annotators(block, self.machine_numbers)

    @property
    def scored(self) -> Codes | None:
        """`ResponseModel.scored_`: number, levels and cuts of those who give scores; None without any."""
        if self.levels is None:
            return None
        cuts = np.array(self.levels.cuts).T
        return np.array([self.levels.places(self.annotators), self.levels.sizes, *cuts], dtype=np.intp)

    def confidences(
        self, answers: Answers | None, confidence: Floats | None, weight: Floats | None = None
    ) -> tuple[Floats, Floats | None]:
        """The confidences among numbers per answer, without the levels of scores, and the weights of their items.

        weight  (n_items,) or None
        """
        if confidence is None or answers is None:
            return np.empty(0), None
        known = np.ones(len(confidence), dtype=bool)
        if self.scored is not None:
            known = scored_rank(self.scored[0], answers.column // self.n_classes) < 0
        return confidence[known], None if weight is None else weight[item_of_answers(answers)[known]]


class Items(Protocol):
    """Labelled and unlabelled items, which a fit goes through block by block."""

    @property
    def schema(self) -> Schema:
        """Classes, annotators and models."""

    def __len__(self) -> int:
        """Number of items."""

    def labelled(self) -> Self:
        """The items whose truth is known."""

    def transform(self, function: BlockFunction) -> Self:
        """The same items with ``function`` applied to each block, after earlier functions."""

    def blocks(self, *, min_items: int = 64) -> Sequence[Block]:
        """All items, in blocks of at least so many."""

    def subsample(self, size: int, *, min_items: int = 64) -> Sequence[Block]:
        """At most so many items, by what they are and not where they stand, in blocks in memory."""

    def answered_unlabelled(self, size: int = AGREEMENT_ITEMS) -> Block | None:
        """At most so many of the items with an answer and no truth, chosen likewise; None where there is none.

        Its weights are what each counts among them.
        """

    @property
    def is_weighted(self) -> bool:
        """Whether an item may have another weight than 1."""


class CountableItems(Items, Protocol):
    """Items that are all available, in memory or in chunks, so that their statistics can be collected."""

    @property
    def n_labelled(self) -> int:
        """Number of items whose truth is known."""

    def confidences(self) -> tuple[Floats, Floats | None] | None:
        """All confidences and the weights of their items; None if there are none and nobody answered "unsure"."""

    def learnt(self) -> LearntItems:
        """What the labelled items are recognised by."""


def content_places(blocks: Sequence[Block], annotators: tuple[str, ...]) -> Codes:
    """The positions of all items of the blocks in a random order, which depends on nothing but what the items are."""
    hashes = list(map_blocks(sample_hashes_of(blocks, annotators), blocks))
    own, content = (np.concatenate([each[at] for each in hashes]) for at in (0, 1))
    del hashes  # of a large table they take as much memory as a block
    return content_order(own, content)


def sample_hashes_of(blocks: Sequence[Block], annotators: tuple[str, ...]) -> Callable[[Block], tuple[Hashes, Hashes]]:
    """`sample_hashes` as a function of one of the blocks, which are all that a sample is drawn from."""
    marks = Marks(*sum_blocks(partial(marks_of, n_annotators=len(annotators)), blocks))
    return partial(sample_hashes, names=name_hashes(annotators), marks=marks)


def composed(first: BlockFunction | None, then: BlockFunction) -> BlockFunction:
    """One function after another."""
    return then if first is None else partial(_apply, first, then)


def applied(function: BlockFunction | None, block: Block) -> Block:
    """The function's value, or the block itself without a function."""
    return block if function is None else function(block)


def _apply(first: BlockFunction, then: BlockFunction, block: Block) -> Block:
    return then(first(block))
