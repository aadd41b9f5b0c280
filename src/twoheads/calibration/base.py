"""Base class of calibrators: maps from a model's probabilities to calibrated ones, learnt from soft targets."""

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
from twoheads.kernels.priors import CALIBRATED_MEAN, CALIBRATED_SD, LOG_TEMPERATURE_MEAN
from twoheads.kernels.simplex import LOG_FLOOR
from twoheads.observations import as_model, as_targets, as_weight
from twoheads.tables.scanned import read_if_scanned, read_labelled


class Calibrator(ClassifierMixin, BaseEstimator, ABC):
    """A map from a model's probabilities to calibrated ones.

    A calibrator is itself a scikit-learn classifier, with the model's probabilities as ``X``, (n_items, n_classes). A
    new one implements two methods: ``fit_blocks`` learns from blocks with hard or soft targets, so that the same code
    works inside EM; ``calibrate`` maps log-probabilities to calibrated log-probabilities. The other methods have
    defaults. `twoheads.testing.check_calibrator` tests the whole contract.
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
        """`calibrate` up to a constant per item; enough where more is added before normalising."""
        return self.calibrate(log_proba)

    def log_prior(self) -> float:
        """Log-density of the fitted parameters under their prior, up to a constant; 0 without a prior."""
        return 0.0

    def start(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Set the parameters to the prior belief: the model is calibrated as it is."""
        soft = transform_blocks(lambda block: replace(block, true_label=None, target=np.exp(block.log_proba)), blocks)
        return self.fit_blocks(soft, n_classes)

    def fit_statistics(self, values: Floats, *, sampled: bool) -> bool:
        """Fit from the log-likelihood at fixed temperatures, summed over all items; False where that is not enough.

        values   (n_nodes,) from `log_likelihood_at_nodes`
        sampled  whether only a sample of the items is left to fit on otherwise
        """
        return False

    # Inside EM

    @property
    def has_em_step(self) -> bool:
        """Whether `em_sums` and `em_step` replace a fit inside EM; else EM calls `fit_blocks` with soft targets."""
        return False

    def em_sums(self, log_proba: Floats, calibrated: Floats, responsibility: Floats) -> tuple[float, ...]:
        """Numbers, to be summed over items, from which `em_step` improves the parameters.

        log_proba       (n_classes, n_items)
        calibrated      (n_classes, n_items), the result of `calibrate`
        responsibility  (n_classes, n_items), times the items' weights
        """
        return ()

    def em_step(self, sums: tuple[float, ...]) -> Self:
        """Improve the parameters, from the sums over all items."""
        return self

    def step_back(self, earlier: Calibrator) -> bool:
        """Go half the way back to an earlier estimate after too long a step; False if that changes nothing."""
        return False

    # Used by the correction for dependence, which has its own temperature, tau.

    def dependence_input(self, log_proba: Floats) -> Floats:
        """The model's log-probabilities before tau is applied: calibrated, unless tau is the calibration itself."""
        return np.maximum(self.calibrate(log_proba), LOG_FLOOR)

    def log_temperature_prior(self) -> tuple[float, float]:
        """Location and scale of the prior of tau."""
        return CALIBRATED_MEAN, CALIBRATED_SD

    def log_temperature_after_em(self) -> float:
        """Location of tau's prior once EM has fitted this calibrator."""
        return CALIBRATED_MEAN

    def search_prior(self) -> tuple[float, float]:
        """Normal prior of log T around whose posterior mode a likelihood of T is computed most precisely."""
        return LOG_TEMPERATURE_MEAN, np.inf

    def hold(self, log_temperature: float) -> Self:
        """Fix the temperature at a value estimated elsewhere, with no uncertainty; no effect without a temperature."""
        return self

    def slope(self) -> float:
        """Factor on the model's log-odds, if the calibration is such a factor; else 1."""
        return 1.0

    def temperature_estimate(
        self, level: float = 0.95, unit: float = 1.0
    ) -> tuple[float, float | None, float | None] | None:
        """The temperature and its credible interval; None for calibrators without a temperature.

        unit  weight of one item where weighted items count as Kish's number of them
        """
        return None

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from probabilities ``X`` (n_items, n_classes) and labels ``y``, or soft labels of the same shape.

        A scanned table contains its labels.
        """
        X, y, sample_weight = read_labelled(X, y, sample_weight)
        model = as_model(X, y=y, model_scale=self.model_scale)
        true_label, target = as_targets(y, model)
        weight = as_weight(sample_weight, len(model))
        slices = block_slices(len(model), model.n_classes)
        blocks = list(
            map_blocks(lambda rows: model.block(rows, true_label=true_label, target=target, weight=weight), slices)
        )
        self.classes_ = model.classes
        self.n_features_in_ = model.n_classes
        self.__dict__.pop("feature_names_in_", None)
        if model.columns is not None:
            self.feature_names_in_ = np.array(model.columns[-model.n_classes :], dtype=object)
        return self.fit_blocks(blocks, model.n_classes)

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities, (n_items, n_classes)."""
        check_is_fitted(self)
        X, _ = read_if_scanned(X, truth=False)
        model = as_model(X, classes=self.classes_, model_scale=self.model_scale)
        out = np.empty((len(model), model.n_classes))

        def write(rows: slice) -> None:
            out[rows] = np.exp(self.calibrate(model.block(rows).log_proba)).T

        for _ in map_blocks(write, block_slices(len(model), model.n_classes)):
            pass
        return out

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class of each item."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])
