"""Confusion matrices: estimates of ``human_given_true[i, j] = P(answer i | truth j)`` from counts."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Floats


def normalise_columns(counts: Floats) -> Floats:
    """Counts as conditional probabilities given the truth; a class without counts gets the uniform distribution.

    counts  (..., n_answers, n_classes); columns of the result sum to 1
    """
    total = counts.sum(axis=-2, keepdims=True)
    uniform = np.full_like(counts, 1.0 / counts.shape[-2])
    return np.asarray(np.divide(counts, total, out=uniform, where=total > 0))


def log_table(given_true: Floats) -> Floats:
    """Log of conditional probabilities as one table, a row per (annotator, answer).

    An answer that is impossible under every class is ignored: its row is 0.

    given_true  (n_annotators, n_answers, n_classes)
    returns     (n_annotators * n_answers, n_classes)
    """
    with np.errstate(divide="ignore"):
        table = np.log(given_true).reshape(-1, given_true.shape[-1])
    table[np.isneginf(table).all(axis=1)] = 0.0
    return table


def one_coin(accuracy: float, n_classes: int) -> Floats:
    """The matrix with one accuracy for all classes and uniform errors, (n_classes, n_classes)."""
    matrix = np.full((n_classes, n_classes), (1.0 - accuracy) / (n_classes - 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


def column_log_density(given_true: Floats, pseudo_counts: Floats) -> float:
    """Log-density under Dirichlet columns up to a constant, ``sum_ij A_ij log phi_ij`` with A the pseudo-counts."""
    weighted = pseudo_counts > 0
    shape = np.broadcast_to(pseudo_counts, given_true.shape)
    with np.errstate(divide="ignore"):
        logs = np.log(given_true)
    return float((shape * np.where(np.broadcast_to(weighted, shape.shape), logs, 0.0)).sum())


#: With more classes than this, matrices of classes by classes are kept and saved in short.
MANY_CLASSES = 300


def few_digits(overlap: Floats) -> Floats:
    """A matrix to three significant digits, and symmetric if it is square: short to save.

    It only shapes a prior, which does not need more of it.
    """
    if overlap.shape[0] == overlap.shape[1]:
        overlap = (overlap + overlap.T) / 2
    mantissa, exponent = np.frexp(overlap)
    return np.asarray(np.ldexp(np.rint(mantissa * 1024.0), exponent - 10))
