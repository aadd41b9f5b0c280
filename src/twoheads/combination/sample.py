"""Some of the items a team has learnt from, kept one by one: which ones does not depend on their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.confusion.base import columns_of
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.numerics.sampling import reservoir_keys, weights_in_sample
from twoheads.storage.artifact import register

#: Items of a sample: so many probabilities together, within these bounds.
_NUMBERS, _FEWEST, _MOST = 100_000, 200, 2000
#: Samples that are made one at a time.
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
        return replace(self.held(), weight=None if (weight == 1.0).all() else weight)

    def held(self) -> Block:
        """The items with their weights."""
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
        block = self.held()
        assert block.answers is not None
        answers = Answers(columns_of(block.answers.column, place, n_classes), block.answers.start)
        unsure = block.unsure
        if unsure is not None:
            unsure = Answers(columns_of(unsure.column, place, 1), unsure.start)
        return Sample().set(replace(block, answers=answers, unsure=unsure), self.key_, self.first_left_out_)

    def faded(self, keep: float) -> Sample:
        """The same with every item counting ``keep`` of what it did."""
        block = self.held()
        assert block.weight is not None
        return Sample().set(replace(block, weight=keep * block.weight), self.key_ / keep, self.first_left_out_ / keep)


def together(samples: Sequence[Sample | None], limit: int) -> Sample | None:
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
    return Sample().set(joined([sample.held() for sample in held]).take(kept), key[kept], first_left_out)


@dataclass(frozen=True)
class Samples:
    """Samples that are to be one, which adding up makes of them, many at a time."""

    held: list[Sample | None]
    limit: int

    def __add__(self, more: Samples) -> Samples:
        held = [*self.held, *more.held]
        return Samples([together(held, self.limit)] if len(held) >= _AT_ONCE else held, self.limit)

    def one(self) -> Sample | None:
        """The sample of all items that they come from; None where there are none."""
        return together(self.held, self.limit)


def likely_key(limit: int, n_items: int) -> float:
    """A key below which more than ``limit`` of so many items stand, almost surely."""
    share = (limit + 8.0 * limit**0.5) / max(n_items, 1)
    return float(-np.log1p(-share)) if share < 1.0 else np.inf


def sample_of(block: Block | None, limit: int, bound: float) -> Sample | None:
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
