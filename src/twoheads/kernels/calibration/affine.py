"""Affine maps of log-probabilities, ``softmax(W z + b)`` with z = log m: log-loss and its derivatives.

All are sums over a block. With p = softmax(W z + b), target t and x = (z, 1), an item contributes

    value = -sum_k t_k log p_k        gradient[k, i] = (p_k - t_k) x_i
    hessian[(k, i), (l, j)] = (p_k [k = l] - p_k p_l) x_i x_j

A diagonal W has only the entries with i = k and the intercepts. Parameters are one array ``coefficients``: (2, K),
slopes and intercepts, if W is diagonal; (K, K + 1), W and b, if it is full.
"""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import normalise_log


def diagonal_map(log_proba: Floats, coefficients: Floats) -> Floats:
    """Log of ``softmax(w_k z_k + b_k)``, (n_classes, n_items)."""
    slope, intercept = coefficients
    return normalise_log(slope[:, None] * log_proba + intercept[:, None])


def full_map(log_proba: Floats, coefficients: Floats) -> Floats:
    """Log of ``softmax(W z + b)``, (n_classes, n_items)."""
    return normalise_log(coefficients[:, :-1] @ log_proba + coefficients[:, -1:])


def diagonal_loss(block: Block, coefficients: Floats) -> tuple[float, Floats]:
    """Log-loss of the diagonal map and its gradient, (2, n_classes)."""
    value, residual, _ = _residual(block, diagonal_map(block.log_proba, coefficients))
    return value, np.stack([np.einsum("kn,kn->k", residual, block.log_proba), residual.sum(axis=1)])


def full_loss(block: Block, coefficients: Floats) -> tuple[float, Floats]:
    """Log-loss of the full map and its gradient, (n_classes, n_classes + 1)."""
    value, residual, _ = _residual(block, full_map(block.log_proba, coefficients))
    return value, np.concatenate([residual @ block.log_proba.T, residual.sum(axis=1, keepdims=True)], axis=1)


def diagonal_curvature(block: Block, coefficients: Floats) -> tuple[Floats]:
    """Hessian of `diagonal_loss`, (2 K, 2 K)."""
    z = block.log_proba
    n_classes = len(z)
    _, _, proba = _residual(block, diagonal_map(z, coefficients))
    weighted = proba if block.weight is None else proba * block.weight
    moved = np.concatenate([proba * z, proba])
    hessian = -_gram(moved, block.weight)
    on, at = np.arange(n_classes), np.arange(n_classes) + n_classes
    hessian[on, on] += np.einsum("kn,kn,kn->k", weighted, z, z)
    hessian[at, at] += weighted.sum(axis=1)
    cross = np.einsum("kn,kn->k", weighted, z)
    hessian[on, at] += cross
    hessian[at, on] += cross
    return (hessian,)


def full_curvature(block: Block, coefficients: Floats) -> tuple[Floats]:
    """Hessian of `full_loss`, (K (K + 1), K (K + 1))."""
    _, _, proba = _residual(block, full_map(block.log_proba, coefficients))
    weighted = proba if block.weight is None else proba * block.weight
    x = np.concatenate([block.log_proba, np.ones((1, block.n_items))])
    moved = (proba[:, None] * x).reshape(-1, block.n_items)
    hessian = -_gram(moved, block.weight)
    for k, share in enumerate(weighted):
        own = slice(k * len(x), (k + 1) * len(x))
        hessian[own, own] += (x * share) @ x.T
    return (hessian,)


def _gram(rows: Floats, weight: Floats | None) -> Floats:
    """Weighted products of all pairs of rows; of one array with itself, which costs half. Rows are overwritten."""
    if weight is not None:
        rows *= np.sqrt(weight)
    return np.asarray(rows @ rows.T)


def _residual(block: Block, mapped: Floats) -> tuple[float, Floats, Floats]:
    """Log-loss, p - t times the items' weights, and p."""
    target = block.soft_target()
    proba = np.exp(mapped)
    residual = proba - target
    if block.weight is not None:
        residual *= block.weight
    return -block.weighted_sum(np.einsum("kn,kn->n", target, mapped)), residual, proba
