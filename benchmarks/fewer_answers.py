"""``python -m benchmarks.fewer_answers [DIR] [--draws N]``: teams used with fewer answers per item than at fit.

Every set of people and a model with several answers per item: 70 % of the items to learn from, with all their answers,
with one to five of them, or with one; the others to predict, so too. One row per way to learn and to predict, means of
the log loss over sets: of the team, of the same team with the model's factor of the fit whatever the number of answers,
and of a team that learnt from as many answers as it predicts from. Then the first two by set, fitted on all answers and
used with one.
"""

import argparse
import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd

import twoheads as th
from benchmarks import DATA
from benchmarks.honesty_sets import real_sets
from twoheads.evaluation import log_loss

SIZES = (0, 30, 100, "all")
#: Answers on an item: all, one to five, one.
KINDS = {
    "all": lambda rng, n: np.full(n, 1_000_000),
    "1 to 5": lambda rng, n: rng.integers(1, 6, n),
    "1": lambda rng, n: np.ones(n, dtype=int),
}


def thinned(data, most, rng):
    """The set with at most so many answers on each item, drawn at random; most (n_items,)."""
    order = np.lexsort((rng.random(len(data.item)), data.item))
    start = np.searchsorted(data.item[order], np.arange(len(data.truth)))
    kept = order[np.arange(len(order)) - start[data.item[order]] < most[data.item[order]]]
    return replace(data, item=data.item[kept], person=data.person[kept], answer=data.answer[kept])


def with_factor_of_the_fit(team):
    """The same team, whose model has one factor however many answers there are."""
    other = copy(team)
    other.dependence_ = copy(team.dependence_)
    other.dependence_.effective_answers_ = 0.0
    return other


def losses(data, seed):
    """Rows of number of labels, how it learnt, how it predicts, and the three log losses, of one draw."""
    rng = np.random.default_rng(seed)
    n_items, order = len(data.truth), rng.permutation(len(data.truth))
    learn, judged = np.split(order, [int(0.7 * n_items)])
    seen = {name: thinned(data, most(rng, n_items), rng).observations() for name, most in KINDS.items()}
    for n in SIZES:
        size = len(learn) if n == "all" else min(n, len(learn))
        y = np.where(np.arange(len(learn)) < size, data.truth[learn], -1)
        teams = {name: th.recommended().fit(part.take(learn), y if size else None) for name, part in seen.items()}
        for use, part in seen.items():
            new, truth = part.take(judged), data.truth[judged]
            classes = range(data.n_classes)
            matched = log_loss(truth, teams[use].predict_proba(new), classes=classes)
            for fit, team in teams.items():
                both = (each.predict_proba(new) for each in (team, with_factor_of_the_fit(team)))
                yield str(n), fit, use, *(log_loss(truth, proba, classes=classes) for proba in both), matched


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = {name: data for name, data in real_sets(options.folder).items() if data.proba is not None}
    several = {name: data for name, data in sets.items() if len(data.item) > 1.5 * len(data.truth)}
    names = ["set", "n", "learnt from", "used with", "team", "factor of the fit", "matched"]
    rows = [
        (name, *row) for name, data in several.items() for seed in range(options.draws) for row in losses(data, seed)
    ]
    table = pd.DataFrame(rows, columns=names)
    of_sets = table.groupby(names[:4], sort=False).mean()
    print(f"{len(several)} sets: {', '.join(several)}")
    print(of_sets.groupby(["learnt from", "used with", "n"], sort=False).mean().round(4).to_string())
    print(of_sets.xs(("all", "1"), level=("learnt from", "used with")).unstack("n").round(4).to_string())


if __name__ == "__main__":
    main()
