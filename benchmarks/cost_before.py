"""What `recommended` costs against an earlier tree: ``python -m benchmarks.cost_before OLD [--only TEXT]``.

``OLD`` is a checkout of another commit (``git worktree add ../old 96bc41c``). Each tree has a process of its own; the
two take turns, and each time is the least processor time of several turns: their ratio is what can be compared.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import twoheads as th
from benchmarks.simulation import simulate, simulate_crowd

HERE = Path(__file__).parents[1]
#: Most that a fit and a prediction may cost, in units of the earlier tree's.
FIT, PREDICT = 2.0, 1.3
#: Draws of each cell: how many nodes a fit keeps differs from one to the next.
DRAWS = 4


def pair(n_labels, n_classes, unlabelled=0, seed=0):
    """One person and a model; predicted are 2,000 items."""
    used = n_labels + unlabelled
    X, truth = simulate(max(used, 2000), n_classes, seed=seed)
    y = np.where(np.arange(used) < n_labels, truth[:used], -1) if n_labels else None
    return X[:used], y, X[:2000]


def crowd(n_people, share, *, n_items=2000, n_classes=10, per_item=3, has_model=True, seed=0):
    """A crowd that answers three times about each item; of a share of the items the truth is known."""
    rng = np.random.default_rng(seed)
    X, truth = simulate(n_items, n_classes, seed=seed)
    accuracy = rng.beta(8, 2, n_people)
    seen, truth = simulate_crowd(
        n_items, accuracy, per_item=per_item, n_classes=n_classes, rng=rng, model=(X[:, 1:], truth)
    )
    if not has_model:
        seen = replace(seen, model_proba=(), models=())
    return seen, np.where(rng.random(n_items) < share, truth, -1) if share else None, seen


def models(n_models, n_labels, n_classes, seed=0):
    """One person and several models."""
    X, truth = simulate(2000, n_classes, seed=seed)
    rng = np.random.default_rng(seed)
    proba = [X[:, 1:]]
    for _ in range(n_models - 1):
        other = proba[0] * np.exp(rng.normal(size=proba[0].shape))
        proba.append(other / other.sum(axis=1, keepdims=True))
    names = tuple(f"model {number}" for number in range(n_models))
    rows = tuple(map(np.ascontiguousarray, proba))
    seen = replace(th.as_observations(X), model_proba=rows, models=names)
    return seen, np.where(np.arange(2000) < n_labels, truth, -1), seen


def cells():
    """{name: a function of a seed that makes X and y to fit, and X to predict}."""
    found = {}
    for n_classes in (2, 4, 10, 16):
        for n in (10, 30, 100, 300, 2000, 20000):
            found[f"pair, {n} labels, {n_classes} classes"] = partial(pair, n, n_classes)
        for n in (30, 300):
            found[f"pair, {n} labels and 1000 without, {n_classes} classes"] = partial(pair, n, n_classes, 1000)
        found[f"pair, no truth, 2000 items, {n_classes} classes"] = partial(pair, 0, n_classes, 2000)
    for n_people in (20, 145):
        for share in (1.0, 0.1, 0.0):
            part = partial(crowd, n_people, share)
            found[f"crowd of {n_people}, 2000 items, truth of {share:.0%}"] = part
    for share in (1.0, 0.0):
        found[f"crowd of 20 without model, 2000 items, truth of {share:.0%}"] = partial(
            crowd, 20, share, has_model=False
        )
    found["23 judges, 200 items, truth of all"] = partial(
        crowd, 23, 1.0, n_items=200, n_classes=2, per_item=23, has_model=False
    )
    found["3 models, 300 labels and 1700 without, 10 classes"] = partial(models, 3, 300, 10)
    return found


def measure():
    """The process of one tree: times of fit and prediction over all draws, for each cell's name that it reads."""
    made = {}
    for line in sys.stdin:
        name = line.strip()
        made = made if name in made else {name: [cells()[name](seed=seed) for seed in range(DRAWS)]}
        spent = np.zeros(2)
        for X, y, new in made[name]:
            team = th.recommended()
            start = time.process_time()
            team.fit(X, y)
            fitted = time.process_time()
            team.predict_proba(new)
            spent += fitted - start, time.process_time() - fitted
        print(json.dumps(list(spent / DRAWS)), flush=True)


def started(tree):
    """A process that measures the package of a tree."""
    path = os.pathsep.join([str(tree / "src"), str(HERE)])
    alone = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.cost_before", "--measure", str(tree)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=os.environ | alone, cwd=HERE, **pipes)


def asked(process, name):
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def compared(processes, name, turns):
    """Least times of each tree, (2, 2): trees by fit and prediction. Short fits have more turns."""
    best, spent = np.full((2, 2), np.inf), 0.0
    for turn in range(20):
        times = np.array([asked(process, name) for process in processes])
        if turn:  # the first loads and fills what is kept
            best = np.minimum(best, times)
        spent += DRAWS * times.sum()
        if turn >= turns and spent > 2.0:
            break
    return best


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost_before", description=__doc__.split("\n\n")[0])
    parser.add_argument("old", type=Path, help="a checkout of the earlier commit")
    parser.add_argument("--only", default="", help="cells whose name contains this text")
    parser.add_argument("--turns", type=int, default=3, help="fewest turns")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure()
        return
    processes = [started(tree) for tree in (options.old.resolve(), HERE)]
    print(f"{'':55}{'fit, ms':>16}{'ratio':>7}{'predict, ms':>16}{'ratio':>7}")
    above = 0
    for name in cells():
        if options.only in name:
            (fit, predict), (new_fit, new_predict) = 1000 * compared(processes, name, options.turns)
            ratios = new_fit / fit, new_predict / predict
            above += ratios[0] > FIT or ratios[1] > PREDICT
            mark = "".join(" <" if ratio > bar else "" for ratio, bar in zip(ratios, (FIT, PREDICT), strict=True))
            print(
                f"{name:55}{fit:8.1f}{new_fit:8.1f}{ratios[0]:7.2f}{predict:8.1f}{new_predict:8.1f}{ratios[1]:7.2f}{mark}",
                flush=True,
            )
    print(f"{above} cells above {FIT:g} times the fit or {PREDICT:g} times the prediction")
    for process in processes:
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
