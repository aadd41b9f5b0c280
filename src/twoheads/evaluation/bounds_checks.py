"""Theorems 1 and 2 of Kerrigan et al. (2021) beside the values measured on the same items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation.inputs import (
    as_codes,
    as_evidence,
    as_given_true,
    as_labels,
    as_scored,
    as_truth,
    whole_number,
)
from twoheads.evaluation.theory import human_evidence, model_evidence, product_bound
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring import bounds, scores
from twoheads.observations.checks import same_length
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True)
class AccuracyBoundCheck(Shown):
    """Theorem 1 on data: the lower bound, the combination's accuracy, and whether it is at least the bound."""

    bound: float
    accuracy: float
    holds: bool


@dataclass(frozen=True)
class EstimationErrorCheck(Shown):
    """Theorem 2 on data: the upper bound and its two parts, the mean error, and whether it is at most the bound."""

    bound: float
    confusion_error: float
    calibration_error: float
    error: float
    holds: bool


def check_accuracy_bound(
    calibrated_proba: ArrayLike,
    human_given_true: ArrayLike,
    human_label: ArrayLike,
    y: ArrayLike,
    *,
    stronger: bool = False,
    classes: ArrayLike | None = None,
) -> AccuracyBoundCheck:
    """`combination_accuracy_bound` beside the accuracy of ``argmax_k phi_hk m_k``, the first class in a tie.

    Examples
    --------
    >>> check_accuracy_bound([[0.7, 0.3], [0.4, 0.6]], [[0.9, 0.2], [0.1, 0.8]], [1, 1], [0, 1])
    AccuracyBoundCheck(bound=0.5, accuracy=0.5, holds=True)
    """
    first, true_label = model_evidence(calibrated_proba, y, classes)
    second, _ = human_evidence(human_given_true, human_label, y, classes)
    return _check(first, second, true_label, stronger)


def check_product_bound(
    evidence: ArrayLike,
    other_evidence: ArrayLike,
    y: ArrayLike,
    *,
    stronger: bool = False,
    classes: ArrayLike | None = None,
) -> AccuracyBoundCheck:
    """Theorem 1 for any two partners: the bound beside the accuracy of ``argmax_k e_k e'_k``, the first in a tie.

    ``evidence`` and ``other_evidence``, (n_items, n_classes), are a model's probabilities, the likelihoods of a
    person's labels, ``human_given_true[human_label]``, or P(truth | the model's label),
    ``true_given_model.T[model_label]``.

    Examples
    --------
    >>> check_product_bound([[0.6, 0.4]], [[0.3, 0.7]], [1], classes=[0, 1])  # two models
    AccuracyBoundCheck(bound=1.0, accuracy=1.0, holds=True)
    """
    first, second = as_evidence(evidence, "evidence"), as_evidence(other_evidence, "other_evidence")
    same_length("other_evidence", second.shape[1], "evidence", first.shape[1])
    _, true_label = as_truth(y, classes, len(first), first.shape[1], "evidence")
    return _check(first, second, true_label, stronger)


def check_estimation_error_bound(
    estimated_human_given_true: ArrayLike,
    calibrated_proba: ArrayLike,
    human_label: ArrayLike,
    y: ArrayLike,
    *,
    n_bins: int = 15,
    classes: ArrayLike | None = None,
) -> EstimationErrorCheck:
    """Theorem 2 beside the mean estimation error, ``mean_i |P(h|y) P(y|m) - estimate_hy m_y|``.

    The unknown truths are estimated from these items: ``P(h|y)`` by the frequencies of each label for each true class
    (a class without items adds nothing), ``P(y|m)`` and ``m_y`` by the means of the item's bin, as in
    `marginal_calibration_error`.

    Examples
    --------
    >>> found = check_estimation_error_bound([[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5]] * 4, [0, 0, 1, 1], [0, 0, 1, 1])
    >>> round(found.bound, 3), round(found.error, 3), found.holds  # always right, estimated as 90 %
    (0.4, 0.05, True)
    """
    items = as_scored(y, calibrated_proba, classes, None)
    true_label, n_classes = items.true_label, len(items.classes)
    estimate = as_given_true(estimated_human_given_true, "estimated_human_given_true", n_classes)
    labels = as_labels(human_label, "human_label")
    same_length("human_label", labels.size, "calibrated_proba", true_label.size)
    human = as_codes(labels, items.classes, "human_label")
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (human, true_label), 1.0)
    total = counts.sum(axis=0)
    observed = np.where(total > 0.0, counts / np.maximum(total, 1.0), estimate)
    predicted, frequency = scores.binned_truth(items.proba, true_label, items.weight, whole_number(n_bins, "n_bins"))
    calibration_error = float(np.abs(predicted - frequency).mean())
    bound = bounds.estimation_error_bound(observed, estimate, calibration_error)
    error = float(np.abs(observed[human, true_label] * frequency - estimate[human, true_label] * predicted).mean())
    return EstimationErrorCheck(bound, bound - calibration_error, calibration_error, error, error <= bound + 1e-12)


def _check(first: Floats, second: Floats, true_label: Codes, stronger: bool) -> AccuracyBoundCheck:
    bound = product_bound(first, second, true_label, stronger=stronger)
    accuracy = float((bounds.product_label(first, second) == true_label).mean())
    return AccuracyBoundCheck(bound, accuracy, accuracy >= bound)
