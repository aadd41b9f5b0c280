"""Intervals of `evaluate`, on forecasters and on pairs of labellers whose error, loss and calibration are known.

A difference is that of two shares: where fewer than about three items are expected to differ, no interval that is sound
for single items covers at exactly its level, and this one covers more often.
"""

import numpy as np
from scipy.special import softmax

from twoheads.evaluation.bootstrap import difference_score, resampling
from twoheads.evaluation.metric import ScoredItems
from twoheads.evaluation.registry import METRICS, score_all
from twoheads.kernels.inference.calibration import equal_mass_cells, expected_cells

SIZES = (30, 100, 300)
#: Classes, spread of the scores, and the power of the forecast that is true.
FORECASTERS = {
    "K=2, flat": (2, 1.0, 1.0),
    "K=2, sharp": (2, 5.0, 1.0),
    "K=2, too sure": (2, 4.0, 0.5),
    "K=2, not sure enough": (2, 1.5, 2.0),
    "K=2, very sharp": (2, 9.0, 1.0),
    "K=3, slightly too sure": (3, 4.0, 0.8),
    "K=4, not sure enough": (4, 2.0, 1.8),
    "K=10, flat": (10, 1.5, 1.0),
    "K=10, sharp": (10, 6.0, 1.0),
    "K=10, too sure": (10, 5.0, 0.5),
}
#: Share of items that only the team has right, and only the partner.
DISCORDANT = {
    "as good": (0.1, 0.1),
    "better": (0.08, 0.02),
    "worse": (0.05, 0.15),
    "few differ": (0.03, 0.02),
    "very few differ": (0.01, 0.01),
}


def of_intervals(repeats, table):
    """Every metric of `evaluate` on forecasters whose error, loss and calibration are known."""
    for where, (n_classes, spread, power) in FORECASTERS.items():
        rng = np.random.default_rng(0)
        target = population(n_classes, spread, power, rng)
        for size in SIZES:
            for _ in range(10 * repeats):
                proba, truth, _ = forecast(n_classes, spread, power, size, rng)
                wrong, weight = (proba.argmax(axis=0) != truth) * 1.0, np.ones(size)
                found = score_all(ScoredItems(truth, wrong, proba, weight, resampling(size, 2, rng)))
                for metric in (each for each in METRICS if each.shown):
                    low, high = found[metric.name].low, found[metric.name].high
                    held = low <= target[metric.name] + 1e-3 and target[metric.name] <= high + 1e-12
                    table[f"{metric.short_title} of evaluate, 95 %", where][size].append((held, np.nan))


def forecast(n_classes, spread, power, size, rng):
    """Probabilities, outcomes, and the chances of these: (n_classes, size), (size,), (n_classes, size)."""
    score = rng.normal(0, spread, (n_classes, size))
    actual = softmax(power * score, axis=0)
    truth = np.minimum((actual.cumsum(axis=0) < rng.random(size)).sum(axis=0), n_classes - 1)
    return softmax(score, axis=0), truth, actual


def population(n_classes, spread, power, rng, size=100_000):
    """What the metrics are on very many items, without chance in outcomes."""
    proba, _, actual = forecast(n_classes, spread, power, size, rng)
    weight, items = np.ones(size), np.arange(size)
    top, right = proba.max(axis=0)[None], actual[proba.argmax(axis=0), items][None]
    cells, all_cells = equal_mass_cells(top, weight, 15), equal_mass_cells(proba, weight, 15)
    return {
        "error": 1.0 - right.mean(),
        "log_loss": -(actual * np.log(proba)).sum(axis=0).mean(),
        "brier_score": ((proba**2).sum(axis=0) + 1 - 2 * (actual * proba).sum(axis=0)).mean(),
        "expected_calibration_error": np.abs(expected_cells(top, cells) - expected_cells(right, cells)).sum(),
        "classwise_calibration_error": np.abs(
            expected_cells(proba, all_cells) - expected_cells(actual, all_cells)
        ).sum(),
    }


def of_differences(repeats, table):
    """The team's error less a partner's."""
    for where, (won, lost) in DISCORDANT.items():
        rng = np.random.default_rng(1)
        for size in SIZES:
            for _ in range(100 * repeats):
                difference = rng.choice([-1.0, 1.0, 0.0], size, p=[won, lost, 1 - won - lost])
                found = difference_score(difference, np.ones(size), resampling(size, 2, rng))
                held = found.low <= lost - won <= found.high
                table["difference of evaluate, 95 %", where][size].append((held, np.nan))
