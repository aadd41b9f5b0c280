"""Several models as one: each calibrated by itself, then averaged with weights fitted on the labelled items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, clone

from twoheads.calibration.base import Calibrator
from twoheads.calibration.identity import Identity
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.answers import vote_shares
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.numerics.content import content_order, marks_of, name_hashes, sample_hashes
from twoheads.kernels.panel.models import ModelPanel, fit_models, model_features, models_log_proba
from twoheads.kernels.priors import LOG_WEIGHT_SD
from twoheads.kernels.simplex import LOG_FLOOR, log_softmax_sums, mean_log_proba
from twoheads.storage.artifact import register

#: Fewest models, and fewest labels per class, for weights of the models' own: each class has a bias.
FEWEST_MODELS, LABELS_PER_CLASS = 3, 10
#: Most classes, labelled items, and of their log-probabilities.
MOST_CLASSES, MOST_ITEMS, MOST_NUMBERS = 100, 2500, 10_000


@register
class ModelPool(BaseEstimator):
    r"""A weighted mean of models' calibrated log-probabilities, over the models that have a row for the item.

    .. math:: \log m = \frac{\sum_v a_v \log c_v(m_v)}{\sum_v a_v}

    A mean, not a sum: models that err alike are not counted twice. A temperature of the mean measures what they are
    worth beyond one model. Without labels, the weights are fitted to people's answers. With three models or more,
    some labels and nobody's answers on them, the mean is then corrected as a panel's posterior is
    (`kernels.panel.models`): models that repeat each other get less weight, models that see what others do not get
    more, and a bias of each class is removed.

    Attributes
    ----------
    calibrators_ : tuple of Calibrator
        One per model.
    weight_ : ndarray of shape (n_models,)
        The models' weights; they sum to 1.
    own_share_ : float
        Posterior probability that models need weights of their own; 0 where these were not fitted.
    coefficient_, covariance_ : ndarray of shape (n_parameters,), (n_parameters, n_parameters)
        Mean and covariance of the panel's parameters (a, c, u); empty where they were not fitted.
    """

    def __init__(self, calibrator: Calibrator) -> None:
        self.calibrator = calibrator

    def start(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Fit the weights to people's answers when there are no labels; the models are not recalibrated."""
        self.calibrators_ = (Identity().start([], n_classes),) * len(blocks[0].members)
        self._fit_weights([_answered(block) for block in blocks])
        return self._set_panel(None)

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Learn from labelled blocks: each model's calibrator, then the weights."""
        self.calibrators_ = tuple(
            clone(self.calibrator).fit_blocks(_of_model(blocks, at), n_classes) for at in range(len(blocks[0].members))
        )
        self._fit_weights(blocks)
        return self._set_panel(self._fit_panel(blocks, n_classes))

    def _fit_panel(self, blocks: Sequence[Block], n_classes: int) -> ModelPanel | None:
        """The models' own weights, from labelled items, of many a sample; None where models or labels are too few.

        None beside people, too: their weight is judged by the same labels, which would flatter the models.
        """
        if any(block.answers is not None and block.has_answer().any() for block in blocks):
            return None
        labels = sum(block.total_weight() for block in blocks)
        too_few = len(self.weight_) < FEWEST_MODELS or labels < LABELS_PER_CLASS * n_classes
        if too_few or n_classes > MOST_CLASSES:
            return None
        block = joined(blocks)
        limit = min(MOST_ITEMS, MOST_NUMBERS // n_classes)
        if block.n_items > limit:
            hashes = sample_hashes(block, name_hashes(()), marks_of(block, 0))
            block = block.take(np.sort(content_order(*hashes)[:limit]))
        assert block.true_label is not None
        calibrated = self._calibrated(block)
        weight = np.ones(block.n_items) if block.weight is None else block.weight
        if block.no_model is not None:
            weight = weight * ~block.no_model
        log_mean = mean_log_proba(tuple(calibrated), self.weight_)
        log_mean[:, np.isnan(log_mean[0])] = -np.log(n_classes)
        return fit_models(log_mean, model_features(calibrated), block.true_label, weight)

    def _set_panel(self, panel: ModelPanel | None) -> Self:
        panel = panel or ModelPanel(0.0, np.empty(0), np.empty((0, 0)))
        self.own_share_, self.coefficient_, self.covariance_ = panel.share, panel.theta, panel.covariance
        return self

    def _fit_weights(self, blocks: Sequence[Block]) -> None:
        """Posterior mode of the weights in ``softmax(sum_v w_v log c_v)``, then scaled to sum to 1.

        ``log w_v`` is Normal around that of equal weights.
        """
        n_models = len(blocks[0].members)
        equal = np.full(n_models, -np.log(n_models))

        def loss(log_weight: Floats) -> tuple[float, Floats]:
            weight = np.exp(log_weight)
            value, gradient = sum_blocks(lambda block: self._sums(block, weight), blocks)
            away = (log_weight - equal) / LOG_WEIGHT_SD
            return 0.5 * float(away @ away) - value, away / LOG_WEIGHT_SD - gradient * weight

        weight = np.exp(minimize(loss, equal, jac=True, method="L-BFGS-B").x)
        self.weight_ = weight / weight.sum()

    def pooled(self, block: Block) -> Block:
        """The block with one model in place of all."""
        calibrated = self._calibrated(block)
        log_proba = mean_log_proba(tuple(calibrated), self.weight_)
        if block.no_model is not None:
            log_proba[:, block.no_model] = -np.log(len(log_proba))
        if self.own_share_ > 0:
            panel = ModelPanel(self.own_share_, self.coefficient_, self.covariance_)
            log_proba = models_log_proba(panel, log_proba, model_features(calibrated))
            if block.no_model is not None:
                log_proba[:, block.no_model] = -np.log(len(log_proba))
        return replace(block, log_proba=log_proba, members=())

    def contributions(self, block: Block) -> list[Floats]:
        """The contribution of each model to the mean, before it is normalised, (n_classes, n_items) each."""
        calibrated = self._calibrated(block)
        total = sum(weight * ~np.isnan(log[0]) for weight, log in zip(self.weight_, calibrated, strict=True))
        with np.errstate(invalid="ignore"):
            parts = [np.nan_to_num(w * log / total) for w, log in zip(self.weight_, calibrated, strict=True)]
        if not self.own_share_ > 0:
            return parts
        slope, own = self.coefficient_[0], self.coefficient_[-len(parts) :]
        features = model_features(calibrated)
        return [slope * part + own[at] * features[:, :, at].T for at, part in enumerate(parts)]

    def _calibrated(self, block: Block) -> list[Floats]:
        """Each model's calibrated log-probabilities; NaN where it has no row."""
        logs = []
        for calibrator, member in zip(self.calibrators_, block.members, strict=True):
            here = ~np.isnan(member[0])
            log = np.full(member.shape, np.nan)
            log[:, here] = np.maximum(calibrator.calibrate(np.ascontiguousarray(member[:, here])), LOG_FLOOR)
            logs.append(log)
        return logs

    def _sums(self, block: Block, weight: Floats) -> tuple[float, Floats]:
        assert block.true_label is not None
        logs = [np.nan_to_num(log, nan=0.0) for log in self._calibrated(block)]
        return log_softmax_sums(logs, weight, block.true_label, block.weight)


def _answered(block: Block) -> Block:
    """The block with the majority answer as truth; items without an answer, or with a tie, have weight 0.

    A tie is for no class: with the first of those tied the weights would depend on the order of the classes.
    """
    assert block.answers is not None
    shares = vote_shares(block.answers, len(block.log_proba))
    decided = (shares == shares.max(axis=0)).sum(axis=0) == 1
    weight = (decided & (block.answers.per_item() > 0)).astype(np.float64)
    if block.weight is not None:
        weight *= block.weight
    return replace(block, true_label=shares.argmax(axis=0), weight=weight)


def _of_model(blocks: Sequence[Block], at: int) -> list[Block]:
    """The items that one model has a row for, with that model only; one uniform row where there are none."""
    found = []
    for block in blocks:
        here = np.flatnonzero(~np.isnan(block.members[at][0]))
        log_proba = np.ascontiguousarray(block.members[at][:, here])
        truth = None if block.true_label is None else block.true_label[here]
        weight = None if block.weight is None else block.weight[here]
        if len(here):
            found.append(Block(log_proba, true_label=truth, weight=weight))
    n_classes = len(blocks[0].log_proba)
    nothing = Block(np.full((n_classes, 1), -np.log(n_classes)), true_label=np.zeros(1, np.intp), weight=np.zeros(1))
    return found or [nothing]
