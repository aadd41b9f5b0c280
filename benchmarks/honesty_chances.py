"""``python -m benchmarks.honesty_chances [--repeats N] [--seed SEED]``: `chance_best` and `expected_gain` over worlds.

A team of one person and a model is fitted to 10, 30, 100 and 300 labels in every world, with parameters drawn anew, and
judged on 3,000 fresh items; where one of the two is weak or items are hard for both, also to 1,000 and 3,000. A bin of
stated chances is named by where it begins; a draw counts half. 50 repeats, about 4,800 fits, take ten minutes.
"""

import numpy as np

from benchmarks.honesty_claims import SIZES, team_claims
from benchmarks.honesty_command import print_bins, repeats_and_seed
from benchmarks.honesty_worlds import OTHER_WORLDS, SECOND_WORLDS, WORLDS, any_world_of

FIRST_WORLDS = tuple(world for world in WORLDS if world != "agree")
GROUPS = {
    "worlds that the prior was chosen on": FIRST_WORLDS,
    "the same kinds by another recipe": SECOND_WORLDS,
    "other kinds": OTHER_WORLDS,
}
KINDS = tuple(world for group in GROUPS.values() for world in group)
#: Where a team may be worse than one member however many labels it has.
ALONE = ("hard items", "weak correlated person", "weak model", "strong model", "adversary", *SECOND_WORLDS[1:4])
#: Where person and model err independently given the truth, and where they do not.
APART = ("independent", "weak person", "weak model", "strong model", "easy", "1 : 99")
APART = (*APART, "independent, again", "weak model, again", "1 : 99, again")
TOGETHER = ("shared difficulty", "weak correlated person", "copies the model", "hard items", *SECOND_WORLDS[1:3])
TOGETHER = (*TOGETHER, "nearly the same evidence")
FRESH = 3000


def claims(worlds, sizes, repeats, seed):
    """World, number of labels and `Claims` of every fit."""
    for repeat in range(repeats):
        for world in worlds:
            for size in sizes:
                rng = np.random.default_rng([seed, repeat, KINDS.index(world), size])
                draw = any_world_of(world, rng)
                X, y = draw(size)
                if len(np.unique(y)) > 1:
                    yield world, size, team_claims(X, y, *draw(FRESH))


def print_chances(words, found):
    """`chance_best` by bin, and how often the team errs less."""
    print_bins(words, [each.chance for _, _, each in found], [each.observed for _, _, each in found])


def print_worlds(found):
    """Chances and gains of each world, stated and observed."""
    print(f"{'world':24}{'labels':>7}{'fits':>6}{'chance':>8}{'observed':>9}{'gain':>8}{'realised':>9}")
    for world in KINDS:
        for size in (10, *SIZES):
            here = [each for name, labels, each in found if (name, labels) == (world, size)]
            if here:
                values = np.mean([(each.chance, each.observed, each.expected, each.realised) for each in here], axis=0)
                numbers = f"{values[0]:8.2f}{values[1]:9.2f}{values[2]:8.3f}{values[3]:9.3f}"
                print(f"{world:24}{size:7}{len(here):6}{numbers}")


def print_sentences(found):
    """How often a sentence is stated, and right."""
    right = [each.lowers for _, _, each in found if each.effect]
    print(f"the correction lowers the log loss: stated {len(right)} times, right {sum(right)}")
    for kind, worlds in (("all", KINDS), ("independent", APART), ("dependent", TOGETHER)):
        here = [each for world, _, each in found if world in worlds and each.together is not None]
        right = [each.are_together for each in here if each.together]
        print(f"err on the same items, {kind} worlds: stated in {len(right)} of {len(here)}, right {sum(right)}")


def print_alone(found):
    """How often the team answers as one member, and how often that errs less than the combination."""
    for size in sorted({labels for _, labels, _ in found}):
        here = [(world, each) for world, labels, each in found if labels == size]
        stated = [(world, each) for world, each in here if each.alone is not None]
        right = sum(each.alone_less for _, each in stated)
        worlds = ", ".join(sorted({world for world, _ in stated}))
        shares = f"stated in {len(stated)} of {len(here)}, right {right}"
        print(f"one member alone errs less, {size} labels: {shares}: {worlds}")


def main():
    """Print bins, worlds and sentences."""
    given = repeats_and_seed(__doc__, repeats=50, seed=91)
    found = list(claims(KINDS, (10, *SIZES), given.repeats, given.seed))
    for words, worlds in GROUPS.items():
        print_chances(words, [each for each in found if each[0] in worlds])
    print_chances("all worlds", found)
    for size in (10, *SIZES):
        print_chances(f"all worlds, {size} labels", [each for each in found if each[1] == size])
    print_worlds(found)
    print_sentences(found)
    print_alone([*found, *claims(ALONE, (1000, 3000), given.repeats // 2, given.seed)])


if __name__ == "__main__":
    main()
