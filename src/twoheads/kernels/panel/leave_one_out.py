"""Approximate leave-one-out predictions of the ridge regression, without refits, and their moderation."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.panel.prediction import leading_two, moderated
from twoheads.kernels.panel.ridge import PanelData, RidgeMode, logits_of, softmax


def left_out_proba(data: PanelData, mode: RidgeMode) -> Floats:
    """Probability of each class with the item's own truth left out, moderated, (n_items, n_classes).

    One Newton step from the mode without the item: with S = F H^-1 F' and W = diag p - p p' of the item, its logits
    are z + (I - w S W)^-1 w S (p - y), and their covariance is (I - w S W)^-1 S, with w the weight of the item.
    """
    if data.n_classes == 2:
        return _left_out_of_two(data, mode)
    logits = logits_of(data.design, mode.theta)
    spread = logit_covariance(data.design, mode.covariance)
    proba = softmax(logits)
    removed = data.weight[:, None, None]
    curvature = proba[:, :, None] * (np.eye(data.n_classes) - proba[:, None, :])
    left = np.eye(data.n_classes) - removed * (spread @ curvature)
    spread = np.asarray(np.linalg.solve(left, spread), dtype=np.float64)
    residual = (proba - data.target())[:, :, None]
    logits = logits + (removed * (spread @ residual))[:, :, 0]
    return softmax(moderated(logits.T, variance_of_lead(logits, spread)).T)


def _left_out_of_two(data: PanelData, mode: RidgeMode) -> Floats:
    """The same of two classes, by the log-odds of the second: S and W are numbers."""
    odds = data.contrast @ mode.theta
    spread = np.einsum("np,np->n", data.contrast @ mode.covariance, data.contrast)
    spread = spread / (1.0 - data.weight * spread * expit(odds) * expit(-odds))
    odds = odds + data.weight * spread * (expit(odds) - data.true_label)
    odds = moderated(odds, spread)
    return np.stack([expit(-odds), expit(odds)], axis=1)


def logit_covariance(design: Floats, covariance: Floats) -> Floats:
    """Posterior covariance of each item's logits, F H^-1 F', (n_items, n_classes, n_classes)."""
    n_parameters = design.shape[2]
    along = (design.reshape(-1, n_parameters) @ covariance).reshape(design.shape)
    return np.asarray(along @ design.transpose(0, 2, 1))


def variance_of_lead(logits: Floats, spread: Floats) -> Floats:
    """Variance of the difference of the logits of the two leading classes, (n_items,).

    spread  (n_items, n_classes, n_classes) covariance of the logits
    """
    first, second = leading_two(logits.T)
    item = np.arange(len(logits))
    variance = spread[item, first, first] + spread[item, second, second]
    return np.asarray(np.maximum(variance - spread[item, first, second] - spread[item, second, first], 0.0))
