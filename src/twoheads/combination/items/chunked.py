"""Items stored in chunks, on disk or on a cluster; implements `CountableItems`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np

from twoheads.combination.items.protocol import BlockFunction, Schema, applied, composed, content_places
from twoheads.combination.learnt import LearntItems
from twoheads.engines.blocks import block_slices
from twoheads.engines.chunks import ChunkedBlocks, MemoryStore, Store
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.dependence.agreement import ITEMS as AGREEMENT_ITEMS
from twoheads.kernels.dependence.posterior import MODE_LABELS

#: Fewest items of a block: with many classes the correction for dependence needs so many.
MIN_ITEMS = 1024


@dataclass(frozen=True)
class ChunkSummary:
    """A summary of a chunk, each of whose blocks holds either labelled or unlabelled items.

    sizes           number of items of each block
    labelled        whether the items are labelled, block by block
    answered        number of items with an answer and no truth
    has_confidence  whether any answer has a confidence or is "unsure"
    """

    sizes: list[int]
    labelled: list[bool]
    answered: int
    has_confidence: bool


@dataclass(frozen=True)
class ChunkedItems:
    """Items that stay where they are; every weight is 1.

    store          where the chunks are
    summaries      of each chunk
    function       applied to each block
    only_labelled  whether only labelled items are meant
    known          what labelled items are recognised by; None if that is found from the blocks, which have no ids
    drawn          samples of answered items without truth by size, for they are asked for again and take passes
    """

    schema: Schema
    store: Store
    summaries: list[ChunkSummary]
    function: BlockFunction | None = None
    only_labelled: bool = False
    known: LearntItems | None = None
    drawn: dict[int, Block] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return sum(sum(sizes) for sizes in self._sizes().values())

    @property
    def n_labelled(self) -> int:
        """Number of items whose truth is known."""
        return len(replace(self, only_labelled=True))

    def labelled(self) -> ChunkedItems:
        """The items whose truth is known; in memory if they are few of many."""
        if self.n_labelled == len(self):
            return self
        known = replace(self, only_labelled=True)
        if not len(known) or len(known) > MODE_LABELS:
            return known
        blocks = list(replace(known, function=None).subsample(len(known), min_items=64))
        return ChunkedItems(self.schema, MemoryStore([blocks]), [summarise(blocks)], self.function)

    def transform(self, function: BlockFunction) -> ChunkedItems:
        """The same items with ``function`` applied to each block, after earlier functions."""
        return replace(self, function=composed(self.function, function))

    def blocks(self, *, min_items: int = 64) -> ChunkedBlocks[Block]:
        """The blocks, where they are; of at least `MIN_ITEMS` items, whatever ``min_items`` is."""
        blocks: ChunkedBlocks[Block] = ChunkedBlocks(
            self.store, self._sizes(), _labelled_blocks if self.only_labelled else list
        )
        return blocks if self.function is None else blocks.transform(self.function)

    def subsample(self, size: int, *, min_items: int = MIN_ITEMS) -> Sequence[Block]:
        """At most so many items, by what they are, in blocks in memory."""
        rows = np.arange(len(self))
        if len(rows) > size:
            rows = np.sort(content_places(replace(self, function=None).blocks(), self.schema.annotators)[:size])
        border = np.cumsum([0, *(sum(self._sizes().get(at, [])) for at in range(len(self.summaries)))])
        block = self._gathered(_take_labelled if self.only_labelled else _take, border, rows)
        block = block.take(np.argsort(_number(block)))  # labelled and unlabelled ones are stored apart
        slices = block_slices(block.n_items, self.schema.n_classes, min_items)
        return [applied(self.function, block.take(np.arange(block.n_items)[rows])) for rows in slices]

    def answered_unlabelled(self, size: int = AGREEMENT_ITEMS) -> Block | None:
        """At most so many of the items with an answer and no truth, by what they are; None where there is none."""
        numbers = [0 if self.only_labelled else summary.answered for summary in self.summaries]
        border = np.cumsum([0, *numbers])
        if not border[-1]:
            return None
        if size not in self.drawn:
            rows = np.arange(border[-1])
            if len(rows) > size:
                sizes = {at: [number] for at, number in enumerate(numbers) if number}
                blocks: ChunkedBlocks[Block] = ChunkedBlocks(self.store, sizes, _answered_blocks)
                rows = np.sort(content_places(blocks, self.schema.annotators)[:size])
            self.drawn[size] = self._gathered(_take_answered, border, rows)
        return applied(self.function, self.drawn[size])

    @property
    def is_weighted(self) -> bool:
        """Every item has weight 1."""
        return False

    def confidences(self) -> tuple[Floats, Floats | None] | None:
        """All confidences, which have no weights; None if there are none and nobody answered "unsure"."""
        if not any(summary.has_confidence for summary in self.summaries):
            return None
        return np.concatenate(list(self.blocks().map(partial(_confidences, self.schema)))), None

    def learnt(self) -> LearntItems:
        """What the labelled items are recognised by."""
        if self.known is not None:
            return self.known
        return LearntItems.joined(list(self.store.results(_learnt, dict.fromkeys(range(len(self.store)), self.schema))))

    def _sizes(self) -> dict[int, list[int]]:
        """Number of items of each block that is meant, by chunk."""
        meant = {
            at: [
                size
                for size, labelled in zip(summary.sizes, summary.labelled, strict=True)
                if labelled or not self.only_labelled
            ]
            for at, summary in enumerate(self.summaries)
        }
        return {at: sizes for at, sizes in meant.items() if sizes}

    def _gathered(self, take: Callable[[list[Block], Codes], Block], border: Codes, rows: Codes) -> Block:
        """Items by their positions over all chunks; chunk ``i`` has those from ``border[i]`` on."""
        cuts = pairwise(np.searchsorted(rows, border))
        own = {at: rows[first:last] - border[at] for at, (first, last) in enumerate(cuts) if last > first}
        return joined(list(self.store.results(take, own)))


def summarise(chunk: list[Block]) -> ChunkSummary:
    """The summary of a chunk."""
    return ChunkSummary(
        [block.n_items for block in chunk],
        [_is_labelled(block) for block in chunk],
        sum(len(_answered(block)) for block in chunk if not _is_labelled(block)),
        any(block.confidence is not None or block.unsure is not None for block in chunk),
    )


def _learnt(chunk: list[Block], schema: Schema) -> LearntItems:
    models = schema.models if schema.has_model else ()
    names = schema.annotators, schema.classes, models
    parts = [LearntItems.of_block(each, *names, schema.zeros) for each in _labelled_blocks(chunk)]
    return LearntItems.joined(parts or [LearntItems.nothing()])


def _is_labelled(block: Block) -> bool:
    assert block.true_label is not None
    return bool(block.true_label[0] != MISSING)


def _number(block: Block) -> Codes:
    assert block.number is not None
    return block.number


def _confidences(schema: Schema, block: Block) -> Floats:
    return schema.confidences(block.answers, block.confidence)[0]


def _labelled_blocks(chunk: list[Block]) -> list[Block]:
    return [block for block in chunk if _is_labelled(block)]


def _answered(block: Block) -> Codes:
    assert block.answers is not None
    return np.flatnonzero(block.answers.per_item() > 0)


def _take(chunk: list[Block], rows: Codes) -> Block:
    """Items by their positions in the chunk."""
    cuts = np.cumsum([0, *(block.n_items for block in chunk)])
    places = zip(chunk, cuts, pairwise(np.searchsorted(rows, cuts)), strict=False)
    return joined([block.take(rows[first:last] - start) for block, start, (first, last) in places if last > first])


def _take_labelled(chunk: list[Block], rows: Codes) -> Block:
    return _take(_labelled_blocks(chunk), rows)


def _take_answered(chunk: list[Block], rows: Codes) -> Block:
    return _take(_answered_blocks(chunk), rows)


def _answered_blocks(chunk: list[Block]) -> list[Block]:
    return [joined([block.take(_answered(block)) for block in chunk if not _is_labelled(block)])]
