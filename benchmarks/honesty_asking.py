"""``python -m benchmarks.honesty_asking [--repeats N]``: what `choose` expects of first, second and third opinions.

Four people of unequal skill and a model, fitted to 30, 100 and 300 items on which half of the people answered. Of 600
fresh items each has no, one or two answers; `choose` asks 150 questions at most, at equal or unequal prices, and the
accuracy with the answers is compared with what was expected. No constant was chosen on these worlds. 20 repeats, 720
plans, take two minutes.
"""

import numpy as np
import pandas as pd
from scipy.special import expit, logit, softmax

import twoheads as th
from benchmarks.honesty_command import repeats_and_seed

WORLDS = ("plain", "hard items", "skill by class", "model too sure of one class")
SIZES, FRESH, BUDGET, PEOPLE = (30, 100, 300), 600, 150, "abcd"
PRICES = (1.0, {"a": 1.0, "b": 1.0, "c": 2.0, "d": 3.0})


def world_of(world, rng):
    """A function from a number of items to people's labels (n_items, 4), the model's probabilities and the truth."""
    n_classes, strength, sharpness = int(rng.choice([2, 3, 5])), rng.uniform(0.5, 2.5), rng.uniform(0.6, 2.0)
    skill = np.repeat(rng.uniform(0.55, 0.97, (4, 1)), n_classes, axis=1)
    if world == "skill by class":
        skill = rng.uniform(0.4, 0.99, (4, n_classes))
    spread = 1.5 if world == "hard items" else 0.0

    def draw(size):
        truth, hard = rng.integers(0, n_classes, size), spread * rng.normal(size=size)
        logits = rng.normal(size=(size, n_classes))
        logits[np.arange(size), truth] += strength + 0.7 * hard
        sure = np.where((world == WORLDS[3]) & (logits.argmax(axis=1) == 0), 3.0, 1.0)
        right = rng.random((size, 4)) < expit(logit(skill[:, truth].T) + hard[:, None])
        wrong = (truth[:, None] + rng.integers(1, n_classes, (size, 4))) % n_classes
        return np.where(right, truth[:, None], wrong), softmax(sharpness * sure[:, None] * logits, axis=1), truth

    return draw


def table_of(labels, proba, asked):
    """A frame of the answers that were asked for, (n_items, 4), and of the model."""
    answers = {f"human_{name}": labels[:, at] for at, name in enumerate(PEOPLE)}
    frame = pd.DataFrame(answers).mask(~asked).astype("Int64")
    return frame.assign(**{f"p_{at}": column for at, column in enumerate(proba.T)})


def plans(repeats, seed):
    """World, answers that each item has, expected and realised gain, the accuracy expected and measured before."""
    for repeat in range(repeats):
        for place, world in enumerate(WORLDS):
            for size in SIZES:
                rng = np.random.default_rng([seed, repeat, place, size])
                draw = world_of(world, rng)
                labels, proba, truth = draw(size)
                team = th.recommended().fit(table_of(labels, proba, rng.random(labels.shape) < 0.5), truth)
                if len(team.classes_) < proba.shape[1]:
                    continue
                labels, proba, truth = draw(FRESH)
                order = rng.permuted(np.tile(np.arange(4), (FRESH, 1)), axis=1)
                for answers in range(3):
                    asked = order < answers
                    plan = th.choose(team, table_of(labels, proba, asked), BUDGET, price=PRICES[repeat % 2])
                    before = team.predict(table_of(labels, proba, asked)) == truth
                    asked[plan.row, [PEOPLE.index(name) for name in plan.annotator]] = True
                    after = team.predict(table_of(labels, proba, asked)) == truth
                    realised = after.mean() - before.mean()
                    yield world, answers, plan.gain.sum() / FRESH, realised, plan.expected_now, before.mean()


def main():
    """Print the means of each world and number of answers."""
    given = repeats_and_seed(__doc__, repeats=20, seed=17)
    found = list(plans(given.repeats, given.seed))
    print(f"{'world':30}{'answers':>8}{'plans':>7}{'stated':>9}{'observed':>9}{'se':>7}{'now':>8}{'was':>8}")
    for world in (*WORLDS, "all"):
        for answers in range(3):
            here = np.array([each[2:] for each in found if each[1] == answers and world in (each[0], "all")])
            stated, observed, now, was = here.mean(axis=0)
            se = (here[:, 1] - here[:, 0]).std() / len(here) ** 0.5
            print(f"{world:30}{answers:8}{len(here):7}{stated:9.3f}{observed:9.3f}{se:7.3f}{now:8.3f}{was:8.3f}")


if __name__ == "__main__":
    main()
