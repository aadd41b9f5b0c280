"""I-Max binning: the log-odds of a class cut into the bins that keep most information about it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Self

import numpy as np
from scipy.special import expit

from twoheads.calibration.base import Calibrator
from twoheads.engines.blocks import map_blocks, sum_blocks
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.imax import bin_counts, bin_of, information_bins, log_odds
from twoheads.kernels.simplex import normalise_log
from twoheads.storage.artifact import register


@register
class IMaxBinning(Calibrator):
    r"""Each class's probability is replaced by the observed rate of its bin; rows are then normalised.

    The one-vs-rest log-odds :math:`\lambda_k = \log m_k / (1 - m_k)` are cut into bins that maximise the mutual
    information of the bin and whether the class is true. Edges and representatives of the bins are optimised in turn,
    assuming a calibrated model, :math:`P(y = k \mid \lambda_k) = 1 / (1 + e^{-\lambda_k})`. A bin with :math:`c` items,
    :math:`t` of them true, and the representative :math:`\phi` then has the probability

    .. math:: (t + 1 / (1 + e^{-\phi})) / (c + 1):

    the observed rate with one pseudo-observation at the model's probability. So an empty bin keeps the model's
    probability, and no bin has probability 0 or 1.

    Parameters
    ----------
    n_bins : int
        How many bins, at least 2.
    mode : {"shared", "class_wise"}
        One set of bins for the merged log-odds of all classes (the paper's sCW), or one for each class (CW), which
        needs enough items of every class.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    edges_ : ndarray of shape (1 or n_classes, n_bins - 1)
        Log-odds at which one bin ends and the next begins; a value on an edge belongs to the bin above.
    bin_proba_ : ndarray of shape (1 or n_classes, n_bins)
        The probability of each bin.

    References
    ----------
    Patel, Beluch, Yang, Pfeiffer & Zhang, *Multi-Class Uncertainty Calibration via Mutual Information
    Maximization-based Binning*, ICLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> model = np.array([[0.9, 0.1]] * 99 + [[0.4, 0.6]] * 99)
    >>> truth = [0] * 66 + [1] * 33 + [0] * 33 + [1] * 66
    >>> IMaxBinning(n_bins=4).fit(model, truth).predict_proba([[0.9, 0.1], [0.4, 0.6]]).round(2).tolist()
    [[0.67, 0.33], [0.33, 0.67]]
    """

    def __init__(self, *, n_bins: int = 15, mode: str = "shared", model_scale: str = "probability") -> None:
        self.n_bins = n_bins
        self.mode = mode
        self.model_scale = model_scale

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Find the bins from the model's log-odds, then count the true labels in each."""
        self._check()
        values = np.concatenate(list(map_blocks(lambda block: log_odds(block.log_proba), blocks)), axis=1)
        weight = _weight(blocks)
        if self.mode == "shared":
            values = values.reshape(1, -1)
            weight = None if weight is None else np.tile(weight, n_classes)
        bins = [information_bins(row, weight, self.n_bins) for row in values]
        self.edges_ = np.stack([edges for edges, _ in bins])
        expected = expit(np.stack([representative for _, representative in bins]))
        every, true = sum_blocks(lambda block: bin_counts(block, self.edges_), blocks)
        self.bin_proba_ = (true + expected) / (every + 1.0)
        return self

    def calibrate(self, log_proba: Floats) -> Floats:
        """Log of the bins' probabilities, normalised over classes, (n_classes, n_items)."""
        code = bin_of(log_odds(log_proba), self.edges_)
        log_bin_proba = np.log(self.bin_proba_)
        calibrated = (
            log_bin_proba[0][code] if self.mode == "shared" else np.take_along_axis(log_bin_proba, code, axis=1)
        )
        return normalise_log(calibrated)

    def _check(self) -> None:
        if not isinstance(self.n_bins, Integral) or self.n_bins < 2:
            raise InvalidParameter(f"n_bins must be a whole number of at least 2; it is {self.n_bins!r}. Try 15.")
        if self.mode not in ("shared", "class_wise"):
            raise InvalidParameter(f"mode must be 'shared' or 'class_wise'; it is {self.mode!r}.")


def _weight(blocks: Sequence[Block]) -> Floats | None:
    """Weights of all items, or None where no block has any."""
    if all(block.weight is None for block in blocks):
        return None
    return np.concatenate([np.ones(block.n_items) if block.weight is None else block.weight for block in blocks])
