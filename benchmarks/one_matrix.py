"""``python -m benchmarks.one_matrix [DIR] [--draws N]``: the matrix of one person, estimated in other ways.

Error in percent, log loss and mean regret against the better partner, with n labels and the other items without: one
person and one model on all sets of a folder, and in simulated worlds, where people and models see noisy evidence about
the same items, some of the noise in common. In other ways: with the strength of the prior multiplied by 1 (as its
evidence says), 2, 5 or 10 in place of 3; and without the soft counts of unlabelled items beside few labels.
"""

import argparse
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import softmax

import twoheads as th
from benchmarks import DATA
from benchmarks.quality import draw
from benchmarks.real_sets import find_sets
from twoheads.evaluation import error_rate, log_loss

SIZES = (2, 10, 30, 100, 300, "all")
#: What is patched, and with what value, by name.
SHRINKAGE, MOST_LABELS = "confusion.hierarchical.ONE_MATRIX_SHRINKAGE", "combination.fitting.few_labels.MOST_LABELS"
WAYS = {"as it is": (SHRINKAGE, 3.0), "no soft counts": (MOST_LABELS, -1)}
WAYS |= {f"strength x {factor}": (SHRINKAGE, float(factor)) for factor in (1, 2, 5, 10)}
#: Classes, the accuracies of person and model, and by how much the model is over-confident.
WORLDS = (
    (2, 0.64, 0.77, 1.5),
    (2, 0.8, 0.8, 1.5),
    (4, 0.84, 0.7, 1.6),
    (4, 0.7, 0.84, 1.6),
    (8, 0.85, 0.65, 1.5),
    (8, 0.57, 0.67, 1.3),
)
#: Share of the variance of the noise that person and model have in common.
SHARED = (0.0, 0.3, 0.6)
N_ITEMS = 1500


def separation(n_classes, accuracy):
    """How far the evidence for the true class is from that for the others, by the accuracy of the largest."""
    noise = np.random.default_rng(1).normal(size=(20_000, n_classes))
    first = np.eye(n_classes)[0]
    return brentq(lambda apart: ((noise + apart * first).argmax(axis=1) == 0).mean() - accuracy, 0.0, 8.0)


def world(n_classes, human, model, overconfidence, shared, rng):
    """Answers and model rows of a simulated world, and the truth."""
    truth = rng.integers(n_classes, size=N_ITEMS)
    common, *own = rng.normal(size=(3, N_ITEMS, n_classes))
    at = np.eye(n_classes)[truth]
    by_person, by_model = (np.sqrt(shared) * common + np.sqrt(1.0 - shared) * each for each in own)
    answer = (by_person + separation(n_classes, human) * at).argmax(axis=1)
    apart = separation(n_classes, model)
    proba = softmax(overconfidence * apart * (by_model + apart * at), axis=1)
    learn = round(2 * N_ITEMS / 3)
    X = np.column_stack([answer, proba])
    return X[:learn], truth[:learn], X[learn:], truth[learn:]


def rows_of(kind, name, X, y, X_test, y_test):
    """(kind, name, n, way, errors of person and model, error, log loss) of one trial."""
    classes = range(X.shape[1] - 1)
    alone = [100 * np.mean(label != y_test) for label in (X_test[:, 0], X_test[:, 1:].argmax(axis=1))]
    for n in SIZES:
        known = np.where(np.arange(len(y)) < (len(y) if n == "all" else n), y, -1)
        for way, (what, value) in WAYS.items():
            with patch(f"twoheads.{what}", value):
                proba = th.recommended().fit(X, known).predict_proba(X_test)
            error, loss = error_rate(y_test, proba, classes=classes), log_loss(y_test, proba, classes=classes)
            yield kind, name, str(n), way, *alone, 100 * error, loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for at, data in enumerate(find_sets(options.folder)[0]):
        for seed in range(options.draws):
            rows += rows_of(data.family, f"{at}", *draw(data, seed))
    for at, (*kind, shared) in enumerate((*each, shared) for each in WORLDS for shared in SHARED):
        for seed in range(options.draws):
            rows += rows_of("simulated worlds", f"{at}", *world(*kind, shared, np.random.default_rng(seed)))
    columns = ["kind", "name", "n", "way", "human", "model", "error %", "log loss"]
    means = pd.DataFrame(rows, columns=columns).groupby(columns[:4]).mean().reset_index()
    means["regret"] = np.maximum(means["error %"] - means[["human", "model"]].min(axis=1), 0.0)
    sets = means[means["kind"] != "simulated worlds"]
    four = sets[sets["kind"] != "code-ecg"]
    for kind, part in (("all sets", sets), ("all but code-ecg", four), *means.groupby("kind")):
        shown = part.pivot_table(index="way", columns="n", values=["log loss", "error %", "regret"])
        print(kind, shown.reindex(columns=list(map(str, SIZES)), level=1).round(4).to_string(), sep="\n", flush=True)


if __name__ == "__main__":
    main()
