"""What a team remembers of the items it has learnt from, so that it can learn on without them.

Counts, and the log-likelihood of the model's temperature at fixed nodes, are sums over items: adding those of new items
is the same as having had all at once. What is no sum, the correction for dependence and whatever items without truth
say, is learnt from a bounded sample of the items that does not depend on their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.answering import Answering
from twoheads.combination.labelled import Items, counts_and_crowd
from twoheads.combination.sample import Sample, Samples, likely_key, sample_of, sample_size, together
from twoheads.confusion.manner import Manner
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import N_NODES
from twoheads.kernels.confusion.hierarchical import model_overlap
from twoheads.storage.artifact import register


@register
class Memory(BaseEstimator):
    """Sums over all items learnt from, and samples of them.

    Attributes
    ----------
    annotators_ : tuple of str
        The people, in the order of ``counts_``.
    counts_, crowd_counts_ : ndarray of shape (n_annotators, n_classes, n_classes), (n_classes, n_classes)
        Of labelled items: how often each person gave each answer, and all together.
    asked_ : ndarray of shape (2,)
        How many labelled items people have spoken of that a model has seen, and that none has.
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
    "asked_",
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
    whole.labelled_ = together([part.labelled_ for part in parts], limit)
    whole.unlabelled_ = together([part.unlabelled_ for part in parts], limit)
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
    likely = tuple(likely_key(limit, n) for n in (n_labelled, n_unlabelled))
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

    def kernel(block: Block) -> tuple[Any, ...]:
        known = np.zeros(block.n_items, dtype=bool) if block.true_label is None else block.true_label != MISSING
        with_truth = block if known.all() else block.take(np.flatnonzero(known))
        rest = None if known.all() else block.take(np.flatnonzero(~known))
        sums = _sums(with_truth, n_people, n_classes, correlation, overlap, manner) if with_truth.n_items else _NOTHING
        samples = (sample_of(part, limit, bound) for part, bound in zip((with_truth, rest), likely, strict=True))
        return *sums, *(Samples([sample], limit) for sample in samples)

    counts, crowd_counts, asked, confused, ways, labelled, unlabelled = sum_blocks(kernel, blocks)
    memory = Memory()
    memory.annotators_ = annotators
    memory.counts_ = _array(counts, n_people, n_classes, n_classes)
    memory.crowd_counts_ = _array(crowd_counts, n_classes, n_classes)
    memory.asked_ = _array(asked, 2)
    memory.overlap_ = _array(confused, n_classes, n_classes)
    memory.temperature_values_ = np.zeros(N_NODES)
    memory.manner_bounds_ = memory.manner_counts_ = None
    if manner is not None:
        memory.manner_bounds_, memory.manner_counts_ = manner.bounds_, _array(ways, *manner.counts_.shape)
    memory.labelled_, memory.unlabelled_ = labelled.one(), unlabelled.one()
    return memory


#: What `_sums` are of no items.
_NOTHING: tuple[Any, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)


def _array(sums: Any, *shape: int) -> Floats:
    return sums if isinstance(sums, np.ndarray) else np.zeros(shape)


def _sums(
    block: Block, n_people: int, n_classes: int, correlation: float, overlap: bool, manner: Manner | None
) -> tuple[Any, ...]:
    """Counts, the crowd's, how many items were asked about, the model's overlaps, and ways of answering."""
    asked = block.has_answer().astype(np.float64)
    by_model = block.weighted_sum(asked if block.no_model is None else asked * ~block.no_model)
    confused: Any = model_overlap(block.log_proba, block.weight) if overlap else 0.0
    ways: Any = 0.0
    if manner is not None:
        share = block.soft_target()
        ways = manner.counts(block, share if block.weight is None else share * block.weight)
    counts, crowd = counts_and_crowd(block, n_people, n_classes, correlation)
    return counts, crowd, np.array([by_model, block.weighted_sum(asked) - by_model]), confused, ways
