"""Dirichlet calibration: every calibrated log-probability from all of the model's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from twoheads.calibration.base import Calibrator
from twoheads.engines.blocks import sum_blocks
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.affine import full_curvature, full_loss, full_map
from twoheads.kernels.numerics.newton import near_minimum
from twoheads.storage.artifact import register


@register
class DirichletCalibration(Calibrator):
    r"""Calibrated probabilities :math:`\mathrm{softmax}(W \log m + b)`, the posterior for Dirichlet m in every class.

    The fit minimises the log-loss, summed over items of total weight n, plus

    .. math:: n \left[ \frac{\lambda}{K (K - 1)} \sum_{k \ne l} W_{kl}^2 + \frac{\mu}{K} \sum_k b_k^2 \right]
              + \frac{\rho}{2} \left[ \sum_k (W_{kk} - 1)^2 + \sum_k b_k^2 + K^2 \sum_{k \ne l} W_{kl}^2 \right].

    The first bracket is the paper's regularisation of off-diagonal weights and intercepts (ODIR); the paper chooses
    :math:`\lambda` and :math:`\mu` by cross-validation. The second is a Normal prior around the identity, which fades
    as labels come in: without it, few labels are over-fitted for any :math:`\lambda`.

    Parameters
    ----------
    off_diagonal_penalty : float
        :math:`\lambda`, not negative.
    intercept_penalty : float
        :math:`\mu`, not negative.
    regularisation : float
        :math:`\rho`, not negative; 0 gives the paper's objective. The default is a standard deviation of 0.3 for slopes
        and intercepts and of 0.3 / K off the diagonal.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_classes)
        W: ``coef_[k, l]`` is what the model's log-probability of l adds to the logit of k.
    intercept_ : ndarray of shape (n_classes,)
        b.
    total_weight_ : float
        Sum of the items' weights.

    Notes
    -----
    Up to 22 classes the fit is by Newton's method, beyond that by L-BFGS: 1,000 classes have a million weights.

    References
    ----------
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song & Flach, *Beyond temperature scaling: Obtaining well-calibrated
    multiclass probabilities with Dirichlet calibration*, NeurIPS 2019.

    Examples
    --------
    >>> model = [[0.8, 0.2]] * 10
    >>> truth = [0] * 6 + [1] * 4
    >>> DirichletCalibration(regularisation=0).fit(model, truth).predict_proba(model)[0].round(2).tolist()
    [0.6, 0.4]
    """

    def __init__(
        self,
        *,
        off_diagonal_penalty: float = 1e-3,
        intercept_penalty: float = 1e-3,
        regularisation: float = 10.0,
        model_scale: str = "probability",
    ) -> None:
        self.off_diagonal_penalty = off_diagonal_penalty
        self.intercept_penalty = intercept_penalty
        self.regularisation = regularisation
        self.model_scale = model_scale

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Newton's method or L-BFGS from the identity."""
        self._check()

        def loss(x: Floats) -> tuple[float, Floats]:
            value, gradient = sum_blocks(lambda block: full_loss(block, x), blocks)
            return value, gradient

        def curvature(x: Floats) -> Floats:
            return np.asarray(sum_blocks(lambda block: full_curvature(block, x), blocks)[0])

        self.total_weight_ = float(sum_blocks(lambda block: (block.total_weight(),), blocks)[0])
        identity = np.eye(n_classes, n_classes + 1)
        found = near_minimum(loss, curvature, identity, self._precision(n_classes))
        self.coef_, self.intercept_ = found[:, :-1].copy(), found[:, -1].copy()
        return self

    def calibrate(self, log_proba: Floats) -> Floats:
        """Log of the mapped probabilities, normalised, (n_classes, n_items)."""
        return full_map(log_proba, self._coefficients())

    def log_prior(self) -> float:
        """Log-density of weights and intercepts under all penalties, up to a constant."""
        coefficients = self._coefficients()
        away = coefficients - np.eye(*coefficients.shape)
        return -0.5 * float((self._precision(len(away)) * away**2).sum())

    def _coefficients(self) -> Floats:
        return np.concatenate([self.coef_, self.intercept_[:, None]], axis=1)

    def _precision(self, n_classes: int) -> Floats:
        """Twice the factor of each squared coefficient, measured from the identity, (n_classes, n_classes + 1)."""
        on, off = np.eye(n_classes), 1.0 - np.eye(n_classes)
        odir = 2.0 * self.total_weight_ * self.off_diagonal_penalty / (n_classes * (n_classes - 1))
        weights = self.regularisation * on + (self.regularisation * n_classes**2 + odir) * off
        intercept = self.regularisation + 2.0 * self.total_weight_ * self.intercept_penalty / n_classes
        return np.pad(weights, ((0, 0), (0, 1)), constant_values=intercept)

    def _check(self) -> None:
        for name, usual in (("off_diagonal_penalty", 1e-3), ("intercept_penalty", 1e-3), ("regularisation", 10)):
            value = getattr(self, name)
            if not 0.0 <= value < np.inf:
                raise InvalidParameter(f"{name} must be a number of at least 0; it is {value!r}. Try {usual}.")
