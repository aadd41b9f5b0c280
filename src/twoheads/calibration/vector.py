"""Vector scaling: a slope and an intercept for every class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from twoheads.calibration.base import Calibrator
from twoheads.engines.blocks import sum_blocks
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.affine import diagonal_curvature, diagonal_loss, diagonal_map
from twoheads.kernels.numerics.newton import near_minimum
from twoheads.storage.artifact import register


@register
class VectorScaling(Calibrator):
    r"""Calibrated probabilities proportional to :math:`m_k^{w_k} e^{b_k}`, with a prior around the identity.

    The fit minimises the log-loss, summed over items, plus

    .. math:: \frac{\rho}{2} \sum_k \left[ (w_k - 1)^2 + b_k^2 \right]:

    Normal priors around the identity of variance :math:`1/\rho`, which fade as labels come in. With :math:`\rho = 0` it
    is the published method, which has no finite solution if the labels are separable, as few labels always are.

    Parameters
    ----------
    regularisation : float
        :math:`\rho`, not negative. The default is a standard deviation of 0.3.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes,)
        The slopes :math:`w`.
    intercept_ : ndarray of shape (n_classes,)
        The intercepts :math:`b`; they sum to 0.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger, *On Calibration of Modern Neural Networks*, ICML 2017.

    Examples
    --------
    >>> model = [[0.8, 0.2]] * 10
    >>> truth = [0] * 6 + [1] * 4
    >>> VectorScaling(regularisation=0).fit(model, truth).predict_proba(model)[0].round(2).tolist()
    [0.6, 0.4]
    """

    def __init__(self, *, regularisation: float = 10.0, model_scale: str = "probability") -> None:
        self.regularisation = regularisation
        self.model_scale = model_scale

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Newton's method from the identity."""
        if not 0.0 <= self.regularisation < np.inf:
            raise InvalidParameter(
                f"regularisation must be a number of at least 0; it is {self.regularisation!r}. Try 10."
            )

        def loss(x: Floats) -> tuple[float, Floats]:
            value, gradient = sum_blocks(lambda block: diagonal_loss(block, x), blocks)
            return value, gradient

        def curvature(x: Floats) -> Floats:
            return np.asarray(sum_blocks(lambda block: diagonal_curvature(block, x), blocks)[0])

        identity = np.stack([np.ones(n_classes), np.zeros(n_classes)])
        found = near_minimum(loss, curvature, identity, np.full_like(identity, self.regularisation))
        self.coef_, self.intercept_ = found
        return self

    def calibrate(self, log_proba: Floats) -> Floats:
        """Log of the scaled probabilities, normalised, (n_classes, n_items)."""
        return diagonal_map(log_proba, np.stack([self.coef_, self.intercept_]))

    def log_prior(self) -> float:
        """Log-density of slopes and intercepts, up to a constant."""
        return -0.5 * self.regularisation * float(((self.coef_ - 1.0) ** 2).sum() + (self.intercept_**2).sum())
