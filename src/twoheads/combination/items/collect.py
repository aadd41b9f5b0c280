"""The sufficient statistics of items, in one pass over their blocks."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.calibration.temperature_likelihood import log_likelihood_at_nodes
from twoheads.combination.items.protocol import Items, Schema
from twoheads.combination.statistics.folds import crowd_counts, weighted_target
from twoheads.combination.statistics.reservoir import ItemSample, SampleSum, key_bound, sample_block, sample_size
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.response import ResponseModel
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.answers import hard_counts, item_of_answers
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import N_NODES
from twoheads.kernels.class_shares import majority_counts
from twoheads.kernels.confusion.annotators import annotation_counts
from twoheads.kernels.confusion.matrices import MANY_CLASSES, few_digits
from twoheads.kernels.confusion.shapes import model_overlap

_log = logging.getLogger(__name__)


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
    schema: Schema, sizes: tuple[int, int], blocks: Sequence[Block], known: Items | None, settings: StatisticsSettings
) -> SufficientStatistics:
    """The statistics of items.

    sizes   number of labelled and of unlabelled items
    blocks  of all items
    known   the labelled items; None where there are none
    """
    (n_labelled, n_unlabelled), limit = sizes, sample_size(schema.n_classes)
    _log.info("fitting on %d items with truth and %d without", n_labelled, n_unlabelled)
    # A sample has the smallest keys. Those above the bounds are hardly ever among them; where weights are so uneven
    # that some are, too few are found, and a second pass looks at all.
    bounds = key_bound(limit, n_labelled), key_bound(limit, n_unlabelled)
    sums = _BlockSums(settings, schema.n_annotators, schema.n_classes, limit, schema.has_model)
    counts, labelled, unlabelled = sums.total(blocks, bounds)
    if _is_short(labelled, n_labelled, limit) or _is_short(unlabelled, n_unlabelled, limit):
        counts, labelled, unlabelled = sums.total(blocks, (np.inf, np.inf))
    values = np.zeros(N_NODES)
    if known is not None:
        known_blocks = known.blocks() if n_unlabelled else blocks
        values = log_likelihood_at_nodes(known_blocks, n_labelled, schema.n_classes, settings.search_prior)
    return SufficientStatistics(
        annotators=schema.annotators,
        machines=schema.machines,
        levels=schema.levels,
        has_model=schema.has_model,
        n_labelled=n_labelled,
        n_unlabelled=n_unlabelled,
        **counts,
        temperature_values=values,
        response_bounds=None if settings.response is None else settings.response.bounds_,
        labelled=labelled,
        unlabelled=unlabelled,
    )


def _is_short(sample: ItemSample | None, n_items: int, limit: int) -> bool:
    return sample is not None and len(sample.key) < limit < n_items


@dataclass(frozen=True)
class _BlockSums:
    """Sums over blocks: counts of the labelled items, and samples.

    limit      most items of a sample
    has_model  whether there is a model
    """

    settings: StatisticsSettings
    n_annotators: int
    n_classes: int
    limit: int
    has_model: bool

    def total(
        self, blocks: Sequence[Block], bounds: tuple[float, float]
    ) -> tuple[dict[str, Any], ItemSample | None, ItemSample | None]:
        """The counts by name, the sample of labelled items, and that of the others; their keys are below the bounds."""

        def kernel(block: Block) -> tuple[Any, ...]:
            assert block.answers is not None
            labelled, rest = _by_truth(block)
            counts = (0.0,) * 6 if labelled is None else self.counts(labelled)
            numbers = answer_numbers(block, self.n_annotators, self.n_classes), label_numbers(block, self.n_classes)
            annotations = annotation_counts(block.answers, block.weight, self.n_annotators, self.n_classes)
            samples = (
                sample_block(part, self.limit, bound) for part, bound in zip((labelled, rest), bounds, strict=True)
            )
            squares = 0.0 if labelled is None else labelled_squares(labelled)
            sums = *annotations, *numbers, squares, self.majority(block), *counts
            return *sums, *(SampleSum([sample], self.limit) for sample in samples)

        *sums, labelled, unlabelled = sum_blocks(kernel, blocks)
        samples = labelled.merged(), unlabelled.merged()
        return self._named(*sums), *samples

    def majority(self, block: Block) -> Floats:
        """Items whose majority is each class; only a team without a model uses it."""
        assert block.answers is not None
        if self.has_model:
            return np.zeros(self.n_classes)
        return majority_counts(block.answers, self.n_classes, block.weight)

    def counts(self, block: Block) -> tuple[Any, ...]:
        """Labels per class, answers, the crowd's, answered items by model row, the model's overlaps, responses."""
        assert block.answers is not None
        assert block.true_label is not None
        n_annotators, n_classes, settings = self.n_annotators, self.n_classes, self.settings
        labels = np.bincount(block.true_label, block.weight, n_classes).astype(np.float64)
        counts = hard_counts(block.answers, block.true_label, block.weight, n_annotators * n_classes, n_classes)
        counts = counts.reshape(n_annotators, -1, n_classes)
        if block.answers.start is None or not settings.correlation:
            crowd = counts.sum(axis=0)
        else:
            crowd = crowd_counts(block, n_classes=n_classes, correlation=settings.correlation)
        has_answer = block.has_answer().astype(np.float64)
        with_model = block.weighted_sum(has_answer if block.no_model is None else has_answer * ~block.no_model)
        answered = np.array([with_model, block.weighted_sum(has_answer) - with_model])
        overlap: Any = model_overlap(block.log_proba, block.weight) if settings.overlap else 0.0
        response: Any = 0.0 if settings.response is None else settings.response.counts(block, weighted_target(block))
        return labels, counts, crowd, answered, overlap, response

    def _named(
        self,
        items: float,
        annotations: Floats,
        answers: Floats,
        labels: Floats,
        squares: float,
        majority: Floats,
        *sums: Any,
    ) -> dict[str, Any]:
        """The sums by their names among the statistics; zeros where there is no labelled item."""
        n_classes, response = self.n_classes, self.settings.response
        shapes: dict[str, tuple[int, ...]] = {
            "labels_per_class": (n_classes,),
            "counts": (self.n_annotators, n_classes, n_classes),
            "crowd_counts": (n_classes, n_classes),
            "answered": (2,),
            "overlap": (n_classes, n_classes),
            "response_counts": (0,) if response is None else response.counts_.shape,
        }
        named: dict[str, Any] = {
            name: total if isinstance(total, np.ndarray) else np.zeros(shape)
            for (name, shape), total in zip(shapes.items(), sums, strict=True)
        }
        if n_classes > MANY_CLASSES:
            named["overlap"] = few_digits(named["overlap"])
        if response is None:
            named["response_counts"] = None
        numbers = {"answered_items": items, "annotation_counts": annotations, "answer_numbers": answers}
        return {**numbers, "label_numbers": labels, "labelled_squares": squares, "majority": majority, **named}


def answer_numbers(block: Block, n_annotators: int, n_classes: int) -> Floats:
    """How many answers each annotator gave on items of each true class, and on others, (n_annotators, n_classes + 1).

    Items of weight 0 are none.
    """
    assert block.answers is not None
    item, column = item_of_answers(block.answers), block.answers.column
    truth = np.full(block.log_proba.shape[1], n_classes)
    if block.true_label is not None:
        truth = np.where(block.true_label == MISSING, n_classes, block.true_label)
    there = column != MISSING
    if block.weight is not None:
        there &= block.weight[item] > 0
    cell = column[there] // n_classes * (n_classes + 1) + truth[item[there]]
    return np.bincount(cell, minlength=n_annotators * (n_classes + 1)).reshape(n_annotators, -1).astype(np.float64)


def label_numbers(block: Block, n_classes: int) -> Floats:
    """Labelled items of each class, those with an answer or "unsure", and "unsure" on them and on all items.

    Items of weight 0 are none.

    returns  (n_classes + 3,)
    """
    counted = np.ones(block.log_proba.shape[1], dtype=bool) if block.weight is None else block.weight > 0
    unsure = 0 * counted if block.unsure is None else block.unsure.per_item() * counted
    if block.true_label is None:
        return np.append(np.zeros(n_classes + 2), unsure.sum())
    known = counted & (block.true_label != MISSING)
    labels = np.bincount(block.true_label[known], minlength=n_classes)
    numbers = np.count_nonzero(known & block.has_answer()), unsure[known].sum(), unsure.sum()
    return np.append(labels, numbers).astype(np.float64)


def labelled_squares(block: Block) -> float:
    """Sum of the squared weights of items."""
    return float(block.log_proba.shape[1] if block.weight is None else (block.weight**2).sum())


def _by_truth(block: Block) -> tuple[Block | None, Block | None]:
    """The labelled items of a block and the others; None where there are none."""
    if block.true_label is None:
        return None, block
    known = block.true_label != MISSING
    if known.all():
        return block, None
    labelled = block.take(np.flatnonzero(known)) if known.any() else None
    return labelled, block.take(np.flatnonzero(~known))
