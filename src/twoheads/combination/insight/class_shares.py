"""Class shares of the items at hand, as a team believes them (label shift)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from twoheads.combination.combiner import Combiner
from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.items.sampled import SampledItems
from twoheads.combination.rule import CombinationRule
from twoheads.combination.statistics.reservoir import ItemSample, SampleSum, sample_block, sample_size
from twoheads.engines.blocks import block_slices
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.inference.label_shift import estimate_shift
from twoheads.kernels.simplex import normalise_exp
from twoheads.observations import Observations
from twoheads.observations.labels import label_text
from twoheads.storage.artifact import register
from twoheads.text import count, interval, percent

#: Level of the intervals of shares.
LEVEL = 0.95
#: A shift is reported from this probability on.
SHIFTED = 0.95
#: Classes named in the sentence.
_NAMED = 3


@register
@dataclass(frozen=True, eq=False)
class ClassShares(BaseEstimator):
    """Shares of the classes among items, believed from a team's posteriors.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    shares, low, high : ndarray of shape (n_classes,)
        The share of each class in the population that the items come from, and its 95 % interval. It holds as far as
        the team's posteriors do.
    at_fit : ndarray of shape (n_classes,)
        The mean posterior of the items at fit.
    log_ratio : ndarray of shape (n_classes,)
        Log of the factor by which each class's posterior is corrected, up to a constant.
    probability : float
        That the shares differ from those at fit; 0.5 beforehand.
    n_items : int
        How many items they come from: all, or a sample of a large table.
    """

    classes: NDArray[Any]
    shares: Floats
    low: Floats
    high: Floats
    at_fit: Floats
    log_ratio: Floats
    probability: float
    n_items: int

    @property
    def shifted(self) -> bool:
        """Whether there is clear evidence that the shares differ from those at fit."""
        return self.probability >= SHIFTED

    def sentence(self) -> str:
        """What was found, in one sentence."""
        items = count(self.n_items, "item")
        if not self.shifted:
            return f"On {items} there is no clear evidence that class shares differ from those at fit."
        order = np.argsort(-np.abs(self.shares - self.at_fit), kind="stable")
        named = ", ".join(self._share(at) for at in order[:_NAMED])
        rest = len(order) - _NAMED
        more = f", and {count(rest, 'other class', 'other classes')}" if rest > 0 else ""
        found = f"On {items} the class shares differ from those at fit"
        return f"{found}; believed of the population they come from, with 95 % intervals: {named}{more}."

    def as_dict(self) -> dict[str, Any]:
        """All numbers and the sentence as plain Python objects that JSON can hold."""
        columns = (column.tolist() for column in (self.shares, self.low, self.high, self.at_fit))
        names = ("share", "low", "high", "at_fit")
        return {
            "sentence": self.sentence(),
            "kind": "believed",
            "level": LEVEL,
            "n_items": self.n_items,
            "probability_of_shift": self.probability,
            "classes": {
                label_text(name): dict(zip(names, row, strict=True))
                for name, *row in zip(self.classes.tolist(), *columns, strict=True)
            },
        }

    def _share(self, at: int) -> str:
        digits = 1 if self.shares[at] < 0.1 else 0
        ends = interval(self.low[at], self.high[at], digits)
        name, fit = label_text(self.classes[at].item()), percent(self.at_fit[at], digits)
        return f"{name!r} {percent(self.shares[at], digits)} {ends} (at fit {fit})"


def mean_posterior(result: FitResult) -> Floats:
    """Mean posterior of the items at fit, from the saved sample, (n_classes,)."""
    blocks = SampledItems(result.schema, result.statistics).blocks()
    sums = sum(_weighted_posterior(result.rule, block) for block in blocks)
    return np.asarray(sums / np.sum(sums))


def share_sample(team: Combiner, observed: Iterable[Observations]) -> ItemSample | None:
    """The sample of items from which class shares are estimated, in any order; None without items."""
    n_classes = len(team.classes_)
    limit = sample_size(n_classes)
    total = SampleSum([], limit)
    for observations in observed:
        for rows in block_slices(len(observations), n_classes):
            total = total + SampleSum([sample_block(team.block(observations, rows), limit, np.inf)], limit)
    return total.merged()


def class_shares(
    rule: CombinationRule, classes: NDArray[Any], sample: ItemSample, at_fit: Floats, n: int
) -> ClassShares:
    """Shares of the classes among the items of a sample.

    rule    at the shares of the fit
    at_fit  (n_classes,) mean posterior of the n items at fit
    """
    block = sample.block()
    shift = estimate_shift(normalise_exp(rule.log_joint(block)), at_fit, n, block.weight)
    low, high = shift.interval(LEVEL)
    return ClassShares(classes, shift.shares, low, high, at_fit, shift.log_ratio, shift.probability, sample.n_items)


def _weighted_posterior(rule: CombinationRule, block: Block) -> Floats:
    posterior = normalise_exp(rule.log_joint(block))
    return posterior.sum(axis=1) if block.weight is None else posterior @ block.weight
