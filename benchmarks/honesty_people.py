"""``python -m benchmarks.honesty_people [--data DIR] [--repeats N] [--only A,B]``: coverage of ``annotator_stats_``.

What is to be covered is each person's accuracy over all items of a set, of people with 20 answers or more. With all
truths known, items are drawn with replacement. Sets of few people are drawn more often, until thirty have been looked
at: of three readers one draw says little.
"""

import argparse
import math
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import beta

import twoheads as th
from benchmarks import DATA
from benchmarks.honesty_sets import real_sets

LEVEL = 0.9
FEWEST = 20
SIZES = (0, 30, 60, 100, 300, "all")
PEOPLE = 30


def team_of(data):
    return th.recommended(class_prior="model" if data.proba is not None else "learn")


def stated(data, seen, y, accuracy, used):
    """Held, and the mean width over that of the labelled items alone, where there are any."""
    stats = team_of(data).fit(seen, y).annotator_stats_
    place = np.array(stats["annotator"], dtype=int)
    low, high = np.empty(len(accuracy)), np.empty(len(accuracy))
    low[place], high[place] = stats["accuracy_low"], stats["accuracy_high"]
    used = used & np.isin(np.arange(len(accuracy)), place)
    held = (low <= accuracy + 1e-12) & (accuracy <= high + 1e-12)
    width = alone(seen, y, len(accuracy)) if y is not None else np.ones(len(accuracy))
    return held[used].mean(), (high - low)[used].mean() / width[used].mean()


def alone(seen, y, n_people):
    """The width of Jeffreys' interval on the labelled answers alone, (n_people,)."""
    item = np.repeat(np.arange(len(seen)), seen.answers.per_item())
    column = seen.answers.column[seen.answers.column >= 0]
    person, answer = np.divmod(column, seen.n_classes)
    person, known = np.array(seen.annotators, dtype=int)[person], y[item] >= 0
    count = np.bincount(person[known], minlength=n_people)
    right = np.bincount(person[known], answer[known] == y[item][known], n_people)
    low, high = (beta.ppf(tail, right + 0.5, count - right + 0.5) for tail in (0.05, 0.95))
    return high - low


def stated_claims(data, seen, labelled, accuracy, used):
    """With the truth of some items and the others without."""
    y = np.full(len(data.truth), -1)
    y[labelled] = data.truth[labelled]
    return stated(data, seen, y, accuracy, used)


def stated_with_all(data, seen, accuracy, used, rng, fresh):
    """With the truth of every item: as they are, or drawn with replacement to cover the accuracy of the whole set."""
    drawn = np.arange(len(data.truth)) if fresh else rng.integers(0, len(data.truth), len(data.truth))
    return stated(data, seen.take(drawn), data.truth[drawn], accuracy, used)


def stated_without(data, seen, accuracy, used):
    """Without any truth; the claim is that of what is believed."""
    return stated(data, seen, None, accuracy, used)


def of_set(data, size, repeats):
    """Mean coverage and relative width over draws of the labelled items; None with too few items."""
    seen, accuracy, used = data.observations(), data.accuracy(), np.bincount(data.person) >= FEWEST
    if size not in (0, "all") and size > 0.8 * len(data.truth):
        return None
    if size == 0:
        return stated_without(data, seen, accuracy, used)
    found = []
    for repeat in range(repeats * math.ceil(PEOPLE / used.sum())):
        rng = np.random.default_rng([repeat, 1 if size == "all" else size])
        if size == "all":
            found.append(stated_with_all(data, seen, accuracy, used, rng, fresh=False))
        else:
            labelled = np.sort(rng.permutation(len(data.truth))[:size])
            found.append(stated_claims(data, seen, labelled, accuracy, used))
    return np.mean(found, axis=0)


def main():
    """Print a line per set, and the mean and the lowest over sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="names of sets, or how they begin, with commas")
    given = parser.parse_args()
    sets = {name: each for name, each in real_sets(given.data).items() if name.startswith(tuple(given.only.split(",")))}
    warnings.simplefilter("ignore")
    print(f"{'set':14}{'people':>7}" + "".join(f"{size!s:>13}" for size in SIZES))
    found = []
    for name, data in sets.items():
        row = [of_set(data, size, given.repeats) for size in SIZES]
        found.append([(np.nan, np.nan) if cell is None else cell for cell in row])
        cells = ("." if cell is None else f"{cell[0]:.2f} ({cell[1]:.2f})" for cell in row)
        print(f"{name:14}{data.n_people:7}" + "".join(f"{cell:>13}" for cell in cells), flush=True)
    held, width = np.moveaxis(np.array(found), 2, 0)
    for words, values in (
        ("covered, mean", np.nanmean(held, axis=0)),
        ("lowest", np.nanmin(held, axis=0)),
        ("width, mean", np.nanmean(width, axis=0)),
    ):
        print(f"{words:21}" + "".join(f"{value:13.3f}" for value in values))


if __name__ == "__main__":
    main()
