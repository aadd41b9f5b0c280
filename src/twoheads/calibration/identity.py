"""No calibration: the model's probabilities as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from twoheads.calibration.base import Calibrator
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.storage.artifact import register


@register
class Identity(Calibrator):
    """Calibrated probabilities are the model's own, unchanged.

    Parameters
    ----------
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    n_classes_ : int
        Number of classes; nothing else is fitted.

    Examples
    --------
    >>> Identity().fit([[0.75, 0.25], [0.5, 0.5]], [0, 1]).predict_proba([[0.25, 0.75]]).round(2).tolist()
    [[0.25, 0.75]]
    """

    def __init__(self, *, model_scale: str = "probability") -> None:
        self.model_scale = model_scale

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Store the number of classes; there is nothing to fit."""
        self.n_classes_ = n_classes
        return self

    def calibrate(self, log_proba: Floats) -> Floats:
        """The same log-probabilities, (n_classes, n_items)."""
        return log_proba
