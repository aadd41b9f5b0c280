"""Posterior of the parameters of `nodes`: a small grid of nodes around their mode.

The data come in as two functions that sum over all labelled items, wherever these are:
``sums(factors, bias, alone_weight)`` and ``values(factors, bias, alone_weight)``, the totals over blocks of
`mode.dependence_sums` and `grid.dependence_values`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.dependence.grid import (
    LogDensity,
    Target,
    Values,
    first_guess,
    log_bias_volume,
    model_alone_weight,
    weighted_grid,
)
from twoheads.kernels.dependence.mode import DependenceMode, DependencePrior, Posterior, Start, Sums, dependence_mode
from twoheads.kernels.dependence.nodes import DependenceNodes
from twoheads.kernels.dependence.witnesses import StrengthRatio, factors_at, soft_correlation

#: With more labels than this the posterior is so narrow that its mode replaces it (to 1e-3).
MODE_LABELS = 20_000
#: Share of the nodes' weight that predictions may ignore.
DROPPED = 1e-3
#: A sample's mode is found once the expected gain of a Newton step is below this: with so many labels the next one
#: would gain about its square over their number.
ROUGHLY = 1.0


def fit_dependence(
    sums: Sums,
    values: Values,
    n: float,
    n_classes: int,
    prior: DependencePrior | None = None,
    agreement: LogDensity | None = None,
    ratio: StrengthRatio | None = None,
) -> DependenceNodes:
    """Nodes over (tau, r, c) and their weights, for up to ``MODE_LABELS`` labelled items.

    For each bias_sd: the joint mode, then with c fixed there a grid over (tau, r); the evidence for bias_sd is the
    grid's sum times the volume of c, ``|H_cc|^-1/2 bias_sd^-K``.

    n          the labelled items' total weight
    agreement  log-density of tau from items without truth; used with `prior_with_agreement`
    ratio      of the strengths of model and people; equal by default
    """
    prior, ratio = prior or DependencePrior(), ratio or StrengthRatio()
    alone_weight, guess = model_alone_weight(n), first_guess(values, n, prior, ratio)
    modes = _modes(sums, alone_weight, prior, ratio, guess, n_classes)
    target = Target(values, n, prior, agreement, ratio)
    tau, r, log_weight = zip(*(weighted_grid(target, *each) for each in modes), strict=True)
    weights = np.concatenate(log_weight)
    kept, weights = _largest(np.exp(weights - logsumexp(weights)))
    bias = np.stack([np.zeros(n_classes) if mode.bias is None else mode.bias for _, _, mode in modes])
    bias_of = np.repeat(np.arange(len(modes)), [len(nodes) for nodes in tau])
    return _nodes(np.concatenate(tau)[kept], np.concatenate(r)[kept], ratio, weights, bias, bias_of[kept])


def fit_dependence_mode(
    sums: Sums,
    sample_sums: Sums,
    n: float,
    sample_n: float,
    n_classes: int,
    prior: DependencePrior | None = None,
    ratio: StrengthRatio | None = None,
) -> DependenceNodes:
    """One node, the joint mode, for more than ``MODE_LABELS`` labelled items.

    Newton's method starts from the mode of a sample of the items, on which bias_sd is chosen, and needs two or three
    passes over all items.

    sums         over all labelled items, of total weight n
    sample_sums  over at most ``MODE_LABELS`` of them, of total weight sample_n
    """
    prior, ratio = prior or DependencePrior(), ratio or StrengthRatio()
    start: Start = prior.log_temperature_mean, prior.correlation_mean
    modes = _modes(sample_sums, model_alone_weight(sample_n), prior, ratio, start, n_classes, enough=ROUGHLY)
    best_sd, _, best = max(modes, key=lambda each: _log_evidence(*each))
    mode = dependence_mode(Posterior(sums, model_alone_weight(n), prior, ratio, best_sd), best, n_classes)
    bias = np.zeros(n_classes) if mode.bias is None else mode.bias
    tau, r = np.array([mode.log_temperature]), np.array([mode.correlation])
    return _nodes(tau, r, ratio, np.ones(1), bias[None], np.zeros(1, np.intp))


def _nodes(
    tau: Floats, correlation: Floats, ratio: StrengthRatio, weight: Floats, bias: Floats, bias_of: Codes
) -> DependenceNodes:
    factors = factors_at(tau, correlation, ratio)
    return DependenceNodes(tau, soft_correlation(correlation), factors.model, factors.answer, weight, bias, bias_of)


def _modes(
    sums: Sums,
    alone_weight: float,
    prior: DependencePrior,
    ratio: StrengthRatio,
    start: Start,
    n_classes: int,
    *,
    enough: float = 1e-4,
) -> list[tuple[float, float, DependenceMode]]:
    """Each bias_sd, its prior weight, and the joint mode there, which Newton's method finds from the one before."""
    modes = []
    for bias_sd, bias_weight in zip(prior.bias_sd, prior.bias_weight, strict=True):
        if bias_weight != 0:
            posterior = Posterior(sums, alone_weight, prior, ratio, bias_sd)
            start = mode = dependence_mode(posterior, start, n_classes, enough=enough)
            modes.append((bias_sd, bias_weight, mode))
    return modes


def _log_evidence(bias_sd: float, bias_weight: float, mode: DependenceMode) -> float:
    """Laplace's approximation of the evidence for a bias_sd."""
    volume = log_bias_volume(mode, bias_sd) - 0.5 * np.linalg.slogdet(mode.precision[:2, :2])[1]
    return float(mode.log_posterior + volume + np.log(bias_weight))


def _largest(weight: Floats) -> tuple[Codes, Floats]:
    """The positions of the largest nodes, with all but ``DROPPED`` of the weight, and their shares of it."""
    order = np.argsort(-weight, kind="stable")
    before = np.cumsum(weight[order]) - weight[order]
    kept = np.sort(order[before < 1.0 - DROPPED])
    return kept, weight[kept] / weight[kept].sum()
