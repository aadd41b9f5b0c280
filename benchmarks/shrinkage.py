"""``python -m benchmarks.shrinkage [DIR] [--draws N]``: how hard the matrix of one person is shrunk.

Log loss, and error in percent, with n labels and the other items without, where the strength of the matrix's prior is
multiplied by 1 (as its evidence says), 2, 3 and so on: one person and one model on all sets of a folder, and in
simulated worlds, where people and models see noisy evidence about the same items, some of the noise in common.
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

FACTORS, SIZES = (1, 2, 3, 5, 10), (10, 30, 100, 300, "all")
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


def rows_of(kind, X, y, X_test, y_test):
    """(kind, n, factor, error, log loss) of one trial."""
    classes = range(X.shape[1] - 1)
    for n in SIZES:
        known = np.where(np.arange(len(y)) < (len(y) if n == "all" else n), y, -1)
        for factor in FACTORS:
            with patch("twoheads.confusion.hierarchical.ONE_MATRIX_SHRINKAGE", float(factor)):
                proba = th.recommended().fit(X, known).predict_proba(X_test)
            error, loss = error_rate(y_test, proba, classes=classes), log_loss(y_test, proba, classes=classes)
            yield kind, str(n), factor, 100 * error, loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for data in find_sets(options.folder)[0]:
        for seed in range(options.draws):
            rows += rows_of(data.family, *draw(data, seed))
    for *kind, shared in [(*each, shared) for each in WORLDS for shared in SHARED]:
        for seed in range(options.draws):
            rows += rows_of("simulated worlds", *world(*kind, shared, np.random.default_rng(seed)))
    table = pd.DataFrame(rows, columns=["kind", "n", "factor", "error %", "log loss"])
    for kind, part in table.groupby("kind"):
        shown = part.pivot_table(index="factor", columns="n", values=["log loss", "error %"])
        print(kind, shown.reindex(columns=list(map(str, SIZES)), level=1).round(4).to_string(), sep="\n", flush=True)


if __name__ == "__main__":
    main()
