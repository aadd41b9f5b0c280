"""Bounds of a combination from confidence ratios and calibration: Theorems 1 and 2 of Kerrigan et al. (2021).

Theorem 1 needs a repair. Its proof bounds the largest other entry of the human's row, ``max_{k != y} phi_hk``, by
``1 - phi_hy``; but it is the columns of phi that sum to 1, not the rows, and the bound as printed can exceed the
accuracy, with two classes as well as with more. With the row normalised, ``r_h = phi_hy / sum_{k != y} phi_hk``, the
theorem holds, with equality for two classes but for ties. The two ratios agree where the row sums to 1, as in one-coin
matrices. The stronger form needs no repair. The inequality is strict, as in the proof: a tie guarantees nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation.inputs import as_codes, as_given_true, as_labels, as_proba, as_truth
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring import bounds


def model_confidence_ratio(calibrated_proba: ArrayLike, y: ArrayLike, *, classes: ArrayLike | None = None) -> Floats:
    """Odds of the truth by the model, ``r_m = m_y / (1 - m_y)``, (n_items,); infinite if ``m_y`` is 1.

    Above 1, the model is right. Computed with the sum of the other classes, exact where ``m_y`` is close to 1.

    Examples
    --------
    >>> model_confidence_ratio([[0.75, 0.25], [1.0, 0.0]], [0, 1]).tolist()
    [3.0, 0.0]
    """
    evidence, true_label = model_evidence(calibrated_proba, y, classes)
    return bounds.confidence_ratio(*bounds.truth_and_rest(evidence, true_label, stronger=False))


def human_confidence_ratio(
    human_given_true: ArrayLike,
    human_label: ArrayLike,
    y: ArrayLike,
    *,
    published: bool = False,
    classes: ArrayLike | None = None,
) -> Floats:
    """Odds of the truth by the human's label, ``r_h = phi_hy / sum_{k != y} phi_hk``, (n_items,).

    ``human_given_true[i, j]`` is P(answer i | truth j), (n_classes, n_classes), columns sum to 1. If ``published``,
    the ratio is the paper's, ``phi_hy / (1 - phi_hy)``, with which Theorem 1 can fail (see this module's introduction).

    Examples
    --------
    >>> phi = [[0.9, 0.6], [0.1, 0.4]]
    >>> human_confidence_ratio(phi, [0], [0]).round(3).tolist()  # both classes are often labelled 0: 0.9 to 0.6
    [1.5]
    >>> human_confidence_ratio(phi, [0], [0], published=True).round(3).tolist()
    [9.0]
    """
    evidence, true_label = human_evidence(human_given_true, human_label, y, classes)
    truth, rest = bounds.truth_and_rest(evidence, true_label, stronger=False)
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

    With ``stronger`` the ratios are to the largest other class, not to all others together:
    ``m_y / max_{k != y} m_k > (phi_hy / max_{k != y} phi_hk)^-1``; never below the plain bound.

    Examples
    --------
    >>> proba, phi = [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3]], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    >>> combination_accuracy_bound(proba, phi, [0, 0], [0, 1])  # 1 > 1/4 for the first item, 2/3 < 9 for the second
    0.5
    """
    first, true_label = model_evidence(calibrated_proba, y, classes)
    second, _ = human_evidence(human_given_true, human_label, y, classes)
    return product_bound(first, second, true_label, stronger=stronger)


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


def product_bound(first: Floats, second: Floats, true_label: Codes, *, stronger: bool) -> float:
    """Share of items whose product of two evidences, (n_classes, n_items) each, is right by Theorem 1."""
    right = bounds.surely_right(
        bounds.truth_and_rest(first, true_label, stronger=stronger),
        bounds.truth_and_rest(second, true_label, stronger=stronger),
    )
    return float(right.mean())


def model_evidence(calibrated_proba: ArrayLike, y: ArrayLike, classes: ArrayLike | None) -> tuple[Floats, Codes]:
    """Probabilities of a model, (n_classes, n_items), and the true codes."""
    proba = as_proba(calibrated_proba, "calibrated_proba")
    return proba, as_truth(y, classes, len(proba), proba.shape[1], "calibrated_proba")[1]


def human_evidence(
    human_given_true: ArrayLike, human_label: ArrayLike, y: ArrayLike, classes: ArrayLike | None
) -> tuple[Floats, Codes]:
    """Likelihood of the human's label under each class, ``phi[h, k]`` at [k, item], and the true codes."""
    matrix = as_given_true(human_given_true, "human_given_true", None)
    labels = as_labels(human_label, "human_label")
    named, true_label = as_truth(y, classes, len(matrix), labels.size, "human_label")
    return matrix[as_codes(labels, named, "human_label")].T, true_label
