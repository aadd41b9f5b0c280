"""Kerrigan, Smyth and Steyvers (2021), section 6: guarantees for the product of two predictors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Codes, Floats


def truth_and_rest(weight: Floats, true_label: Codes, *, stronger: bool) -> tuple[Floats, Floats]:
    """Weight of the true class, and of all others together; if ``stronger``, of the largest other only.

    weight      (n_classes, n_items), non-negative, in any unit per item
    true_label  (n_items,), codes
    returns     truth (n_items,), rest (n_items,)
    """
    items = np.arange(true_label.size)
    others = np.array(weight)
    others[true_label, items] = 0.0
    return weight[true_label, items], others.max(axis=0) if stronger else others.sum(axis=0)


def confidence_ratio(truth: Floats, rest: Floats) -> Floats:
    """``truth / rest``: infinite if rest is 0, and 0 if truth is.

    truth, rest  (n_items,), non-negative
    returns      (n_items,)
    """
    ratio = np.where(truth > 0.0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        return np.divide(truth, rest, out=ratio, where=rest > 0.0)


def surely_right(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> NDArray[np.bool_]:
    """Where ``truth_1 truth_2 > rest_1 rest_2``, that is r_1 > 1 / r_2: the product then has its maximum at the truth.

    Strict, as in the paper's proof and unlike its statement: in a tie the largest product may be of another class.
    Compared as sums of logarithms, in the order in which :func:`product_label` adds them, so that rounding keeps ties.

    first, second  (truth, rest), each (n_items,)
    returns        (n_items,)
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(first[0]) + np.log(second[0]) > np.log(first[1]) + np.log(second[1]))


def product_label(first: Floats, second: Floats) -> Codes:
    """Class with the largest product of two weights; the first of them in a tie.

    first, second  (n_classes, n_items)
    returns        (n_items,), codes
    """
    with np.errstate(divide="ignore"):
        return np.asarray((np.log(first) + np.log(second)).argmax(axis=0))


def estimation_error_bound(human_given_true: Floats, estimate: Floats, calibration_error: float) -> float:
    """Theorem 2: ``sum_ij |phi_ij - estimate_ij| + MCE``; both matrices (n_classes, n_classes)."""
    return float(np.abs(human_given_true - estimate).sum() + calibration_error)
