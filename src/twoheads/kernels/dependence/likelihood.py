"""People and models err on the same items: the product of what they say, made as sure as it deserves to be.

``logits = e^-rho (e^-tau log m + log phi[h, :]) + c``, with tau the model's log temperature, rho the log temperature
of the whole (what dependence costs; ``log_dependence``) and c a bias per class. Here are the sums over a block of
labelled items that fitting needs, and the prediction; ``dependence_fit`` looks for the parameters.

All arrays over classes and items are class-major. ``log_given`` (n_classes, n_items) is ``log phi[h, :]``, where
fitting takes it from a matrix that has not seen the item (leave-one-out), so that no item vouches for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    directions = [(by_temperature, np.exp(-log_dependence)), (by_whole, 1.0)]
    value, gradient, hessian = _softmax_sums(by_whole, directions, true_label, weight, bias)
    if alone_weight > 0:
        alone, slope, curvature = _softmax_sums(by_temperature, [(by_temperature, 1.0)], true_label, weight, bias)
        value += alone_weight * alone
        for to, of in (slice(0, 1), slice(0, 1)), (slice(2, None), slice(1, None)):  # rho, at 1, has no part in it
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
    """Sum of ``log softmax(logits + c)[y]`` with derivatives, where the logits shrink as ``d logits / d p = -D_p``.

    Every parameter p is a log temperature, so that ``d D_p / d q = -D_min(p, q)`` in the order given: the whole's
    temperature (last) scales what the earlier ones scale. With p the softmax, each item adds
    ``E[D_p] - D_p[y]`` to the gradient and ``D_pq[y] - E[D_pq] - Cov(D_p, D_q)`` to the Hessian.

    directions  each D_p as an array (n_classes, n_items) and what it is times
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
    lift = np.ones(len(log_proba)) if bias is None else np.exp(bias)
    # Few items: many nodes at once, for calls cost more than arithmetic. Many: one, to stay in the cache.
    at_once = max(1, 32_768 // max(1, log_proba.size))
    step = max(1, at_once // log_dependence.shape[1])
    for start in range(0, len(log_temperature), step):
        some = slice(start, start + step)
        logits = np.exp(-log_temperature[some, None]) * log_proba[:, None, :]
        once = np.ones((logits.shape[1], 1))
        values[some] = alone_weight * _log_likelihoods(logits.copy(), once, lift, true_label, weight, at_once)
        logits += log_given[:, None, :]
        power = np.exp(-log_dependence[some])
        values[some] += _log_likelihoods(logits, power, lift, true_label, weight, at_once)
    if bias is not None:
        values += (1.0 + alone_weight) * _weighted_sum(bias[true_label], weight)
    return values


def _log_likelihoods(
    logits: Floats, power: Floats, lift: Floats, true_label: Codes, weight: Floats | None, at_once: int
) -> Floats:
    """Sum over items of ``log softmax(power logits + c)[y] - c_y`` at each power, (n_temperatures, n_powers).

    logits  (n_classes, n_temperatures, n_items), overwritten
    power   (n_temperatures, n_powers), of which ``at_once`` are looked at together
    lift    (n_classes,) exp(c)
    """
    logits -= logits.max(axis=0)  # once for all powers: the largest stays the largest
    at_truth = logits[true_label, :, np.arange(len(true_label))].T
    values = power * (at_truth.sum(axis=1) if weight is None else at_truth @ weight)[:, None]
    for start in range(0, power.shape[1], at_once):
        some = power[:, start : start + at_once]
        share = logits[:, :, None, :] * some[:, :, None]
        np.exp(share, out=share)
        log_total = np.log(np.tensordot(lift, share, axes=1))
        values[:, start : start + at_once] -= log_total.sum(axis=2) if weight is None else log_total @ weight
    return np.asarray(values)


def dependence_proba(log_proba: Floats, log_given: Floats, nodes: DependenceNodes) -> Floats:
    """Probability of each class: the mean over nodes of ``softmax(e^-rho (e^-tau Z + L) + c)``.

    log_proba, log_given  (n_classes, n_items), Z and L
    returns               (n_classes, n_items)
    """
    total: Floats | None = None
    for at in np.unique(nodes.bias_of):
        lift, here = np.exp(nodes.bias[at]), nodes.bias_of == at
        mean: Floats | None = None
        for tau in np.unique(nodes.log_temperature[here]):
            logits = np.exp(-tau) * log_proba
            logits += log_given
            logits -= logits.max(axis=0)
            some = here & (nodes.log_temperature == tau)
            for rho, weight in zip(nodes.log_dependence[some], nodes.weight[some], strict=True):
                share = logits * np.exp(-rho)
                np.exp(share, out=share)
                share *= weight / (lift @ share)
                mean = share if mean is None else np.add(mean, share, out=mean)
        assert mean is not None
        if nodes.bias[at].any():
            mean *= lift[:, None]
        total = mean if total is None else np.add(total, mean, out=total)
    assert total is not None
    return total
