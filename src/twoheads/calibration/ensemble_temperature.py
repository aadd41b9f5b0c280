"""Ensemble temperature scaling: a mixture of the tempered model, the model and the uniform distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy.optimize import brentq

from twoheads.calibration.base import Calibrator
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.ensemble import best_weights, ensemble_products, log_ensemble, tempered_squared_error
from twoheads.storage.artifact import register

#: log T from 0.05 to 5, and 0 among them.
_GRID = np.log(np.concatenate([np.geomspace(0.05, 1.0, 4), np.geomspace(1.0, 5.0, 4)[1:]]))


@register
class EnsembleTemperatureScaling(Calibrator):
    r"""Calibrated probabilities :math:`w_0 m^{1/T} / \sum_k m_k^{1/T} + w_1 m + w_2 / K`, fitted by squared error.

    First T in [0.05, 5] minimises the squared error of the tempered probabilities alone; then, T held, the weights
    (not negative, sum 1) minimise that of the mixture. The first step is a search over one number, the second a convex
    quadratic problem solved exactly. Ties are resolved towards the simplest: T = 1, weights (1, 0, 0).

    Parameters
    ----------
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    temperature_ : float
        T.
    weights_ : ndarray of shape (3,)
        The shares of the tempered model, the model as it is, and the uniform distribution.

    References
    ----------
    Zhang, Kailkhura & Han, *Mix-n-Match: Ensemble and Compositional Methods for Uncertainty Calibration in Deep
    Learning*, ICML 2020.

    Examples
    --------
    >>> overconfident = [[0.99, 0.01]] * 4
    >>> calibrator = EnsembleTemperatureScaling().fit(overconfident, [0, 0, 0, 1])
    >>> calibrator.predict_proba(overconfident)[0].round(2).tolist()
    [0.75, 0.25]
    """

    def __init__(self, *, model_scale: str = "probability") -> None:
        self.model_scale = model_scale

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Find the temperature, then the weights."""
        log_temperature = _best_log_temperature(blocks)
        gram, cross = sum_blocks(lambda block: ensemble_products(block, log_temperature), blocks)
        self.temperature_ = float(np.exp(log_temperature))
        self.weights_ = best_weights(gram, cross)
        return self

    def calibrate(self, log_proba: Floats) -> Floats:
        """Log of the mixture, (n_classes, n_items)."""
        return log_ensemble(log_proba, np.log(self.temperature_), self.weights_)


def _best_log_temperature(blocks: Sequence[Block]) -> float:
    """Lowest of the minima that a grid brackets, where the derivative is 0; log T = 0 where nothing beats it."""

    def error(grid: Floats) -> tuple[Floats, Floats]:
        values, slopes = sum_blocks(lambda block: tempered_squared_error(block, grid), blocks)
        return values, slopes

    values, slopes = error(_GRID)
    falls = np.concatenate([[True], slopes < 0.0])
    rises = np.concatenate([slopes >= 0.0, [True]])
    padded = np.pad(values, 1, mode="edge")
    bracketed = np.flatnonzero(falls & rises)  # bracket i lies between grid points i - 1 and i
    best = bracketed[np.argmin(np.minimum(padded[bracketed], padded[bracketed + 1]))]
    low, high = _GRID[max(best - 1, 0)], _GRID[min(best, len(_GRID) - 1)]
    root = low if low == high else brentq(lambda tau: error(np.array([tau]))[1][0], low, high, xtol=1e-12)
    return 0.0 if error(np.array([root]))[0][0] >= values[_GRID == 0.0][0] else float(root)
