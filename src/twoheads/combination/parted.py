"""Items of a table too large for memory: in chunks on disk or on a cluster, with the face of `Labelled`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from twoheads.combination.answering import Answering, answering_of
from twoheads.engines.blocks import BLOCK_NUMBERS, block_slices
from twoheads.engines.chunks import ChunkedBlocks, DiskStore, MemoryStore, Store
from twoheads.engines.cluster import ClusterTable
from twoheads.engines.progress import current_callback
from twoheads.engines.threads import add_up
from twoheads.kernels.answers import joined_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.dependence.agreement import ITEMS
from twoheads.kernels.dependence.likelihood import MODE_LABELS
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.observations import Observations, as_truth

#: Blocks of a chunk on disk: fewer take longer to read, more take more memory.
CHUNK_BLOCKS = 8
#: Items of a block at least: with many classes the correction for dependence wants so many.
LEAST = 1024


@dataclass(frozen=True)
class Facts:
    """What is known of a chunk, whose blocks hold either items with truth or items without.

    sizes      how many items each block has
    span       the number of the first item, and that after the last
    known      whether their truth is known, block by block
    answered   how many items have an answer and no truth
    confident  whether anybody said how sure, or "unsure"
    per_class  (n_classes,) how many items there are of each known class
    """

    sizes: list[int]
    span: tuple[int, int]
    known: list[bool]
    answered: int
    confident: bool
    per_class: Floats


@dataclass(frozen=True)
class Parted:
    """What `Labelled` is, for items that stay where they are.

    seen        a few items of the table, for its classes and people
    store       where the chunks are
    facts       what is known of each chunk
    answered    who answered how much
    only_known  whether only the items with truth are meant
    make        what is made of each block
    """

    seen: Observations
    store: Store
    facts: list[Facts]
    answered: Answering
    only_known: bool = False
    make: Callable[[Block], Block] | None = None

    def mapped(self, make: Callable[[Block], Block]) -> Parted:
        """The same items, ``make(block)`` in place of each block."""
        return replace(self, make=make)

    def __len__(self) -> int:
        return sum(sum(sizes) for sizes in self._sizes().values())

    @property
    def n_labelled(self) -> int:
        """How many items' truth is known."""
        return len(replace(self, only_known=True))

    def labelled(self) -> Parted:
        """The items whose truth is known; here in memory, if they are few of many."""
        if self.n_labelled == len(self):
            return self
        known = replace(self, only_known=True)
        if len(known) > MODE_LABELS:
            return known
        here = list(replace(known, make=None).some(len(known), least=64))
        facts, answered = facts_of(here, len(self.seen.annotators))
        return Parted(self.seen, MemoryStore([here]), [facts], answered, make=self.make)

    def per_class(self) -> Floats:
        """How many items there are of each known class, (n_classes,)."""
        return np.asarray(np.sum([facts.per_class for facts in self.facts], axis=0))

    def answering(self) -> Answering:
        """Who answered how much."""
        return self.answered

    def confidences(self) -> Floats | None:
        """How sure people said they were, where they did; None where nobody did and nobody said "unsure"."""
        told = list(self.blocks().map(_confidences)) if any(facts.confident for facts in self.facts) else []
        return np.concatenate(told) if told else None

    def weight_of_one(self) -> float:
        """What an item counts."""
        return 1.0

    def blocks(self, least: int = 64) -> ChunkedBlocks[Block]:
        """The blocks, where they are; of `LEAST` items at least, whatever is asked for."""
        blocks: ChunkedBlocks[Block] = ChunkedBlocks(self.store, self._sizes(), _known if self.only_known else list)
        return blocks if self.make is None else blocks.transform(self.make)

    def some(self, limit: int, least: int = LEAST) -> Sequence[Block]:
        """At most so many of the items, evenly spaced, here in memory."""
        rows = evenly_spaced(len(self), limit)
        if self.only_known or self.n_labelled in (0, len(self)):
            border = np.cumsum([0, *(sum(self._sizes().get(at, [])) for at in range(len(self.facts)))])
            block = self._gathered(_take_known if self.only_known else _take, border, rows)
        else:  # items with and without truth stand apart: they are found by their numbers
            own = {at: rows[slice(*np.searchsorted(rows, facts.span))] for at, facts in enumerate(self.facts)}
            block = joined([some for some in self.store.results(_take_numbers, own) if some.n_items])
            block = block.take(np.argsort(_number(block)))
        slices = block_slices(block.n_items, self.seen.n_classes, least)
        return [self._made(block.take(np.arange(block.n_items)[rows])) for rows in slices]

    def answered_without_truth(self) -> Block | None:
        """At most 300 of the items that have an answer and no truth, evenly spaced; None where there is none."""
        border = np.cumsum([0, *(facts.answered for facts in self.facts)])
        if not border[-1]:
            return None
        return self._made(self._gathered(_take_answered, border, evenly_spaced(border[-1], ITEMS)))

    def _made(self, block: Block) -> Block:
        return block if self.make is None else self.make(block)

    def _sizes(self) -> dict[int, list[int]]:
        meant = {
            at: [size for size, known in zip(facts.sizes, facts.known, strict=True) if known or not self.only_known]
            for at, facts in enumerate(self.facts)
        }
        return {at: sizes for at, sizes in meant.items() if sizes}

    def _gathered(self, take: Any, border: Codes, rows: Codes) -> Block:
        """Items by their numbers, which run over all chunks; chunk ``i`` has those from ``border[i]`` on."""
        cuts = pairwise(np.searchsorted(rows, border))
        own = {at: rows[first:last] - border[at] for at, (first, last) in enumerate(cuts) if last > first}
        return joined(list(self.store.results(take, own)))


def parted(table: Any) -> Parted:
    """A table (`twoheads.tables.scan`) in chunks on disk, read and checked once; or on the cluster that holds it."""
    if isinstance(table, ClusterTable):
        return _on_cluster(table)
    store, facts, start = DiskStore(), [], 0
    answered: tuple[Any, ...] = ()
    n_classes = len(table.classes)
    rows = CHUNK_BLOCKS * max(LEAST, BLOCK_NUMBERS // n_classes)
    first: Any = None
    current_callback().begin(table.n_rows)
    try:
        for seen, y in table.blocks(rows):
            first = first or seen[:1]
            for chunk in chunks_of(seen, y, start):
                store.add(chunk)
                known, more = facts_of(chunk, len(seen.annotators))
                facts.append(known)
                answered = add_up([answered, more] if answered else [more])
            start += len(seen)
            current_callback().advance(len(seen))
    except BaseException:
        store.close()
        raise
    return Parted(first, store, facts, Answering(*answered))


def _on_cluster(table: ClusterTable) -> Parted:
    store, first = table.hold(_read), next(table.blocks(1))[0]
    found = list(store.results(facts_of, dict.fromkeys(range(len(store)), len(first.annotators))))
    return Parted(first, store, [facts for facts, _ in found], Answering(*add_up(answered for _, answered in found)))


def _read(table: Any, span: tuple[int, int]) -> list[Block]:
    """The rows of a table from one to another, as the blocks of a chunk."""
    rows = CHUNK_BLOCKS * max(LEAST, BLOCK_NUMBERS // len(table.classes))
    read, start = [], span[0]
    for seen, y in table.blocks(rows, items=False, span=span):
        read += [block for chunk in chunks_of(seen, y, start) for block in chunk]
        start += len(seen)
    return read


def chunks_of(seen: Observations, y: Any, start: int) -> list[list[Block]]:
    """Blocks of the items with truth, and of those without, from a row of the table on; only those that there are."""
    truth, number = as_truth(y, seen), np.arange(start, start + len(seen))
    known = truth != MISSING
    if known.all() or not known.any():
        return [_blocks(seen, truth, number)]
    some = (np.flatnonzero(known), np.flatnonzero(~known))
    return [_blocks(seen.take(rows), truth[rows], number[rows]) for rows in some]


def _blocks(seen: Observations, truth: Codes, number: Codes) -> list[Block]:
    slices = block_slices(len(seen), seen.n_classes, LEAST)
    return [replace(seen.block(rows, true_label=truth), number=number[rows]) for rows in slices]


def facts_of(chunk: list[Block], n_people: int) -> tuple[Facts, Answering]:
    """What is known of a chunk, and who answered how much in it."""
    n_people, n_classes = max(1, n_people), len(chunk[0].log_proba)
    known = [_is_known(block) for block in chunk]
    truth = np.concatenate([block.true_label for block in chunk if _is_known(block)] or [np.empty(0, dtype=np.intp)])
    number = np.concatenate([_number(block) for block in chunk])
    facts = Facts(
        [block.n_items for block in chunk],
        (int(number.min()), int(number.max()) + 1),
        known,
        sum(len(_answered(block)) for block in chunk if not _is_known(block)),
        any(block.confidence is not None or block.unsure is not None for block in chunk),
        np.bincount(truth, minlength=n_classes).astype(np.float64),
    )
    answers = joined_answers([block.answers for block in chunk if block.answers is not None])
    return facts, answering_of(answers, None, n_people, n_classes)


def _is_known(block: Block) -> bool:
    assert block.true_label is not None
    return bool(block.true_label[0] != MISSING)


def _number(block: Block) -> Codes:
    assert block.number is not None
    return block.number


def _confidences(block: Block) -> Floats:
    return np.empty(0) if block.confidence is None else block.confidence


def _known(chunk: list[Block]) -> list[Block]:
    return [block for block in chunk if _is_known(block)]


def _answered(block: Block) -> Codes:
    assert block.answers is not None
    return np.flatnonzero(block.answers.per_item() > 0)


def _take(chunk: list[Block], rows: Codes) -> Block:
    """Items by their number in the chunk, from the blocks they are in."""
    cuts = np.cumsum([0, *(block.n_items for block in chunk)])
    places = zip(chunk, cuts, pairwise(np.searchsorted(rows, cuts)), strict=False)
    return joined([block.take(rows[first:last] - start) for block, start, (first, last) in places if last > first])


def _take_numbers(chunk: list[Block], numbers: Codes) -> Block:
    return joined([block.take(np.flatnonzero(np.isin(_number(block), numbers))) for block in chunk])


def _take_known(chunk: list[Block], rows: Codes) -> Block:
    return _take(_known(chunk), rows)


def _take_answered(chunk: list[Block], rows: Codes) -> Block:
    return _take([block.take(_answered(block)) for block in chunk if not _is_known(block)], rows)
