"""Temperature scaling: ``softmax(z / T)`` with z = log m, and its log-likelihood in tau = log T as sums over a block.

With beta = 1/T = exp(-tau), p = softmax(beta z) and zbar the target's mean of z, an item contributes

    value = beta zbar - log sum_j exp(beta z_j)
    d value / d beta = zbar - E_p z            d2 value / d beta2 = -Var_p z

so that the target enters by zbar alone, and the rest is the same for every target. Since z is normalised, its largest
entry is at least -log K: no exp(beta z) overflows, and no sum of them underflows within the bounds of tau.
"""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.simplex import log_sum

#: log T is sought in here: a model that is never wrong on the labelled items has no finite best temperature.
LOG_TEMPERATURE_BOUNDS = (-4.0, 5.0)


def tempered(log_proba: Floats, log_temperature: float) -> Floats:
    """Log of ``softmax(z / T)``, (n_classes, n_items)."""
    scaled = log_proba * np.exp(-log_temperature)
    scaled -= log_sum(scaled)
    return np.asarray(scaled)


def temperature_values(block: Block, log_temperatures: Floats) -> tuple[Floats]:
    """Log-likelihood of the block's targets at each of several temperatures, (n_temperatures,)."""
    log_proba = block.log_proba
    if log_temperatures.min() < LOG_TEMPERATURE_BOUNDS[0]:  # where all of exp(z / T) would be too small for a number
        log_proba = log_proba - log_proba.max(axis=0)
    target = block.expected(log_proba)
    scaled = np.empty_like(log_proba)
    values = np.empty(len(log_temperatures))
    for at, beta in enumerate(np.exp(-log_temperatures)):
        np.multiply(log_proba, beta, out=scaled)
        np.exp(scaled, out=scaled)
        values[at] = block.weighted_sum(beta * target - np.log(scaled.sum(axis=0)))
    return (values,)


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
    """First two derivatives in 1/T of the expected log-likelihood, from what an E-step has at hand.

    log_proba       (n_classes, n_items) z
    calibrated      (n_classes, n_items) log softmax(z / T) at the present T
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
    """Log-density of Normal(mean, sd^2) up to a constant, with its two derivatives; 0 for an endless sd."""
    precision = sd**-2
    return -0.5 * precision * (value - mean) ** 2, -precision * (value - mean), -precision


def newton_step(first: float, second: float, *, longest: float = 1.0) -> float:
    """An uphill step: Newton's where the function bends down, else as far as allowed; never longer than ``longest``."""
    if first == 0.0:
        return 0.0
    step = -first / second if second < 0 else np.sign(first) * longest
    return float(np.clip(step, -longest, longest))
