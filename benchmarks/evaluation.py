"""How long an evaluation takes: ``python -m benchmarks.evaluation``.

About 2 seconds of processor for the comparison of 100,000 items of 10 classes with 1,000 replicates, and less than a
second for 1,000 permutations of 10,000 items, on a quiet machine of 2 cores.
"""

import time

import numpy as np

import twoheads as th
from twoheads.evaluation import compare, independence


def problem(n_items, n_classes=10):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_items)
    logits = rng.normal(size=(n_items, n_classes))
    logits[np.arange(n_items), y] += 2.0
    proba = np.exp(1.5 * logits)
    proba /= proba.sum(axis=1, keepdims=True)
    human = np.where(rng.random(n_items) < 0.8, y, rng.integers(0, n_classes, n_items))
    return np.column_stack([human, proba]), y


def seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def main():
    X, y = problem(100_000)
    team = th.ProbabilityLabelCombiner().fit(X[:300], y[:300])
    print(f"compare, 100,000 items: {seconds(lambda: compare(team, X, y, n_bootstrap=1000)):.1f} s")
    X, y = problem(10_000)
    human = X[:, 0].astype(int)
    taken = seconds(lambda: independence(X[:, 1:], human, y, n_permutations=1000))
    print(f"independence, 10,000 items: {taken:.1f} s")


if __name__ == "__main__":
    main()
