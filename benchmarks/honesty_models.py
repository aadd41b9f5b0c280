"""Claims about forecasters and models, on simulated ones: calibration errors, and independence of people."""

import numpy as np
from scipy.special import softmax

from twoheads.kernels.inference.calibration import classwise_error, top_label_error
from twoheads.kernels.inference.calibration_cells import equal_mass_cells, expected_cells
from twoheads.kernels.inference.clustered_independence import (
    clustered_conditional_mutual_information,
    clustered_p_value,
    conditional_information,
)


def of_calibration(repeats, table):
    """A calibrated forecaster, and one that is too sure: classwise and top-label error, 95 % intervals."""
    for power in (1.0, 0.7):
        where = "calibrated" if power == 1.0 else "too sure"
        for n_classes, size in ((10, 30), (10, 100), (10, 300), (4, 100)):
            rng = np.random.default_rng(size)
            for _ in range(20 * repeats):
                score = rng.normal(0, 2, (n_classes, size))
                proba, actual = softmax(score, axis=0), softmax(power * score, axis=0)
                truth = np.minimum((actual.cumsum(axis=0) < rng.random(size)).sum(axis=0), n_classes - 1)
                for claim, found, target in calibration_claims(proba, actual, truth, rng):
                    held = found.low <= target + 1e-12 and target <= found.high + 1e-12
                    table[claim, f"{where}, K={n_classes}"][size].append((held, np.nan))
                    if power == 1.0:
                        verdict = f"{claim[:3]} miscalibrated (p < .05)"
                        table[verdict, f"{where}, K={n_classes}"][size].append((found.p_value < 0.05, np.nan))


def calibration_claims(proba, actual, truth, rng):
    """Claim, what was found, and the error without chance."""
    weight, items = np.ones(len(truth)), np.arange(len(truth))
    options = {"n_bins": 15, "level": 0.95, "n_draws": 200, "rng": rng}
    top, chosen = proba.max(axis=0), actual[proba.argmax(axis=0), items]
    pairs = ((proba, actual), (top[None], chosen[None]))
    errors = classwise_error(proba, truth, weight, **options), top_label_error(proba, truth, weight, **options)
    for claim, found, (stated, true_proba) in zip(("cwECE, 95 %", "ECE, 95 %"), errors, pairs, strict=True):
        cells = equal_mass_cells(stated, weight, 15)
        yield claim, found, np.abs(expected_cells(stated, cells) - expected_cells(true_proba, cells)).sum()


def of_independence(repeats, table):
    """A model that is independent of six answers per item, which resemble each other."""
    for size in (100, 300):
        for repeat in range(20 * repeats):
            rng = np.random.default_rng(repeat)
            truth, item = rng.integers(0, 4, size), np.repeat(np.arange(size), 6)
            habit = np.where(rng.random(size) < 0.7, truth, rng.integers(0, 4, size))
            human = np.where(rng.random(len(item)) < 0.8, habit[item], rng.integers(0, 4, len(item)))
            model = np.where(rng.random(size) < 0.7, truth, rng.integers(0, 4, size))
            observed = conditional_information(model[item], human, truth[item], (4, 4))
            shuffled = clustered_conditional_mutual_information(model, human, truth, item, 99, rng)
            small = clustered_p_value(observed, shuffled) <= 0.05
            table["dependent (p <= .05)", "six answers per item"][size].append((small, np.nan))
