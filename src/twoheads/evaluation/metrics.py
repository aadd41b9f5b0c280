"""Scores of probabilities against the truth: error, log loss, Brier score and calibration errors.

Every score takes ``(y, proba)``, true labels (n_items,) and probabilities (n_items, n_classes), not normalised again.
``classes`` names the class of each column; by default the columns are the sorted labels of ``y`` if all occur in it,
else the whole numbers 0 .. n_classes - 1. ``sample_weight`` counts items: weight 2 is the row twice.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from twoheads.errors import InvalidParameter
from twoheads.evaluation.inputs import (
    as_codes,
    as_item_weight,
    as_labels,
    as_scored,
    shared_classes,
    whole_number,
)
from twoheads.kernels.arrays import Floats
from twoheads.kernels.scoring import scores
from twoheads.kernels.scoring.ties import label_error
from twoheads.observations.checks import same_length

Strategy = Literal["equal_mass", "equal_width"]


def error_rate(
    y: ArrayLike, proba: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Share of items whose predicted label is wrong; the prediction is the most probable class.

    A tie of m classes, one of them the true one, is wrong by ``1 - 1 / m``, whatever the order of the classes.

    ``proba`` may also be the predicted labels themselves, of shape (n_items,).

    Examples
    --------
    >>> error_rate(["cat", "dog"], [[0.9, 0.1], [0.6, 0.4]])
    0.5
    >>> error_rate(["cat", "dog", "dog"], ["cat", "dog", "cat"], sample_weight=[1, 1, 2])
    0.5
    """
    if np.ndim(proba) != 1:
        items = as_scored(y, proba, classes, sample_weight)
        return scores.weighted_mean(label_error(items.proba, items.true_label), items.weight)
    labels, predicted = as_labels(y, "y"), as_labels(proba, "proba")
    same_length("y", labels.size, "proba", predicted.size)
    named = shared_classes({"y": labels, "proba": predicted}, classes)
    wrong = as_codes(labels, named, "y") != as_codes(predicted, named, "proba")
    return scores.weighted_mean(wrong * 1.0, as_item_weight(sample_weight, labels.size))


def log_loss(
    y: ArrayLike, proba: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Mean negative log-likelihood of the truth in nats, ``-mean_i log p_{i, y_i}``.

    A probability below ``twoheads.kernels.simplex.FLOOR`` (1.2e-38) is taken as that, so that one truth of probability
    0 costs 87.3 instead of making the mean infinite.

    Examples
    --------
    >>> round(log_loss([0, 1], [[0.5, 0.5], [0.75, 0.25]]), 4)  # (log 2 + log 4) / 2
    1.0397
    """
    items = as_scored(y, proba, classes, sample_weight)
    return scores.weighted_mean(scores.log_losses(items.proba, items.true_label), items.weight)


def brier_score(
    y: ArrayLike, proba: ArrayLike, *, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Mean squared distance to the truth over all classes, ``mean_i sum_j (p_ij - 1[y_i = j])^2``, between 0 and 2.

    Brier (1950). For two classes it is twice the score of the one probability.

    Examples
    --------
    >>> brier_score([0, 1], [[1.0, 0.0], [0.5, 0.5]])
    0.25
    """
    items = as_scored(y, proba, classes, sample_weight)
    return scores.weighted_mean(scores.brier_scores(items.proba, items.true_label), items.weight)


def expected_calibration_error(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    n_bins: int = 15,
    strategy: Strategy = "equal_mass",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """How far confidence is from accuracy, ``sum_b n_b / n |mean confidence_b - accuracy_b|`` (ECE).

    The confidence is the largest probability of an item. Equal-mass bins have the order statistics of the confidence at
    levels k / n_bins as boundaries, and a value on a boundary belongs to the bin above: items of equal confidence are
    always in one bin. With 15 of them the values of Kerrigan, Smyth and Steyvers (2021) are reproduced.

    Examples
    --------
    >>> y, proba = [0, 0, 0, 1], [[0.75, 0.25]] * 4
    >>> expected_calibration_error(y, proba)  # right in three of four, as stated
    0.0
    """
    items = as_scored(y, proba, classes, sample_weight)
    confidence = items.proba.max(axis=0)
    right = 1.0 - label_error(items.proba, items.true_label)
    boundaries = bin_boundaries(confidence, items.weight, n_bins, strategy)
    return scores.calibration_error(confidence, right, items.weight, boundaries)


def classwise_calibration_error(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    n_bins: int = 15,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean over classes of the calibration error of the class's probability (cwECE).

    ``1/K sum_j sum_b n_jb / n |mean p_j in b - frequency of y = j in b|``: every item is in one of ``n_bins`` bins of
    equal mass of every class, however small its probability. Kull et al. (2019), with equal-mass bins.

    Examples
    --------
    >>> round(classwise_calibration_error([0, 1], [[0.9, 0.1], [0.9, 0.1]]), 3)  # 0.9 against 1/2, 0.1 against 1/2
    0.4
    """
    items = as_scored(y, proba, classes, sample_weight)
    bins = whole_number(n_bins, "n_bins")
    return scores.classwise_calibration_error(items.proba, items.true_label, items.weight, bins)


def marginal_calibration_error(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    n_bins: int = 15,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """l1 marginal calibration error of Theorem 2, ``sum_j p(y=j) E[|p(y=j | m) - m_j| given y=j]``, by binning.

    ``p(y=j | m)`` is estimated by the frequency of ``y = j`` in the item's bin of ``m_j``, one of ``n_bins`` of equal
    mass, and ``m_j`` by its mean there; the absolute difference is averaged over items, each in the bins of its true
    class. So it conditions on the class's own probability rather than on all of them; chance within bins raises it, and
    differences that cancel within a bin lower it. Kerrigan, Smyth and Steyvers (2021), proof of Theorem 2. The marginal
    calibration error of Kumar, Liang and Ma (2019) averages over all items in place of those of class j, as
    `classwise_calibration_error` does.

    Examples
    --------
    >>> marginal_calibration_error([0, 1, 1, 1], [[0.75, 0.25]] * 4)  # predicted (3/4, 1/4), observed (1/4, 3/4)
    0.5
    """
    items = as_scored(y, proba, classes, sample_weight)
    bins = whole_number(n_bins, "n_bins")
    predicted, frequency = scores.binned_truth(items.proba, items.true_label, items.weight, bins)
    return scores.weighted_mean(np.abs(predicted - frequency), items.weight)


def bin_boundaries(values: Floats, weight: Floats, n_bins: int, strategy: Strategy) -> Floats:
    """Inner boundaries of the bins of a strategy, (n_bins - 1,)."""
    bins = whole_number(n_bins, "n_bins")
    if strategy == "equal_mass":
        return scores.equal_mass_boundaries(values, weight, bins)
    if strategy == "equal_width":
        return scores.equal_width_boundaries(bins)
    raise InvalidParameter(f"strategy must be 'equal_mass' or 'equal_width'; it is {strategy!r}.")
