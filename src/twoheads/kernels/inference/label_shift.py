"""Class shares of the items at hand, where they may differ from those at fit (label shift).

A posterior ``P_ik`` belongs to the class shares ``pi0`` of the items at fit. Items of other shares
``pi_k = pi0_k exp(delta_k) / sum_j pi0_j exp(delta_j)``, whose classes look as they did at fit, have the log-likelihood

    l(delta) = sum_i w_i log sum_k P_ik exp(delta_k) - W log sum_k pi0_k exp(delta_k),  W = sum_i w_i.

Its maximum is the fixed point of EM in Saerens, Latinne & Decaestecker, *Adjusting the Outputs of a Classifier to New a
Priori Probabilities*, Neural Computation 2002. With ``pi0`` the mean posterior of the items at fit, delta = 0 is the
maximum on those items, so that a biased posterior is not taken for a shift.

That mean is as uncertain as n0 items leave it: the log-likelihood is multiplied by ``n0 / (n0 + W)``. How far delta may
be from 0 is not known: ``delta_k ~ Normal(0, s^2)``, with s = 0 or one of `SCALES`, each weighted by its evidence
(Laplace's approximation). So without a shift the posteriors stay nearly as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp, ndtri

from twoheads.kernels.arrays import Floats

#: Standard deviations of log ratios of shares, equally likely beforehand.
SCALES = (0.2, 0.4, 0.8, 1.6, 3.2)
#: Probability beforehand that the shares are those at fit.
UNSHIFTED = 0.5
#: As many items' worth of the mean posterior at hand goes into that at fit, for classes without an item at fit.
STEADY = 20.0
#: A mean posterior below this is taken for this.
_LEAST = 1e-12


class Shift(NamedTuple):
    """How class shares differ from those at fit.

    shares       (n_classes,) of the items at hand
    log_ratio    (n_classes,) log of the factor on each class's posterior, up to a constant
    covariance   (n_classes, n_classes) of the log odds of classes, up to a constant
    probability  that the shares are not those at fit
    """

    shares: Floats
    log_ratio: Floats
    covariance: Floats
    probability: float

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Interval of each share, on the logit scale, (n_classes,) each.

        ``d logit pi_k = d delta_k - sum_{j != k} pi_j d delta_j / (1 - pi_k)``.
        """
        others = np.maximum(1.0 - self.shares, _LEAST)
        slope = -self.shares[None, :] / others[:, None]
        np.fill_diagonal(slope, 1.0)
        sd = np.sqrt(np.maximum(np.einsum("kj,jl,kl->k", slope, self.covariance, slope), 0.0))
        at, half = logit(np.clip(self.shares, _LEAST, 1.0 - _LEAST)), float(ndtri((1.0 + level) / 2.0)) * sd
        return expit(at - half), expit(at + half)


class _Items(NamedTuple):
    """Posteriors (n_classes, n_items), weights (n_items,) and the mean posterior at fit (n_classes,)."""

    posterior: Floats
    weight: Floats
    at_fit: Floats


class _Mode(NamedTuple):
    """Estimate at one scale: ``delta``, the classes' log odds and their covariance."""

    delta: Floats
    log_odds: Floats
    covariance: Floats


def estimate_shift(posterior: Floats, at_fit: Floats, n_at_fit: float, weight: Floats | None = None) -> Shift:
    """The shift of items, from their posteriors at the shares of the fit.

    posterior  (n_classes, n_items)
    at_fit     (n_classes,) mean posterior of the items at fit
    n_at_fit   how many items that is a mean of
    weight     (n_items,), 1 by default
    """
    each = np.ones(posterior.shape[1]) if weight is None else weight
    total, count = float(each.sum()), n_at_fit + STEADY
    here = (posterior @ each) / total
    start = np.maximum((n_at_fit * at_fit + STEADY * here) / count, _LEAST)
    items = _Items(posterior, each * count / (count + total), start)
    delta, n_classes = np.zeros(len(at_fit)), len(at_fit)
    log_weight, modes = [np.log(UNSHIFTED)], [_Mode(delta, *_unshifted(start, here, count, total))]
    for scale in SCALES:
        delta = shift_mode(items.posterior, start, items.weight, scale=scale, start=delta)
        information = shift_information(items.posterior, items.weight, delta) + np.eye(n_classes) / scale**2
        log_weight.append(np.log((1.0 - UNSHIFTED) / len(SCALES)) + _log_evidence(items, delta, information, scale))
        modes.append(_Mode(delta, np.log(start) + delta, np.asarray(np.linalg.inv(information))))
    return _averaged(np.exp(np.array(log_weight) - logsumexp(log_weight)), modes)


def _unshifted(at_fit: Floats, here: Floats, n_at_fit: float, n_here: float) -> tuple[Floats, Floats]:
    """Without a shift: log odds of the classes over all items, at fit and at hand, and their covariance."""
    shares = np.maximum((n_at_fit * at_fit + n_here * here) / (n_at_fit + n_here), _LEAST)
    return np.log(shares), np.diag(1.0 / ((n_at_fit + n_here) * shares))


def shift_mode(posterior: Floats, at_fit: Floats, weight: Floats, *, scale: float, start: Floats) -> Floats:
    """The most probable ``delta`` under ``Normal(0, scale^2)``, (n_classes,)."""
    total = weight.sum()

    def loss(delta: Floats) -> tuple[float, Floats]:
        factor = np.exp(delta)
        mixed, odds = factor @ posterior, at_fit * factor
        value = weight @ np.log(mixed) - total * np.log(odds.sum()) - 0.5 * (delta @ delta) / scale**2
        slope = factor * (posterior @ (weight / mixed)) - total * odds / odds.sum() - delta / scale**2
        return -value, -slope

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def shift_information(posterior: Floats, weight: Floats, delta: Floats) -> Floats:
    """Information about delta, ``sum_i w_i (q_i - q)(q_i - q)'``, with posteriors q_i at delta and their mean q.

    returns  (n_classes, n_classes)
    """
    shifted = np.exp(delta)[:, None] * posterior
    shifted /= shifted.sum(axis=0)
    centred = shifted - (shifted @ weight / weight.sum())[:, None]
    return np.asarray((centred * weight) @ centred.T)


def shift_log_likelihood(posterior: Floats, at_fit: Floats, weight: Floats, delta: Floats) -> float:
    """``l(delta)``; see the module."""
    factor = np.exp(delta)
    return float(weight @ np.log(factor @ posterior) - weight.sum() * np.log(at_fit @ factor))


def _log_evidence(items: _Items, delta: Floats, information: Floats, scale: float) -> float:
    """Laplace's approximation of the log-probability of the items at one scale."""
    value = shift_log_likelihood(items.posterior, items.at_fit, items.weight, delta)
    value -= 0.5 * float(delta @ delta) / scale**2
    return float(value - len(delta) * np.log(scale) - 0.5 * np.linalg.slogdet(information)[1])


def _averaged(share: Floats, modes: list[_Mode]) -> Shift:
    """The modes averaged by the share of their scale; the covariance has both parts, within and between scales."""
    delta, log_odds = (
        np.sum([part * each for part, each in zip(share, column, strict=True)], axis=0)
        for column in ([mode.delta for mode in modes], [mode.log_odds for mode in modes])
    )
    parts = [
        part * (mode.covariance + np.outer(mode.log_odds - log_odds, mode.log_odds - log_odds))
        for part, mode in zip(share, modes, strict=True)
    ]
    odds = np.exp(log_odds - log_odds.max())
    return Shift(odds / odds.sum(), delta, np.sum(parts, axis=0), float(1.0 - share[0]))
