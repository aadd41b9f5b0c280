"""Correction for errors of people and model on the same items: the product of their likelihoods, tempered.

``logits = e^-rho (e^-tau log m + log phi[h, :]) + c``, with tau the model's log temperature, rho the log temperature
of the whole, which corrects for dependence (``log_dependence``), and c a bias per class. This module has the values of
the parameters and the prediction; `mode` finds the mode of their posterior, and `posterior` the nodes around it.

All arrays over classes and items are class-major. ``log_likelihood`` (n_classes, n_items) is ``log phi[h, :]``; when
fitting, out-of-fold or leave-one-out: from a matrix fitted without the item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twoheads.kernels.arrays import Codes, Floats


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
