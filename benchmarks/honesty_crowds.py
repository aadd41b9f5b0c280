"""``python -m benchmarks.honesty_crowds [--repeats N] [--seed SEED]``: `chance_best` of several people and a model.

A team of two to eight people, each of whom answers about a part of the items, and a model is fitted to 10, 30, 100 and
300 labels in eight kinds of worlds, with parameters drawn anew, and judged on 3,000 fresh items. A bin of stated
chances is named by where it begins; a draw counts half. 25 repeats, 800 fits, take three minutes.
"""

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

import twoheads as th
from benchmarks.honesty_command import print_bins, repeats_and_seed

WORLDS = (
    "independent",
    "shared difficulty",
    "hard for all",
    "weak people",
    "strong model",
    "copy each other",
    "weak model",
    "one good person",
)
SIZES = (10, 30, 100, 300)
FRESH = 3000


def world_of(world, rng):
    """A function from a number of items to observations and truth, with parameters drawn for this world."""
    n_classes, n_people, absent = int(rng.choice([2, 3, 4, 8])), int(rng.choice([2, 3, 5, 8])), rng.uniform(0, 0.6)
    ability = rng.normal(0.2 if world == "weak people" else rng.uniform(0.5, 2.5), 0.6, n_people)
    if world == "one good person":
        ability = np.append(rng.normal(0.3, 0.3, n_people - 1), rng.uniform(2, 4))
    strength = rng.uniform(*{"strong model": (3, 5), "weak model": (0.2, 0.9)}.get(world, (0.8, 3.5)))
    spread = rng.uniform(0.8, 2.0) if world == "shared difficulty" else 0.0
    sharpness, slope, copied = rng.uniform(0.5, 2.5), rng.uniform(0.3, 1.2), rng.uniform(0.2, 0.7)
    share = rng.uniform(0.1, 0.5) if world == "hard for all" else 0.0
    lured = rng.uniform(0, 1)

    def draw(size):
        truth, difficulty, hard = (
            rng.integers(0, n_classes, size),
            rng.normal(0, spread, size),
            rng.random(size) < share,
        )
        item, lure = np.arange(size), (truth + rng.integers(1, n_classes, size)) % n_classes
        taken = hard & (rng.random(size) < lured)
        logits = rng.normal(0, 1, (size, n_classes))
        logits[item, truth] += np.where(hard, 0.2, 1.0) * np.maximum(strength + slope * difficulty, -1.0)
        logits[item, lure] += 1.5 * taken
        frame = pd.DataFrame(softmax(sharpness * logits, axis=1), columns=[f"p_{name}" for name in range(n_classes)])
        first, present = None, rng.random((size, n_people)) >= absent
        present[item, rng.integers(0, n_people, size)] = True
        for person in range(n_people):
            wrong = np.where(taken, lure, (truth + rng.integers(1, n_classes, size)) % n_classes)
            chance = np.where(hard, 0.35, expit(ability[person] + difficulty))
            answer = np.where(rng.random(size) < chance, truth, wrong)
            if world == "copy each other" and first is not None:
                answer = np.where(rng.random(size) < copied, first, answer)
            first = answer if first is None else first
            frame[f"human_{person}"] = pd.array(np.where(present[:, person], answer, None), dtype="Int64")
        return th.Observations.from_frame(frame), truth

    return draw


def fits(repeats, seed):
    """World, number of labels, the chance stated, and whether the team errs less, of each fit."""
    for repeat in range(repeats):
        for at, world in enumerate(WORLDS):
            for size in SIZES:
                rng = np.random.default_rng([seed, repeat, at, size])
                draw = world_of(world, rng)
                X, y = draw(size)
                if len(np.unique(y)) < 2:
                    continue
                team = th.recommended().fit(X, y)
                new, truth = draw(FRESH)
                block = team.observe(new).block(slice(0, FRESH))
                members = team.result().rule.human_label_shares(block).argmax(axis=0), block.log_proba.argmax(axis=0)
                error, best = np.mean(team.predict(new) != truth), min(np.mean(each != truth) for each in members)
                yield world, size, team.holdout_.chance_best, 0.5 if error == best else float(error < best)


def main():
    """Print bins, of all and by number of labels and world."""
    given = repeats_and_seed(__doc__, repeats=25, seed=17)
    found = pd.DataFrame(fits(given.repeats, given.seed), columns=["world", "labels", "stated", "observed"])
    for words, here in (("all", found), ("30 labels and more", found[found["labels"] >= 30])):
        print_bins(words, here["stated"], here["observed"])
    for key in ("labels", "world"):
        print(found.groupby(key)[["stated", "observed"]].mean().round(3))


if __name__ == "__main__":
    main()
