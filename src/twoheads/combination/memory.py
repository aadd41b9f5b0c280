"""What a team remembers of the items it has learnt from, so that it can learn on without them.

Counts, and the log-likelihood of the model's temperature at fixed nodes, are sums over items: adding those of new items
is the same as having had all at once. What is no sum, the correction for dependence and whatever items without truth
say, is learnt from a bounded sample of the items that does not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from twoheads.artifact import register
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.answering import Answering
from twoheads.combination.labelled import Items, Labelled, counts_and_crowd
from twoheads.combination.parted import Parted
from twoheads.confusion.base import columns_of
from twoheads.confusion.manner import Manner
from twoheads.engines.local import block_slices, map_blocks
from twoheads.kernels.agreement import evenly_spaced
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.hierarchical import model_overlap
from twoheads.kernels.reservoir import reservoir_keys, weights_in_sample
from twoheads.kernels.temperature import N_NODES
from twoheads.observations import Observations

#: Items of a sample: so many probabilities together, within these bounds.
_NUMBERS, _FEWEST, _MOST = 100_000, 200, 2000
#: Samples of blocks that are made one at a time.
_AT_ONCE = 100


def sample_size(n_classes: int) -> int:
    """How many items with truth, and how many without, are remembered one by one."""
    return int(np.clip(_NUMBERS // n_classes, _FEWEST, _MOST))


@register
class Sample(BaseEstimator):
    """Some items, those with the smallest keys, and the smallest key that was left out."""

    def set(self, block: Block, key: Floats, first_left_out: float = np.inf) -> Self:
        """Hold the items of a block."""
        assert block.answers is not None
        self.log_proba_, self.members_, self.no_model_ = block.log_proba, block.members, block.no_model
        self.column_, self.start_ = block.answers.column, block.answers.start
        self.unsure_column_ = None if block.unsure is None else block.unsure.column
        self.unsure_start_ = None if block.unsure is None else block.unsure.start
        self.confidence_, self.true_label_ = block.confidence, block.true_label
        self.weight_ = np.ones(block.n_items) if block.weight is None else block.weight
        self.key_, self.first_left_out_ = key, float(first_left_out)
        return self

    @property
    def n_items(self) -> int:
        """How many items it holds."""
        return len(self.key_)

    def block(self, *, for_all: bool = False) -> Block:
        """The items; if ``for_all`` each counts for the items that it stands for, else for itself."""
        weight = weights_in_sample(self.weight_, self.first_left_out_)
        if not for_all and not np.isinf(self.first_left_out_):
            weight = weight * (len(weight) / weight.sum())
        return replace(self._held(), weight=None if (weight == 1.0).all() else weight)

    def _held(self) -> Block:
        unsure = None if self.unsure_column_ is None else Answers(self.unsure_column_, self.unsure_start_)
        return Block(
            self.log_proba_,
            Answers(self.column_, self.start_),
            self.true_label_,
            None,
            self.weight_,
            unsure,
            self.confidence_,
            self.members_,
            self.no_model_,
        )

    def renumbered(self, place: Codes, n_classes: int) -> Sample:
        """The same with person ``p`` called ``place[p]``."""
        block = self._held()
        assert block.answers is not None
        answers = Answers(columns_of(block.answers.column, place, n_classes), block.answers.start)
        unsure = block.unsure
        if unsure is not None:
            unsure = Answers(columns_of(unsure.column, place, 1), unsure.start)
        return Sample().set(replace(block, answers=answers, unsure=unsure), self.key_, self.first_left_out_)

    def faded(self, keep: float) -> Sample:
        """The same with every item counting ``keep`` of what it did."""
        block = self._held()
        assert block.weight is not None
        return Sample().set(replace(block, weight=keep * block.weight), self.key_ / keep, self.first_left_out_ / keep)


def _together(samples: Sequence[Sample | None], limit: int) -> Sample | None:
    """The sample of all items that several samples come from."""
    held = [sample for sample in samples if sample is not None and sample.n_items]
    if not held:
        return None
    key = np.concatenate([sample.key_ for sample in held])
    first_left_out = min(sample.first_left_out_ for sample in held)
    order = np.argsort(key, kind="stable")
    kept = order[key[order] < first_left_out][:limit]
    if len(kept) < len(order):
        first_left_out = min(first_left_out, float(key[order[len(kept)]]))
    return Sample().set(joined([sample._held() for sample in held]).take(kept), key[kept], first_left_out)


@register
class Memory(BaseEstimator):
    """Sums over all items learnt from, and samples of them.

    Attributes
    ----------
    annotators_ : tuple of str
        The people, in the order of ``counts_``.
    counts_, crowd_counts_ : ndarray of shape (n_annotators, n_classes, n_classes), (n_classes, n_classes)
        Of labelled items: how often each person gave each answer, and all together.
    overlap_ : ndarray of shape (n_classes, n_classes)
        Which classes the model confuses, on labelled items.
    temperature_values_ : ndarray of shape (n_nodes,)
        Log-likelihood of the labelled items at fixed temperatures of the model.
    manner_bounds_, manner_counts_ : ndarray or None
        Levels of confidence, and how often each way of answering occurred.
    answered_items_, answering_ : float, ndarray of shape (3, n_annotators)
        How many items somebody answered, and who answered how much.
    n_labelled_, n_unlabelled_, labels_per_class_ : int, int, ndarray of shape (n_classes,)
        How many items there were.
    labelled_, unlabelled_ : Sample or None
        Some items with truth, and some without.
    """

    annotators_: tuple[str, ...]
    labelled_: Sample | None
    unlabelled_: Sample | None

    def answering(self) -> Answering:
        """Who answered how much."""
        return Answering(self.answered_items_, *self.answering_)

    def faded(self, forget: float) -> Memory:
        """The same with a share of everything forgotten."""
        keep, faded = 1.0 - forget, self._copy()
        for name in _SUMS:
            value = getattr(self, name)
            setattr(faded, name, None if value is None else keep * value)
        faded.labelled_, faded.unlabelled_ = (
            None if sample is None else sample.faded(keep) for sample in (self.labelled_, self.unlabelled_)
        )
        return faded

    def among(self, annotators: tuple[str, ...]) -> Memory:
        """The same with the people numbered as given; all of them must be among those."""
        if annotators == self.annotators_:
            return self
        number = {name: at for at, name in enumerate(annotators)}
        place = np.array([number[name] for name in self.annotators_], dtype=np.intp)
        n_classes, moved = self.counts_.shape[1], self._copy()
        moved.annotators_ = annotators
        moved.counts_ = np.zeros((len(annotators), *self.counts_.shape[1:]))
        moved.counts_[place] = self.counts_
        moved.answering_ = np.zeros((3, len(annotators)))
        moved.answering_[:, place] = self.answering_
        moved.labelled_, moved.unlabelled_ = (
            None if sample is None else sample.renumbered(place, n_classes)
            for sample in (self.labelled_, self.unlabelled_)
        )
        return moved

    def cut_at(self, bounds: Floats) -> Memory:
        """The same with levels of confidence that begin elsewhere: each goes to the one in which it begins."""
        if self.manner_bounds_ is None or np.array_equal(self.manner_bounds_, bounds):
            return self
        n_classes, moved = self.counts_.shape[1], self._copy()
        level = np.searchsorted(bounds, [-np.inf, *self.manner_bounds_], side="right")
        before = self.manner_counts_[:-1].reshape(n_classes, -1, n_classes)
        after = np.zeros((n_classes, len(bounds) + 2, n_classes))
        for old, new in enumerate([*level, len(bounds) + 1]):
            after[:, new] += before[:, old]
        moved.manner_bounds_ = bounds
        moved.manner_counts_ = np.concatenate([after.reshape(-1, n_classes), self.manner_counts_[-1:]])
        return moved

    def _copy(self) -> Memory:
        copy = Memory()
        for name, value in vars(self).items():
            setattr(copy, name, value)
        return copy


_SUMS = (
    "counts_",
    "crowd_counts_",
    "overlap_",
    "temperature_values_",
    "manner_counts_",
    "answered_items_",
    "answering_",
    "labels_per_class_",
)


def united(memories: Sequence[Memory], annotators: tuple[str, ...]) -> Memory:
    """What several memories of different items hold together, the people numbered as given."""
    parts = [memory.among(annotators) for memory in memories]
    whole = Memory()
    whole.annotators_ = annotators
    bounds = [part.manner_bounds_ for part in parts if part.manner_bounds_ is not None]
    whole.manner_bounds_ = bounds[0] if bounds else None
    if bounds:
        parts = [part.cut_at(bounds[0]) for part in parts]
    for name in (*_SUMS, "n_labelled_", "n_unlabelled_"):
        values = [getattr(part, name) for part in parts]
        there = [value for value in values if value is not None]
        setattr(whole, name, sum(there[1:], start=there[0]) if there else None)
    limit = sample_size(whole.counts_.shape[1])
    whole.labelled_ = _together([part.labelled_ for part in parts], limit)
    whole.unlabelled_ = _together([part.unlabelled_ for part in parts], limit)
    return whole


def remember(
    items: Items,
    blocks: Sequence[Block],
    annotators: tuple[str, ...],
    *,
    correlation: float,
    overlap: bool,
    manner: Manner | None,
    temperature: TemperatureScaling,
) -> Memory:
    """What a team must remember of items, in one pass over their blocks.

    correlation  how much answers on one item resemble each other, for the crowd's counts
    overlap      whether the classes that the model confuses are asked for
    """
    n_labelled, n_unlabelled = items.n_labelled, len(items) - items.n_labelled
    limit = sample_size(items.seen.n_classes)
    # Larger keys are hardly ever among the smallest; with uneven weights they may be, and all are looked at again.
    likely = tuple(_likely_key(limit, n) for n in (n_labelled, n_unlabelled))
    memory = _remembered(blocks, annotators, items.seen.n_classes, correlation, overlap, manner, likely)
    short = (sample is not None and sample.n_items < limit for sample in (memory.labelled_, memory.unlabelled_))
    if any(lacking and n > limit for lacking, n in zip(short, (n_labelled, n_unlabelled), strict=True)):
        everything = (np.inf, np.inf)
        memory = _remembered(blocks, annotators, items.seen.n_classes, correlation, overlap, manner, everything)
    if n_labelled:
        known = blocks if not n_unlabelled else items.labelled().blocks()
        memory.temperature_values_ = temperature.log_likelihood_at_nodes(known, items.seen.n_classes)
    answering = items.answering()
    memory.answered_items_, memory.answering_ = answering.items, np.stack(answering[1:])
    memory.n_labelled_, memory.n_unlabelled_ = n_labelled, n_unlabelled
    memory.labels_per_class_ = items.per_class()
    return memory


def _likely_key(limit: int, n_items: int) -> float:
    """A key below which more than ``limit`` of so many items stand, almost surely."""
    share = (limit + 8.0 * limit**0.5) / max(n_items, 1)
    return float(-np.log1p(-share)) if share < 1.0 else np.inf


def _remembered(
    blocks: Sequence[Block],
    annotators: tuple[str, ...],
    n_classes: int,
    correlation: float,
    overlap: bool,
    manner: Manner | None,
    likely: tuple[float, ...],
) -> Memory:
    n_people, limit = len(annotators), sample_size(n_classes)

    def kernel(block: Block) -> tuple[list[Any], list[Sample | None]]:
        known = np.zeros(block.n_items, dtype=bool) if block.true_label is None else block.true_label != MISSING
        with_truth = block if known.all() else block.take(np.flatnonzero(known))
        rest = None if known.all() else block.take(np.flatnonzero(~known))
        sums = _sums(with_truth, n_people, n_classes, correlation, overlap, manner) if with_truth.n_items else []
        return sums, [_sample(part, limit, bound) for part, bound in zip((with_truth, rest), likely, strict=True)]

    total: list[Any] = []
    found: list[list[Sample | None]] = [[], []]
    for sums, parts in map_blocks(kernel, blocks):
        total = [a + b for a, b in zip(total, sums, strict=True)] if total and sums else sums or total
        for held, part in zip(found, parts, strict=True):
            held.append(part)
            if len(held) >= _AT_ONCE:
                held[:] = [_together(held, limit)]
    samples = [_together(held, limit) for held in found]
    memory = Memory()
    memory.annotators_ = annotators
    if not total:
        total = [np.zeros((n_people, n_classes, n_classes)), np.zeros((n_classes, n_classes))]
        total += [np.zeros((n_classes, n_classes)), 0.0 if manner is None else manner.counts_]
    memory.counts_, memory.crowd_counts_, memory.overlap_, ways = total
    memory.temperature_values_ = np.zeros(N_NODES)
    memory.manner_bounds_, memory.manner_counts_ = (None, None) if manner is None else (manner.bounds_, ways)
    memory.labelled_, memory.unlabelled_ = samples
    return memory


def _sums(
    block: Block, n_people: int, n_classes: int, correlation: float, overlap: bool, manner: Manner | None
) -> list[Any]:
    """Counts, the crowd's, the model's overlaps, and ways of answering."""
    confused = model_overlap(block.log_proba, block.weight) if overlap else np.zeros((n_classes, n_classes))
    ways: Any = 0.0
    if manner is not None:
        share = block.soft_target()
        ways = manner.counts(block, share if block.weight is None else share * block.weight)
    return [*counts_and_crowd(block, n_people, n_classes, correlation), confused, ways]


def _sample(block: Block | None, limit: int, bound: float) -> Sample | None:
    """The items of a block with the smallest keys, and below the bound."""
    if block is None or not block.n_items:
        return None
    key = reservoir_keys(block)
    kept = np.flatnonzero(key < bound)
    left_out = float(key[key >= bound].min()) if len(kept) < len(key) else np.inf
    kept = kept[np.argsort(key[kept], kind="stable")]
    if len(kept) > limit:
        kept, left_out = kept[:limit], float(key[kept[limit]])
    return Sample().set(replace(block.take(kept), number=None), key[kept], left_out)


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
        return self._made(block.take(rest[evenly_spaced(len(rest))])) if len(rest) else None

    def blocks(self, least: int = 64) -> Sequence[Block]:
        """The items as blocks of at least so many."""
        return self._cut(self._whole(), least)

    def _whole(self) -> Block:
        held = [self.memory.labelled_] if self.only_known else [self.memory.labelled_, self.memory.unlabelled_]
        block = joined([sample.block(for_all=not self.only_known) for sample in held if sample is not None])
        return replace(block, number=np.arange(block.n_items))

    def _cut(self, whole: Block, least: int) -> Sequence[Block]:
        slices = block_slices(whole.n_items, self.seen.n_classes, least)
        return [self._made(whole.take(np.arange(whole.n_items)[rows])) for rows in slices]

    def _made(self, block: Block) -> Block:
        return block if self.make is None else self.make(block)


AnyItems = Labelled | Parted | Remembered
