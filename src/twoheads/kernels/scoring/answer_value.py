"""The expected value of one more answer: the probability of each answer, and the better decision it allows.

    p(h) = sum_y phi[h, y] b(y)        gain = sum_h p(h) (max_d U q(y | h)[d] - U q(y | h)[d0])

with b the current belief, q(y | h) the posterior after answer h, U the utility of each decision under each truth (the
identity for accuracy) and d0 the current decision. It is never negative.

Before any answer, b is ``softmax(e^-theta log m)``, with m calibrated and theta fitted to people's answers: their
agreement with the model is observed without any truth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.calibration.tempering import LOG_TEMPERATURE_BOUNDS, tempered
from twoheads.kernels.priors import (
    ANSWER_TEMPERATURE_SD,
    GAIN_FACTOR_MEAN,
    GAIN_FACTOR_SD,
    LARGEST_GAIN_FACTOR,
)
from twoheads.kernels.scoring.decisive import MANY_CLASSES, best_products
from twoheads.kernels.simplex import FLOOR


def answer_log_likelihood_at(log_proba: Floats, likelihood: Floats, weight: Floats, log_temperature: float) -> float:
    """Log-probability of observed answers, ``sum log sum_y phi[h, y] softmax(e^-theta log m)_y``.

    log_proba   (n_classes, n_answers) log m of each answer's item, calibrated
    likelihood  (n_classes, n_answers) phi[h, :] of each answer
    weight      (n_answers,)
    """
    proba = np.einsum("kn,kn->n", likelihood, np.exp(tempered(log_proba, log_temperature)))
    return float(weight @ np.log(np.maximum(proba, FLOOR)))


def fit_answer_temperature(log_likelihood: Callable[[float], float]) -> float:
    """The mode of theta: the answers' log-likelihood with a Normal prior around 0, the calibrated model itself.

    The posterior may have several modes: the search starts around the best of evenly spaced values.
    """

    def loss(theta: float) -> float:
        return 0.5 * (theta / ANSWER_TEMPERATURE_SD) ** 2 - log_likelihood(theta)

    low, high = LOG_TEMPERATURE_BOUNDS
    values = np.linspace(low, high, 19)
    best = values[int(np.argmin([loss(theta) for theta in values]))]
    step = values[1] - values[0]
    bounds = max(low, best - step), min(high, best + step)
    return float(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x)


def gains(proba: Floats, posterior: Floats, choice: Codes, worth: Floats | None = None) -> Floats:
    """Expected gain of one more answer, (n_items,).

    proba      (n_answers, n_items) probability of each answer
    posterior  (n_answers, n_classes, n_items) the posterior of the truth after each answer
    choice     (n_items,) the current decision
    worth      (n_decisions, n_classes) U; None for 1 if right and 0 if wrong
    """
    value = posterior if worth is None else np.einsum("dk,akn->adn", worth, posterior)
    better = value.max(axis=1)
    better -= np.take_along_axis(value, choice[None, None, :], axis=1)[:, 0]
    return np.asarray(np.einsum("an,an->n", proba, better))


def gain_factor(expected: float, won: float, lost: float, n: float) -> float:
    """How much of an expected gain comes: the posterior mean of a factor f, cut to [0, 1.2].

    On n items whose truth is known answers made ``won`` labels right and ``lost`` wrong, where a mean gain g was
    expected. With ``r = (won - lost) / n ~ Normal(f g, v / n)``, ``v = (won + lost + 1) / n``, and the prior
    ``f ~ Normal(1, 1)``, it is ``(1 + n g r / v) / (1 + n g^2 / v)``. Without items, or without an expected gain, it is
    the prior's mean.
    """
    if not n > 0:
        return GAIN_FACTOR_MEAN
    precision, variance = GAIN_FACTOR_SD**-2, (won + lost + 1.0) / n
    evidence = expected * (won - lost) / variance, n * expected**2 / variance
    factor = (precision * GAIN_FACTOR_MEAN + evidence[0]) / (precision + evidence[1])
    return float(np.clip(factor, 0.0, LARGEST_GAIN_FACTOR))


def coherent_gains(belief: Floats, given_true: Floats, worth: Floats | None = None) -> Floats:
    """Expected gain of one more answer under Bayes' rule alone: fast, for many annotators.

    If the posterior is ``phi[h, y] b(y)`` normalised, the sum over answers needs neither exponentials nor divisions:
    ``sum_h max_d sum_y U[d, y] phi[h, y] b(y) - max_d sum_y U[d, y] b(y)``.

    belief      (n_classes, n_items), or (n_classes, n_items, 1) for every annotator on every item
    given_true  (n_answers, n_classes, n_items) the matrix of the annotator asked about each item, or
                (n_answers, n_classes, n_annotators)
    returns     (n_items,) or (n_items, n_annotators)
    """
    total = np.zeros(np.broadcast_shapes(given_true.shape[2:], belief.shape[1:]))
    if worth is not None:
        for row in given_true:
            joint = np.stack([chance * share for chance, share in zip(row, belief, strict=True)])
            total += np.tensordot(worth, joint, axes=1).max(axis=0)
        total -= np.tensordot(worth, belief, axes=1).max(axis=0)
        return np.maximum(total, 0.0, out=total)
    if len(belief) >= MANY_CLASSES and 1 in (given_true.shape[2], belief.shape[-1]):
        shares = belief.reshape(len(belief), -1)
        sums = [best_products(shares, matrix) for matrix in np.moveaxis(given_true, 2, 0)]
        total += np.stack(sums, axis=-1).reshape(total.shape) - belief.max(axis=0)
        return np.maximum(total, 0.0, out=total)
    best, one = np.empty_like(total), np.empty_like(total)
    for row in given_true:
        np.multiply(row[0], belief[0], out=best)
        for chance, share in zip(row[1:], belief[1:], strict=True):
            np.maximum(best, np.multiply(chance, share, out=one), out=best)
        total += best
    total -= belief.max(axis=0)
    return np.maximum(total, 0.0, out=total)
