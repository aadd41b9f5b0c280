"""``python -m benchmarks.many_classes``: fit, report and ask with 2,000 classes, in seconds, and the size of the team.

3,000 items with truth to fit on, 1,000 to report on and to ask about; three people, each of whom answers 70 % of them.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ACCURACY = {"ann": 0.9, "bob": 0.8, "cat": 0.7}
#: Classes with a noticeable probability in a model's row.
N_TOP = 20


def probabilities(rng, truth, n_classes):
    """Rows of a model that is right about three times in four, with nearly all of the mass on a few classes."""
    proba = np.full((len(truth), n_classes), 1e-7)
    for row, true_class in zip(proba, truth, strict=True):
        row[rng.choice(n_classes, min(N_TOP, n_classes), replace=False)] += rng.dirichlet(
            np.full(min(N_TOP, n_classes), 0.3)
        )
        row[true_class] += rng.random() < 0.75
    return (proba / proba.sum(axis=1, keepdims=True)).astype(np.float32)


def table(n_items, n_classes, seed):
    """A table with truth; wrong answers are one of the three next classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    names = np.array([f"c{at:04d}" for at in range(n_classes)])
    columns = {"item": [f"{seed}-{at}" for at in range(n_items)]}
    for name, accuracy in ACCURACY.items():
        wrong = (truth + rng.integers(1, 4, size=n_items)) % n_classes
        label = names[np.where(rng.random(n_items) < accuracy, truth, wrong)]
        columns[f"human_{name}"] = pa.array(label, mask=rng.random(n_items) > 0.7)
    proba = probabilities(rng, truth, n_classes)
    columns |= {f"p_{name}": column for name, column in zip(names, proba.T, strict=True)}
    return pa.table(columns | {"truth": names[truth]})


def run(*arguments):
    """Seconds, and processor seconds, of a command in a process of its own."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "twoheads", *map(str, arguments), "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, spent


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_classes", description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=2000)
    n_classes = parser.parse_args().classes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        team, fitted, held_out = (folder / each for each in ("team.json", "fit.parquet", "held-out.parquet"))
        pq.write_table(table(3000, n_classes, seed=1), fitted)
        pq.write_table(table(1000, n_classes, seed=2), held_out)
        pq.write_table(table(1000, n_classes, seed=3).drop(["truth"]), folder / "new.parquet")
        for what, arguments in {
            "fit": ("fit", fitted, "-o", team),
            "report": ("report", team, held_out, "-o", folder / "report.html"),
            "ask": ("ask", team, folder / "new.parquet", "--budget", 200, "-o", folder / "questions.csv"),
        }.items():
            wall, spent = run(*arguments)
            print(f"{what:8}{wall:8.1f} s, {spent:6.1f} s of processor time", flush=True)
        print(f"{'team':8}{team.stat().st_size / 1e6:8.1f} MB")


if __name__ == "__main__":
    main()
