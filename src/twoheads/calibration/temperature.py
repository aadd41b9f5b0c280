"""Temperature scaling: one number for how over- or under-confident the model is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Self

import numpy as np
from scipy.interpolate import BSpline
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from twoheads.calibration.base import Calibrator
from twoheads.engines.blocks import count_items, map_blocks, sum_blocks
from twoheads.engines.progress import current_callback
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.calibration.tempering import (
    LOG_TEMPERATURE_BOUNDS,
    NODE_RANGE,
    between_nodes,
    in_log_temperature,
    mode_between_nodes,
    newton_step,
    node_values,
    normal_log_density,
    temperature_slopes,
    temperature_sums,
    temperature_values,
    tempered,
    with_derivatives,
)
from twoheads.kernels.numerics.quadrature import gauss_rule, normalised_weights, support
from twoheads.storage.artifact import register

_SAMPLE = 163_840  # probabilities from which a guess on a large table is made, of
_FEWEST = 1500  # items at the least
_STEP_TOLERANCE = 1e-5  # what is left after such a step is less than its square


@register
class TemperatureScaling(Calibrator):
    r"""Calibrated probabilities :math:`m_j^{1/T} / \sum_k m_k^{1/T}`, with a Normal prior on :math:`\tau = \log T`.

    Parameters
    ----------
    log_temperature_mean, log_temperature_sd : float
        The prior of log T. An sd of 0 holds T at ``exp(log_temperature_mean)`` whatever the data.
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
        log_temperature_mean: float = 0.5,
        log_temperature_sd: float = 0.5,
        estimate: str = "mode",
        model_scale: str = "probability",
    ) -> None:
        self.log_temperature_mean = log_temperature_mean
        self.log_temperature_sd = log_temperature_sd
        self.estimate = estimate
        self.model_scale = model_scale

    def start(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Set the temperature to what the prior believes."""
        self._check()
        self._set(0.0 if self.estimate == "likelihood" else self.log_temperature_mean)
        return self

    def hold(self, log_temperature: float) -> Self:
        """Take a temperature that was learnt elsewhere; how surely is not told."""
        self._set(log_temperature)
        return self

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Learn from blocks: the log-likelihood at fixed temperatures tells all that is to be known."""
        if self._is_held() or not blocks:
            return self.start(blocks, n_classes)
        curve = between_nodes(self.log_likelihood_at_nodes(blocks, n_classes))
        return self._fit(curve, lambda tau: sum_blocks(lambda block: temperature_values(block, tau), blocks)[0])

    def log_likelihood_at_nodes(self, blocks: Sequence[Block], n_classes: int) -> Floats:
        """Log-likelihood of the blocks' targets at fixed temperatures, up to a constant; it adds up over chunks.

        On a large table it is a sample's, mended around the best temperature for all items, which Newton's method finds
        in two passes, to have the slope and the curvature of all items there: a fifth of the cost.
        """
        n_items, size = count_items(blocks), max(_FEWEST, _SAMPLE // n_classes)
        few = _sample(blocks, size) if n_items > 2 * size else blocks
        values = np.asarray(n_items / count_items(few) * sum_blocks(lambda block: (node_values(block),), few)[0])
        return values if few is blocks else with_derivatives(values, *self._newton(blocks, between_nodes(values)))

    def _newton(self, blocks: Sequence[Block], guess: BSpline) -> tuple[float, float, float]:
        """Newton's method on the log posterior of log T, from the mode of a guess of its log-likelihood.

        The guess also says how the curvature changes along a step, so that the first one is almost always enough
        (Chebyshev's method). Returns where the last pass was made, a step too small to matter from the mode, and the
        log-likelihood's slope and curvature there.
        """
        low, high = LOG_TEMPERATURE_BOUNDS
        mean, sd = self._prior()
        tau, third = mode_between_nodes(guess, mean, sd)[0], guess.derivative(3)
        while True:
            value, first, second = sum_blocks(partial(temperature_sums, log_temperature=tau), blocks)
            current_callback().objective(value)
            slope, bend = in_log_temperature(np.exp(-tau), first, second)
            whole, curvature = slope - (tau - mean) / sd**2, bend - sd**-2.0
            low, high = (tau, high) if whole > 0 else (low, tau)
            step = newton_step(whole, curvature)
            bent = 0.5 * float(third(tau)) * step / curvature if curvature < 0 else 0.0
            ahead = tau + step * (1.0 - float(np.clip(bent, -0.5, 0.5)))
            step = (ahead if low < ahead < high else (low + high) / 2) - tau
            if abs(step) < _STEP_TOLERANCE or abs(whole) < 1e-13 * abs(value):
                return tau, slope, bend
            tau += step

    def _prior(self) -> tuple[float, float]:
        """Mean and standard deviation of the prior of log T, the latter infinite where there is none."""
        return self.log_temperature_mean, np.inf if self.estimate == "likelihood" else self.log_temperature_sd

    def fit_values(self, values: Floats) -> Self:
        """Learn from `log_likelihood_at_nodes`, added up over chunks of items."""
        if self._is_held():
            return self.start([], 0)
        curve = between_nodes(values)
        return self._fit(curve, lambda tau: curve(np.clip(tau, *NODE_RANGE)))

    def _fit(self, curve: BSpline, beyond: Callable[[Floats], Floats]) -> Self:
        """Learn from the log-likelihood between nodes; ``beyond`` gives it where a posterior reaches past them."""
        self._check()
        mean, sd = self._prior()
        mode, curvature = mode_between_nodes(curve, mean, sd)
        self._set(mode, 1.0 / np.sqrt(-curvature) if curvature < 0 else np.inf)

        def log_posterior(tau: Floats) -> Floats:
            inside = NODE_RANGE[0] <= tau.min() and tau.max() <= NODE_RANGE[1]
            return np.asarray((curve if inside else beyond)(tau) - 0.5 * ((tau - mean) / sd) ** 2)

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
        """Log-probabilities over the temperature, where there is one."""
        if len(self.nodes_) == 1:
            return np.asarray(log_proba * np.exp(-self.log_temperature_))
        return self.calibrate(log_proba)

    def temperature_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Credible interval of T, from the normal approximation to the posterior of log T."""
        check_is_fitted(self)
        low, high = norm.interval(level, self.log_temperature_, max(self.log_temperature_sd_, 1e-300))
        return float(np.exp(low)), float(np.exp(high))

    def log_prior(self) -> float:
        """Log-density of log T, up to a constant."""
        if self.estimate == "likelihood" or self._is_held():
            return 0.0
        return normal_log_density(self.log_temperature_, self.log_temperature_mean, self.log_temperature_sd)[0]

    @property
    def learns_from_sums(self) -> bool:  # type: ignore[override]
        """Whether one Newton step per iteration of EM will do: not where the temperature is integrated out."""
        return self.estimate != "mean"

    def em_sums(self, log_proba: Floats, calibrated: Floats, responsibility: Floats) -> tuple[float, ...]:
        """Derivatives of the expected log-likelihood in 1/T."""
        return temperature_slopes(log_proba, calibrated, responsibility)

    def em_step(self, sums: tuple[float, ...]) -> None:
        """One Newton step in log T."""
        if self._is_held():
            return
        _, first, second = self._with_prior(self.log_temperature_, 0.0, *sums)
        self._set(float(np.clip(self.log_temperature_ + newton_step(first, second), *LOG_TEMPERATURE_BOUNDS)))

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


def _sample(blocks: Sequence[Block], size: int) -> Sequence[Block]:
    """About ``size`` items, evenly spaced over all blocks, in blocks as large as those."""
    step = max(1, count_items(blocks) // size)

    def every(block: Block) -> Block:
        return Block(
            np.ascontiguousarray(block.log_proba[:, ::step]),
            true_label=None if block.true_label is None else block.true_label[::step],
            target=None if block.target is None else np.ascontiguousarray(block.target[:, ::step]),
            weight=None if block.weight is None else block.weight[::step],
        )

    few = map_blocks(every, blocks)
    return [joined([first, *islice(few, step - 1)]) for first in few]
