"""``python -m benchmarks.honesty_chances [--repeats N] [--seed SEED]``: `chance_best` and `expected_gain` over worlds.

A team of one person and a model is fitted to 30, 100 and 300 labels in every world, with parameters drawn anew, and
judged on 3,000 fresh items. A bin of stated chances is named by where it begins; a draw counts half. 169 repeats, about
7,400 fits, take 12 minutes on one core.
"""

import argparse
import warnings

import numpy as np

from benchmarks.honesty_claims import SIZES, team_claims
from benchmarks.honesty_worlds import OTHER_WORLDS, WORLDS, other_world_of, world_of

KINDS = (*(world for world in WORLDS if world != "agree"), *OTHER_WORLDS)
FRESH = 3000


def claims(repeats, seed):
    """World, number of labels and `Claims` of every fit."""
    for repeat in range(repeats):
        for place, world in enumerate(KINDS):
            for size in SIZES:
                rng = np.random.default_rng([seed, repeat, place, size])
                draw = (other_world_of if world in OTHER_WORLDS else world_of)(world, rng)
                X, y = draw(size)
                if len(np.unique(y)) > 1:
                    yield world, size, team_claims(X, y, *draw(FRESH))


def print_bins(words, found):
    """Stated chances by bin, and how often they came."""
    chance, came = (np.array([getattr(each, name) for _, _, each in found]) for name in ("chance", "came"))
    bins = np.minimum((10 * chance).astype(int), 9)
    print(f"{words}, {len(found)} fits")
    for start in np.unique(bins):
        here = bins == start
        print(f"  from .{start}  {here.sum():5} fits  said {chance[here].mean():.3f}  came {came[here].mean():.3f}")


def print_worlds(found):
    """Chances and gains of each world, said and came."""
    print(f"{'world':24}{'labels':>7}{'fits':>6}{'chance':>8}{'came':>7}{'gain':>8}{'came':>8}")
    for world in KINDS:
        for size in SIZES:
            here = [each for name, labels, each in found if (name, labels) == (world, size)]
            if here:
                values = np.mean([(each.chance, each.came, each.promised, each.realised) for each in here], axis=0)
                numbers = f"{values[0]:8.2f}{values[1]:7.2f}{values[2]:8.3f}{values[3]:8.3f}"
                print(f"{world:24}{size:7}{len(here):6}{numbers}")


def print_sentences(found):
    """How often a sentence is said, and right."""
    for effect in ("lower", "higher"):
        right = [each.lowers == (effect == "lower") for _, _, each in found if each.effect == effect]
        print(f"the correction makes the log loss {effect}: said {len(right)} times, right {sum(right)}")
    alone = [each.alone_less for _, _, each in found if each.alone is not None]
    print(f"one member alone errs less: said {len(alone)} times, right {sum(alone)}")


def main():
    """Print bins, worlds and sentences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=169)
    parser.add_argument("--seed", type=int, default=91)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = list(claims(given.repeats, given.seed))
    print_bins("worlds of the benchmark", [each for each in found if each[0] not in OTHER_WORLDS])
    print_bins("other worlds", [each for each in found if each[0] in OTHER_WORLDS])
    print_bins("all worlds", found)
    print_worlds(found)
    print_sentences(found)


if __name__ == "__main__":
    main()
