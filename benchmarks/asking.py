"""``python -m benchmarks.asking [DATA]``: what asking buys on CIFAR-10H, and in a simulation with two prices.

One answer per image drawn at random; then all answers with the people who gave them; then experts and others at
different prices. 7,000 images to fit and 3,000 to ask about; mean of 10 splits; errors in per cent at equal cost.

With one answer per image, those of the 3,000 are drawn ten times a split: an error of 3.4 % is 103 images, of which one
draw moves several, and what is compared differs by less than one.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.model_selection import train_test_split

import twoheads as th
from benchmarks import DATA
from benchmarks.real_sets import find_sets
from twoheads.kernels.answers import pack_answers

SPLITS = 10
DRAWS = 10
POLICIES = ("expected_gain", "least_sure", "threshold", "random")
SHARES = (0.02, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1.0)


def one_person(real, labels=None, splits=SPLITS, draws=DRAWS):
    """One anonymous answer per image: curves, and the plain product's accuracy with every answer; one per draw."""
    found = []
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        fit, judged = train_test_split(np.arange(len(real.truth)), test_size=0.3, random_state=seed)
        known = np.where(np.arange(len(fit)) < (labels or len(fit)), real.truth[fit], -1)
        X = real.drawn(rng, fit)
        team, plain = th.recommended().fit(X, known), th.ProbabilityLabelCombiner().fit(X, known)
        for _ in range(draws):
            X, truth = real.drawn(rng, judged), real.truth[judged]
            found.append((th.simulate_asking(team, X, truth, random_state=seed), plain.score(X, truth)))
    return found


def real_people(real, answers, splits=SPLITS):
    """Everyone who answered, by name: about 50 people per image, 2,567 in all."""
    people, who = np.unique(answers["annotator_id"].to_numpy(np.intp), return_inverse=True)
    item, label = answers["item_id"].to_numpy(np.intp), answers["human_label"].to_numpy(np.intp)
    names = tuple(map(str, people.tolist()))
    seen = th.Observations.from_arrays(np.full(len(real.truth), -1), real.proba)
    everyone = replace(seen, answers=pack_answers(item, who * seen.n_classes + label, len(seen)), annotators=names)
    found = []
    for seed in range(splits):
        fit, judged = train_test_split(np.arange(len(seen)), test_size=0.3, random_state=seed)
        team = th.recommended().fit(everyone.take(fit), real.truth[fit])
        curves = th.simulate_asking(team, everyone.take(judged), real.truth[judged], random_state=seed)
        found.append((curves, None))
    return found


def two_prices(splits=SPLITS):
    """Two experts (95 % right) at 3 and eight others (70 %) at 1, each of whom could answer anything; 10 classes."""
    accuracy, found = [0.95] * 2 + [0.7] * 8, []
    price = {f"p{at}": 3.0 if at < 2 else 1.0 for at in range(10)}
    for seed in range(splits):
        X, y = simulated(3000, accuracy, seed=2 * seed)
        new, truth = simulated(2000, accuracy, seed=2 * seed + 1)
        team = th.recommended().fit(X, y)
        found.append((th.simulate_asking(team, new, truth, price=price, budget=2000, random_state=seed), None))
    return found


def simulated(n, accuracy, *, n_classes=10, seed=0):
    """People who are right as often as stated and guess else, beside an over-confident model."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=2.5, size=(n, n_classes))
    truth = (softmax(logits / 1.5, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    answer = [np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n)) for right in accuracy]
    column = np.concatenate([person * n_classes + given for person, given in enumerate(answer)])
    answers = pack_answers(np.tile(np.arange(n), len(accuracy)), column, n)
    seen = th.Observations.from_arrays(np.full(n, -1), softmax(logits, axis=1))
    return replace(seen, answers=answers, annotators=tuple(f"p{at}" for at in range(len(accuracy)))), truth


def summary(found, n_items):
    """Mean errors by policy at each share of ``n_items``; expected and realised gain; where the plain one is met.

    That is where the team is within a standard error of it, by the differences within splits: at the end the two differ
    by an image in 10,000, and whether a mean is above or below is chance.
    """
    grid = np.arange(0, 1.0001, 0.005) * n_items
    mean = {
        name: np.mean([[curves[name].at(cost) for cost in grid] for curves, _ in found], axis=0) for name in POLICIES
    }
    ours = [curves["expected_gain"] for curves, _ in found]
    promised = np.mean([curve.expected[-1] - curve.expected[0] for curve in ours])
    realised = np.mean([curve.accuracy[-1] - curve.accuracy[0] for curve in ours])
    met = None
    if found[0][1] is not None:
        ahead = np.array([[curves["expected_gain"].at(cost) - plain for cost in grid] for curves, plain in found])
        ahead = ahead.reshape(-1, min(DRAWS, len(ahead)), len(grid)).mean(axis=1)
        reached = grid[ahead.mean(axis=0) >= -ahead.std(axis=0, ddof=1) / np.sqrt(len(ahead))]
        met = reached[0] / n_items if len(reached) else None
    errors = {name: [100 * (1 - curve[round(share * 200)]) for share in SHARES] for name, curve in mean.items()}
    return errors, promised, realised, met


def show(title, found, n_items):
    errors, promised, realised, met = summary(found, n_items)
    print(f"\n{title}\n{'cost, per item':>16}" + "".join(f"{share:8.0%}" for share in SHARES))
    for name, values in errors.items():
        print(f"{name:>16}" + "".join(f"{value:8.2f}" for value in values))
    print(f"  promised gain {promised:.4f}, realised {realised:.4f} ({promised / realised:.2f})")
    if found[0][1] is not None:
        plain = 100 * (1 - np.mean([plain for _, plain in found]))
        reached = "never" if met is None else f"with {met:.1%} of the answers"
        print(f"  the plain product errs {plain:.2f} with every answer: reached {reached}")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else DATA) / "cifar10h"
    answers = folder / "annotators.parquet"
    for real in find_sets(folder)[0] if folder.is_dir() else []:
        show(f"{real.name}, one anonymous person, 7,000 labels", one_person(real), 3000)
        show(f"{real.name}, one anonymous person, 100 labels", one_person(real, 100), 3000)
        if answers.exists():
            show(f"{real.name}, the real people", real_people(real, pd.read_parquet(answers)), 3000)
    show("two prices, simulated", two_prices(), 2000)


if __name__ == "__main__":
    main()
