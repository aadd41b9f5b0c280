r"""A ridge regression of the truth on a left-out posterior and on members' features.

For item i and class k, with l the log of a posterior that was fitted without the item,

    z_ik = a l_ik + c_k + sum_j u_j x_ikj,    a ~ Normal(1, .2^2),  c_k ~ Normal(0, .2^2),  u_j ~ Normal(0, s^2)

and P(y = k) is the softmax of z_i. A vote of member j for class k is a feature x_ikj = 1 / d_i, a missing one is 0. A
score is the vote of its side, and a second feature of its member: its standardised level over d_i, times the rank of
the class, which is 0, 1/(K-1), ..., 1 in the order of the classes. The parameters are theta = (a, c, u).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import one_hot
from twoheads.kernels.numerics.newton import near_minimum
from twoheads.kernels.priors import PANEL_INTERCEPT_SD, PANEL_SLOPE_SD

#: Newton's last step is as small as the square root of this: what is left after it is of this size.
TOLERANCE = 1e-8


@dataclass(frozen=True)
class PanelData:
    """Labelled items as input of the regression.

    design      (n_items, n_classes, n_parameters) derivatives of z in theta, from `design_of`
    true_label  (n_items,)
    weight      (n_items,)
    """

    design: Floats
    true_label: Codes
    weight: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.design.shape[1])

    @property
    def n_weights(self) -> int:
        """Number of members' weights u."""
        return int(self.design.shape[2]) - 1 - self.n_classes

    def target(self) -> Floats:
        """The truth as probabilities, (n_items, n_classes)."""
        return one_hot(self.true_label, self.n_classes).T

    @cached_property
    def contrast(self) -> Floats:
        """Derivatives of the log-odds of the second of two classes in theta, (n_items, n_parameters)."""
        return np.asarray(self.design[:, 1] - self.design[:, 0])


@dataclass(frozen=True)
class RidgeMode:
    """The posterior mode at one scale s.

    theta       (n_parameters,)
    covariance  (n_parameters, n_parameters) inverse of the Hessian there
    """

    theta: Floats
    covariance: Floats


def design_of(log_posterior: Floats, votes: Floats, levels: Floats | None = None) -> Floats:
    """Derivatives of z in theta, (n_items, n_classes, 1 + n_classes + n_weights).

    log_posterior  (n_classes, n_items) l
    votes          (n_items, n_classes, n_members) x
    levels         (n_items, n_scored) x of the last class; None where nobody gives scores
    """
    n_classes, n_items = log_posterior.shape
    n_members, n_scored = votes.shape[2], 0 if levels is None else levels.shape[1]
    design = np.zeros((n_items, n_classes, 1 + n_classes + n_members + n_scored))
    design[:, :, 0] = log_posterior.T
    design[:, :, 1 : 1 + n_classes] = np.eye(n_classes)
    design[:, :, 1 + n_classes : 1 + n_classes + n_members] = votes
    if levels is not None:
        design[:, :, 1 + n_classes + n_members :] = class_ranks(n_classes)[:, None] * levels[:, None, :]
    return design


def class_ranks(n_classes: int) -> Floats:
    """The rank of each class, 0, 1/(K-1), ..., 1."""
    return np.arange(n_classes) / (n_classes - 1)


def prior_of(n_classes: int, n_weights: int, scale: float) -> tuple[Floats, Floats]:
    """Mean and precision of theta, (n_parameters,) each."""
    mean = np.concatenate([[1.0], np.zeros(n_classes + n_weights)])
    sd = np.concatenate([[PANEL_SLOPE_SD], np.full(n_classes, PANEL_INTERCEPT_SD), np.full(n_weights, scale)])
    return mean, sd**-2.0


def fit_ridge(data: PanelData, scale: float, start: Floats | None = None) -> RidgeMode:
    """The posterior mode of theta, by Newton's method.

    start  (n_parameters,) where the search begins; None for the prior mean
    """
    mean, precision = prior_of(data.n_classes, data.n_weights, scale)
    theta = near_minimum(
        lambda at: _loss(data, at), lambda at: _hessian(data, at), mean, precision, start=start, tol=TOLERANCE
    )
    factor = cho_factor(_hessian(data, theta) + np.diag(precision))
    return RidgeMode(theta, np.asarray(cho_solve(factor, np.eye(len(theta)))))


def logits_of(design: Floats, theta: Floats) -> Floats:
    """z, (n_items, n_classes)."""
    return np.asarray((_flat(design) @ theta).reshape(design.shape[:2]))


def softmax(logits: Floats) -> Floats:
    """Probabilities, (n_items, n_classes)."""
    proba = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def _loss(data: PanelData, theta: Floats) -> tuple[float, Floats]:
    """The negative log-likelihood and its gradient."""
    if data.n_classes == 2:
        odds = data.contrast @ theta
        loss = np.logaddexp(0.0, np.where(data.true_label == 1, -odds, odds))
        return float(data.weight @ loss), (data.weight * (expit(odds) - data.true_label)) @ data.contrast
    logits = logits_of(data.design, theta)
    shifted = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(shifted).sum(axis=1)
    own = shifted[np.arange(len(shifted)), data.true_label]
    residual = (np.exp(shifted) / total[:, None] - data.target()) * data.weight[:, None]
    return float(data.weight @ (np.log(total) - own)), residual.ravel() @ _flat(data.design)


def _hessian(data: PanelData, theta: Floats) -> Floats:
    """The Hessian of the negative log-likelihood, sum_i w_i F_i' (diag p_i - p_i p_i') F_i."""
    if data.n_classes == 2:
        odds = data.contrast @ theta
        curvature = data.weight * expit(odds) * expit(-odds)
        return np.asarray(data.contrast.T @ (curvature[:, None] * data.contrast))
    proba, flat = softmax(logits_of(data.design, theta)), _flat(data.design)
    weighted = proba * data.weight[:, None]
    mean = (proba[:, None, :] @ data.design)[:, 0] * np.sqrt(data.weight)[:, None]
    return np.asarray(flat.T @ (weighted.reshape(-1, 1) * flat) - mean.T @ mean)


def _flat(design: Floats) -> Floats:
    return design.reshape(-1, design.shape[2])
