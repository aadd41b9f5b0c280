"""Proper scores of each item's probabilities, and calibration errors by binning."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.simplex import FLOOR

#: Values that differ by such a share are equal but for rounding.
ROUNDING = 1e-12


def weighted_mean(values: Floats, weight: Floats) -> float:
    """Weighted mean, ``sum_i w_i v_i / sum_i w_i``.

    values, weight  (n_items,)
    """
    return float(np.dot(weight, values) / weight.sum())


def log_losses(proba: Floats, true_label: Codes) -> Floats:
    """Minus the log-probability of the truth, ``-log p_y``, with the probability read as at least ``FLOOR``.

    proba       (n_classes, n_items)
    true_label  (n_items,), codes
    returns     (n_items,)
    """
    truth = proba[true_label, np.arange(true_label.size)]
    return 0.0 - np.log(np.clip(truth, FLOOR, 1.0))


def brier_scores(proba: Floats, true_label: Codes) -> Floats:
    """Squared distance to the one-hot truth, ``sum_j (p_j - 1[y = j])^2``.

    proba       (n_classes, n_items)
    true_label  (n_items,), codes
    returns     (n_items,)
    """
    distance = np.array(proba)
    distance[true_label, np.arange(true_label.size)] -= 1.0
    return np.asarray(np.einsum("ji,ji->i", distance, distance))


def equal_mass_boundaries(values: Floats, weight: Floats, n_bins: int) -> Floats:
    """Inner boundaries of bins of equal weight: the order statistics at levels ``k / n_bins``.

    The k-th is the first sorted value whose cumulative weight exceeds ``k / n_bins`` of the total: the next bin begins
    with it. With equal weights it is the value of rank ``floor(k n / n_bins)``, counted from 0.

    values, weight  (n_items,), weights positive
    returns         (n_bins - 1,), ascending, possibly repeated
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    share = np.arange(1, n_bins) / n_bins + 1e-12  # sums of fractional weights are rounded
    first = np.searchsorted(reached, share * reached[-1], side="right")
    return np.asarray(values[order[first]])


def equal_width_boundaries(n_bins: int) -> Floats:
    """Inner boundaries of bins of equal width on [0, 1], (n_bins - 1,)."""
    return np.arange(1, n_bins) / n_bins


def bin_codes(values: Floats, boundaries: Floats) -> Codes:
    """Bin of each value; a value on a boundary belongs above it, so that equal values share a bin.

    Values that differ by rounding only are equal: the sum that a probability is divided by depends on the order of the
    classes.

    values      (n_items,)
    boundaries  (n_bins - 1,), ascending
    returns     (n_items,), 0 .. n_bins - 1
    """
    return np.searchsorted(boundaries * (1.0 - ROUNDING), values, side="right")


def calibration_error(predicted: Floats, outcome: Floats, weight: Floats, boundaries: Floats) -> float:
    """Mean over items of their bin's ``|mean predicted - mean outcome|``: ``sum_b |sum_{i in b} w_i (p_i - o_i)| / W``.

    predicted, outcome, weight  (n_items,)
    boundaries                  (n_bins - 1,)
    """
    excess = np.bincount(bin_codes(predicted, boundaries), weights=weight * (predicted - outcome))
    return float(np.abs(excess).sum() / weight.sum())


def classwise_calibration_error(proba: Floats, true_label: Codes, weight: Floats, n_bins: int) -> float:
    """Mean over classes of the calibration error of that class's probability, in equal-mass bins of all items.

    proba               (n_classes, n_items)
    true_label, weight  (n_items,)
    """
    errors = [
        calibration_error(column, (true_label == code) * 1.0, weight, equal_mass_boundaries(column, weight, n_bins))
        for code, column in enumerate(proba)
    ]
    return float(np.mean(errors))


def binned_truth(proba: Floats, true_label: Codes, weight: Floats, n_bins: int) -> tuple[Floats, Floats]:
    """Mean predicted probability and frequency of each item's true class, in the item's bin.

    An item with truth j is put into the equal-mass bins of all items' ``p_j``; there the mean of ``p_j`` and the
    frequency of ``y = j`` are taken.

    proba               (n_classes, n_items)
    true_label, weight  (n_items,), weights positive
    returns             mean predicted (n_items,), frequency (n_items,)
    """
    predicted, frequency = np.empty(true_label.size), np.empty(true_label.size)
    for code, column in enumerate(proba):
        here = true_label == code
        occupied, bins = np.unique(
            bin_codes(column, equal_mass_boundaries(column, weight, n_bins)), return_inverse=True
        )
        mass = np.bincount(bins, weights=weight, minlength=occupied.size)
        predicted[here] = (np.bincount(bins, weights=weight * column) / mass)[bins[here]]
        frequency[here] = (np.bincount(bins, weights=weight * here) / mass)[bins[here]]
    return predicted, frequency


def wilson_interval(share: Floats, count: Floats, z: float) -> tuple[Floats, Floats]:
    """Wilson's score interval of a proportion: the q with ``|share - q| <= z sqrt(q (1 - q) / count)``.

    share, count  (n,), observed proportions and out of how many
    z             normal quantile, 1.96 for 95 %
    returns       lower (n,), upper (n,)
    """
    shrink = 1.0 + z**2 / count
    centre = (share + z**2 / (2.0 * count)) / shrink
    half = z / shrink * np.sqrt(share * (1.0 - share) / count + (z / (2.0 * count)) ** 2)
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)
