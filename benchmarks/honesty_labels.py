"""``python -m benchmarks.honesty_labels [--draws N]``: how often intervals of clinical and agreement statistics hold.

One line per world and number of items: the share of draws whose 95 % interval has the value of the whole population,
for each statistic; then the same for people who are compared with each other without truth (`agreement`). The constants
of the intervals were chosen on other worlds (``tests/evaluation/test_label_metrics.py``); all of these are held out.
"""

import argparse

import numpy as np
import pandas as pd

from twoheads.evaluation import METRICS, agreement
from twoheads.evaluation.bootstrap import resampling
from twoheads.evaluation.label_metrics import LABEL_METRICS
from twoheads.evaluation.metric import ScoredItems, chosen_metrics
from twoheads.evaluation.registry import score_all

SIZES = (50, 100, 300)
BY_CLASS = ("sensitivity", "specificity", "ppv", "npv")
#: Shares of the classes, and how far the truth's score is above the others'.
WORLDS = {
    "K=2, 50:50": ([0.5, 0.5], 1.0),
    "K=2, 25:75": ([0.25, 0.75], 1.4),
    "K=2, 60:40, good": ([0.6, 0.4], 2.5),
    "K=3, even": ([1 / 3] * 3, 1.5),
    "K=4, 10:20:30:40": ([0.1, 0.2, 0.3, 0.4], 1.8),
    "K=6, even": ([1 / 6] * 6, 2.0),
}
AGREEMENT = ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
#: Shares of the classes, people, how often each is right, and the share of answers that are missing.
CROWDS = {
    "two people, K=2": ([0.4, 0.6], 2, 0.85, 0.0),
    "four people, K=3, gaps": ([0.2, 0.3, 0.5], 4, 0.75, 0.3),
    "six people, K=6": ([1 / 6] * 6, 6, 0.7, 0.1),
}


def scored(rng, n_items, prior, apart):
    """A forecaster's labels and probabilities."""
    prior = np.asarray(prior)
    truth = rng.choice(len(prior), n_items, p=prior)
    logits = rng.normal(size=(len(prior), n_items)) + np.log(prior)[:, None]
    logits[truth, np.arange(n_items)] += apart
    proba = np.exp(logits) / np.exp(logits).sum(axis=0)
    wrong = 1.0 * (proba.argmax(axis=0) != truth)
    return ScoredItems(truth, wrong, proba, np.ones(n_items), resampling(n_items, 2, rng))


def coverage(world, n_items, n_draws, seed=0, n_large=400_000):
    """{statistic: share of draws whose interval has the value of a very large sample}."""
    prior, apart = WORLDS[world]
    rng = np.random.default_rng(seed)
    names = [f"{each.name}[0]" if each.name in BY_CLASS else each.name for each in LABEL_METRICS]
    metrics = chosen_metrics(METRICS, names, np.arange(len(prior)))
    true = {name: score.value for name, score in score_all(scored(rng, n_large, prior, apart), metrics).items()}
    held = {name: [] for name in true}
    for _ in range(n_draws):
        for name, score in score_all(scored(rng, n_items, prior, apart), metrics).items():
            if score is not None and score.low is not None:
                held[name].append(score.low <= true[name] <= score.high)
    return {name: float(np.mean(each)) for name, each in held.items() if each}


def rated(rng, n_items, prior, n_people, accuracy, missing):
    """A table of people's answers."""
    n_classes = len(prior)
    truth = rng.choice(n_classes, n_items, p=prior)
    columns = {f"p_{code}": np.full(n_items, 1 / n_classes) for code in range(n_classes)}
    for person in range(n_people):
        answer = np.where(rng.random(n_items) < accuracy, truth, rng.integers(0, n_classes, n_items)).astype(object)
        answer[rng.random(n_items) < missing] = None
        columns[f"human_{person}"] = answer
    return pd.DataFrame(columns)


def agreement_coverage(crowd, n_items, n_draws, seed=0):
    """The same for agreement among people."""
    rng, given = np.random.default_rng(seed), CROWDS[crowd]
    large = agreement(rated(rng, 100_000, *given))
    held = {name: [] for name in AGREEMENT}
    for _ in range(n_draws):
        found = agreement(rated(rng, n_items, *given))
        for name, each in held.items():
            score = getattr(found, name)
            each.append(score.low <= getattr(large, name).value <= score.high)
    return {name: float(np.mean(each)) for name, each in held.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    everything = []
    for worlds, found in ((WORLDS, coverage), (CROWDS, agreement_coverage)):
        for world in worlds:
            for size in SIZES:
                shares = found(world, size, given.draws)
                everything += shares.values()
                cells = " ".join(f"{name} {share:.3f}" for name, share in shares.items())
                print(f"{world:26}{size:5} {cells}", flush=True)
    near = np.mean([0.92 <= share <= 0.98 for share in everything])
    print(f"\nlowest {min(everything):.3f}, highest {max(everything):.3f}, within three points of 0.95: {near:.0%}")


if __name__ == "__main__":
    main()
