"""Forecasts raised to a power, which makes them more or less sure, and the power that explains the outcomes best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.simplex import FLOOR

#: The best power of the probabilities is looked for between exp(-1.5) and exp(1.5).
LARGEST_LOG_POWER = 1.5
#: With more classes than this, logarithms are kept.
MANY_CLASSES = 100


def best_log_power(proba: Floats, true_label: Codes, weight: Floats, prior: tuple[float, float] | None = None) -> float:
    """Log of the power to which the probabilities explain the outcomes best, between the limits.

    prior  mean and sd of a normal prior of it, beside weights in items; None for none
    """
    log_chance = log_chance_of(proba, true_label)

    def loss(log_power: float) -> float:
        far = 0.0 if prior is None else 0.5 * ((log_power - prior[0]) / prior[1]) ** 2
        return far - float(weight @ log_chance(log_power))

    limits = -LARGEST_LOG_POWER, LARGEST_LOG_POWER
    return float(minimize_scalar(loss, bounds=limits, method="bounded", options={"xatol": 0.01}).x)


def log_chance_of(proba: Floats, true_label: Codes) -> Callable[[float], Floats]:
    """A function from a log power to the log-probability of each item's outcome, (n_items,), with the floor."""
    items = np.arange(len(true_label))
    if len(proba) <= MANY_CLASSES:
        return lambda power: np.log(np.maximum(raised(proba, power)[true_label, items], FLOOR))
    # One logarithm, and then exponentials, which cost a tenth of powers.
    log_proba = np.log(np.maximum(proba, FLOOR))
    own, scaled = log_proba[true_label, items], np.empty_like(log_proba)

    def log_chance(log_power: float) -> Floats:
        power = np.exp(log_power)
        np.exp(np.multiply(log_proba, power, out=scaled), out=scaled)
        return np.asarray(np.maximum(power * own - np.log(scaled.sum(axis=0)), np.log(FLOOR)))

    return log_chance


def raised(proba: Floats, log_power: float) -> Floats:
    """``p_j^a / sum_k p_k^a`` with ``a = exp(log_power)``; (n_classes, n_items)."""
    power = np.maximum(proba, FLOOR) ** np.exp(log_power)
    return np.asarray(power / power.sum(axis=0))
