"""The sufficient statistics of items, in one pass over their blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.calibration.temperature_likelihood import log_likelihood_at_nodes
from twoheads.combination.items.protocol import CountableItems
from twoheads.combination.statistics.folds import answer_counts, weighted_target
from twoheads.combination.statistics.reservoir import ItemSample, SampleSum, key_bound, sample_block, sample_size
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.response import ResponseModel
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import N_NODES
from twoheads.kernels.confusion.hierarchical import model_overlap


@dataclass(frozen=True)
class StatisticsSettings:
    """Statistics that the parts of a team need.

    correlation   of answers on one item, for the crowd's counts
    overlap       whether the confusion estimate uses which classes the model confuses
    response      levels of confidence; None where there are none
    search_prior  of the model's log temperature, see `Calibrator.search_prior`
    """

    correlation: float
    overlap: bool
    response: ResponseModel | None
    search_prior: tuple[float, float]


def collect_statistics(
    items: CountableItems, blocks: Sequence[Block], settings: StatisticsSettings
) -> SufficientStatistics:
    """The statistics of items, from their blocks."""
    schema, n_labelled = items.schema, items.n_labelled
    n_unlabelled, limit = len(items) - n_labelled, sample_size(schema.n_classes)
    sums = _BlockSums(settings, schema.n_annotators, schema.n_classes)
    # Larger keys are hardly ever among the smallest; with uneven weights they may be, and a second pass takes all.
    counts, labelled, unlabelled = sums.total(blocks, (key_bound(limit, n_labelled), key_bound(limit, n_unlabelled)))
    if _is_short(labelled, n_labelled, limit) or _is_short(unlabelled, n_unlabelled, limit):
        counts, labelled, unlabelled = sums.total(blocks, (np.inf, np.inf))
    values = np.zeros(N_NODES)
    if n_labelled:
        known = items.labelled().blocks() if n_unlabelled else blocks
        values = log_likelihood_at_nodes(known, schema.n_classes, settings.search_prior)
    annotations = items.annotation_counts()
    return SufficientStatistics(
        annotators=schema.annotators,
        has_model=schema.has_model,
        n_labelled=n_labelled,
        n_unlabelled=n_unlabelled,
        labels_per_class=items.class_weights(),
        **counts,
        temperature_values=values,
        response_bounds=None if settings.response is None else settings.response.bounds_,
        answered_items=annotations.items,
        annotation_counts=np.stack(annotations[1:]),
        labelled=labelled,
        unlabelled=unlabelled,
    )


def _is_short(sample: ItemSample | None, n_items: int, limit: int) -> bool:
    return sample is not None and sample.n_items < limit < n_items


@dataclass(frozen=True)
class _BlockSums:
    """Sums over blocks: counts of the labelled items, and samples."""

    settings: StatisticsSettings
    n_annotators: int
    n_classes: int

    def total(
        self, blocks: Sequence[Block], bounds: tuple[float, float]
    ) -> tuple[dict[str, Any], ItemSample | None, ItemSample | None]:
        """The counts by name, the sample of labelled items, and that of the others; their keys are below the bounds."""
        limit = sample_size(self.n_classes)

        def kernel(block: Block) -> tuple[Any, ...]:
            known = np.zeros(block.n_items, dtype=bool) if block.true_label is None else block.true_label != MISSING
            labelled = block if known.all() else block.take(np.flatnonzero(known))
            rest = None if known.all() else block.take(np.flatnonzero(~known))
            counts = self.counts(labelled) if labelled.n_items else (0.0,) * 5
            samples = (sample_block(part, limit, bound) for part, bound in zip((labelled, rest), bounds, strict=True))
            return *counts, *(SampleSum([sample], limit) for sample in samples)

        counts, crowd, answered, overlap, response, labelled, unlabelled = sum_blocks(kernel, blocks)
        n_classes, ways = self.n_classes, self.settings.response
        named = {
            "counts": _array(counts, self.n_annotators, n_classes, n_classes),
            "crowd_counts": _array(crowd, n_classes, n_classes),
            "answered": _array(answered, 2),
            "overlap": _array(overlap, n_classes, n_classes),
            "response_counts": None if ways is None else _array(response, *ways.counts_.shape),
        }
        return named, labelled.merged(), unlabelled.merged()

    def counts(self, block: Block) -> tuple[Any, ...]:
        """Answers, the crowd's, answered items with and without a model row, the model's overlaps, responses."""
        asked = block.has_answer().astype(np.float64)
        with_model = block.weighted_sum(asked if block.no_model is None else asked * ~block.no_model)
        overlap: Any = model_overlap(block.log_proba, block.weight) if self.settings.overlap else 0.0
        ways = self.settings.response
        response: Any = 0.0 if ways is None else ways.counts(block, weighted_target(block))
        counts, crowd = answer_counts(
            block,
            n_annotators=self.n_annotators,
            n_classes=self.n_classes,
            correlation=self.settings.correlation,
        )
        return counts, crowd, np.array([with_model, block.weighted_sum(asked) - with_model]), overlap, response


def _array(sums: Any, *shape: int) -> Floats:
    return sums if isinstance(sums, np.ndarray) else np.zeros(shape)
