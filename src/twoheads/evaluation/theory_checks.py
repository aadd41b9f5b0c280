"""Theorems 1 and 2 of Kerrigan et al. (2021) beside what was measured on the same items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation.inputs import as_codes, as_given_true, as_judged, as_labels, same_length, whole_number
from twoheads.evaluation.theory import accuracy_bound, human_weight, label_weight, model_weight
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring import bounds, scores


@dataclass(frozen=True)
class AccuracyBoundCheck:
    """Theorem 1 on data: the lower bound, the combination's accuracy, and whether it is at least the bound."""

    bound: float
    accuracy: float
    holds: bool


@dataclass(frozen=True)
class EstimationErrorCheck:
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
    first, true_label = model_weight(calibrated_proba, y, classes)
    second, _ = human_weight(human_given_true, human_label, y, classes)
    return _check(first, second, true_label, stronger)


def check_two_model_accuracy_bound(
    calibrated_proba: ArrayLike,
    other_calibrated_proba: ArrayLike,
    y: ArrayLike,
    *,
    stronger: bool = False,
    classes: ArrayLike | None = None,
) -> AccuracyBoundCheck:
    """`two_model_accuracy_bound` beside the accuracy of ``argmax_k m_k m'_k``, the first class in a tie.

    Examples
    --------
    >>> check_two_model_accuracy_bound([[0.6, 0.4]], [[0.3, 0.7]], [1])
    AccuracyBoundCheck(bound=1.0, accuracy=1.0, holds=True)
    """
    first, true_label = model_weight(calibrated_proba, y, classes)
    second, _ = model_weight(other_calibrated_proba, y, classes, argument="other_calibrated_proba")
    return _check(first, second, true_label, stronger)


def check_two_label_accuracy_bound(
    human_given_true: ArrayLike,
    human_label: ArrayLike,
    true_given_model: ArrayLike,
    model_label: ArrayLike,
    y: ArrayLike,
    *,
    stronger: bool = False,
    classes: ArrayLike | None = None,
) -> AccuracyBoundCheck:
    """`two_label_accuracy_bound` beside the accuracy of ``argmax_k P(h | k) P(k | model label)``, the first in a tie.

    Examples
    --------
    >>> phi, psi = [[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.3], [0.4, 0.7]]
    >>> check_two_label_accuracy_bound(phi, [0, 0], psi, [1, 1], [0, 1])
    AccuracyBoundCheck(bound=0.5, accuracy=0.5, holds=True)
    """
    first, true_label = human_weight(human_given_true, human_label, y, classes)
    return _check(first, label_weight(true_given_model, model_label, y, classes), true_label, stronger)


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

    What nobody knows is estimated from these items: ``P(h|y)`` is how often each label was given for each true class (a
    class that is not among them adds nothing), ``P(y|m)`` and ``m_y`` are the means of the item's bin, as in
    `marginal_calibration_error`.

    Examples
    --------
    >>> found = check_estimation_error_bound([[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5]] * 4, [0, 0, 1, 1], [0, 0, 1, 1])
    >>> round(found.bound, 3), round(found.error, 3), found.holds  # a human who is always right, told to be so in 90 %
    (0.4, 0.05, True)
    """
    judged = as_judged(y, calibrated_proba, classes, None)
    true_label, n_classes = judged.true_label, len(judged.classes)
    estimate = as_given_true(estimated_human_given_true, "estimated_human_given_true", n_classes)
    labels = as_labels(human_label, "human_label")
    same_length("human_label", labels.size, "calibrated_proba", true_label.size)
    human = as_codes(labels, judged.classes, "human_label")
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (human, true_label), 1.0)
    seen = counts.sum(axis=0)
    observed = np.where(seen > 0.0, counts / np.maximum(seen, 1.0), estimate)
    predicted, frequency = scores.binned_truth(judged.proba, true_label, judged.weight, whole_number(n_bins, "n_bins"))
    calibration_error = float(np.abs(predicted - frequency).mean())
    bound = bounds.estimation_error_bound(observed, estimate, calibration_error)
    error = float(np.abs(observed[human, true_label] * frequency - estimate[human, true_label] * predicted).mean())
    return EstimationErrorCheck(bound, bound - calibration_error, calibration_error, error, error <= bound + 1e-12)


def _check(first: Floats, second: Floats, true_label: Codes, stronger: bool) -> AccuracyBoundCheck:
    bound = accuracy_bound(first, second, true_label, stronger=stronger)
    accuracy = float((bounds.product_label(first, second) == true_label).mean())
    return AccuracyBoundCheck(bound, accuracy, accuracy >= bound)
