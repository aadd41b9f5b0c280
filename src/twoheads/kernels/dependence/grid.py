"""The grid of (tau, r) around a mode of their posterior, with c fixed there, and the weights of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.dependence.mode import DependenceMode, DependencePrior
from twoheads.kernels.dependence.witnesses import CORRELATION_BOUNDS, Factors, StrengthRatio, factors_at
from twoheads.kernels.priors import HELD_SD

Values: TypeAlias = Callable[[Factors, Floats | None, float], Floats]
#: Log-density of the log temperature from items without truth, at each of the given values, such as an `Agreement`.
LogDensity: TypeAlias = Callable[[Floats], Floats]

#: Weight, in labels, of the model's own likelihood, which stabilises its temperature when labels are few.
MODEL_ALONE_LABELS = 30.0
#: Range of the log temperature, when there are too few labels to infer it.
LOG_TEMPERATURE_RANGE = (-4.0, 5.0)
#: From so many labels on the log-likelihood is close enough to a quadratic in the factors for its curvature to give the
#: grid's range, unless the labels carry little information on tau (an uninformative model).
NARROW_LABELS = 200
NARROW_SD = 0.5
NORMAL_LABELS = 1000


def dependence_values(
    log_proba: Floats,
    log_likelihood: Floats,
    true_label: Codes,
    weight: Floats | None,
    factors: Factors,
    bias: Floats | None,
    alone_weight: float,
) -> Floats:
    """Log-likelihood of a block, as in `dependence_sums`, at many values of the factors.

    factors  model and answer (n_temperatures, n_correlations), alone (n_temperatures, 1)
    returns  (n_temperatures, n_correlations)
    """
    parts = np.stack([log_proba, log_likelihood])
    both = np.stack([factors.model.ravel(), factors.answer.ravel()], axis=1)
    values = _log_likelihoods(parts, both, bias, true_label, weight).reshape(factors.model.shape)
    if alone_weight > 0:
        values += alone_weight * _log_likelihoods(parts[:1], factors.alone, bias, true_label, weight)[:, None]
    return values


def _log_likelihoods(
    parts: Floats, factors: Floats, bias: Floats | None, true_label: Codes, weight: Floats | None
) -> Floats:
    """Sum over items of ``log softmax(sum_p factor_p part_p + c)[y]`` at each row of factors, (n_nodes,).

    parts    (n_parts, n_classes, n_items)
    factors  (n_nodes, n_parts)
    """
    flat, shape = parts.reshape(len(parts), -1), parts.shape[1:]
    values, item = np.empty(len(factors)), np.arange(shape[1])
    # Few items: many nodes together, since calls cost more than arithmetic. Many: one, which fits the cache.
    at_once = max(1, 32_768 // max(1, flat.shape[1]))
    for start in range(0, len(factors), at_once):
        rows = slice(start, start + at_once)
        logits = (factors[rows] @ flat).reshape(len(factors[rows]), *shape)
        if bias is not None:
            logits += bias[:, None]
        logits -= logits.max(axis=1, keepdims=True)
        at_truth = logits[:, true_label, item]
        np.exp(logits, out=logits)
        log_likelihood = at_truth - np.log(logits.sum(axis=1))
        values[rows] = log_likelihood.sum(axis=1) if weight is None else log_likelihood @ weight
    return values


def model_alone_weight(n: float) -> float:
    """Weight of the model's own log-likelihood relative to that of the combination, ``30 / (30 + n)``."""
    return MODEL_ALONE_LABELS / (MODEL_ALONE_LABELS + n)


def log_prior_grid(prior: DependencePrior, tau: Floats, correlation: Floats) -> Floats:
    """Log prior of tau and r on a grid, without constants."""
    t = (tau - prior.log_temperature_mean) / prior.log_temperature_scale
    r = (correlation - prior.correlation_mean) / prior.correlation_sd
    return np.asarray(-2.0 * np.log1p(t * t / 3.0) - 0.5 * r * r)


def first_guess(values: Values, n: float, prior: DependencePrior, ratio: StrengthRatio) -> tuple[float, float]:
    """Start of Newton's method: with few labels the posterior of tau can have several modes."""
    if n >= NARROW_LABELS or prior.log_temperature_scale <= HELD_SD:
        return prior.log_temperature_mean, prior.correlation_mean
    tau = np.linspace(*LOG_TEMPERATURE_RANGE, 19)[:, None]
    r = np.full((19, 1), prior.correlation_mean)
    log_posterior = values(factors_at(tau, r, ratio), None, model_alone_weight(n)) + log_prior_grid(prior, tau, r)
    return float(tau[np.argmax(log_posterior), 0]), prior.correlation_mean


@dataclass(frozen=True, slots=True)
class Target:
    """The log posterior of (tau, r) on a grid, with c fixed."""

    values: Values
    n: float
    prior: DependencePrior
    agreement: LogDensity | None
    ratio: StrengthRatio

    def temperatures(self, low: float, high: float, number: int) -> Floats:
        """Equally spaced values of tau; the only one where the prior holds it and labels are all there is to learn.

        Without labels tau is as uncertain as the spacing of its values.
        """
        if self.n > 0 and self.prior.log_temperature_scale <= HELD_SD:
            return np.array([self.prior.log_temperature_mean])
        return np.linspace(low, high, number)

    def exact(self, mode: DependenceMode, tau: Floats, r: Floats) -> Floats:
        """At each tau (n_temperatures, 1) and r (n_temperatures, n_correlations), with the mode's c."""
        factors = factors_at(tau, r, self.ratio)
        return self.values(factors, mode.bias, model_alone_weight(self.n)) + self._before(tau, r)

    def quadratic(self, mode: DependenceMode, tau: Floats, r: Floats) -> Floats:
        """The same with a log-likelihood that is quadratic in the factors; no pass over the items."""
        here = factors_at(mode.log_temperature, mode.correlation, self.ratio)
        there = factors_at(tau, r, self.ratio)
        alone = np.broadcast_to(there.alone, there.answer.shape)
        step = np.stack([there.model - here.model, there.answer - here.answer, alone - here.alone], axis=-1)
        likelihood = step @ mode.slope + 0.5 * (step @ mode.hessian * step).sum(axis=-1)
        return np.asarray(likelihood + self._before(tau, r))

    def _before(self, tau: Floats, r: Floats) -> Floats:
        log_prior = log_prior_grid(self.prior, tau, r)
        return log_prior if self.agreement is None else log_prior + self.agreement(tau[:, 0])[:, None]


def weighted_grid(
    target: Target, bias_sd: float, bias_weight: float, mode: DependenceMode
) -> tuple[Floats, Floats, Floats]:
    """Nodes tau and r around a mode, and the log of their weights, (n_nodes,) each."""
    tau, r = _grid(target, mode)
    log_posterior = target.exact(mode, tau, r)
    cell = (r[:, 1:2] - r[:, :1]) * (tau[1] - tau[0] if len(tau) > 1 else 1.0)
    cell = np.where(np.isin(r, CORRELATION_BOUNDS), 0.5, 1.0) * cell  # half of it is beyond the bound
    log_posterior += np.log(cell * bias_weight) + log_bias_volume(mode, bias_sd)
    if mode.bias is not None:
        log_posterior -= 0.5 * (mode.bias @ mode.bias) / bias_sd**2
    return np.repeat(tau, r.shape[1]), r.ravel(), log_posterior.ravel()


def _grid(target: Target, mode: DependenceMode) -> tuple[Floats, Floats]:
    """Equally spaced values covering the posterior, (n_temperatures, 1) and (n_temperatures, n_correlations).

    A temperature that is held has one value.
    """
    sd = _posterior_sd(mode)
    if target.n >= NARROW_LABELS and sd[0] < NARROW_SD:
        return _narrow_grid(target, mode, sd)
    tau, r = target.temperatures(*LOG_TEMPERATURE_RANGE, 15), np.linspace(*CORRELATION_BOUNDS, 9)
    log_posterior = target.exact(mode, tau[:, None], np.tile(r, (len(tau), 1)))
    likely = log_posterior > log_posterior.max() - 7.0
    tau = target.temperatures(*_reach(tau, likely.any(axis=1)), 15)
    r = np.linspace(*_reach(r, likely.any(axis=0)), 7)
    return tau[:, None], np.tile(r, (len(tau), 1))


def _narrow_grid(target: Target, mode: DependenceMode, sd: Floats) -> tuple[Floats, Floats]:
    """The grid for many labels, whose range is that of `Target.quadratic`; r's range depends on tau.

    Steps of 1.5 sd sum a normal density to 3e-4 if they reach far enough. With many labels little depends on its tails.
    """
    reach, number = (3.0, 5) if target.n < NORMAL_LABELS else (1.5, 3)
    fine = np.linspace(-2.0, 2.0, 65) * reach
    r = np.clip(mode.correlation, *CORRELATION_BOUNDS) + fine * sd[1]  # the bounds are soft: a mode may be beyond
    r = np.linspace(max(r[0], CORRELATION_BOUNDS[0]), min(r[-1], CORRELATION_BOUNDS[1]), 65)
    tau = mode.log_temperature + fine * sd[0]
    log_posterior = target.quadratic(mode, tau[:, None], r[None])
    fall = 0.5 * reach**2
    at_best = log_posterior.max(axis=1)
    tau = target.temperatures(*_reach(tau, at_best > at_best.max() - fall), number)
    log_posterior = target.quadratic(mode, tau[:, None], r[None])
    likely = log_posterior > log_posterior.max(axis=1, keepdims=True) - fall
    return tau[:, None], np.stack([np.linspace(*_reach(r, row), number) for row in likely])


def _posterior_sd(mode: DependenceMode) -> Floats:
    """Standard deviations of tau and r by the curvature at the mode; infinite where it is not definite."""
    (tt, tr), (_, rr) = mode.precision[:2, :2]
    determinant = tt * rr - tr * tr
    if not (tt > 0 and rr > 0 and determinant > 0):
        return np.full(2, np.inf)
    return np.asarray(np.sqrt(np.array([rr, tt]) / determinant))


def _reach(values: Floats, likely: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[float, float]:
    """Range of the likely values and one step further, within the values."""
    at = np.flatnonzero(likely)
    return float(values[max(at[0] - 1, 0)]), float(values[min(at[-1] + 1, len(values) - 1)])


def log_bias_volume(mode: DependenceMode, bias_sd: float) -> float:
    """Laplace's term of c, ``-1/2 log|H_cc| - K log bias_sd``."""
    if mode.bias is None:
        return 0.0
    return float(-0.5 * np.linalg.slogdet(mode.precision[2:, 2:])[1] - len(mode.bias) * np.log(bias_sd))
