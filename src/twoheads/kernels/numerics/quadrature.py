"""One parameter: the range and the mode of its density, and Gauss rules of few nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from twoheads.kernels.arrays import Floats

#: Logarithm of how many times below its peak a density counts as 0, in double precision.
_DEPTH = 37.0


def support(log_density: Callable[[Floats], Floats], mode: float, sd: float) -> tuple[float, float]:
    """An interval around the mode outside of which the density is below ``exp(-37)`` times its peak."""
    peak = log_density(np.array([mode]))[0]
    ends = []
    for side in (-1.0, 1.0):
        reach = 6.0 * sd
        while log_density(np.array([mode + side * reach]))[0] > peak - _DEPTH:
            reach *= 1.4
        ends.append(mode + side * reach)
    return ends[0], ends[1]


def steady_maximum(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function of one hill is largest, to a thousandth of the range, from its values at fixed places.

    Uphill from the middle in steps of an eighth of the range, which are halved four times, then the vertex of a
    parabola: where a search by interpolation ends depends on its path, and the path on rounding.
    """
    value = cache(function)
    best, step = 0.5 * (low + high), 0.25 * (high - low)
    for _ in range(5):
        step /= 2.0
        for side in (-step, step):
            while low <= best + side <= high and value(best) < value(best + side):
                best += side
    if not low < best < high:
        return best
    before, after = value(best - step) - value(best), value(best + step) - value(best)
    bend = before + after
    return best + 0.5 * step * (before - after) / bend if bend < 0.0 else best


def normalised_weights(log_density: Floats) -> Floats:
    """Weights proportional to a density, given its logarithm at equally spaced nodes."""
    weights = np.exp(log_density - log_density.max())
    return np.asarray(weights / weights.sum())


def gauss_rule(nodes: Floats, weights: Floats, n_nodes: int) -> tuple[Floats, Floats]:
    """The Gauss rule of a discrete measure: ``n_nodes`` nodes, exact for polynomials up to degree 2 n_nodes - 1.

    The measure's three-term recurrence (Stieltjes) gives the Jacobi matrix; its eigenvalues are the nodes and the
    squares of its eigenvectors' first entries the weights (Golub and Welsch, 1969).
    """
    centre = weights @ nodes
    scale = np.sqrt(weights @ (nodes - centre) ** 2) or 1.0
    x = (nodes - centre) / scale
    diagonal, off_diagonal = np.zeros(n_nodes), np.zeros(n_nodes)
    before, now, norm = np.zeros_like(x), np.ones_like(x), 1.0
    for k in range(n_nodes):
        diagonal[k] = weights @ (x * now**2)
        following = (x - diagonal[k]) * now - off_diagonal[k] * before
        norm = np.sqrt(weights @ following**2)
        if k + 1 == n_nodes or norm < 1e-10:
            break
        off_diagonal[k + 1] = norm
        before, now = now, following / norm
    size = k + 1
    jacobi = np.diag(diagonal[:size]) + np.diag(off_diagonal[1:size], 1) + np.diag(off_diagonal[1:size], -1)
    values, vectors = np.linalg.eigh(jacobi)
    return centre + scale * values, vectors[0] ** 2
