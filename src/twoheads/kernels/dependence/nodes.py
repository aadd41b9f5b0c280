"""Combination of people and model who err on the same items: the sum of their log-likelihoods, each with a factor.

``logits = alpha log m + beta log phi[h, :] + c``, with factors alpha and beta (`witnesses`) that follow from the
model's log temperature tau and the correlation r of the two, and c a bias per class. This module has the values of the
parameters and the prediction; `mode` finds the mode of their posterior, and `posterior` the nodes around it.

All arrays over classes and items are class-major. ``log_likelihood`` (n_classes, n_items) is ``log phi[h, :]``; when
fitting, out-of-fold or leave-one-out: from a matrix fitted without the item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twoheads.kernels.arrays import Codes, Floats

#: Logits within this range of each other need no shift before they are exponentiated.
SAFE_RANGE = 600.0


@dataclass(frozen=True, slots=True)
class DependenceNodes:
    """Values of the parameters and their posterior weights; a prediction is the weighted mean over them.

    log_temperature, correlation  (n_nodes,) tau and r
    model_factor, answer_factor   (n_nodes,) alpha and beta
    weight                        (n_nodes,)
    bias                          (n_biases, n_classes)
    bias_of                       (n_nodes,) which of the biases each node has
    """

    log_temperature: Floats
    correlation: Floats
    model_factor: Floats
    answer_factor: Floats
    weight: Floats
    bias: Floats
    bias_of: Codes


def dependence_proba(log_proba: Floats, log_likelihood: Floats, nodes: DependenceNodes) -> Floats:
    """Probability of each class: the mean over nodes of ``softmax(alpha Z + beta L + c)``.

    log_proba, log_likelihood  (n_classes, n_items), Z and L
    returns                    (n_classes, n_items)
    """
    if len(log_proba) == 2:
        z, given = log_proba[1] - log_proba[0], log_likelihood[1] - log_likelihood[0]
        if _widest(z, given, nodes) < SAFE_RANGE:
            return _two_classes(z, given, nodes)
    z, given = log_proba - log_proba.max(axis=0), log_likelihood - log_likelihood.max(axis=0)
    # The class that the model prefers has the logit beta L: exp does not underflow there, except for many answers.
    is_safe = np.abs(nodes.answer_factor).max() * -given.min(initial=0.0) < SAFE_RANGE
    total, share, part = np.zeros_like(z), np.empty_like(z), np.empty_like(z)
    for at in np.unique(nodes.bias_of):
        exp_bias, mean, here = np.exp(nodes.bias[at]), np.zeros_like(z), nodes.bias_of == at
        each = nodes.model_factor[here], nodes.answer_factor[here], nodes.weight[here]
        for model, answer, weight in zip(*each, strict=True):
            np.multiply(z, model, out=share)
            share += np.multiply(given, answer, out=part)
            if not is_safe:
                share -= share.max(axis=0)
            np.exp(share, out=share)
            share *= weight / (exp_bias @ share)
            mean += share
        total += mean * exp_bias[:, None] if nodes.bias[at].any() else mean
    return np.asarray(total)


def _widest(z: Floats, given: Floats, nodes: DependenceNodes) -> float:
    """A bound of the log-odds of two classes.

    z, given  (n_items,) log-odds of the second class, the model's and the answers'
    """
    parts = (z, nodes.model_factor), (given, nodes.answer_factor), (np.ones(1), np.diff(nodes.bias, axis=1))
    return float(sum(np.abs(odds).max(initial=0.0) * np.abs(factor).max(initial=0.0) for odds, factor in parts))


def _two_classes(z: Floats, given: Floats, nodes: DependenceNodes) -> Floats:
    """`dependence_proba` of two classes, from the log-odds of the second alone: half the work."""
    odds, part = np.empty_like(z), np.empty_like(z)
    total = np.zeros((2, len(z)))
    bias = np.diff(nodes.bias, axis=1)[nodes.bias_of, 0]
    each = nodes.model_factor, nodes.answer_factor, bias, nodes.weight
    for model, answer, shift, weight in zip(*each, strict=True):
        np.multiply(z, -model, out=odds)
        odds -= np.multiply(given, answer, out=part)
        if shift:
            odds -= shift
        np.exp(odds, out=odds)  # of the first class against the second
        np.add(odds, 1.0, out=part)
        np.divide(weight, part, out=part)
        total[1] += part
        total[0] += np.multiply(part, odds, out=part)
    return total
