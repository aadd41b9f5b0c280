"""What every calibrator is: a map from a model's probabilities to calibrated ones, learnt from soft targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from twoheads.engines.blocks import block_slices, map_blocks, transform_blocks
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.observations import as_model, as_targets, as_weight


class Calibrator(ClassifierMixin, BaseEstimator, ABC):
    """A map from a model's probabilities to calibrated ones.

    A calibrator is a scikit-learn classifier of its own whose ``X`` are the model's probabilities, (n_items,
    n_classes). A new one writes two methods: ``fit_blocks`` learns from blocks whose target is hard or soft, so that
    the same code
    serves inside EM; ``calibrate`` maps log-probabilities to calibrated log-probabilities.
    """

    model_scale: str
    classes_: np.ndarray[Any, Any]

    @abstractmethod
    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Learn from blocks with a target (hard or soft) and weights."""

    @abstractmethod
    def calibrate(self, log_proba: Floats) -> Floats:
        """Calibrated log-probabilities, normalised.

        log_proba  (n_classes, n_items), normalised; may be overwritten
        returns    (n_classes, n_items)
        """

    def unnormalised(self, log_proba: Floats) -> Floats:
        """What `calibrate` gives, up to a constant per item: enough where more is added before it is normalised."""
        return self.calibrate(log_proba)

    def log_prior(self) -> float:
        """Log-density of the fitted parameters under their prior, up to a constant: 0 where there is none."""
        return 0.0

    #: Whether `em_sums` and `em_step` can stand for a fit inside EM; else EM calls `fit_blocks` with soft targets.
    learns_from_sums: bool = False

    def start(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Set the parameters to what is believed before any truth is known: that the model is calibrated as it is."""
        soft = transform_blocks(lambda block: replace(block, true_label=None, target=np.exp(block.log_proba)), blocks)
        return self.fit_blocks(soft, n_classes)

    def em_sums(self, log_proba: Floats, calibrated: Floats, responsibility: Floats) -> tuple[float, ...]:
        """Numbers, to be summed over items, from which `em_step` betters the parameters.

        log_proba       (n_classes, n_items)
        calibrated      (n_classes, n_items), what `calibrate` makes of it
        responsibility  (n_classes, n_items), times the items' weights
        """
        return ()

    def em_step(self, sums: tuple[float, ...]) -> None:
        """Better the parameters from the sums over all items."""

    def step_back(self, earlier: Calibrator) -> bool:
        """Go half the way back to an earlier estimate after too long a step; False where there is no way back."""
        return False

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from probabilities ``X`` (n_items, n_classes) and labels ``y``, or soft labels of the same shape."""
        seen = as_model(X, y=y, model_scale=self.model_scale)
        true_label, target = as_targets(y, seen)
        weight = as_weight(sample_weight, len(seen))
        slices = block_slices(len(seen), seen.n_classes)
        blocks = list(
            map_blocks(lambda rows: seen.block(rows, true_label=true_label, target=target, weight=weight), slices)
        )
        self.classes_ = seen.classes
        self.n_features_in_ = seen.n_classes
        self.__dict__.pop("feature_names_in_", None)
        if seen.columns is not None:
            self.feature_names_in_ = np.array(seen.columns[-seen.n_classes :], dtype=object)
        return self.fit_blocks(blocks, seen.n_classes)

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities, (n_items, n_classes)."""
        check_is_fitted(self)
        seen = as_model(X, classes=self.classes_, model_scale=self.model_scale)
        out = np.empty((len(seen), seen.n_classes))

        def write(rows: slice) -> None:
            out[rows] = np.exp(self.calibrate(seen.block(rows).log_proba)).T

        for _ in map_blocks(write, block_slices(len(seen), seen.n_classes)):
            pass
        return out

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class of each item."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])
