"""The log-likelihood of a model's temperature at fixed nodes: the sufficient statistic of temperature scaling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice

import numpy as np
from scipy.interpolate import BSpline

from twoheads.engines.blocks import count_items, map_blocks, sum_blocks
from twoheads.engines.progress import current_callback
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.calibration.tempering import (
    LOG_TEMPERATURE_BOUNDS,
    between_nodes,
    in_log_temperature,
    mode_between_nodes,
    newton_step,
    node_values,
    temperature_sums,
    with_derivatives,
)

_SAMPLE = 163_840  # probabilities from which a first guess on a large table is made,
_FEWEST = 1500  # of at least so many items
_STEP_TOLERANCE = 1e-5  # the error after such a step is below its square


def log_likelihood_at_nodes(
    blocks: Sequence[Block], n_items: int, n_classes: int, prior: tuple[float, float]
) -> Floats:
    """Log-likelihood of the blocks' targets at fixed temperatures, up to a constant; a sum over items.

    For a large table it is computed on a sample and then corrected to have the slope and the curvature of all items at
    their mode, which Newton's method finds in two passes: a fifth of the cost.

    n_items  of all blocks together
    prior    mean and standard deviation (possibly infinite) of log T, used to locate the mode
    """
    size = max(_FEWEST, _SAMPLE // n_classes)
    if n_items <= 2 * size:
        return np.asarray(sum_blocks(node_values, blocks)[0])
    few = _sample(blocks, n_items // size)
    values = np.asarray(n_items / count_items(few) * sum_blocks(node_values, few)[0])
    return with_derivatives(values, *_newton(blocks, between_nodes(values), prior))


def _newton(blocks: Sequence[Block], guess: BSpline, prior: tuple[float, float]) -> tuple[float, float, float]:
    """Newton's method on the log posterior of log T, from the mode of a guess of its log-likelihood.

    The guess also gives the change of the curvature along a step, so that the first one is almost always enough
    (Chebyshev's method). Returns log T of the last pass, a negligible step from the mode, and the
    log-likelihood's slope and curvature there.
    """
    low, high = LOG_TEMPERATURE_BOUNDS
    mean, sd = prior
    tau, third = mode_between_nodes(guess, mean, sd)[0], guess.derivative(3)
    while True:
        value, first, second = sum_blocks(partial(temperature_sums, log_temperature=tau), blocks)
        current_callback().objective(value)
        slope, curvature = in_log_temperature(np.exp(-tau), first, second)
        with_prior, bend = slope - (tau - mean) / sd**2, curvature - sd**-2.0
        low, high = (tau, high) if with_prior > 0 else (low, tau)
        step = newton_step(with_prior, bend)
        change = 0.5 * float(third(tau)) * step / bend if bend < 0 else 0.0
        ahead = tau + step * (1.0 - float(np.clip(change, -0.5, 0.5)))
        step = (ahead if low < ahead < high else (low + high) / 2) - tau
        if abs(step) < _STEP_TOLERANCE or abs(with_prior) < 1e-13 * abs(value):
            return tau, slope, curvature
        tau += step


def _sample(blocks: Sequence[Block], step: int) -> Sequence[Block]:
    """Every ``step``-th item of each block, in blocks as large as those."""

    def every(block: Block) -> Block:
        return Block(
            np.ascontiguousarray(block.log_proba[:, ::step]),
            true_label=None if block.true_label is None else block.true_label[::step],
            target=None if block.target is None else np.ascontiguousarray(block.target[:, ::step]),
            weight=None if block.weight is None else block.weight[::step],
        )

    few = map_blocks(every, blocks)
    return [joined([first, *islice(few, step - 1)]) for first in few]
