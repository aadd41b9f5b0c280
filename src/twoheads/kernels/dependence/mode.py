"""Prior of the parameters of `likelihood`, and the mode of their posterior by damped Newton steps.

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
from twoheads.kernels.arrays import Floats
from twoheads.kernels.dependence.likelihood import model_alone_weight

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


def prior_with_agreement(n: float, prior: DependencePrior | None = None) -> DependencePrior:
    """Prior used with items without truth: wider in tau, which they inform, narrower in rho and c.

    From the default prior: scale .65 of tau, sd .15 of rho, and a bias with probability ``.3 n / (n + 20)``.

    n  the labelled items' total weight
    """
    prior = prior or DependencePrior()
    share = n / (n + 20.0)
    biased = tuple(share * weight for weight in prior.bias_weight[1:])
    return replace(
        prior,
        log_temperature_scale=1.3 * prior.log_temperature_scale,
        log_dependence_sd=0.6 * prior.log_dependence_sd,
        bias_weight=(sum(prior.bias_weight) - sum(biased), *biased),
    )


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
    sums: Sums, n: float, prior: DependencePrior, bias_sd: float, start: Start, n_classes: int, *, enough: float = 1e-4
) -> DependenceMode:
    """Joint mode of (tau, rho, c) by Newton steps, damped until the posterior increases.

    n       the labelled items' total weight
    start   (tau, rho), or the mode at another bias_sd
    enough  a step of less expected gain than this is the last, and not checked: 1e-4 is a hundredth of a posterior sd,
            and after the step it is far less
    """
    point = _start(start, bias_sd, n_classes)
    value, gradient, precision = _log_posterior(sums, n, prior, bias_sd, point)
    for _ in range(50):
        step = _newton_step(gradient, precision)
        gain = float(step @ gradient)
        if gain < enough:
            point, value = point + step, value + gain / 2
            break
        step *= min(1.0, 1.0 / np.abs(step[:2]).max())
        for _ in range(30):
            trial = _log_posterior(sums, n, prior, bias_sd, point + step)
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
    sums: Sums, n: float, prior: DependencePrior, bias_sd: float, point: Floats
) -> tuple[float, Floats, Floats]:
    """Log posterior, its gradient and its negative Hessian at (tau, rho, c)."""
    tau, rho, bias = float(point[0]), float(point[1]), point[2:] if bias_sd > 0 else None
    value, gradient, hessian = sums(tau, rho, bias, model_alone_weight(n))
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
