"""Posterior of the parameters of `nodes`: a small grid of nodes around their mode.

The data come in as two functions that sum over all labelled items, wherever these are:
``sums(tau, rho, bias, alone_weight)`` and ``values(taus, rhos, bias, alone_weight)``, the totals over blocks of
`dependence_sums` and `dependence_values`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import logsumexp

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.dependence.mode import DependenceMode, DependencePrior, Start, Sums, dependence_mode
from twoheads.kernels.dependence.nodes import DependenceNodes

Values: TypeAlias = Callable[[Floats, Floats, Floats | None, float], Floats]
#: Log-density of the log temperature from items without truth, at each of the given values.
Agreement: TypeAlias = Callable[[Floats], Floats]

#: With more labels than this the posterior is so narrow that its mode replaces it (to 1e-3).
MODE_LABELS = 20_000
#: Weight, in labels, of the model's own likelihood, which stabilises its temperature when labels are few.
MODEL_ALONE_LABELS = 30.0
#: Range of the parameters, when there are too few labels to infer it.
LOG_TEMPERATURE_RANGE = (-4.0, 5.0)
LOG_DEPENDENCE_REACH = 0.75
#: From so many labels on the posterior is close enough to a normal one for its curvature to give the grid's range,
#: unless the labels carry little information on tau (an uninformative model).
NARROW_LABELS = 200
NARROW_SD = 0.5
NORMAL_LABELS = 1000
#: Share of the nodes' weight that predictions may ignore.
DROPPED = 1e-3
#: A sample's mode is found once the expected gain of a Newton step is below this: with so many labels the next one
#: would gain about its square over their number.
ROUGHLY = 1.0


def model_alone_weight(n: float) -> float:
    """Weight of the model's own log-likelihood relative to that of the combination, ``30 / (30 + n)``."""
    return MODEL_ALONE_LABELS / (MODEL_ALONE_LABELS + n)


def dependence_values(
    log_proba: Floats,
    log_likelihood: Floats,
    true_label: Codes,
    weight: Floats | None,
    log_temperature: Floats,
    log_dependence: Floats,
    bias: Floats | None,
    alone_weight: float,
) -> Floats:
    """Log-likelihood of a block, as in `dependence_sums`, at many temperatures.

    log_temperature  (n_temperatures,)
    log_dependence   (n_temperatures, n_wholes) the values of rho at each temperature
    returns          (n_temperatures, n_wholes)
    """
    values = np.empty(log_dependence.shape)
    exp_bias = np.ones(len(log_proba)) if bias is None else np.exp(bias)
    # Few items: many nodes together, since calls cost more than arithmetic. Many: one, which fits the cache.
    at_once = max(1, 32_768 // max(1, log_proba.size))
    step = max(1, at_once // log_dependence.shape[1])
    for start in range(0, len(log_temperature), step):
        chunk = slice(start, start + step)
        logits = np.exp(-log_temperature[chunk, None]) * log_proba[:, None, :]
        once = np.ones((logits.shape[1], 1))
        values[chunk] = alone_weight * _log_likelihoods(logits.copy(), once, exp_bias, true_label, weight, at_once)
        logits += log_likelihood[:, None, :]
        power = np.exp(-log_dependence[chunk])
        values[chunk] += _log_likelihoods(logits, power, exp_bias, true_label, weight, at_once)
    if bias is not None:
        values += (1.0 + alone_weight) * float(np.bincount(true_label, weight, len(bias)) @ bias)
    return values


def _log_likelihoods(
    logits: Floats, power: Floats, exp_bias: Floats, true_label: Codes, weight: Floats | None, at_once: int
) -> Floats:
    """Sum over items of ``log softmax(power logits + c)[y] - c_y`` at each power, (n_temperatures, n_powers).

    logits    (n_classes, n_temperatures, n_items), overwritten
    power     (n_temperatures, n_powers), of which ``at_once`` are computed together
    exp_bias  (n_classes,) exp(c)
    """
    logits -= logits.max(axis=0)  # once for all powers: the largest stays the largest
    at_truth = logits[true_label, :, np.arange(len(true_label))].T
    values = power * (at_truth.sum(axis=1) if weight is None else at_truth @ weight)[:, None]
    for start in range(0, power.shape[1], at_once):
        powers = power[:, start : start + at_once]
        share = logits[:, :, None, :] * powers[:, :, None]
        np.exp(share, out=share)
        log_total = np.log(np.tensordot(exp_bias, share, axes=1))
        values[:, start : start + at_once] -= log_total.sum(axis=2) if weight is None else log_total @ weight
    return np.asarray(values)


def _first_guess(values: Values, n: float, prior: DependencePrior) -> tuple[float, float]:
    """Start of Newton's method: with few labels the posterior of tau can have several modes."""
    if n >= NARROW_LABELS:
        return prior.log_temperature_mean, prior.log_dependence_mean
    tau = np.linspace(*LOG_TEMPERATURE_RANGE, 19)
    rho = np.full((19, 1), prior.log_dependence_mean)
    log_posterior = values(tau, rho, None, model_alone_weight(n)) + _log_prior_grid(prior, tau, rho)
    return float(tau[np.argmax(log_posterior[:, 0])]), prior.log_dependence_mean


def _log_prior_grid(prior: DependencePrior, tau: Floats, rho: Floats) -> Floats:
    t = (tau[:, None] - prior.log_temperature_mean) / prior.log_temperature_scale
    r = (rho - prior.log_dependence_mean) / prior.log_dependence_sd
    return np.asarray(-2.0 * np.log1p(t * t / 3.0) - 0.5 * r * r)


def fit_dependence(
    sums: Sums,
    values: Values,
    n: float,
    n_classes: int,
    prior: DependencePrior | None = None,
    agreement: Agreement | None = None,
) -> DependenceNodes:
    """Nodes over (tau, rho, c) and their weights, for up to ``MODE_LABELS`` labelled items.

    For each bias_sd: the joint mode, then with c fixed there a grid over (tau, rho); the evidence for bias_sd is the
    grid's sum times the volume of c, ``|H_cc|^-1/2 bias_sd^-K``.

    n          the labelled items' total weight
    agreement  log-density of tau from items without truth; used with `prior_with_agreement`
    """
    prior = prior or DependencePrior()
    modes = _modes(sums, n, prior, _first_guess(values, n, prior), n_classes)
    tau, rho, log_weight = zip(*(_weighted_grid(values, n, prior, *each, agreement) for each in modes), strict=True)
    weights = np.concatenate(log_weight)
    weights = np.exp(weights - logsumexp(weights))
    bias = np.stack([np.zeros(n_classes) if mode.bias is None else mode.bias for _, _, mode in modes])
    bias_of = np.repeat(np.arange(len(modes)), [len(nodes) for nodes in tau])
    return _without_negligible(DependenceNodes(np.concatenate(tau), np.concatenate(rho), weights, bias, bias_of))


def fit_dependence_mode(
    sums: Sums,
    sample_sums: Sums,
    n: float,
    sample_n: float,
    n_classes: int,
    prior: DependencePrior | None = None,
) -> DependenceNodes:
    """One node, the joint mode, for more than ``MODE_LABELS`` labelled items.

    Newton's method starts from the mode of a sample of the items, on which bias_sd is chosen, and needs two or three
    passes over all items.

    sums         over all labelled items, of total weight n
    sample_sums  over at most ``MODE_LABELS`` of them, of total weight sample_n
    """
    prior = prior or DependencePrior()
    start: Start = prior.log_temperature_mean, prior.log_dependence_mean
    modes = _modes(sample_sums, sample_n, prior, start, n_classes, enough=ROUGHLY)
    best_sd, _, best = max(modes, key=lambda each: _log_evidence(*each))
    mode = dependence_mode(sums, model_alone_weight(n), prior, best_sd, best, n_classes)
    bias = np.zeros(n_classes) if mode.bias is None else mode.bias
    return DependenceNodes(
        np.array([mode.log_temperature]), np.array([mode.log_dependence]), np.ones(1), bias[None], np.zeros(1, np.intp)
    )


def _modes(
    sums: Sums, n: float, prior: DependencePrior, start: Start, n_classes: int, *, enough: float = 1e-4
) -> list[tuple[float, float, DependenceMode]]:
    """Each bias_sd, its prior weight, and the joint mode there, which Newton's method finds from the one before."""
    alone_weight, modes = model_alone_weight(n), []
    for bias_sd, bias_weight in zip(prior.bias_sd, prior.bias_weight, strict=True):
        if bias_weight != 0:
            start = mode = dependence_mode(sums, alone_weight, prior, bias_sd, start, n_classes, enough=enough)
            modes.append((bias_sd, bias_weight, mode))
    return modes


def _log_evidence(bias_sd: float, bias_weight: float, mode: DependenceMode) -> float:
    """Laplace's approximation of the evidence for a bias_sd."""
    volume = _log_bias_volume(mode, bias_sd) - 0.5 * np.linalg.slogdet(mode.precision[:2, :2])[1]
    return float(mode.log_posterior + volume + np.log(bias_weight))


def _weighted_grid(
    values: Values,
    n: float,
    prior: DependencePrior,
    bias_sd: float,
    bias_weight: float,
    mode: DependenceMode,
    agreement: Agreement | None,
) -> tuple[Floats, Floats, Floats]:
    """Nodes tau and rho around a mode, and the log of their weights, (n_nodes,) each."""
    tau, rho = _grid(values, n, prior, mode, agreement)
    log_posterior = _grid_log_posterior(values, n, prior, mode, agreement, tau, rho)
    cell = (tau[1] - tau[0]) * (rho[0, 1] - rho[0, 0])
    log_posterior += np.log(cell * bias_weight) + _log_bias_volume(mode, bias_sd)
    if mode.bias is not None:
        log_posterior -= 0.5 * (mode.bias @ mode.bias) / bias_sd**2
    return np.repeat(tau, rho.shape[1]), rho.ravel(), log_posterior.ravel()


def _grid_log_posterior(
    values: Values,
    n: float,
    prior: DependencePrior,
    mode: DependenceMode,
    agreement: Agreement | None,
    tau: Floats,
    rho: Floats,
) -> Floats:
    log_posterior = values(tau, rho, mode.bias, model_alone_weight(n)) + _log_prior_grid(prior, tau, rho)
    return log_posterior if agreement is None else log_posterior + agreement(tau)[:, None]


def _grid(
    values: Values, n: float, prior: DependencePrior, mode: DependenceMode, agreement: Agreement | None
) -> tuple[Floats, Floats]:
    """Equally spaced values covering the posterior of (tau, rho), (n_temperatures,) and (n_temperatures, n_wholes)."""
    (tt, tr), (_, rr) = mode.precision[:2, :2]
    if n >= NARROW_LABELS and rr > 0 and tt - tr * tr / rr > NARROW_SD**-2:
        # Steps of 1.5 sd sum a normal density to 3e-4; the others are for a posterior that is not quite normal.
        sd = np.linspace(-4.0, 4.0, 7) if n < NORMAL_LABELS else np.linspace(-3.0, 3.0, 5)
        # Sheared along the ridge on which tau and rho compensate for each other.
        along = sd / np.sqrt(tt - tr * tr / rr)
        return mode.log_temperature + along, mode.log_dependence - along[:, None] * tr / rr + sd / np.sqrt(rr)
    tau = np.linspace(*LOG_TEMPERATURE_RANGE, 15)
    centre = sorted([prior.log_dependence_mean, mode.log_dependence])
    rho = np.linspace(centre[0] - LOG_DEPENDENCE_REACH, centre[1] + LOG_DEPENDENCE_REACH, 9)
    log_posterior = _grid_log_posterior(values, n, prior, mode, agreement, tau, np.tile(rho, (15, 1)))
    likely = log_posterior > log_posterior.max() - 7.0
    tau = np.linspace(*_reach(tau, likely.any(axis=1)), 15)
    return tau, np.tile(np.linspace(*_reach(rho, likely.any(axis=0)), 9), (15, 1))


def _reach(values: Floats, likely: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[float, float]:
    """Range of the likely values and one step further, within the values."""
    at = np.flatnonzero(likely)
    return float(values[max(at[0] - 1, 0)]), float(values[min(at[-1] + 1, len(values) - 1)])


def _log_bias_volume(mode: DependenceMode, bias_sd: float) -> float:
    """Laplace's term of c, ``-1/2 log|H_cc| - K log bias_sd``."""
    if mode.bias is None:
        return 0.0
    return float(-0.5 * np.linalg.slogdet(mode.precision[2:, 2:])[1] - len(mode.bias) * np.log(bias_sd))


def _without_negligible(nodes: DependenceNodes) -> DependenceNodes:
    """The largest nodes, with all but ``DROPPED`` of the weight."""
    order = np.argsort(-nodes.weight, kind="stable")
    before = np.cumsum(nodes.weight[order]) - nodes.weight[order]
    kept = np.sort(order[before < 1.0 - DROPPED])
    weight = nodes.weight[kept] / nodes.weight[kept].sum()
    return DependenceNodes(
        nodes.log_temperature[kept], nodes.log_dependence[kept], weight, nodes.bias, nodes.bias_of[kept]
    )
