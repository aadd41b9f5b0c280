"""What a calibrated forecaster would show by chance, and an interval of the calibration error, by drawing outcomes.

The binned error ``T = sum_cells |sum_{i in cell} w_i (p_i - o_i)| / W`` is positive for every forecaster: in a cell
with few items the outcome is far from the probability by chance. Resampling items does not show this chance where a
cell has no positive at all. Drawing outcomes from probabilities does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.calibration_cells import Cells, equal_mass_cells, expected_cells, outcome_cells
from twoheads.kernels.inference.powers import best_log_power, raised
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.kernels.scoring.ties import of_truth, top_shares

#: How far outcomes are drawn along the way from the forecast to its best temperature, then beyond it, or on to the
#: frequencies.
TO_TEMPERATURE, BEYOND, TO_FREQUENCY = (0.0, 0.5, 1.0), (1.5, 2.4), (0.5, 1.0, 1.5)
#: Log powers of forecasts less sure than the one given, whatever the sample shows: of a sharp forecaster that is too
#: sure it often has none of the few errors, and then the best temperature is on the other side.
LESS_SURE = (-0.25, -0.55, -0.9, -1.3, -1.7)
#: Where each part of the path ends.
_ENDS = np.cumsum([len(part) for part in (TO_TEMPERATURE, BEYOND, TO_FREQUENCY, LESS_SURE)])
#: The steps of three ways: to the best temperature and beyond, to it and on to the frequencies, to less sure forecasts.
WAYS = np.r_[: _ENDS[1]], np.r_[: _ENDS[0], _ENDS[1] : _ENDS[2]], np.r_[0, _ENDS[2] : _ENDS[3]]
#: How many random numbers are held at a time.
BLOCK = 1 << 22
#: Outcomes are drawn of so many items, evenly spaced; of more, chance is that of these, made smaller.
MOST_DRAWN = 1000
#: With more classes than this, labels are drawn by bisection.
MANY_CLASSES = 100
#: So many items, evenly spaced, show what other forecasts would predict.
MOST_ITEMS = 10_000


class CalibrationError(NamedTuple):
    """A calibration error.

    value      the error of the sample, chance included
    by_chance  what a calibrated forecaster with these probabilities shows on average
    p_value    how often it shows as much or more, ``(1 + #) / (1 + n_draws)``
    low, high  interval of the error without chance; ``low`` is 0 unless the p-value is below 1 - level
    """

    value: float
    by_chance: float
    p_value: float
    low: float
    high: float


@dataclass(frozen=True)
class Forecasts:
    """Forecasts of all classes, and what of them is judged.

    proba       (n_classes, n_items)
    true_label  (n_items,)
    judged      from probabilities of all classes to those that cells are of
    """

    proba: Floats
    true_label: Codes
    judged: Callable[[Floats], Floats]


def classwise_error(
    proba: Floats,
    true_label: Codes,
    weight: Floats,
    *,
    n_bins: int,
    level: float,
    n_draws: int,
    rng: np.random.Generator,
) -> CalibrationError:
    """Mean over classes of the calibration error of that class's probability, in equal-mass bins.

    proba               (n_classes, n_items)
    true_label, weight  (n_items,)
    """
    # Outcomes are drawn class by class: in an order of the probabilities, which the classes' names do not change.
    order = np.lexsort(np.round([(proba**2).sum(axis=1), proba.sum(axis=1)], 9))
    proba, true_label = proba[order], np.argsort(order)[true_label]
    forecasts = Forecasts(proba, true_label, lambda each: each)
    return _assessed(forecasts, true_label, equal_mass_cells(proba, weight, n_bins), level, n_draws, rng)


def top_label_error(
    proba: Floats,
    true_label: Codes,
    weight: Floats,
    *,
    n_bins: int,
    level: float,
    n_draws: int,
    rng: np.random.Generator,
) -> CalibrationError:
    """Calibration error of the largest probability as the chance that its class is right, in equal-mass bins.

    A tie of m classes is right by 1 / m where one of them is true: an outcome of chance m times the probability, and of
    1 / m the weight.

    proba               (n_classes, n_items)
    true_label, weight  (n_items,)
    """
    shares = top_shares(proba)
    n_tied, wrong = np.round(1.0 / shares.max(axis=0)), (of_truth(shares, true_label) == 0).astype(np.intp)
    # The other row mirrors the first: each item is in the same bin of both, and the mean over both is either.
    cells = equal_mass_cells(proba.max(axis=0)[None], weight, n_bins)
    mirrored = Cells(np.concatenate([cells.cell, cells.cell + n_bins]), cells.weight / n_tied / 2.0, 2 * n_bins)
    return _assessed(Forecasts(proba, true_label, top_and_rest), wrong, mirrored, level, n_draws, rng)


def top_and_rest(proba: Floats) -> Floats:
    """The probability of the largest class, or of any of those tied, and that of the others, (2, n_items)."""
    n_tied = np.round(1.0 / top_shares(proba).max(axis=0))
    among = np.minimum(n_tied * proba.max(axis=0), 1.0)
    return np.stack([among, 1.0 - among])


def _assessed(
    forecasts: Forecasts, outcome: Codes, cells: Cells, level: float, n_draws: int, rng: np.random.Generator
) -> CalibrationError:
    """The error, what chance makes of it, and the steps' errors that it is compatible with.

    outcome  (n_items,) the row of what is judged that came true
    """
    predicted = expected_cells(forecasts.judged(forecasts.proba), cells)
    observed = outcome_cells(outcome[None], cells)[0]
    value = float(np.abs(predicted - observed).sum())
    rows = evenly_spaced(len(outcome), MOST_ITEMS)
    few = Cells(cells.cell[:, rows], cells.weight[rows] * (cells.weight.sum() / cells.weight[rows].sum()), cells.size)
    some = Forecasts(forecasts.proba[:, rows], forecasts.true_label[rows], forecasts.judged)
    path = forecast_path(some, observed, few)
    excess = [expected_cells(path[0], few) - expected_cells(each, few) for each in path]
    true = np.array([np.abs(each).sum() for each in excess])
    drawn = drawn_errors(excess, path, few, float((cells.weight**2).sum()), n_draws, rng)
    p_value = float((1 + (drawn[0] >= value - 1e-12).sum()) / (1 + n_draws))
    # The interval reaches up to the value: it lies below a true error only where the sample shows less than that.
    upper = np.minimum((1.0 - level) / 2.0, (drawn < true[:, None] - 1e-12).mean(axis=1))
    lower = 1.0 - level - upper
    spread = np.maximum(drawn.std(axis=1), 1e-12)
    too_large = spread * (quantiles_of(-value, -drawn) - ndtri(lower))
    too_small = spread * (quantiles_of(value, drawn) - ndtri((1.0 - level) / 2.0))
    limits = [inverted(true[way], too_large[way], too_small[way]) for way in WAYS]
    high = max(high for _, high in limits)
    low = min(high, *(low for low, _ in limits))
    return CalibrationError(value, float(drawn[0].mean()), p_value, low, high)


def quantiles_of(value: float, drawn: Floats) -> Floats:
    """Normal quantile of how often each step's draws are as small as the value, ``(1 + #) / (1 + n_draws)``.

    Below all draws it goes on with the distance from their mean in standard deviations: counts do not tell a step just
    out of reach from one far away, and the end would depend on how far apart the steps are.

    drawn  (n_steps, n_draws)
    """
    count, n_draws = (drawn <= value + 1e-12).sum(axis=1), drawn.shape[1]
    quantile = ndtri((1 + np.minimum(count, n_draws - 1)) / (1 + n_draws))
    away = (value - drawn.mean(axis=1)) / np.maximum(drawn.std(axis=1), 1e-12)
    return np.asarray(np.where(count == 0, np.minimum(quantile, away), quantile))


def inverted(true: Floats, too_large: Floats, too_small: Floats) -> tuple[float, float]:
    """The smallest and the largest true error on the path that do not make the one seen too large, or too small.

    true       (n_steps,) from 0; not always further along the path, where it passes the frequencies
    too_large  (n_steps,) normal quantile of how often a step shows as much or more as was seen, less that of how often
               it may: below 0 the one seen is too large
    too_small  (n_steps,) the same of as much or less
    """
    low = 0.0 if too_large[0] >= 0.0 else min(possible_errors(true, too_large), default=np.inf)
    return low, max(possible_errors(true, too_small), default=0.0)


def possible_errors(true: Floats, quantile: Floats) -> list[float]:
    """The true errors of steps whose quantile is not below 0, and those between two steps at which it is 0."""
    possible = quantile >= 0.0
    turns = np.flatnonzero(possible[1:] != possible[:-1])
    return [*true[possible].tolist(), *(crossing(quantile[at : at + 2], true[at : at + 2]) for at in turns)]


def crossing(quantile: Floats, true: Floats) -> float:
    """The true error at which the quantile is 0, between two steps; (2,) each."""
    part = np.clip(quantile[0] / (quantile[0] - quantile[1]), 0.0, 1.0) if quantile[0] != quantile[1] else 1.0
    return float(true[0] + part * (true[1] - true[0]))


def forecast_path(forecasts: Forecasts, observed: Floats, cells: Cells) -> list[Floats]:
    """Forecasts of which the outcomes may come, as ``WAYS`` go through them.

    Temperatures change how much outcomes vary as well as their means, as an over-confident forecaster's do; the way
    from the best one to the frequencies reaches any other kind of error.

    observed  (n_cells,)
    returns   (n_rows, n_items) what is judged of each step, the given forecast first
    """
    proba, judged = forecasts.proba, forecasts.judged
    power = best_log_power(proba, forecasts.true_label, cells.weight)
    path = [judged(proba)] + [judged(raised(proba, step * power)) for step in (*TO_TEMPERATURE[1:], *BEYOND)]
    best = path[len(TO_TEMPERATURE) - 1]
    frequency = recalibrated(best, expected_cells(best, cells) - observed, cells)
    moved = (np.maximum((1.0 - step) * best + step * frequency, 0.0) for step in TO_FREQUENCY)
    path += [each / each.sum(axis=0) for each in moved]
    return path + [judged(raised(proba, step)) for step in LESS_SURE]


def recalibrated(proba: Floats, excess: Floats, cells: Cells) -> Floats:
    """The probabilities less their cell's mean excess, cut at 0 and made to sum to 1.

    proba    (n_classes, n_items)
    excess   (n_cells,) predicted minus observed
    """
    mass = np.bincount(cells.cell.ravel(), np.broadcast_to(cells.weight, proba.shape).ravel(), cells.size)
    mean = np.divide(excess, mass, out=np.zeros(cells.size), where=mass > 0)
    moved = np.maximum(proba - mean[cells.cell], 1e-12)
    return np.asarray(moved / moved.sum(axis=0))


def drawn_errors(
    excess: list[Floats],
    path: list[Floats],
    cells: Cells,
    squared_weight: float,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Errors of outcomes drawn from each step's probabilities, with the same random numbers at every step.

    excess          (n_cells,) for each step, what the forecast predicts more than it
    path            (n_classes, n_items) for each step
    squared_weight  of all items, which chance is in proportion to
    returns  (n_steps, n_draws)
    """
    rows = evenly_spaced(path[0].shape[1], MOST_DRAWN)
    few = Cells(cells.cell[:, rows], cells.weight[rows], cells.size)
    smaller = float(np.sqrt(squared_weight / (few.weight**2).sum()))
    steps = [each[:, rows] for each in path]
    cumulated = [each.cumsum(axis=0)[:-1] for each in steps]
    mean = [expected_cells(each, few) for each in steps]
    errors = np.empty((len(path), n_draws))
    block = max(1, BLOCK // len(rows))
    for start in range(0, n_draws, block):
        u = rng.random((min(block, n_draws - start), len(rows)))
        for step, thresholds in enumerate(cumulated):
            labels = drawn_labels(u, thresholds)
            chance = smaller * (outcome_cells(labels, few) - mean[step])
            errors[step, start : start + len(u)] = np.abs(excess[step] - chance).sum(axis=1)
    return errors


def drawn_labels(u: Floats, thresholds: Floats) -> Codes:
    """How many of an item's thresholds each of its random numbers exceeds, (n_draws, n_items).

    u           (n_draws, n_items)
    thresholds  (n_classes - 1, n_items) in order
    """
    labels = np.zeros(u.shape, dtype=np.intp)
    if len(thresholds) >= MANY_CLASSES:
        for item, each in enumerate(np.ascontiguousarray(thresholds.T)):
            labels[:, item] = np.searchsorted(each, u[:, item])
        return labels
    for row in thresholds:
        labels += u > row
    return labels
