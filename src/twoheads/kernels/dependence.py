"""People and models err on the same items: the product of what they say, made as sure as it deserves to be.

``logits = e^-rho (e^-tau log m + log phi[h, :]) + c``, with tau the model's log temperature, rho the log temperature
of the whole (what dependence costs; ``log_dependence``) and c a bias per class. Here are the sums over a block of
labelled items that fitting needs, and the prediction; ``dependence_fit`` looks for the parameters.

All arrays over classes and items are class-major. ``log_given`` (n_classes, n_items) is ``log phi[h, :]``, where
fitting takes it from a matrix that has not seen the item (leave-one-out), so that no item vouches for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from twoheads.kernels.arrays import Codes, Floats

#: Labels' worth of the term of the model alone, which steadies its temperature when labels are few.
MODEL_ALONE_LABELS = 30.0

#: With more labels than this the posterior is so narrow that its mode stands for all of it (to 1e-3).
MODE_LABELS = 20_000


@dataclass(frozen=True, slots=True)
class DependenceNodes:
    """Values of the parameters and how likely each is; a prediction is the weighted mean over them.

    log_temperature, log_dependence, weight  (n_nodes,)
    bias                                     (n_biases, n_classes)
    bias_of                                  (n_nodes,) which of the biases the node has
    """

    log_temperature: Floats
    log_dependence: Floats
    weight: Floats
    bias: Floats
    bias_of: Codes


def model_alone_weight(n: float) -> float:
    """Weight of the model's own log-likelihood beside that of the combination, ``30 / (30 + n)``."""
    return MODEL_ALONE_LABELS / (MODEL_ALONE_LABELS + n)


def dependence_sums(
    log_proba: Floats,
    log_given: Floats,
    true_label: Codes,
    weight: Floats | None,
    log_temperature: float,
    log_dependence: float,
    bias: Floats | None,
    alone_weight: float,
) -> tuple[float, Floats, Floats]:
    """Log-likelihood of a block with its gradient and Hessian in (tau, rho, c), or in (tau, rho) if bias is None.

    ``sum_n log softmax(e^-rho (e^-tau Z_n + L_n) + c)[y_n] + alone_weight sum_n log softmax(e^-tau Z_n + c)[y_n]``

    log_proba, log_given  (n_classes, n_items), Z and L
    true_label            (n_items,) codes
    weight                (n_items,) or None
    bias                  (n_classes,) or None where there is none
    returns               value, gradient (n,), Hessian (n, n); n is 2 or 2 + n_classes
    """
    by_temperature = np.exp(-log_temperature) * log_proba
    by_whole = by_temperature + log_given
    by_whole *= np.exp(-log_dependence)
    by_model = np.exp(-log_temperature - log_dependence) * log_proba
    value, gradient, hessian = _softmax_sums(by_whole, [by_model, by_whole], true_label, weight, bias)
    if alone_weight > 0:
        alone, slope, curvature = _softmax_sums(by_temperature, [by_temperature], true_label, weight, bias)
        value += alone_weight * alone
        for to, of in (slice(0, 1), slice(0, 1)), (slice(2, None), slice(1, None)):  # rho, at 1, has no part in it
            gradient[to] += alone_weight * slope[of]
            hessian[to, 0] += alone_weight * curvature[of, 0]
            hessian[to, 2:] += alone_weight * curvature[of, 1:]
    return value, gradient, hessian


def _softmax_sums(
    logits: Floats, directions: list[Floats], true_label: Codes, weight: Floats | None, bias: Floats | None
) -> tuple[float, Floats, Floats]:
    """Sum of ``log softmax(logits + c)[y]`` with derivatives, where the logits shrink as ``d logits / d p = -D_p``.

    Every parameter p is a log temperature, so that ``d D_p / d q = -D_min(p, q)`` in the order given: the whole's
    temperature (last) scales what the earlier ones scale. With p the softmax, each item adds
    ``E[D_p] - D_p[y]`` to the gradient and ``D_pq[y] - E[D_pq] - Cov(D_p, D_q)`` to the Hessian.
    """
    n_scalars, n_bias = len(directions), 0 if bias is None else len(logits)
    gradient = np.zeros(n_scalars + n_bias)
    hessian = np.zeros((n_scalars + n_bias, n_scalars + n_bias))
    item = np.arange(len(true_label))
    proba = logits.copy() if bias is None else logits + bias[:, None]
    proba -= proba.max(axis=0)
    log_likelihood = proba[true_label, item]
    np.exp(proba, out=proba)
    norm = proba.sum(axis=0)
    proba /= norm
    log_likelihood -= np.log(norm)

    moments = [proba * direction for direction in directions]
    means = [moment.sum(axis=0) for moment in moments]
    shared, shared_means = proba, means
    if weight is not None:
        shared = proba * weight
        moments = [moment * weight for moment in moments]
        shared_means = [mean * weight for mean in means]
    for p, q in combinations_with_replacement(range(n_scalars), 2):
        if p == q:
            gradient[p] = -_weighted_sum(directions[p][true_label, item] - means[p], weight)
        covariance = np.einsum("kn,kn->", moments[p], directions[q]) - (shared_means[p] * means[q]).sum()
        hessian[p, q] = hessian[q, p] = -gradient[p] - covariance
    if bias is not None:
        expected = shared.sum(axis=1)
        gradient[n_scalars:] = np.bincount(true_label, weight, len(logits)) - expected
        np.matmul(shared, proba.T, out=hessian[n_scalars:, n_scalars:])
        hessian[range(n_scalars, len(gradient)), range(n_scalars, len(gradient))] -= expected
        for p in range(n_scalars):
            hessian[p, n_scalars:] = hessian[n_scalars:, p] = moments[p].sum(axis=1) - proba @ shared_means[p]
    return _weighted_sum(log_likelihood, weight), gradient, hessian


def _weighted_sum(per_item: Floats, weight: Floats | None) -> float:
    return float(per_item.sum() if weight is None else weight @ per_item)


def dependence_values(
    log_proba: Floats,
    log_given: Floats,
    true_label: Codes,
    weight: Floats | None,
    log_temperature: Floats,
    log_dependence: Floats,
    bias: Floats | None,
    alone_weight: float,
) -> Floats:
    """Log-likelihood of a block, as in ``dependence_sums``, at many temperatures.

    log_temperature  (n_temperatures,)
    log_dependence   (n_temperatures, n_wholes) the values of rho at each temperature
    returns          (n_temperatures, n_wholes)
    """
    values = np.empty(log_dependence.shape)
    shift = np.zeros((len(log_proba), 1, 1)) if bias is None else bias[:, None, None]
    # Few items: all values of rho at once, for calls cost more than arithmetic. Many: one, to stay in the cache.
    step = min(log_dependence.shape[1], max(1, 32_768 // max(1, log_proba.size)))
    logits = np.empty((len(log_proba), step, log_proba.shape[1]))
    for t, tau in enumerate(log_temperature):
        scaled = np.exp(-tau) * log_proba
        alone = alone_weight * _log_likelihood(scaled[:, None, :] + shift, true_label, weight)
        scaled += log_given
        for start in range(0, log_dependence.shape[1], step):
            power = np.exp(-log_dependence[t, start : start + step])
            some = np.multiply(scaled[:, None, :], power[:, None], out=logits[:, : len(power)])
            some += shift
            values[t, start : start + step] = _log_likelihood(some, true_label, weight) + alone
    return values


def _log_likelihood(logits: Floats, true_label: Codes, weight: Floats | None) -> Floats:
    """Sum over items of ``log softmax(logits)[y]``; logits (n_classes, n_nodes, n_items), overwritten."""
    logits -= logits.max(axis=0)
    at_truth = logits[true_label, :, np.arange(len(true_label))].T
    np.exp(logits, out=logits)
    per_item = at_truth - np.log(logits.sum(axis=0))
    return np.asarray(per_item.sum(axis=1) if weight is None else per_item @ weight)


def dependence_proba(log_proba: Floats, log_given: Floats, nodes: DependenceNodes) -> Floats:
    """Probability of each class: the mean over nodes of ``softmax(e^-rho (e^-tau Z + L) + c)``.

    log_proba, log_given  (n_classes, n_items), Z and L
    returns               (n_classes, n_items)
    """
    total = np.zeros(log_proba.shape)
    logits = np.empty(log_proba.shape)
    for tau, rho, weight, bias in zip(
        nodes.log_temperature, nodes.log_dependence, nodes.weight, nodes.bias[nodes.bias_of], strict=True
    ):
        np.multiply(log_proba, np.exp(-tau - rho), out=logits)
        logits += np.exp(-rho) * log_given
        logits += bias[:, None]
        logits -= logits.max(axis=0)
        np.exp(logits, out=logits)
        logits *= weight / logits.sum(axis=0)
        total += logits
    return total
