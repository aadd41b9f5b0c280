"""Class shares of the items at hand, where they may differ from those at fit (label shift).

A posterior ``P_ik`` belongs to the class shares ``pi0`` of the items at fit. Items of other shares
``pi_k = pi0_k exp(delta_k) / sum_j pi0_j exp(delta_j)``, whose classes look as they did at fit, have the log-likelihood

    l(delta) = sum_i w_i log sum_k P_ik exp(delta_k) - W log sum_k pi0_k exp(delta_k),  W = sum_i w_i.

Its maximum is the fixed point of EM in Saerens, Latinne & Decaestecker, *Adjusting the Outputs of a Classifier to New a
Priori Probabilities*, Neural Computation 2002. With ``pi0`` the mean posterior of the items at fit, delta = 0 is the
maximum on those items, so that a biased posterior is not taken for a shift.

That mean is as uncertain as n0 items leave it: the log-likelihood is multiplied by ``n0 / (n0 + W)``. How far delta may
be from 0 is not known: delta = 0, or ``delta_k / s`` has a normal distribution, so that all classes may differ, or
Student's with two degrees of freedom, so that few differ much and the others hardly. Each of these with each s of
`SCALES` is weighted by its evidence (Laplace's approximation). So without a shift posteriors stay nearly as they are.

The posterior of a class that hardly occurs is skewed: its mode is above its mean. The distribution of each ``log pi_k``
is therefore taken along the path on which the other classes have their most probable values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, log_expit, logit, logsumexp

from twoheads.kernels.arrays import Floats
from twoheads.kernels.numerics.quadrature import normalised_weights

#: Scales of log ratios of shares, and degrees of freedom of their distribution, of which the first is normal.
SCALES, FREEDOMS = (0.2, 0.4, 0.8, 1.6, 3.2), (1000.0, 2.0)
#: Probability beforehand that the shares are those at fit.
UNSHIFTED = 0.5
#: As many items' worth of the mean posterior at hand goes into that at fit, for classes without an item at fit.
STEADY = 20.0
#: A mean posterior below this is taken for this.
_LEAST = 1e-12
#: Standard deviations from the mode at which a path is evaluated: rare classes have a long lower tail.
_STEPS = np.linspace(-8.0, 5.0, 27)
#: Distributions of less weight are left out.
_NEGLIGIBLE = 0.005


class Distribution(NamedTuple):
    """Of the shares of the classes.

    log_share  (n_classes,) mean of the log of each share
    points     (n_classes, n_points) values of the logit of each share
    mass       (n_classes, n_points) their probabilities
    """

    log_share: Floats
    points: Floats
    mass: Floats

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Equal-tailed interval of each share, (n_classes,) each."""
        ends = [_quantiles(*each, (1.0 - level) / 2.0) for each in zip(self.points, self.mass, strict=True)]
        low, high = expit(np.array(ends)).T
        return low, high


class Shift(NamedTuple):
    """How class shares differ from those at fit.

    log_ratio    (n_classes,) log of the factor on each class's posterior, up to a constant
    probability  that the shares are not those at fit
    believed     distribution of the shares of the items at hand, averaged over all priors
    unshrunk     the same under the widest prior, hardly drawn to the shares at fit
    """

    log_ratio: Floats
    probability: float
    believed: Distribution
    unshrunk: Distribution

    @property
    def shares(self) -> Floats:
        """Shares of the items at hand, (n_classes,)."""
        odds = np.exp(self.believed.log_share - self.believed.log_share.max())
        return np.asarray(odds / odds.sum())

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Interval of each share, (n_classes,) each: it holds both distributions' own, so that it covers small shifts.

        Shares that differ a little are drawn to those at fit, and their distribution with them.
        """
        (low, high), (lowest, highest) = self.believed.interval(level), self.unshrunk.interval(level)
        return np.minimum(low, lowest), np.maximum(high, highest)


class Prior(NamedTuple):
    """Student's t distribution of each ``delta_k``."""

    scale: float
    freedom: float

    def log_density(self, delta: Floats) -> Floats:
        """Its logarithm less that of a standard normal distribution at 0, summed over the last axis."""
        nu = self.freedom
        peak = gammaln((nu + 1.0) / 2.0) - gammaln(nu / 2.0) - 0.5 * np.log(nu / 2.0) - np.log(self.scale)
        return np.asarray((peak - 0.5 * (nu + 1.0) * np.log1p(delta**2 / (nu * self.scale**2))).sum(axis=-1))

    def precision(self, delta: Floats) -> Floats:
        """The expected precision of a mixture of normal distributions; times -delta, the slope of the log density."""
        return np.asarray((self.freedom + 1.0) / (self.freedom * self.scale**2 + delta**2))


#: What the shift may be like, all equally likely beforehand; the last hardly draws shares to those at fit.
PRIORS = tuple(Prior(scale, freedom) for freedom in FREEDOMS for scale in SCALES)


class _Items(NamedTuple):
    """Posteriors (n_classes, n_items), weights (n_items,) and the mean posterior at fit (n_classes,)."""

    posterior: Floats
    weight: Floats
    at_fit: Floats


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
    start /= start.sum()
    items = _Items(posterior, each * count / (count + total), start)
    log_weight, modes = [np.log(UNSHIFTED)], list[tuple[Prior, Floats, Floats]]()
    delta = zero = np.zeros(len(at_fit))
    for prior in PRIORS:
        delta = shift_mode(*items, prior=prior, start=zero if prior.scale == SCALES[0] else delta)
        information = shift_information(posterior, items.weight, delta) + np.diag(prior.precision(delta))
        log_weight.append(np.log((1.0 - UNSHIFTED) / len(PRIORS)) + _log_evidence(items, delta, information, prior))
        modes.append((prior, delta, information))
    share = np.exp(np.array(log_weight) - logsumexp(log_weight))
    pooled = (count * start + total * here) / (count + total)
    unshifted = _unshifted(np.maximum(pooled, _LEAST), count + total)
    last = len(PRIORS)
    used = [0, *(at for at in range(1, last) if share[at] > _NEGLIGIBLE), last]
    every = [unshifted, *(_along_paths(items, *modes[at - 1]) for at in used[1:])]
    part = share[used] / share[used].sum()
    log_ratio = sum(weight * (each.log_share - np.log(start)) for weight, each in zip(part[1:], every[1:], strict=True))
    return Shift(np.asarray(log_ratio), float(1.0 - share[0]), _averaged(part, every), every[-1])


def shift_mode(posterior: Floats, weight: Floats, at_fit: Floats, *, prior: Prior, start: Floats) -> Floats:
    """The most probable ``delta``, (n_classes,)."""
    total = weight.sum()

    def loss(delta: Floats) -> tuple[float, Floats]:
        factor = np.exp(delta - delta.max())
        mixed, odds = np.maximum(factor @ posterior, _LEAST), at_fit * factor
        value = weight @ np.log(mixed) - total * np.log(odds.sum()) + prior.log_density(delta)
        slope = factor * (posterior @ (weight / mixed)) - total * odds / odds.sum() - prior.precision(delta) * delta
        return -value, -slope

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def shift_information(posterior: Floats, weight: Floats, delta: Floats) -> Floats:
    """Information about delta, ``sum_i w_i (q_i - q)(q_i - q)'``, with posteriors q_i at delta and their mean q.

    returns  (n_classes, n_classes)
    """
    shifted = np.exp(delta - delta.max())[:, None] * posterior
    shifted /= np.maximum(shifted.sum(axis=0), _LEAST)
    centred = shifted - (shifted @ weight / weight.sum())[:, None]
    return np.asarray((centred * weight) @ centred.T)


def shift_log_likelihood(posterior: Floats, weight: Floats, at_fit: Floats, delta: Floats) -> Floats:
    """``l(delta)``, see the module, of each row of (n_points, n_classes): (n_points,)."""
    factor = np.exp(delta - delta.max(axis=1, keepdims=True))
    mixed = np.log(np.maximum(factor @ posterior, _LEAST))
    return np.asarray(mixed @ weight - weight.sum() * np.log(factor @ at_fit))


def _log_evidence(items: _Items, delta: Floats, information: Floats, prior: Prior) -> float:
    """Laplace's approximation of the log-probability of the items under one prior."""
    value = shift_log_likelihood(*items, delta[None])[0] + prior.log_density(delta)
    return float(value - 0.5 * np.linalg.slogdet(information)[1])


def _unshifted(shares: Floats, n: float) -> Distribution:
    """Without a shift: the shares over all n items, at fit and at hand, on the logit scale."""
    at = np.clip(shares, _LEAST, 1.0 - _LEAST)
    sd = 1.0 / np.sqrt(n * at * (1.0 - at))
    mass = np.exp(-0.5 * _STEPS**2)
    points = logit(at)[:, None] + sd[:, None] * _STEPS
    return Distribution(np.log(shares), points, np.tile(mass / mass.sum(), (len(at), 1)))


def _along_paths(items: _Items, prior: Prior, delta: Floats, information: Floats) -> Distribution:
    """The distribution of each share, along the path on which delta has its most probable value given that share."""
    odds = items.at_fit * np.exp(delta - delta.max())
    slope = np.eye(len(delta)) - odds / odds.sum()  # of each log share
    path = slope @ np.linalg.inv(information)
    path /= np.sqrt(np.maximum((path * slope).sum(axis=1, keepdims=True), _LEAST))
    points, mass = [], []
    for at, direction in enumerate(path):
        moved = delta + _STEPS[:, None] * direction
        log_density = shift_log_likelihood(*items, moved) + prior.log_density(moved)
        log_odds = np.log(items.at_fit) + moved
        points.append(log_odds[:, at] - logsumexp(np.delete(log_odds, at, axis=1), axis=1))
        mass.append(normalised_weights(log_density))
    logits, masses = np.array(points), np.array(mass)
    return Distribution((masses * log_expit(logits)).sum(axis=1), logits, masses)


def _averaged(share: Floats, every: list[Distribution]) -> Distribution:
    """The distributions averaged by their shares."""
    points = np.concatenate([each.points for each in every], axis=1)
    mass = np.concatenate([part * each.mass for part, each in zip(share, every, strict=True)], axis=1)
    return Distribution(share @ np.stack([each.log_share for each in every]), points, mass)


def _quantiles(values: Floats, mass: Floats, tail: float) -> tuple[float, float]:
    """The quantiles of a discrete distribution that leave ``tail`` on each side, its steps made linear."""
    order = np.argsort(values)
    below = np.cumsum(mass[order]) - 0.5 * mass[order]
    low, high = np.interp([tail, 1.0 - tail], below, values[order])
    return float(low), float(high)
