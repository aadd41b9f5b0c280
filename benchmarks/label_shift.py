"""``python -m benchmarks.label_shift [DIR] [--draws N]``: log loss where class shares differ from those at fit, or not.

One person and one model on the real sets of a folder. A team is fitted on n labels and 500 items without; of the others
300 are drawn, as they are or with the shares of the classes resampled to a geometric series. "EM" is that of Saerens et
al. (2002) with the prevalence of the labels; "known" corrects to the true shares.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

import twoheads as th
from benchmarks.quality import draw
from benchmarks.real_sets import find_sets
from twoheads.evaluation import log_loss

DATA = Path(__file__).parents[2] / "shared" / "data"
SIZES = (30, 100, 300)
UNLABELLED, AT_HAND, RATIO = 500, 300, 0.7
METHODS = ("as at fit", "class_prior='shift'", "EM", "known")


def at_hand(truth, n_classes, shifted, rng):
    """Positions of the items at hand, and their class shares."""
    there = np.bincount(truth, minlength=n_classes)
    shares = RATIO ** rng.permutation(n_classes) * (there > 0) if shifted else there.astype(float)
    shares = shares / shares.sum()
    if not shifted:
        return rng.choice(len(truth), min(AT_HAND, len(truth)), replace=False), shares
    weight = shares[truth] / there[truth]
    return rng.choice(len(truth), AT_HAND, p=weight / weight.sum()), shares


def em_log_ratio(posterior, at_fit):
    shares = at_fit
    for _ in range(500):
        each = posterior * (shares / at_fit)
        shares = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.log(np.maximum(shares, 1e-12) / at_fit)


def losses(data, n, shifted, seed):
    """Log loss of each of `METHODS`."""
    X, y, X_rest, y_rest = draw(data, seed)
    n_classes = data.proba.shape[1]
    some = min(len(X), n + UNLABELLED)
    team = th.recommended(class_prior="shift").fit(X[:some], np.where(np.arange(some) < n, y[:some], -1))
    rows, shares = at_hand(y_rest, n_classes, shifted, np.random.default_rng(seed))
    posterior, truth = team.set_params(class_prior="model").predict_proba(X_rest[rows]), y_rest[rows]
    found = team.class_shares(X_rest[rows])
    fit_shares = np.bincount(y, minlength=n_classes) / len(y)
    known = np.log(np.maximum(shares, 1e-9) / np.maximum(fit_shares, 1e-9)) if shifted else np.zeros(n_classes)
    ratios = np.zeros(n_classes), found.log_ratio, em_log_ratio(posterior, team.prevalence_), known
    corrected = (posterior * np.exp(ratio) for ratio in ratios)
    return [log_loss(truth, each / each.sum(axis=1, keepdims=True), classes=range(n_classes)) for each in corrected]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = [data for data in find_sets(options.folder)[0] if len(data.truth) >= 1000]
    for shifted in (False, True):
        print(f"{'shifted' if shifted else 'not shifted'}, {len(sets)} sets, log loss less that as at fit")
        for n in SIZES:
            table = np.array([[losses(data, n, shifted, seed) for seed in range(options.draws)] for data in sets])
            change = (table - table[..., :1]).mean(axis=(0, 1))
            shown = "  ".join(f"{name} {value:+.4f}" for name, value in zip(METHODS[1:], change[1:], strict=True))
            print(f"  n = {n:4d}  as at fit {table[..., 0].mean():.4f}  {shown}", flush=True)


if __name__ == "__main__":
    main()
