"""``python -m benchmarks.honesty_intervals [--draws N] [--calibration N]``: how often intervals of `evaluate` hold.

Forecasters have known errors, losses and calibration; shares and differences are covered as the exact sum over all
outcomes says. A share or a difference is counted in whole items: where few are expected, no interval that is sound for
single items covers at exactly its level (``tests/kernels/inference/test_shares.py``).
"""

import argparse
from itertools import product

import numpy as np
from scipy.special import softmax
from scipy.stats import binom, multinomial

from twoheads.evaluation.bootstrap import difference_score, resampling
from twoheads.evaluation.metric import ScoredItems
from twoheads.evaluation.registry import METRICS
from twoheads.kernels.inference.calibration_cells import equal_mass_cells, expected_cells
from twoheads.kernels.inference.discordant import paired_interval
from twoheads.kernels.inference.shares import share_interval

SIZES = (30, 100, 300)
LOSSES = ("log_loss", "brier_score")
CALIBRATION = ("expected_calibration_error", "classwise_calibration_error")
#: Classes, spread of the scores, the power of the forecast that is true, and the share of truths that are any label.
FORECASTERS = {
    "K=2, flat": (2, 1.0, 1.0, 0.0),
    "K=2, sharp": (2, 5.0, 1.0, 0.0),
    "K=2, too sure": (2, 4.0, 0.5, 0.0),
    "K=2, not sure enough": (2, 1.5, 2.0, 0.0),
    "K=2, very sharp": (2, 9.0, 1.0, 0.0),
    "K=3, slightly too sure": (3, 4.0, 0.8, 0.0),
    "K=4, not sure enough": (4, 2.0, 1.8, 0.0),
    "K=4, sharp and too sure": (4, 20.0, 0.6, 0.0),
    "K=4, far from sure enough": (4, 1.0, 3.0, 0.0),
    "K=8, hardly sure at all": (8, 0.4, 6.0, 0.0),
    "K=10, flat": (10, 1.5, 1.0, 0.0),
    "K=10, sharp": (10, 6.0, 1.0, 0.0),
    "K=10, too sure": (10, 5.0, 0.5, 0.0),
    "K=16, 3 % mislabelled": (16, 6.0, 1.0, 0.03),
}
#: Items expected to be wrong, or to differ; and the part of those that differ in favour of the partner.
EXPECTED = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
PARTS = (0.02, 0.1, 0.3, 0.5)


def forecast(n_classes, spread, power, mislabelled, size, rng):
    """Probabilities, outcomes, and the chances of these: (n_classes, size), (size,), (n_classes, size)."""
    score = rng.normal(0, spread, (n_classes, size))
    actual = (1 - mislabelled) * softmax(power * score, axis=0) + mislabelled / n_classes
    truth = np.minimum((actual.cumsum(axis=0) < rng.random(size)).sum(axis=0), n_classes - 1)
    return softmax(score, axis=0), truth, actual


def population(forecaster, rng, size):
    """What the metrics are on very many items, without chance in outcomes."""
    proba, _, actual = forecast(*forecaster, size, rng)
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


def held(where, size, draws, names, seed=0, n_large=200_000):
    """{metric: whether its interval held the population's value, (draws,)}, of one forecaster."""
    rng = np.random.default_rng([seed, size])
    target = population(FORECASTERS[where], rng, n_large)
    metrics = [metric for metric in METRICS if metric.name in names]
    found = {metric.name: [] for metric in metrics}
    for _ in range(draws):
        proba, truth, _ = forecast(*FORECASTERS[where], size, rng)
        wrong = (proba.argmax(axis=0) != truth) * 1.0
        items = ScoredItems(truth, wrong, proba, np.ones(size), resampling(size, 2, rng))
        for metric in metrics:
            score, value = metric.score(items), target[metric.name]
            found[metric.name].append(score.low <= value + 1e-3 * (metric.name in CALIBRATION) and value <= score.high)
    return found


def share_coverage(expected, size):
    """How often the interval of a share holds, exactly."""
    ends = np.array([share_interval(wrong / size, float(size), 0.95) for wrong in range(size + 1)])
    inside = (ends[:, 0] <= expected / size) & (expected / size <= ends[:, 1])
    return float(binom.pmf(np.arange(size + 1), size, expected / size)[inside].sum())


def difference_coverage(expected, parts, size):
    """How often the interval of a difference of two errors holds, exactly up to 1e-4, for each part."""
    most = int(expected + 5 * np.sqrt(expected) + 4)
    counts = [(won, lost) for won, lost in product(range(most), repeat=2) if won + lost < min(size, most)]
    values = np.array([-1.0, 0.0, 1.0])
    ends = np.array(
        [
            paired_interval(np.repeat(values, [won, size - won - lost, lost]), np.ones(size), 0.95)
            for won, lost in counts
        ]
    )
    covered = []
    for part in parts:
        shares = np.array([1 - part, part]) * expected / size
        chance = multinomial.pmf([(*each, size - sum(each)) for each in counts], size, [*shares, 1 - shares.sum()])
        true = shares[1] - shares[0]
        covered.append(float(chance[(ends[:, 0] <= true) & (true <= ends[:, 1])].sum() / chance.sum()))
    return covered


def of_intervals(repeats, table):
    """Every metric of `evaluate` on forecasters whose error, loss and calibration are known."""
    shown = {metric.name: metric.short_title for metric in METRICS if metric.shown}
    for where, size in product(FORECASTERS, SIZES):
        for name, each in held(where, size, 10 * repeats, shown).items():
            table[f"{shown[name]} of evaluate, 95 %", where][size] += [(one, np.nan) for one in each]


def of_differences(repeats, table):
    """The team's error less a partner's."""
    for expected, size in product((2.0, 5.0, 20.0), SIZES):
        rng = np.random.default_rng(1)
        for _ in range(50 * repeats):
            lost = 0.3 * expected / size
            p = [expected / size - lost, lost, 1 - expected / size]
            found = difference_score(rng.choice([-1.0, 1.0, 0.0], size, p=p), np.ones(size))
            inside = found.low <= p[1] - p[0] <= found.high
            table["difference of evaluate, 95 %", f"{expected:g} expected to differ"][size].append((inside, np.nan))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000, help="of log loss and Brier score")
    parser.add_argument("--calibration", type=int, default=250, help="of ECE and cwECE, which take longer")
    given = parser.parse_args()
    print("error, by expected errors:")
    for size in SIZES:
        print(f"{size:5} " + "  ".join(f"{expected:g}: {share_coverage(expected, size):.3f}" for expected in EXPECTED))
    print("difference, by items expected to differ and the partner's part of them:")
    for size, expected in product(SIZES, EXPECTED):
        found = difference_coverage(expected, PARTS, size)
        print(
            f"{size:5} {expected:g}: "
            + "  ".join(f"{part:g} {each:.3f}" for part, each in zip(PARTS, found, strict=True))
        )
    for names, draws in ((LOSSES, given.draws), (CALIBRATION, given.calibration)):
        for size in SIZES if draws else ():
            shares = {name: [] for name in names}
            for where in FORECASTERS:
                for name, each in held(where, size, draws, names).items():
                    shares[name].append(np.mean(each))
                now = "  ".join(f"{name} {each[-1]:.3f}" for name, each in shares.items())
                print(f"{size:5} {where:26}{now}", flush=True)
            for name, each in shares.items():
                print(f"{size:5} {name}: mean {np.mean(each):.3f} ({min(each):.3f} to {max(each):.3f})", flush=True)


if __name__ == "__main__":
    main()
