"""How strong the evidence of the model and that of the people is, from a few items with and without truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twoheads.dependence.evidence import Evidence
from twoheads.kernels.arrays import Floats
from twoheads.kernels.dependence.witnesses import (
    StrengthRatio,
    answer_strength,
    class_shares,
    model_strengths,
    strength_items,
    strength_ratio,
)
from twoheads.kernels.numerics.content import content_order
from twoheads.kernels.numerics.sampling import evenly_spaced


@dataclass(frozen=True, eq=False)
class Strengths:
    """The model's strength at several temperatures, and the items from which the people's follows.

    sample  at most `strength_items` items with truth, and as many without
    weight  (n_items,) for each part of the sample
    shares  (n_classes,) of the classes
    model   (n_temperatures,) the model's strength
    n       the labelled items' total weight
    answers_per_item  mean number of answers on an item
    """

    sample: Sequence[Evidence]
    weight: Sequence[Floats]
    shares: Floats
    model: Floats
    n: float
    answers_per_item: float

    @classmethod
    def of(
        cls, labelled: Sequence[Evidence], unlabelled: Evidence | None, n: float, answers_per_item: float
    ) -> Strengths | None:
        """From labelled items and others, each with the weight of those it represents; None where there is none."""
        counted = [each if each.weight is None else each.take(np.flatnonzero(each.weight)) for each in labelled]
        total = sum(len(each.true_label) for each in counted)
        sample = _sampled(counted, total)
        n_sampled = sum(len(each.true_label) for each in sample)
        weight = [total / n_sampled * each.item_weight() for each in sample]
        if unlabelled is not None:
            sample, weight = [*sample, unlabelled], [*weight, unlabelled.item_weight()]
        weights = np.concatenate(weight) if weight else np.empty(0)
        if not weights.sum() > 0:
            return None
        log_proba = np.concatenate([each.log_proba for each in sample], axis=1)
        shares = class_shares(log_proba, weights, _labels(labelled, len(log_proba)) * n / _total(labelled))
        return cls(sample, weight, shares, model_strengths(log_proba, weights, shares), n, answers_per_item)

    def ratio(self, correlation: float) -> StrengthRatio:
        """The ratio of strengths, with this correlation of answers on one item."""
        likelihood = np.concatenate([each.discounted_likelihood(correlation) for each in self.sample], axis=1)
        answer = answer_strength(likelihood, np.concatenate(self.weight), self.shares)
        return strength_ratio(self.model, answer, self.n, self.answers_per_item)


def _sampled(evidence: Sequence[Evidence], total: int) -> list[Evidence]:
    """At most `strength_items` of the items of all blocks, by what they are; without hashes, evenly spaced."""
    limit = strength_items(len(evidence[0].log_proba)) if evidence else 0
    rows, begin, taken = evenly_spaced(total, limit), 0, []
    hashes = [each.hashes for each in evidence if each.hashes is not None]
    if total > limit and hashes:
        own, content = map(np.concatenate, zip(*hashes, strict=True))
        rows = np.sort(content_order(own, content)[:limit])
    for each in evidence:
        end = begin + len(each.true_label)
        here = rows[(rows >= begin) & (rows < end)] - begin
        if len(here):
            taken.append(each.take(here))
        begin = end
    return taken


def _labels(evidence: Sequence[Evidence], n_classes: int) -> Floats:
    """Weight of the labelled items of each class."""
    counts = (np.bincount(each.true_label, each.weight, n_classes) for each in evidence)
    return np.asarray(sum(counts, start=np.zeros(n_classes)), dtype=np.float64)


def _total(evidence: Sequence[Evidence]) -> float:
    return max(sum(each.total_weight() for each in evidence), 1e-300)
