"""Temperature scaling: ``softmax(z / T)`` with z = log m, and its log-likelihood in tau = log T as sums over a block.

With beta = 1/T = exp(-tau), p = softmax(beta z) and zbar the target's mean of z, an item contributes

    value = beta zbar - log sum_j exp(beta z_j)
    d value / d beta = zbar - E_p z            d2 value / d beta2 = -Var_p z

so that the target enters only by zbar. Since z is normalised, its largest
entry is at least -log K: no exp(beta z) overflows, and no sum of them underflows within the bounds of tau.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import log_sum

#: Bounds of log T: a model that is never wrong on the labelled items has no finite best temperature.
LOG_TEMPERATURE_BOUNDS = (-4.0, 5.0)

#: Nodes at which log-likelihoods are stored, to be added up over chunks: from -4 to 5, four per octave.
_PER_OCTAVE = 4
N_NODES = 53
LOG_TEMPERATURE_NODES: Floats = LOG_TEMPERATURE_BOUNDS[0] + np.arange(N_NODES) * np.log(2.0) / _PER_OCTAVE
NODE_RANGE = float(LOG_TEMPERATURE_NODES[0]), float(LOG_TEMPERATURE_NODES[-1])


def tempered(log_proba: Floats, log_temperature: float) -> Floats:
    """Log of ``softmax(z / T)``, (n_classes, n_items)."""
    scaled = log_proba * np.exp(-log_temperature)
    scaled -= log_sum(scaled)
    return np.asarray(scaled)


def temperature_values(block: Block, log_temperatures: Floats) -> tuple[Floats]:
    """Log-likelihood of the block's targets at each of several temperatures, (n_temperatures,)."""
    log_proba = block.log_proba
    if log_temperatures.min() < LOG_TEMPERATURE_BOUNDS[0]:  # where exp(z / T) would underflow for all classes
        log_proba = log_proba - log_proba.max(axis=0)
    target = block.expected(log_proba)
    scaled = np.empty_like(log_proba)
    values = np.empty(len(log_temperatures))
    for at, beta in enumerate(np.exp(-log_temperatures)):
        np.multiply(log_proba, beta, out=scaled)
        np.exp(scaled, out=scaled)
        values[at] = block.weighted_sum(beta * target - np.log(scaled.sum(axis=0)))
    return (values,)


def node_values(block: Block) -> tuple[Floats]:
    """Log-likelihood of the block's targets at each of `LOG_TEMPERATURE_NODES`, (n_nodes,): a sum over items.

    ``beta sum_n w_n zbar_n - sum_n w_n log sum_k exp(beta z_nk)`` as in `temperature_values`. Halving T squares
    ``exp(beta z)``, so that only the nodes of the first octave need an ``exp``: three times as fast.
    """
    log_proba = block.log_proba - block.log_proba.max(axis=0)
    target = block.weighted_sum(block.expected(log_proba))
    values = np.empty(N_NODES)
    for first in range(_PER_OCTAVE):
        # From the largest temperature down: T is halved by squaring.
        power = np.exp(log_proba * np.exp(-LOG_TEMPERATURE_NODES[N_NODES - 1 - first]))
        for at in range(N_NODES - 1 - first, -1, -_PER_OCTAVE):
            values[at] = np.exp(-LOG_TEMPERATURE_NODES[at]) * target - _weighted_log_sum(
                power.sum(axis=0), block.weight
            )
            if at >= _PER_OCTAVE:
                np.multiply(power, power, out=power)
    return (values,)


def _weighted_log_sum(norm: Floats, weight: Floats | None) -> float:
    """Sum of logs; without weights, logs of products of 32 numbers, each from 1 to n_classes: no overflow."""
    if weight is not None:
        return float((weight * np.log(norm)).sum())
    whole = len(norm) - len(norm) % 32
    products = np.multiply.reduce(norm[:whole].reshape(32, -1), axis=0)
    return float(np.log(products).sum() + np.log(norm[whole:]).sum())


def between_nodes(values: Floats) -> BSpline:
    """Interpolate a function of log T between the nodes: a spline of degree nine, accurate to 1e-9."""
    return make_interp_spline(LOG_TEMPERATURE_NODES, values, k=9)


def mode_between_nodes(curve: BSpline, prior_mean: float, prior_sd: float) -> tuple[float, float]:
    """Mode of the posterior of a log-likelihood as of `between_nodes` and a Normal prior, and its curvature there.

    prior_sd  infinite for no prior
    """
    nodes = LOG_TEMPERATURE_NODES
    values = curve(nodes) - 0.5 * ((nodes - prior_mean) / prior_sd) ** 2
    tied = np.flatnonzero(values >= values.max() - 1e-12 * np.abs(values).max())
    best = int(tied[np.argmin(np.abs(nodes[tied]))])  # of tied temperatures, the nearest to 1
    low, high = nodes[max(best - 1, 0)], nodes[min(best + 1, N_NODES - 1)]
    first, second = curve.derivative(1), curve.derivative(2)
    mode = float(nodes[best])
    # Newton's method, bracketed by the neighbouring nodes.
    for _ in range(100):
        slope = float(first(mode)) - (mode - prior_mean) / prior_sd**2
        curvature = float(second(mode)) - prior_sd**-2.0
        low, high = (mode, high) if slope > 0 else (low, mode)
        proposal = mode - slope / curvature if curvature < 0 else np.inf
        step = (proposal if low <= proposal <= high else (low + high) / 2) - mode
        mode += step
        if abs(step) < 1e-8:  # the error is now about its square
            break
    mode = float(np.clip(mode, *LOG_TEMPERATURE_BOUNDS))
    return mode, float(second(mode)) - prior_sd**-2.0


def with_derivatives(values: Floats, tau: float, slope: float, curvature: float) -> Floats:
    """Values at the nodes, changed around tau so that the interpolated function has the given slope and curvature."""
    curve = between_nodes(values)
    slope, curvature = slope - float(curve.derivative(1)(tau)), curvature - float(curve.derivative(2)(tau))
    away = LOG_TEMPERATURE_NODES - tau
    return np.asarray(values + (slope * away + 0.5 * curvature * away**2) * np.exp(-0.5 * away**2))


def temperature_sums(block: Block, log_temperature: float) -> tuple[float, float, float]:
    """Log-likelihood of the block's targets and its first two derivatives in 1/T."""
    beta = np.exp(-log_temperature)
    share = block.log_proba * beta
    np.exp(share, out=share)
    total = share.sum(axis=0)
    mean, variance = _moments(block.log_proba, share, total)
    target = block.expected(block.log_proba)
    return (
        block.weighted_sum(beta * target - np.log(total)),
        block.weighted_sum(target - mean),
        -block.weighted_sum(variance),
    )


def temperature_slopes(log_proba: Floats, calibrated: Floats, responsibility: Floats) -> tuple[float, float]:
    """First two derivatives in 1/T of the expected log-likelihood, from arrays of the E-step.

    log_proba       (n_classes, n_items) z
    calibrated      (n_classes, n_items) log softmax(z / T) at the current T
    responsibility  (n_classes, n_items), times the items' weights
    """
    share = np.exp(calibrated)
    mean, variance = _moments(log_proba, share, 1.0)
    weight = responsibility.sum(axis=0)
    target = np.einsum("kn,kn->n", responsibility, log_proba)
    return float((target - weight * mean).sum()), -float((weight * variance).sum())


def _moments(values: Floats, share: Floats, total: Floats | float) -> tuple[Floats, Floats]:
    """Mean and variance of values (n_classes, n_items) under shares that sum to ``total``; shares are overwritten."""
    share *= values
    mean = share.sum(axis=0) / total
    square = np.einsum("kn,kn->n", share, values) / total
    return mean, np.maximum(square - mean**2, 0.0)


def in_log_temperature(beta: float, first: float, second: float) -> tuple[float, float]:
    """Derivatives in tau = log T of a function with the given derivatives in beta = 1/T."""
    return -beta * first, beta * (beta * second + first)


def normal_log_density(value: float, mean: float, sd: float) -> tuple[float, float, float]:
    """Log-density of Normal(mean, sd^2) up to a constant, with its two derivatives; 0 for an infinite sd."""
    precision = sd**-2
    return -0.5 * precision * (value - mean) ** 2, -precision * (value - mean), -precision


def newton_step(first: float, second: float) -> float:
    """An uphill step: Newton's if the function is concave, else of length 1, which no step exceeds."""
    if first == 0.0:
        return 0.0
    step = -first / second if second < 0 else np.sign(first)
    return float(np.clip(step, -1.0, 1.0))
