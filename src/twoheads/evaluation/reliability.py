"""The numbers behind a reliability diagram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation.bootstrap import Z_95
from twoheads.evaluation.inputs import as_scored
from twoheads.evaluation.metrics import Strategy, bin_boundaries
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring import scores
from twoheads.kernels.scoring.ties import label_error
from twoheads.observations.frames import new_frame
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCurve(Shown):
    """Confidence against accuracy, one entry per bin that holds items, in ascending confidence.

    Attributes
    ----------
    mean_confidence, accuracy : ndarray of shape (n_occupied_bins,)
        Weighted means of the largest probability, and of its being right.
    count, weight : ndarray of shape (n_occupied_bins,)
        How many items are in the bin, and the sum of their weights.
    lower_edge, upper_edge : ndarray of shape (n_occupied_bins,)
        The bin holds confidences from its lower edge up to, not including, its upper edge (the last bin includes 1).
    accuracy_low, accuracy_high : ndarray of shape (n_occupied_bins,)
        Wilson's 95 % interval of the accuracy, for Kish's number of the items: ``count`` where weights are equal.
    """

    mean_confidence: Floats
    accuracy: Floats
    count: Codes
    weight: Floats
    lower_edge: Floats
    upper_edge: Floats
    accuracy_low: Floats
    accuracy_high: Floats

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per bin, as a frame of a library."""
        return new_frame(self.summary(), kind)


def reliability_curve(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    n_bins: int = 15,
    strategy: Strategy = "equal_mass",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Mean confidence and accuracy in bins of the confidence, with an interval for the accuracy.

    The bins are those of `expected_calibration_error`, which is the mean of ``|mean_confidence - accuracy|`` with
    ``weight``. Interval: Wilson (1927), ``{q : |accuracy - q| <= 1.96 sqrt(q (1 - q) / n)}``, n Kish's number of items.

    Parameters
    ----------
    y : array of shape (n_items,)
        True labels.
    proba : array of shape (n_items, n_classes)
        Probabilities.
    n_bins : int
        Number of bins; those without items are left out.
    strategy : {"equal_mass", "equal_width"}
        Bins of equal numbers of items, items of equal confidence kept together, or of equal width on [0, 1].
    classes : array of shape (n_classes,), optional
        The label of each column.
    sample_weight : array of shape (n_items,), optional
        How many items each stands for; an interval counts none as more than one.

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 0, 1], [[0.75, 0.25]] * 4, strategy="equal_width", n_bins=2)
    >>> curve.mean_confidence.tolist(), curve.accuracy.tolist(), curve.count.tolist()
    ([0.75], [0.75], [4])
    >>> curve.accuracy_low.round(3).tolist(), curve.accuracy_high.round(3).tolist()
    ([0.301], [0.954])
    """
    items = as_scored(y, proba, classes, sample_weight)
    confidence = items.proba.max(axis=0)
    right = 1.0 - label_error(items.proba, items.true_label)
    boundaries = bin_boundaries(confidence, items.weight, n_bins, strategy)
    occupied, bins = np.unique(scores.bin_codes(confidence, boundaries), return_inverse=True)
    edges = np.concatenate([[0.0], boundaries, [1.0]])
    weight = np.bincount(bins, weights=items.weight).astype(np.float64)
    accuracy = np.bincount(bins, weights=items.weight * right) / weight
    squared = np.bincount(bins, weights=items.weight**2)
    low, high = scores.wilson_interval(accuracy, weight**2 / squared, Z_95)
    return ReliabilityCurve(
        mean_confidence=np.bincount(bins, weights=items.weight * confidence) / weight,
        accuracy=accuracy,
        count=np.bincount(bins),
        weight=weight,
        lower_edge=edges[occupied],
        upper_edge=edges[occupied + 1],
        accuracy_low=low,
        accuracy_high=high,
    )
