"""Correction for errors of people and model on the same items: the product of their likelihoods, tempered.

``logits = e^-rho (e^-tau log m + log phi[h, :]) + c``, with tau the model's log temperature, rho the log temperature
of the whole, which corrects for dependence (``log_dependence``), and c a bias per class. This module has the sums over
a block of labelled items that fitting needs, and the prediction; `mode` and `posterior` estimate the parameters.

All arrays over classes and items are class-major. ``log_likelihood`` (n_classes, n_items) is ``log phi[h, :]``; when
fitting, out-of-fold or leave-one-out: from a matrix fitted without the item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twoheads.kernels.arrays import Codes, Floats

#: Weight, in labels, of the model's own likelihood, which stabilises its temperature when labels are few.
MODEL_ALONE_LABELS = 30.0

#: With more labels than this the posterior is so narrow that its mode replaces it (to 1e-3).
MODE_LABELS = 20_000


@dataclass(frozen=True, slots=True)
class DependenceNodes:
    """Values of the parameters and their posterior weights; a prediction is the weighted mean over them.

    log_temperature, log_dependence, weight  (n_nodes,)
    bias                                     (n_biases, n_classes)
    bias_of                                  (n_nodes,) which of the biases each node has
    """

    log_temperature: Floats
    log_dependence: Floats
    weight: Floats
    bias: Floats
    bias_of: Codes


def model_alone_weight(n: float) -> float:
    """Weight of the model's own log-likelihood relative to that of the combination, ``30 / (30 + n)``."""
    return MODEL_ALONE_LABELS / (MODEL_ALONE_LABELS + n)


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
        values += (1.0 + alone_weight) * _weighted_sum(bias[true_label], weight)
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


def dependence_proba(log_proba: Floats, log_likelihood: Floats, nodes: DependenceNodes) -> Floats:
    """Probability of each class: the mean over nodes of ``softmax(e^-rho (e^-tau Z + L) + c)``.

    log_proba, log_likelihood  (n_classes, n_items), Z and L
    returns                    (n_classes, n_items)
    """
    total: Floats | None = None
    for at in np.unique(nodes.bias_of):
        exp_bias, here = np.exp(nodes.bias[at]), nodes.bias_of == at
        mean: Floats | None = None
        for tau in np.unique(nodes.log_temperature[here]):
            logits = np.exp(-tau) * log_proba
            logits += log_likelihood
            logits -= logits.max(axis=0)
            subset = here & (nodes.log_temperature == tau)
            for rho, weight in zip(nodes.log_dependence[subset], nodes.weight[subset], strict=True):
                share = logits * np.exp(-rho)
                np.exp(share, out=share)
                share *= weight / (exp_bias @ share)
                mean = share if mean is None else np.add(mean, share, out=mean)
        assert mean is not None
        if nodes.bias[at].any():
            mean *= exp_bias[:, None]
        total = mean if total is None else np.add(total, mean, out=total)
    assert total is not None
    return total
