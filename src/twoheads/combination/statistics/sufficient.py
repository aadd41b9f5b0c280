"""The sufficient statistics of a fit, so that it can be continued without the items.

Counts, and the log-likelihood of the model's temperature at fixed nodes, are sums over items: adding those of new items
is the same as fitting all at once. What is not a sum, the correction for dependence and everything estimated from
unlabelled items, uses a bounded sample of the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.combination.statistics.reservoir import ItemSample, merge_samples, sample_size
from twoheads.combination.statistics.score_counts import LevelChange, score_rows
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.kernels.arrays import Floats
from twoheads.storage.artifact import register


@register
@dataclass(frozen=True, eq=False)
class SufficientStatistics(BaseEstimator):
    """Sums over all items of a fit, and samples of them.

    Attributes
    ----------
    annotators : tuple of str
        The annotators, in the order of ``counts``.
    machines : tuple of str
        The annotators that are machines.
    levels : ScoreLevels or None
        How scores are cut, where annotators give scores.
    has_model : bool
        Whether there was a model.
    n_labelled, n_unlabelled : int
        Number of items with and without truth.
    labels_per_class : ndarray of shape (n_classes,)
        Weight of the labelled items of each class.
    counts, crowd_counts : ndarray of shape (n_annotators, n_classes, n_classes), (n_classes, n_classes)
        Answers on labelled items, of each annotator and of all together.
    answered : ndarray of shape (2,)
        Weight of labelled items with an answer or "unsure": those with a model row, and those without.
    overlap : ndarray of shape (n_classes, n_classes)
        Which classes the model confuses, on labelled items.
    temperature_values : ndarray of shape (n_nodes,)
        Log-likelihood of the labelled items at fixed temperatures of the model.
    response_bounds, response_counts : ndarray or None
        Levels of confidence, and counts of each way of answering.
    answered_items, annotation_counts : float, ndarray of shape (3, n_annotators)
        Weight of the items with an answer; and each annotator's number of answers, of those on items that others
        answered too, and how far these agreed.
    answer_numbers : ndarray of shape (n_annotators, n_classes + 1)
        How many answers each annotator gave, whatever their weights: on items known to be of each class, and on others.
    label_numbers : ndarray of shape (n_classes + 3,)
        How many labelled items there are of each class, and how many have an answer or "unsure"; then how many "unsure"
        there are on them, and on all items.
    labelled_squares : float
        Sum of the squared weights of the labelled items.
    majority : ndarray of shape (n_classes,)
        Weight of the answered items whose majority is each class, ties split; 0 with a model.
    labelled, unlabelled : ItemSample or None
        A sample of the labelled items, and of the others.
    """

    annotators: tuple[str, ...]
    machines: tuple[str, ...]
    levels: ScoreLevels | None
    has_model: bool
    n_labelled: int
    n_unlabelled: int
    labels_per_class: Floats
    counts: Floats
    crowd_counts: Floats
    answered: Floats
    overlap: Floats
    temperature_values: Floats
    response_bounds: Floats | None
    response_counts: Floats | None
    answered_items: float
    annotation_counts: Floats
    answer_numbers: Floats
    label_numbers: Floats
    labelled_squares: float
    majority: Floats
    labelled: ItemSample | None
    unlabelled: ItemSample | None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels_per_class)

    @property
    def label_unit(self) -> float:
        """Weight of one labelled item where they count as Kish's number of them; 1 without any."""
        total = float(self.labels_per_class.sum())
        return self.labelled_squares / total if total > 0 else 1.0

    @property
    def has_sample(self) -> bool:
        """Whether there is a sample, without which a fit cannot be continued."""
        return self.labelled is not None or self.unlabelled is not None

    @property
    def has_overlap(self) -> bool:
        """Whether any item has several answers."""
        return bool(self.annotation_counts[1].sum() > 0)

    @property
    def mean_overlap_at_least_two(self) -> bool:
        """Whether answered items have two answers or more on average: annotators can then be judged by each other."""
        # Sums of weights round by the order of items: exactly two answers on each must not be fewer.
        return self.has_overlap and bool(self.annotation_counts[0].sum() >= (2 - 1e-9) * self.answered_items)

    @property
    def has_confidence(self) -> bool:
        """Whether confidences were cut into levels: until there are any, no chunk decides how."""
        if self.response_bounds is None or self.response_counts is None:
            return False
        counts = self.response_counts[len(score_rows(self.response_counts, self.levels)) : -1]
        by_level = counts.reshape(self.n_classes, -1, self.n_classes)[:, :-1]
        return bool(len(self.response_bounds) or by_level.any())

    def without_sample(self) -> SufficientStatistics:
        """The sums alone."""
        return replace(self, labelled=None, unlabelled=None)

    def discounted(self, forget: float) -> SufficientStatistics:
        """The same with all sums and weights multiplied by ``1 - forget``."""
        keep = 1.0 - forget
        return replace(
            self,
            **{name: _scaled(getattr(self, name), keep) for name in _SUMS},
            labelled_squares=keep**2 * self.labelled_squares,
            labelled=None if self.labelled is None else self.labelled.discounted(keep),
            unlabelled=None if self.unlabelled is None else self.unlabelled.discounted(keep),
        )

    def reindexed(self, annotators: tuple[str, ...]) -> SufficientStatistics:
        """The same with the annotators in another order, perhaps among others."""
        if annotators == self.annotators:
            return self
        position = {name: at for at, name in enumerate(annotators)}
        place = np.array([position[name] for name in self.annotators], dtype=np.intp)
        counts = np.zeros((len(annotators), *self.counts.shape[1:]))
        counts[place] = self.counts
        annotation_counts = np.zeros((3, len(annotators)))
        annotation_counts[:, place] = self.annotation_counts
        answer_numbers = np.zeros((len(annotators), self.answer_numbers.shape[1]))
        answer_numbers[place] = self.answer_numbers
        return replace(
            self,
            annotators=annotators,
            counts=counts,
            annotation_counts=annotation_counts,
            answer_numbers=answer_numbers,
            labelled=None if self.labelled is None else self.labelled.reindexed(place, self.n_classes),
            unlabelled=None if self.unlabelled is None else self.unlabelled.reindexed(place, self.n_classes),
        )

    def rebinned(self, bounds: Floats) -> SufficientStatistics:
        """The same with other levels of confidence: an old level goes to the new one that contains its lower bound."""
        if self.response_bounds is None or np.array_equal(self.response_bounds, bounds):
            return self
        assert self.response_counts is not None
        n_classes, n_scores = self.n_classes, len(score_rows(self.response_counts, self.levels))
        level = np.searchsorted(bounds, [-np.inf, *self.response_bounds], side="right")
        before = self.response_counts[n_scores:-1].reshape(n_classes, -1, n_classes)
        after = np.zeros((n_classes, len(bounds) + 2, n_classes))
        for old, new in enumerate([*level, len(bounds) + 1]):
            after[:, new] += before[:, old]
        scores, unsure = self.response_counts[:n_scores], self.response_counts[-1:]
        counts = np.concatenate([scores, after.reshape(-1, n_classes), unsure])
        return replace(self, response_bounds=bounds, response_counts=counts)

    def answered_plainly(self, bounds: Floats, n_scores: int) -> SufficientStatistics:
        """The same with counts of ways of answering, where nobody gave a confidence or was unsure.

        n_scores  number of the rows of scores, of which there are none here
        """
        if self.response_counts is not None:
            return self
        plain = np.zeros((self.n_classes, len(bounds) + 2, self.n_classes))
        plain[:, -1] = self.counts.sum(axis=0)
        ends = np.zeros((n_scores, self.n_classes)), np.zeros((1, self.n_classes))
        counts = np.concatenate([ends[0], plain.reshape(-1, self.n_classes), ends[1]])
        return replace(self, response_bounds=bounds, response_counts=counts)

    def relevelled(self, levels: ScoreLevels | None) -> SufficientStatistics:
        """The same with other levels of scores, approximately.

        Members' own counts follow; those of the crowd, and how far people agree, stay as they were.
        """
        change = LevelChange.between(self.levels, levels, self.annotators)
        if change is None:
            return self
        assert self.response_counts is not None
        responses = change.responses(self.response_counts)
        return replace(
            self,
            levels=levels,
            counts=change.answers(self.counts, responses),
            response_counts=responses,
            labelled=change.sample(self.labelled),
            unlabelled=change.sample(self.unlabelled),
        )


#: The fields that are sums over items.
_SUMS = (
    "counts",
    "crowd_counts",
    "answered",
    "overlap",
    "temperature_values",
    "response_counts",
    "answered_items",
    "annotation_counts",
    "answer_numbers",
    "label_numbers",
    "majority",
    "labels_per_class",
)

#: Sums that are not discounted as weights are.
_OTHER_SUMS = ("labelled_squares", "n_labelled", "n_unlabelled")


def merge_statistics(statistics: Sequence[SufficientStatistics], annotators: tuple[str, ...]) -> SufficientStatistics:
    """The statistics of all items together, with the annotators in this order."""
    levels = next((each.levels for each in statistics if each.levels is not None), None)
    parts = [each.reindexed(annotators).relevelled(levels) for each in statistics]
    cut = sorted(parts, key=lambda part: not part.has_confidence)  # by the first that had any
    bounds = next((part.response_bounds for part in cut if part.response_bounds is not None), None)
    if bounds is not None:
        parts = [part.rebinned(bounds) for part in parts]
        known = next(part.response_counts for part in parts if part.response_counts is not None)
        parts = [part.answered_plainly(bounds, len(score_rows(known, levels))) for part in parts]
    limit = sample_size(parts[0].n_classes)
    return replace(
        parts[0],
        **{name: _total([getattr(part, name) for part in parts]) for name in (*_SUMS, *_OTHER_SUMS)},
        machines=tuple(name for name in annotators if any(name in part.machines for part in parts)),
        levels=levels,
        has_model=any(part.has_model for part in parts),
        response_bounds=bounds,
        labelled=merge_samples([part.labelled for part in parts], limit),
        unlabelled=merge_samples([part.unlabelled for part in parts], limit),
    )


def _scaled(value: Any, factor: float) -> Any:
    return None if value is None else factor * value


def _total(values: Sequence[Any]) -> Any:
    there = [value for value in values if value is not None]
    return sum(there[1:], start=there[0]) if there else None
