"""Counts of answers per annotator, as sums over items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.annotators import agreements


class AnnotationCounts(NamedTuple):
    """Counts of answers, as sums over items.

    items    number of items with an answer
    answers  (n_annotators,) number of answers of each
    shared   (n_annotators,) those on items that others answered too
    agreed   (n_annotators,) sum over these of the share of the other answers that are the same
    """

    items: float
    answers: Floats
    shared: Floats
    agreed: Floats

    @property
    def has_overlap(self) -> bool:
        """Whether any item has several answers."""
        return bool(self.shared.sum() > 0)

    @property
    def mean_overlap_at_least_two(self) -> bool:
        """Whether answered items have two answers or more on average: annotators can then be compared."""
        return bool(self.has_overlap and self.answers.sum() >= 2 * self.items)


def count_annotations(
    answers: Answers, weight: Floats | None, *, n_annotators: int, n_classes: int
) -> AnnotationCounts:
    """The counts of a block; add those of all blocks."""
    answered = answers.per_item() > 0
    items = float(np.count_nonzero(answered) if weight is None else weight[answered].sum())
    return AnnotationCounts(items, *agreements(answers, weight, n_annotators, n_classes))
