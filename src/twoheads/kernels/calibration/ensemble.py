"""Ensemble temperature scaling: ``w_0 softmax(z / T) + w_1 m + w_2 / K`` with z = log m, fitted by squared error.

The squared error is a sum over items and a quadratic form in the weights. With the components measured from the uniform
distribution, ``a = softmax(z / T) - 1/K``, ``b = m - 1/K`` and ``r = target - 1/K``, it
is ``|w_0 a + w_1 b - r|^2`` on the triangle ``w_0, w_1 >= 0, w_0 + w_1 <= 1``.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import tempered


def tempered_squared_error(block: Block, log_temperatures: Floats) -> tuple[Floats, Floats]:
    """Squared error of ``softmax(z / T)`` and its derivative in log T, at each of several temperatures.

    With u = z / T and p = softmax(u), ``d p_k / d log T = -p_k (u_k - E_p u)``.

    log_temperatures  (n_temperatures,)
    returns           two arrays (n_temperatures,)
    """
    target = block.soft_target()
    depth = block.log_proba - block.log_proba.max(axis=0)
    values, slopes = np.empty((2, len(log_temperatures)))
    for at, beta in enumerate(np.exp(-log_temperatures)):
        scaled = depth * beta
        proba = np.exp(scaled)
        proba /= proba.sum(axis=0)
        error = proba - target
        values[at] = block.weighted_sum(np.einsum("kn,kn->n", error, error))
        scaled -= np.einsum("kn,kn->n", proba, scaled)
        slopes[at] = -2.0 * block.weighted_sum(np.einsum("kn,kn,kn->n", error, proba, scaled))
    return values, slopes


def ensemble_products(block: Block, log_temperature: float) -> tuple[Floats, Floats]:
    """Products of the components a, b, 0 with each other, (3, 3), and with r, (3,), which determine the weights."""
    uniform = 1.0 / len(block.log_proba)
    components = np.stack([np.exp(tempered(block.log_proba, log_temperature)), np.exp(block.log_proba)]) - uniform
    weighted = components if block.weight is None else components * block.weight
    gram, cross = np.zeros((3, 3)), np.zeros(3)
    gram[:2, :2] = np.einsum("ikn,jkn->ij", components, weighted)
    cross[:2] = np.einsum("ikn,kn->i", weighted, block.soft_target() - uniform)
    return gram, cross


def best_weights(gram: Floats, cross: Floats) -> Floats:
    """Weights on the simplex that minimise ``w @ gram @ w - 2 w @ cross``, exactly.

    The minimum is in the interior of one face of the simplex (a corner, an edge, the whole), where it solves a linear
    system: it is the lowest of the faces' feasible solutions. Of equally good ones the first is taken, (1, 0, 0) first.

    gram   (3, 3), positive semi-definite
    cross  (3,)
    """
    corners = np.eye(len(cross))
    best, lowest = corners[0], gram[0, 0] - 2.0 * cross[0]
    margin = 1e-13 * np.trace(gram)
    for size in range(1, len(cross) + 1):
        for face in combinations(range(len(cross)), size):
            weights = _on_face(gram, cross, corners[list(face)])
            value = weights @ gram @ weights - 2.0 * weights @ cross
            if weights.min() >= 0.0 and value < lowest - margin:
                best, lowest = weights, value
    return np.asarray(best)


def _on_face(gram: Floats, cross: Floats, corners: Floats) -> Floats:
    """Stationary point of the quadratic on the plane through the corners, the nearest to the first of them."""
    first, rest = corners[0], corners[1:] - corners[0]
    moves = np.linalg.lstsq(rest @ gram @ rest.T, rest @ (cross - gram @ first), rcond=1e-12)[0]
    return np.asarray(first + moves @ rest)


def log_ensemble(log_proba: Floats, log_temperature: float, weights: Floats) -> Floats:
    """Log of the mixture, (n_classes, n_items)."""
    if weights[0] == 1.0:  # its probabilities may underflow where their logarithms do not
        return tempered(log_proba, log_temperature)
    total = np.full_like(log_proba, weights[2] / len(log_proba))
    total += weights[1] * np.exp(log_proba)
    total += weights[0] * np.exp(tempered(log_proba, log_temperature))
    return np.log(total, out=total)
