"""Log posterior of the parameters of `nodes` with its derivatives, and its mode by damped Newton steps.

The data come in as a function that sums over all labelled items, wherever these are:
``sums(factors, bias, alone_weight)``, the total over blocks of `dependence_sums`. It is concave in the factors and the
bias; the factors are functions of (tau, r), `witnesses.factors_at`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from twoheads.kernels import priors
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.dependence.witnesses import Factors, StrengthRatio, factors_and_slopes

#: A step is taken if the posterior increases by this share of what its slope promises.
SUFFICIENT = 0.01

Sums: TypeAlias = Callable[[Factors, Floats | None, float], tuple[float, Floats, Floats]]


@dataclass(frozen=True, slots=True)
class DependencePrior:
    """Prior of the parameters.

    tau ~ Student-t with 3 degrees of freedom (heavy tails: temperatures from 0.2 to 9 occur), r ~ Normal,
    c_k ~ Normal(0, bias_sd^2) with one of several values of bias_sd, 0 meaning no bias.
    """

    log_temperature_mean: float = priors.LOG_TEMPERATURE_MEAN
    log_temperature_scale: float = priors.LOG_TEMPERATURE_SD
    correlation_mean: float = priors.PARTNER_CORRELATION_MEAN
    correlation_sd: float = priors.PARTNER_CORRELATION_SD
    bias_sd: tuple[float, ...] = priors.BIAS_SD
    bias_weight: tuple[float, ...] = priors.BIAS_WEIGHT


@dataclass(frozen=True, slots=True)
class DependenceMode:
    """Mode of the posterior at one bias_sd.

    precision       the negative Hessian of the log posterior in (tau, r) or (tau, r, c), with factors that are linear
    slope, hessian  of the log-likelihood in the factors (alpha, beta, alone), (3,) and (3, 3)
    """

    log_temperature: float
    correlation: float
    bias: Floats | None
    log_posterior: float
    precision: Floats
    slope: Floats
    hessian: Floats


Start: TypeAlias = DependenceMode | tuple[float, float]


def prior_with_agreement(n: float, prior: DependencePrior | None = None, *, share: float = 1.0) -> DependencePrior:
    """Prior used with items without truth: wider in tau, which they inform, narrower in r and c.

    From the default prior: scale .65 of tau, sd .15 of r, and a bias with probability ``.3 n / (n + 20)``. With few
    items without truth it is between that and the prior without any, so that no single item makes a difference.

    n      the labelled items' total weight
    share  how far towards it, from 0 for no items without truth to 1 for as many as count (`Agreement.share`)
    """
    prior = prior or DependencePrior()
    kept = 1.0 - share * (1.0 - n / (n + 20.0))
    biased = tuple(kept * weight for weight in prior.bias_weight[1:])
    return replace(
        prior,
        log_temperature_scale=(1.0 + 0.3 * share) * prior.log_temperature_scale,
        correlation_sd=(1.0 - 0.4 * share) * prior.correlation_sd,
        bias_weight=(sum(prior.bias_weight) - sum(biased), *biased),
    )


def dependence_sums(
    log_proba: Floats,
    log_likelihood: Floats,
    true_label: Codes,
    weight: Floats | None,
    factors: Factors,
    bias: Floats | None,
    alone_weight: float,
) -> tuple[float, Floats, Floats]:
    """Log-likelihood of a block with its gradient and Hessian in (alpha, beta, alone, c), or without c if it is None.

    ``sum_n log softmax(alpha Z_n + beta L_n + c)[y_n] + alone_weight sum_n log softmax(alone Z_n + c)[y_n]``

    log_proba, log_likelihood  (n_classes, n_items), Z and L
    true_label                 (n_items,) codes y
    weight                     (n_items,) or None
    factors                    alpha, beta and alone, scalars
    bias                       (n_classes,) c, or None for no bias
    returns                    value, gradient (n,), Hessian (n, n); n is 3 or 3 + n_classes
    """
    size = 3 if bias is None else 3 + len(log_proba)
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    logits = factors.model * log_proba
    logits += factors.answer * log_likelihood
    both = [0, 1, *range(3, size)]
    value, gradient[both], hessian[np.ix_(both, both)] = _softmax_sums(
        logits, [log_proba, log_likelihood], true_label, weight, bias
    )
    if alone_weight > 0:
        one = [2, *range(3, size)]
        alone = _softmax_sums(factors.alone * log_proba, [log_proba], true_label, weight, bias)
        value += alone_weight * alone[0]
        gradient[one] += alone_weight * alone[1]
        hessian[np.ix_(one, one)] += alone_weight * alone[2]
    return value, gradient, hessian


def _softmax_sums(
    logits: Floats, directions: list[Floats], true_label: Codes, weight: Floats | None, bias: Floats | None
) -> tuple[float, Floats, Floats]:
    """Sum over items of ``log softmax(x + c)[y]``, with its gradient and Hessian in the factors (p, q, ...) and c.

    x is linear in the factors, ``dx/dp = D_p``, so that the sum is concave. With pi the probabilities
    ``softmax(x + c)``, and E and Cov over classes under them, an item adds

        gradient  p         D_p[y] - E[D_p]
                  c_k       [y = k] - pi_k
        Hessian   p, q      -Cov(D_p, D_q)
                  p, c_k    -pi_k (D_p[k] - E[D_p])
                  c_k, c_l  pi_k pi_l - [k = l] pi_k

    logits      (n_classes, n_items) x
    directions  each D_p (n_classes, n_items)
    """
    n_factors, n_bias = len(directions), 0 if bias is None else len(logits)
    gradient = np.zeros(n_factors + n_bias)
    hessian = np.zeros((n_factors + n_bias, n_factors + n_bias))
    item = np.arange(len(true_label))
    if bias is None:
        proba = logits - logits.max(axis=0)
    else:
        proba = logits + bias[:, None]
        proba -= proba.max(axis=0)
    log_likelihood = proba[true_label, item]
    np.exp(proba, out=proba)
    norm = proba.sum(axis=0)
    log_likelihood -= np.log(norm)
    proba /= norm
    shared = proba if weight is None else proba * weight
    moments, means, shared_means = [], [], []
    for direction in directions:
        moments.append(shared * direction)
        shared_means.append(moments[-1].sum(axis=0))
        means.append(shared_means[-1] if weight is None else np.einsum("kn,kn->n", proba, direction))
    for p, direction in enumerate(directions):
        gradient[p] = _weighted_sum(direction[true_label, item] - means[p], weight)
        for q in range(p, n_factors):
            covariance = np.einsum("kn,kn->", moments[p], directions[q]) - shared_means[p] @ means[q]
            hessian[p, q] = hessian[q, p] = -covariance
    if bias is not None:
        expected = shared.sum(axis=1)
        gradient[n_factors:] = np.bincount(true_label, weight, len(logits)) - expected
        np.matmul(shared, proba.T, out=hessian[n_factors:, n_factors:])
        hessian[range(n_factors, len(gradient)), range(n_factors, len(gradient))] -= expected
        for p in range(n_factors):
            hessian[p, n_factors:] = hessian[n_factors:, p] = proba @ shared_means[p] - moments[p].sum(axis=1)
    return _weighted_sum(log_likelihood, weight), gradient, hessian


def _weighted_sum(per_item: Floats, weight: Floats | None) -> float:
    return float(per_item.sum() if weight is None else weight @ per_item)


def log_prior(
    prior: DependencePrior, log_temperature: float, correlation: float, bias: Floats | None, bias_sd: float
) -> tuple[float, Floats, Floats]:
    """Log prior with its gradient and Hessian in (tau, r, c); without constants."""
    t = (log_temperature - prior.log_temperature_mean) / prior.log_temperature_scale
    r = (correlation - prior.correlation_mean) / prior.correlation_sd
    tail = 3.0 + t * t
    value = -2.0 * float(np.log(tail / 3.0)) - 0.5 * r * r
    slope = [-4.0 * t / tail / prior.log_temperature_scale, -r / prior.correlation_sd]
    curve = [-4.0 * (3.0 - t * t) / tail**2 / prior.log_temperature_scale**2, -1.0 / prior.correlation_sd**2]
    if bias is None:
        return value, np.array(slope), np.diag(curve)
    value -= 0.5 * float(bias @ bias) / bias_sd**2
    return value, np.append(slope, -bias / bias_sd**2), np.diag(np.append(curve, np.full(len(bias), -(bias_sd**-2))))


@dataclass(frozen=True, slots=True)
class Posterior:
    """The log posterior at one bias_sd, as a function of (tau, r, c).

    sums          over all labelled items
    alone_weight  weight of the model's own likelihood
    ratio         of the strengths of model and people
    """

    sums: Sums
    alone_weight: float
    prior: DependencePrior
    ratio: StrengthRatio
    bias_sd: float = 0.0

    def at(self, point: Floats) -> tuple[float, Floats, Floats, Floats, Floats]:
        """Value, gradient, negative Hessian; and gradient and Hessian of the log-likelihood in the factors.

        The Hessian is that of factors which are linear in (tau, r), but for the bend of r where the likelihood pushes
        it against a bound: then it is definite, but for tau's prior. A tau that is held has no slope.
        """
        tau, r, bias = float(point[0]), float(point[1]), point[2:] if self.bias_sd > 0 else None
        factors, slopes, bend = factors_and_slopes(tau, r, self.ratio)
        value, slope, hessian = self.sums(factors, bias, self.alone_weight)
        chain = np.eye(len(slope))[:, 1:]
        chain[:3, :2] = slopes
        before, prior_slope, curvature = log_prior(self.prior, tau, r, bias, self.bias_sd)
        gradient, precision = chain.T @ slope, -(chain.T @ hessian @ chain + curvature)
        precision[1, 1] += max(0.0, -float(gradient[1]) * bend)
        gradient += prior_slope
        if self.prior.log_temperature_scale <= priors.HELD_SD:
            gradient[0], precision[0], precision[:, 0] = 0.0, 0.0, 0.0
            precision[0, 0] = self.prior.log_temperature_scale**-2.0
        return value + before, gradient, precision, slope[:3], hessian[:3, :3]


def dependence_mode(posterior: Posterior, start: Start, n_classes: int, *, enough: float = 1e-4) -> DependenceMode:
    """Joint mode of (tau, r, c) by Newton steps, damped until the posterior increases.

    start   (tau, r), or the mode at another bias_sd
    enough  a step of less expected gain than this is the last: 1e-4 is a hundredth of a posterior sd
    """
    point = _start(start, posterior.bias_sd, n_classes)
    found = posterior.at(point)
    for _ in range(50):
        step = _newton_step(found[1], found[2])
        if float(step @ found[1]) < enough:
            break
        step *= min(1.0, 1.0 / np.abs(step[:2]).max())
        for _ in range(30):
            trial = posterior.at(point + step)
            if trial[0] > found[0] + SUFFICIENT * float(step @ found[1]):
                break
            step /= 4.0
        else:
            break
        gain = trial[0] - found[0]
        point, found = point + step, trial
        if gain < enough:
            break
    bias = point[2:] if posterior.bias_sd > 0 else None
    return DependenceMode(float(point[0]), float(point[1]), bias, found[0], found[2], found[3], found[4])


def start_between(modes: Mapping[float, tuple[float, float]], at: float) -> tuple[float, float]:
    """(tau, r) from which to look for the mode at a place: between those at the places around it, by interpolation."""
    places = sorted(modes)
    tau, r = (float(np.interp(at, places, [modes[place][part] for place in places])) for part in (0, 1))
    return tau, r


def _start(start: Start, bias_sd: float, n_classes: int) -> Floats:
    bias = np.zeros(n_classes if bias_sd > 0 else 0)
    if not isinstance(start, DependenceMode):
        return np.append(start, bias)
    if start.bias is not None and bias_sd > 0:
        bias = start.bias
    return np.append([start.log_temperature, start.correlation], bias)


def _newton_step(gradient: Floats, precision: Floats) -> Floats:
    """Newton's step; if the Hessian is not definite, with a ridge large enough to make it so."""
    size = np.abs(np.diagonal(precision)).max()
    ridge = 0.0
    while True:
        try:
            return np.asarray(cho_solve(cho_factor(precision + ridge * np.eye(len(gradient))), gradient))
        except LinAlgError:
            ridge = max(4.0 * ridge, 1e-3 * size)
