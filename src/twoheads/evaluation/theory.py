"""What confidence ratios and calibration guarantee about a combination: Theorems 1 and 2 of Kerrigan et al. (2021).

Theorem 1 needs a repair. Its proof bounds the largest other entry of the human's row, ``max_{k != y} phi_hk``, by
``1 - phi_hy``; but it is the columns of phi that sum to 1, not the rows, and the bound as printed can exceed the
accuracy, with two classes as well as with more. With the row normalised, ``r_h = phi_hy / sum_{k != y} phi_hk``, the
theorem holds, with equality for two classes but for ties. The two ratios agree where the row sums to 1, as in one-coin
matrices. The stronger form needs no repair. The inequality is strict, as in the proof: a tie promises nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation.inputs import as_codes, as_given_true, as_labels, as_proba, as_truth
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring import bounds


def model_confidence_ratio(calibrated_proba: ArrayLike, y: ArrayLike, *, classes: ArrayLike | None = None) -> Floats:
    """Odds of the truth by the model, ``r_m = m_y / (1 - m_y)``, (n_items,); infinite where ``m_y`` is 1.

    Above 1, the model is right. Computed with the sum of the other classes, exact where ``m_y`` is close to 1.

    Examples
    --------
    >>> model_confidence_ratio([[0.75, 0.25], [1.0, 0.0]], [0, 1]).tolist()
    [3.0, 0.0]
    """
    weight, true_label = model_weight(calibrated_proba, y, classes)
    return bounds.confidence_ratio(*bounds.truth_and_rest(weight, true_label, stronger=False))


def human_confidence_ratio(
    human_given_true: ArrayLike,
    human_label: ArrayLike,
    y: ArrayLike,
    *,
    published: bool = False,
    classes: ArrayLike | None = None,
) -> Floats:
    """Odds of the truth by the human's label, ``r_h = phi_hy / sum_{k != y} phi_hk``, (n_items,).

    ``human_given_true[i, j]`` is P(human says i | truth j), (n_classes, n_classes), columns sum to 1. If ``published``,
    the ratio is the paper's, ``phi_hy / (1 - phi_hy)``, with which Theorem 1 can fail (see this module's introduction).

    Examples
    --------
    >>> phi = [[0.9, 0.6], [0.1, 0.4]]
    >>> human_confidence_ratio(phi, [0], [0]).round(3).tolist()  # "0" is said of both classes: 0.9 to 0.6
    [1.5]
    >>> human_confidence_ratio(phi, [0], [0], published=True).round(3).tolist()
    [9.0]
    """
    weight, true_label = human_weight(human_given_true, human_label, y, classes)
    truth, rest = bounds.truth_and_rest(weight, true_label, stronger=False)
    return bounds.confidence_ratio(truth, np.maximum(1.0 - truth, 0.0) if published else rest)


def combination_accuracy_bound(
    calibrated_proba: ArrayLike,
    human_given_true: ArrayLike,
    human_label: ArrayLike,
    y: ArrayLike,
    *,
    stronger: bool = False,
    classes: ArrayLike | None = None,
) -> float:
    """Theorem 1: the P+L combination is right at least in the share of items where ``r_m > 1 / r_h``.

    With ``stronger`` the largest other class stands in the place of all others together, in both ratios:
    ``m_y / max_{k != y} m_k > (phi_hy / max_{k != y} phi_hk)^-1``; never below the plain bound.

    Examples
    --------
    >>> proba, phi = [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3]], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    >>> combination_accuracy_bound(proba, phi, [0, 0], [0, 1])  # 1 > 1/4 for the first item, 2/3 < 9 for the second
    0.5
    """
    first, true_label = model_weight(calibrated_proba, y, classes)
    second, _ = human_weight(human_given_true, human_label, y, classes)
    return accuracy_bound(first, second, true_label, stronger=stronger)


def two_model_accuracy_bound(
    calibrated_proba: ArrayLike,
    other_calibrated_proba: ArrayLike,
    y: ArrayLike,
    *,
    stronger: bool = False,
    classes: ArrayLike | None = None,
) -> float:
    """Theorem 1 for two models whose probabilities are multiplied: right at least where ``r_m > 1 / r_m'``.

    Examples
    --------
    >>> two_model_accuracy_bound([[0.6, 0.4], [0.6, 0.4]], [[0.5, 0.5], [0.3, 0.7]], [0, 0])
    0.5
    """
    first, true_label = model_weight(calibrated_proba, y, classes)
    second, _ = model_weight(other_calibrated_proba, y, classes, argument="other_calibrated_proba")
    return accuracy_bound(first, second, true_label, stronger=stronger)


def two_label_accuracy_bound(
    human_given_true: ArrayLike,
    human_label: ArrayLike,
    true_given_model: ArrayLike,
    model_label: ArrayLike,
    y: ArrayLike,
    *,
    stronger: bool = False,
    classes: ArrayLike | None = None,
) -> float:
    """Theorem 1 for two labels (L+L): right at least where ``r_m > 1 / r_h``, P(truth | model label) in place of m.

    ``true_given_model[i, j]`` is P(truth i | model says j), (n_classes, n_classes), columns sum to 1.

    Examples
    --------
    >>> phi, psi = [[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.3], [0.4, 0.7]]
    >>> two_label_accuracy_bound(phi, [0, 0], psi, [1, 1], [0, 1])
    0.5
    """
    first, true_label = human_weight(human_given_true, human_label, y, classes)
    second = label_weight(true_given_model, model_label, y, classes)
    return accuracy_bound(first, second, true_label, stronger=stronger)


def estimation_error_bound(
    human_given_true: ArrayLike, estimated_human_given_true: ArrayLike, marginal_calibration_error: float
) -> float:
    """Theorem 2: the mean of ``|P(h|y) P(y|m) - phi_hy m_y|`` is at most ``sum_ij |phi - estimate|_ij + MCE``.

    Both matrices (n_classes, n_classes), columns sum to 1; the last is `marginal_calibration_error` of the model.

    Examples
    --------
    >>> round(estimation_error_bound([[0.9, 0.2], [0.1, 0.8]], [[0.8, 0.2], [0.2, 0.8]], 0.05), 3)
    0.25
    """
    true = as_given_true(human_given_true, "human_given_true", None)
    estimate = as_given_true(estimated_human_given_true, "estimated_human_given_true", len(true))
    return bounds.estimation_error_bound(true, estimate, marginal_calibration_error)


def accuracy_bound(first: Floats, second: Floats, true_label: Codes, *, stronger: bool) -> float:
    """Share of items where two weights of the classes, (n_classes, n_items) each, ensure a product that is right."""
    sure = bounds.surely_right(
        bounds.truth_and_rest(first, true_label, stronger=stronger),
        bounds.truth_and_rest(second, true_label, stronger=stronger),
    )
    return float(sure.mean())


def model_weight(
    calibrated_proba: ArrayLike, y: ArrayLike, classes: ArrayLike | None, *, argument: str = "calibrated_proba"
) -> tuple[Floats, Codes]:
    """Weights that a model gives to each class of each item, (n_classes, n_items), and the true codes."""
    proba = as_proba(calibrated_proba, argument)
    return proba, as_truth(y, classes, len(proba), proba.shape[1], argument)[1]


def human_weight(
    human_given_true: ArrayLike, human_label: ArrayLike, y: ArrayLike, classes: ArrayLike | None
) -> tuple[Floats, Codes]:
    """Weights that a human's label gives to each class of each item, ``phi[h, k]`` at [k, item], and the true codes."""
    matrix = as_given_true(human_given_true, "human_given_true", None)
    labels = as_labels(human_label, "human_label")
    named, true_label = as_truth(y, classes, len(matrix), labels.size, "human_label")
    return matrix[as_codes(labels, named, "human_label")].T, true_label


def label_weight(
    true_given_model: ArrayLike, model_label: ArrayLike, y: ArrayLike, classes: ArrayLike | None
) -> Floats:
    """Weights that a model's label gives to each class of each item, ``P(truth k | label)`` at [k, item]."""
    matrix = as_given_true(true_given_model, "true_given_model", None)
    labels = as_labels(model_label, "model_label")
    named, _ = as_truth(y, classes, len(matrix), labels.size, "model_label")
    return matrix[:, as_codes(labels, named, "model_label")]
