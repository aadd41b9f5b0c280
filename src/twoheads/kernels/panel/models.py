"""Related models as a panel: the regression's features are their calibrated log-probabilities, its base their mean.

For item i and class k, with l the log of the pooled mean, x the log-probability of model v less its mean over classes,
and M the number of models with a row,

    z_ik = a l_ik + c_k + sum_v u_v x_ikv / M_i

with the priors of `ridge`. A model without a row adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.panel.average import fit_panel
from twoheads.kernels.panel.prediction import leading_two, moderated, moments
from twoheads.kernels.panel.ridge import PanelData, design_of
from twoheads.kernels.simplex import LOG_FLOOR, normalise_exp


@dataclass(frozen=True, eq=False)
class ModelPanel:
    """Parameters theta = (a, c, u) of related models.

    share       posterior probability that models need weights of their own
    theta       (1 + n_classes + n_models,) their mean
    covariance  of theta
    """

    share: float
    theta: Floats
    covariance: Floats


def model_features(logs: Sequence[Floats]) -> Floats:
    """The features x / M, (n_items, n_classes, n_models).

    logs  a (n_classes, n_items) of log-probabilities per model, NaN where it has no row
    """
    stacked = np.stack(logs, axis=2)
    number = np.maximum((~np.isnan(stacked[0])).sum(axis=1), 1)
    centred = np.nan_to_num(stacked - stacked.mean(axis=0), nan=0.0)
    return np.ascontiguousarray((centred / number[:, None]).transpose(1, 0, 2))


def fit_models(log_mean: Floats, features: Floats, true_label: Codes, weight: Floats) -> ModelPanel:
    """Learn from labelled items.

    log_mean  (n_classes, n_items) log-probabilities of the pooled mean
    """
    data = PanelData(design_of(log_mean, features), true_label, weight)
    found = fit_panel(data, np.exp(log_mean).T)
    if not found.modes:
        nothing = np.zeros(data.design.shape[2])
        return ModelPanel(0.0, nothing, np.zeros((len(nothing), len(nothing))))
    theta, covariance = zip(*((mode.theta, mode.covariance) for mode in found.modes), strict=True)
    return ModelPanel(float(1.0 - found.weight[-1]), *moments(found.weight[:-1], np.stack(theta), np.stack(covariance)))


def models_log_proba(panel: ModelPanel, log_mean: Floats, features: Floats) -> Floats:
    """Log-probabilities of the corrected mean, (n_classes, n_items)."""
    n_classes, every = len(log_mean), np.arange(log_mean.shape[1])
    slope, bias, own = np.split(panel.theta, [1, 1 + n_classes])
    logits = slope * log_mean + bias[:, None] + (features @ own).T
    first, second = leading_two(logits)
    lead = np.zeros((len(every), len(panel.theta)))
    lead[:, 0] = log_mean[first, every] - log_mean[second, every]
    lead[every, 1 + first], lead[every, 1 + second] = 1.0, -1.0
    lead[:, 1 + n_classes :] = features[every, first] - features[every, second]
    corrected = normalise_exp(moderated(logits, np.einsum("np,np->n", lead @ panel.covariance, lead)))
    mixed = (1.0 - panel.share) * np.exp(log_mean) + panel.share * corrected
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log(mixed), LOG_FLOOR))
