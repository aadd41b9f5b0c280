"""Temperature scaling: one number for how over- or under-confident the model is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from twoheads.calibration.base import Calibrator
from twoheads.calibration.temperature_likelihood import log_likelihood_at_nodes
from twoheads.engines.blocks import count_items, sum_blocks
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import (
    LOG_TEMPERATURE_BOUNDS,
    NODE_RANGE,
    between_nodes,
    in_log_temperature,
    mode_between_nodes,
    newton_step,
    normal_log_density,
    temperature_slopes,
    temperature_values,
    tempered,
)
from twoheads.kernels.numerics.quadrature import gauss_rule, normalised_weights, support
from twoheads.kernels.priors import HELD_SD, LOG_TEMPERATURE_MEAN, LOG_TEMPERATURE_SD
from twoheads.storage.artifact import register


@register
class TemperatureScaling(Calibrator):
    r"""Calibrated probabilities :math:`m_j^{1/T} / \sum_k m_k^{1/T}`, with a Normal prior on :math:`\tau = \log T`.

    Parameters
    ----------
    log_temperature_mean, log_temperature_sd : float
        The prior of log T. An sd of 0 fixes T at ``exp(log_temperature_mean)``.
    estimate : {"mode", "mean", "likelihood"}
        The posterior's mode; the calibrated probabilities' posterior mean (T integrated out by quadrature); or the most
        likely T without a prior.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.

    Attributes
    ----------
    temperature_ : float
        The estimate of T; with ``estimate="mean"`` the exponential of the posterior mean of log T.
    log_temperature_, log_temperature_sd_ : float
        The estimate of log T and its posterior standard deviation (from the curvature at the mode, or exactly).
    nodes_, node_weights_ : ndarray
        The values of log T, and their weights, over which calibrated probabilities are averaged.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger, *On Calibration of Modern Neural Networks*, ICML 2017; the prior is that of Kerrigan,
    Smyth & Steyvers, NeurIPS 2021.

    Examples
    --------
    >>> overconfident = [[0.99, 0.01]] * 4
    >>> TemperatureScaling().fit(overconfident, [0, 0, 0, 1]).predict_proba(overconfident)[0].round(2).tolist()
    [0.89, 0.11]
    """

    def __init__(
        self,
        *,
        log_temperature_mean: float = LOG_TEMPERATURE_MEAN,
        log_temperature_sd: float = LOG_TEMPERATURE_SD,
        estimate: str = "mode",
        model_scale: str = "probability",
    ) -> None:
        self.log_temperature_mean = log_temperature_mean
        self.log_temperature_sd = log_temperature_sd
        self.estimate = estimate
        self.model_scale = model_scale

    def start(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Set the temperature to the mean of its prior."""
        self._check()
        self._set(0.0 if self.estimate == "likelihood" else self.log_temperature_mean)
        return self

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Learn from blocks: the log-likelihood at fixed temperatures is a sufficient statistic."""
        if self._is_held() or not blocks:
            return self.start(blocks, n_classes)
        values = log_likelihood_at_nodes(blocks, count_items(blocks), n_classes, self._prior())
        return self._fit(values, lambda tau: sum_blocks(lambda block: temperature_values(block, tau), blocks)[0])

    def fit_statistics(self, values: Floats, *, sampled: bool) -> bool:
        """Fit from `log_likelihood_at_nodes`; False to average over T if all items are available to do it exactly."""
        if self.estimate == "mean" and not sampled:
            return False
        if self._is_held():
            self.start([], 0)
        else:
            self._fit(values)
        return True

    def _prior(self) -> tuple[float, float]:
        """Mean and standard deviation of the prior of log T, the latter infinite without a prior."""
        return self.log_temperature_mean, np.inf if self.estimate == "likelihood" else self.log_temperature_sd

    def _fit(self, values: Floats, beyond: Callable[[Floats], Floats] | None = None) -> Self:
        """Learn from the log-likelihood at the nodes.

        beyond  computes it where a posterior reaches past the nodes; without it, it is that of the last node
        """
        self._check()
        mean, sd = self._prior()
        curve = between_nodes(values)
        mode, curvature = mode_between_nodes(curve, mean, sd)
        self._set(mode, 1.0 / np.sqrt(-curvature) if curvature < 0 else np.inf)

        def log_posterior(tau: Floats) -> Floats:
            inside = NODE_RANGE[0] <= tau.min() and tau.max() <= NODE_RANGE[1]
            value = curve(np.clip(tau, *NODE_RANGE)) if inside or beyond is None else beyond(tau)
            return np.asarray(value - 0.5 * ((tau - mean) / sd) ** 2)

        if self.estimate == "mean":
            self._integrate(log_posterior)
        return self

    def calibrate(self, log_proba: Floats) -> Floats:
        """Log of the tempered probabilities, averaged over the temperature's posterior where it was integrated."""
        if len(self.nodes_) == 1:
            return tempered(log_proba, self.log_temperature_)
        total = np.zeros_like(log_proba)
        for node, weight in zip(self.nodes_, self.node_weights_, strict=True):
            total += weight * np.exp(tempered(log_proba, node))
        with np.errstate(divide="ignore"):
            return np.log(total, out=total)

    def unnormalised(self, log_proba: Floats) -> Floats:
        """Log-probabilities divided by the temperature, where there is a single one."""
        if len(self.nodes_) == 1:
            return np.asarray(log_proba * np.exp(-self.log_temperature_))
        return self.calibrate(log_proba)

    def dependence_input(self, log_proba: Floats) -> Floats:
        """The log-probabilities as they are: tau is the temperature."""
        return log_proba

    def log_temperature_prior(self) -> tuple[float, float]:
        """The prior of log T; its sd becomes the scale of a Student t."""
        return self.log_temperature_mean, max(self.log_temperature_sd, HELD_SD)

    def log_temperature_after_em(self) -> float:
        """The fitted log T."""
        return self.log_temperature_

    def search_prior(self) -> tuple[float, float]:
        """Its own prior, unless the temperature is held."""
        return self._prior() if self.log_temperature_sd > 0 else super().search_prior()

    def hold(self, log_temperature: float) -> Self:
        """Fix the temperature at a value estimated elsewhere, with no uncertainty."""
        self._set(log_temperature)
        return self

    def slope(self) -> float:
        """1/T."""
        return float(np.exp(-self.log_temperature_))

    def temperature_estimate(self, level: float = 0.95, unit: float = 1.0) -> tuple[float, float | None, float | None]:
        """T and its credible interval; no interval if EM estimated it, since EM gives no uncertainty."""
        if not self.log_temperature_sd_ > 0:
            return self.temperature_, None, None
        return self.temperature_, *self.temperature_interval(level, unit)

    def temperature_interval(self, level: float = 0.95, unit: float = 1.0) -> tuple[float, float]:
        """Credible interval of T, from the normal approximation to the posterior of log T.

        ``unit`` is the weight of one item where weighted items count as Kish's number of them: what the labels say
        beside the prior has the precision of so many items. The interval always has the estimate.
        """
        check_is_fitted(self)
        before = 0.0 if self.estimate == "likelihood" or self._is_held() else self.log_temperature_sd**-2.0
        precision = max(self.log_temperature_sd_, 1e-300) ** -2.0
        mean, added = self.log_temperature_, max(precision - before, 0.0)
        if unit != 1.0 and added > 0.0:
            labels_alone = mean + before / added * (mean - self.log_temperature_mean)
            precision = before + added / unit
            mean = (before * self.log_temperature_mean + added / unit * labels_alone) / precision
        low, high = norm.interval(level, mean, precision**-0.5)
        return float(np.exp(min(low, self.log_temperature_))), float(np.exp(max(high, self.log_temperature_)))

    def log_prior(self) -> float:
        """Log-density of log T, up to a constant."""
        if self.estimate == "likelihood" or self._is_held():
            return 0.0
        return normal_log_density(self.log_temperature_, self.log_temperature_mean, self.log_temperature_sd)[0]

    @property
    def has_em_step(self) -> bool:
        """Whether one Newton step per iteration of EM is enough: not if the temperature is integrated out."""
        return self.estimate != "mean"

    def em_sums(self, log_proba: Floats, calibrated: Floats, responsibility: Floats) -> tuple[float, ...]:
        """Derivatives of the expected log-likelihood in 1/T."""
        return temperature_slopes(log_proba, calibrated, responsibility)

    def em_step(self, sums: tuple[float, ...]) -> Self:
        """One Newton step in log T."""
        if self._is_held():
            return self
        _, first, second = self._with_prior(self.log_temperature_, 0.0, *sums)
        self._set(float(np.clip(self.log_temperature_ + newton_step(first, second), *LOG_TEMPERATURE_BOUNDS)))
        return self

    def step_back(self, earlier: Calibrator) -> bool:
        """Go half the way back to an earlier log T, unless it is there already."""
        assert isinstance(earlier, TemperatureScaling)
        step = self.log_temperature_ - earlier.log_temperature_
        self._set(earlier.log_temperature_ + step / 2)
        return abs(step) > 1e-9

    def _check(self) -> None:
        if self.estimate not in ("mode", "mean", "likelihood"):
            raise InvalidParameter(f"estimate must be 'mode', 'mean' or 'likelihood'; it is {self.estimate!r}.")
        if not self.log_temperature_sd >= 0:
            raise InvalidParameter(f"log_temperature_sd must not be negative; it is {self.log_temperature_sd!r}.")
        if self.estimate == "mean" and not self.log_temperature_sd <= 10:
            raise InvalidParameter(
                "log_temperature_sd must be at most 10 where the temperature is integrated out; it is "
                f"{self.log_temperature_sd!r}. Without a proper prior, use estimate='likelihood'."
            )

    def _is_held(self) -> bool:
        return self.log_temperature_sd == 0 and self.estimate != "likelihood"

    def _set(self, log_temperature: float, sd: float = 0.0) -> None:
        self.log_temperature_ = float(log_temperature)
        self.temperature_ = float(np.exp(log_temperature))
        self.log_temperature_sd_ = float(sd)
        self.nodes_, self.node_weights_ = np.array([self.log_temperature_]), np.ones(1)

    def _with_prior(self, tau: float, value: float, first: float, second: float) -> tuple[float, float, float]:
        slope, bend = in_log_temperature(np.exp(-tau), first, second)
        if self.estimate == "likelihood":
            return value, slope, bend
        prior = normal_log_density(tau, self.log_temperature_mean, self.log_temperature_sd)
        return value + prior[0], slope + prior[1], bend + prior[2]

    def _integrate(self, log_posterior: Callable[[Floats], Floats]) -> None:
        sd = min(self.log_temperature_sd_, self.log_temperature_sd)
        low, high = support(log_posterior, self.log_temperature_, sd)
        grid = np.linspace(low, high, 129)
        weights = normalised_weights(log_posterior(grid))
        mean = float(weights @ grid)
        self._set(mean, float(np.sqrt(weights @ (grid - mean) ** 2)))
        # Enough nodes that averaged probabilities are right to 1e-8: the wider the posterior, the more.
        n_nodes = 24 if self.log_temperature_sd_ > 0.2 else 12 if self.log_temperature_sd_ > 0.05 else 6
        wide = self.log_temperature_sd_ > 0.4  # no rule of few nodes is good enough
        self.nodes_, self.node_weights_ = (grid, weights) if wide else gauss_rule(grid, weights, n_nodes)
