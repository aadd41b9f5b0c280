"""Log posterior of the parameters of `nodes` with its derivatives, and its mode by damped Newton steps.

The data come in as a function that sums over all labelled items, wherever these are:
``sums(tau, rho, bias, alone_weight)``, the total over blocks of `dependence_sums`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from twoheads.kernels import priors
from twoheads.kernels.arrays import Codes, Floats

Sums: TypeAlias = Callable[[float, float, Floats | None, float], tuple[float, Floats, Floats]]


@dataclass(frozen=True, slots=True)
class DependencePrior:
    """Prior of the parameters.

    tau ~ Student-t with 3 degrees of freedom (heavy tails: temperatures from 0.2 to 9 occur), rho ~ Normal,
    c_k ~ Normal(0, bias_sd^2) with one of several values of bias_sd, 0 meaning no bias.
    """

    log_temperature_mean: float = priors.LOG_TEMPERATURE_MEAN
    log_temperature_scale: float = priors.LOG_TEMPERATURE_SD
    log_dependence_mean: float = priors.LOG_DEPENDENCE_MEAN
    log_dependence_sd: float = priors.LOG_DEPENDENCE_SD
    bias_sd: tuple[float, ...] = priors.BIAS_SD
    bias_weight: tuple[float, ...] = priors.BIAS_WEIGHT


@dataclass(frozen=True, slots=True)
class DependenceMode:
    """Mode of the posterior at one bias_sd.

    precision  the negative Hessian of the log posterior, in (tau, rho) or (tau, rho, c)
    """

    log_temperature: float
    log_dependence: float
    bias: Floats | None
    log_posterior: float
    precision: Floats


Start: TypeAlias = DependenceMode | tuple[float, float]


def prior_with_agreement(n: float, prior: DependencePrior | None = None, *, share: float = 1.0) -> DependencePrior:
    """Prior used with items without truth: wider in tau, which they inform, narrower in rho and c.

    From the default prior: scale .65 of tau, sd .15 of rho, and a bias with probability ``.3 n / (n + 20)``. With few
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
        log_dependence_sd=(1.0 - 0.4 * share) * prior.log_dependence_sd,
        bias_weight=(sum(prior.bias_weight) - sum(biased), *biased),
    )


def dependence_sums(
    log_proba: Floats,
    log_likelihood: Floats,
    true_label: Codes,
    weight: Floats | None,
    log_temperature: float,
    log_dependence: float,
    bias: Floats | None,
    alone_weight: float,
) -> tuple[float, Floats, Floats]:
    """Log-likelihood of a block with its gradient and Hessian in (tau, rho, c), or in (tau, rho) if bias is None.

    ``sum_n log softmax(e^-rho (e^-tau Z_n + L_n) + c)[y_n] + alone_weight sum_n log softmax(e^-tau Z_n + c)[y_n]``

    log_proba, log_likelihood  (n_classes, n_items), Z and L
    true_label                 (n_items,) codes y
    weight                     (n_items,) or None
    bias                       (n_classes,) c, or None for no bias
    returns                    value, gradient (n,), Hessian (n, n); n is 2 or 2 + n_classes
    """
    by_temperature = np.exp(-log_temperature) * log_proba
    by_whole = by_temperature + log_likelihood
    by_whole *= np.exp(-log_dependence)
    directions = [(by_temperature, np.exp(-log_dependence)), (by_whole, 1.0)]
    value, gradient, hessian = _softmax_sums(by_whole, directions, true_label, weight, bias)
    if alone_weight > 0:
        alone, slope, curvature = _softmax_sums(by_temperature, [(by_temperature, 1.0)], true_label, weight, bias)
        value += alone_weight * alone
        for to, of in (slice(0, 1), slice(0, 1)), (slice(2, None), slice(1, None)):  # it does not depend on rho, at 1
            gradient[to] += alone_weight * slope[of]
            hessian[to, 0] += alone_weight * curvature[of, 0]
            hessian[to, 2:] += alone_weight * curvature[of, 1:]
    return value, gradient, hessian


def _softmax_sums(
    logits: Floats,
    directions: list[tuple[Floats, float]],
    true_label: Codes,
    weight: Floats | None,
    bias: Floats | None,
) -> tuple[float, Floats, Floats]:
    """Sum over items of ``log softmax(x + c)[y]``, with its gradient and Hessian in the scalars (p, q, ...) and c.

    The scalars are log temperatures, on which x depends by ``dx/dp = -D_p``. For (tau, rho), in this order,

        x = e^-rho (e^-tau Z + L)        D_tau = e^-rho e^-tau Z        D_rho = x

    so that ``dD_tau/dtau = dD_tau/drho = dD_rho/dtau = -D_tau`` and ``dD_rho/drho = -D_rho``: in general
    ``dD_p/dq = -D_min(p, q)``, since the last temperature scales all that the earlier ones scale. With pi the
    probabilities ``softmax(x + c)``, and E and Cov over classes under them, an item adds

        gradient  p         E[D_p] - D_p[y]
                  c_k       [y = k] - pi_k
        Hessian   p, q      D_min(p,q)[y] - E[D_min(p,q)] - Cov(D_p, D_q)    (= -gradient of min(p, q) - Cov)
                  p, c_k    pi_k (D_p[k] - E[D_p])
                  c_k, c_l  pi_k pi_l - [k = l] pi_k

    logits      (n_classes, n_items) x
    directions  each D_p as an array (n_classes, n_items) and a factor of it
    """
    n_scalars, n_bias = len(directions), 0 if bias is None else len(logits)
    gradient = np.zeros(n_scalars + n_bias)
    hessian = np.zeros((n_scalars + n_bias, n_scalars + n_bias))
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
    for direction, _ in directions:
        moments.append(shared * direction)
        shared_means.append(moments[-1].sum(axis=0))
        means.append(shared_means[-1] if weight is None else np.einsum("kn,kn->n", proba, direction))
    for p, (direction, factor) in enumerate(directions):
        gradient[p] = -factor * _weighted_sum(direction[true_label, item] - means[p], weight)
        for q in range(p, n_scalars):
            covariance = np.einsum("kn,kn->", moments[p], directions[q][0]) - shared_means[p] @ means[q]
            hessian[p, q] = hessian[q, p] = -gradient[p] - factor * directions[q][1] * covariance
    if bias is not None:
        expected = shared.sum(axis=1)
        gradient[n_scalars:] = np.bincount(true_label, weight, len(logits)) - expected
        np.matmul(shared, proba.T, out=hessian[n_scalars:, n_scalars:])
        hessian[range(n_scalars, len(gradient)), range(n_scalars, len(gradient))] -= expected
        for p, (_, factor) in enumerate(directions):
            mixed = factor * (moments[p].sum(axis=1) - proba @ shared_means[p])
            hessian[p, n_scalars:] = hessian[n_scalars:, p] = mixed
    return _weighted_sum(log_likelihood, weight), gradient, hessian


def _weighted_sum(per_item: Floats, weight: Floats | None) -> float:
    return float(per_item.sum() if weight is None else weight @ per_item)


def log_prior(
    prior: DependencePrior, log_temperature: float, log_dependence: float, bias: Floats | None, bias_sd: float
) -> tuple[float, Floats, Floats]:
    """Log prior with its gradient and Hessian in (tau, rho, c); without constants."""
    t = (log_temperature - prior.log_temperature_mean) / prior.log_temperature_scale
    r = (log_dependence - prior.log_dependence_mean) / prior.log_dependence_sd
    tail = 3.0 + t * t
    value = -2.0 * float(np.log(tail / 3.0)) - 0.5 * r * r
    slope = [-4.0 * t / tail / prior.log_temperature_scale, -r / prior.log_dependence_sd]
    curve = [-4.0 * (3.0 - t * t) / tail**2 / prior.log_temperature_scale**2, -1.0 / prior.log_dependence_sd**2]
    if bias is None:
        return value, np.array(slope), np.diag(curve)
    value -= 0.5 * float(bias @ bias) / bias_sd**2
    return value, np.append(slope, -bias / bias_sd**2), np.diag(np.append(curve, np.full(len(bias), -(bias_sd**-2))))


def dependence_mode(
    sums: Sums,
    alone_weight: float,
    prior: DependencePrior,
    bias_sd: float,
    start: Start,
    n_classes: int,
    *,
    enough: float = 1e-4,
) -> DependenceMode:
    """Joint mode of (tau, rho, c) by Newton steps, damped until the posterior increases.

    alone_weight  weight of the model's own likelihood
    start         (tau, rho), or the mode at another bias_sd
    enough        a step of less expected gain than this is the last, and not checked: 1e-4 is a hundredth of a
                  posterior sd, and after the step it is far less
    """
    point = _start(start, bias_sd, n_classes)
    value, gradient, precision = _log_posterior(sums, alone_weight, prior, bias_sd, point)
    for _ in range(50):
        step = _newton_step(gradient, precision)
        gain = float(step @ gradient)
        if gain < enough:
            point, value = point + step, value + gain / 2
            break
        step *= min(1.0, 1.0 / np.abs(step[:2]).max())
        for _ in range(30):
            trial = _log_posterior(sums, alone_weight, prior, bias_sd, point + step)
            if trial[0] > value:
                break
            step /= 4.0
        else:
            break
        point = point + step
        value, gradient, precision = trial
    return DependenceMode(float(point[0]), float(point[1]), point[2:] if bias_sd > 0 else None, value, precision)


def _start(start: Start, bias_sd: float, n_classes: int) -> Floats:
    bias = np.zeros(n_classes if bias_sd > 0 else 0)
    if not isinstance(start, DependenceMode):
        return np.append(start, bias)
    if start.bias is not None and bias_sd > 0:
        bias = start.bias
    return np.append([start.log_temperature, start.log_dependence], bias)


def _log_posterior(
    sums: Sums, alone_weight: float, prior: DependencePrior, bias_sd: float, point: Floats
) -> tuple[float, Floats, Floats]:
    """Log posterior, its gradient and its negative Hessian at (tau, rho, c)."""
    tau, rho, bias = float(point[0]), float(point[1]), point[2:] if bias_sd > 0 else None
    value, gradient, hessian = sums(tau, rho, bias, alone_weight)
    before, slope, curvature = log_prior(prior, tau, rho, bias, bias_sd)
    return value + before, gradient + slope, -(hessian + curvature)


def _newton_step(gradient: Floats, precision: Floats) -> Floats:
    """Newton's step; if the Hessian is not definite, with a ridge large enough to make it so."""
    size = np.abs(np.diagonal(precision)).max()
    ridge = 0.0
    while True:
        try:
            return np.asarray(cho_solve(cho_factor(precision + ridge * np.eye(len(gradient))), gradient))
        except LinAlgError:
            ridge = max(4.0 * ridge, 1e-3 * size)
