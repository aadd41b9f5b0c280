"""How often the headline is wrong when it states that the difference from the better half is significant.

The worlds are simulated with known accuracies: the team equals the best of its rivals, so that whatever is stated of a
difference from that rival is false. A claim is false if the team is stated to err less than the better half and does
not, or to err more and does not. Stated level: 5 % at most.
"""

from collections import defaultdict

import numpy as np

from twoheads.combination.rivals import Labels, RivalList
from twoheads.kernels.answers import pack_answers
from twoheads.text import SIGNIFICANCE

SIZES = (30, 60, 100, 300)
CLASSES = 4


def labels(accuracy, truth, difficulty, rng):
    """Labels that are right with this probability on average; an item's difficulty is shared by all."""
    right = rng.random(len(truth)) < np.clip(accuracy + difficulty, 0.0, 1.0)
    return np.where(right, truth, (truth + rng.integers(1, CLASSES, len(truth))) % CLASSES)


def world(n, *, team, model, people, share, shared_difficulty, rng):
    """One evaluation: the rivals found, and the true accuracies by key."""
    truth = rng.integers(0, CLASSES, n)
    difficulty = shared_difficulty * rng.choice([-1.0, 1.0], n)
    item, column = [], []
    for person, accuracy in enumerate(people):
        asked = np.flatnonzero(rng.random(n) < share)
        item.append(asked)
        column.append(person * CLASSES + labels(accuracy, truth, difficulty, rng)[asked])
    answers = pack_answers(np.concatenate(item), np.concatenate(column), n)
    listed = RivalList(tuple(f"p{at}" for at in range(len(people))), ("model",), crowd=False)
    model_error, team_error = (1.0 * (labels(each, truth, difficulty, rng) != truth) for each in (model, team))
    rival_labels = Labels(answers, CLASSES, model_error[None])
    return listed.compared(listed.sums(rival_labels, truth, team_error))


def false_claims(n, repeats, rng, **options):
    """Share of evaluations whose claim of a significant difference from the better half is false."""
    false = 0
    for _ in range(repeats):
        found = world(n, rng=rng, **options)
        if found.p_value >= SIGNIFICANCE:
            continue
        best = found.better_half
        accuracy = {"model": options["model"], "person": np.mean(options["people"]), "human": options["people"][0]}
        if best.key == "best_person":
            accuracy["best_person"] = options["people"][int(best.name[1:])]
        rival = accuracy.get(best.key, np.inf)  # a majority of three is better than each of them
        less = best.team_errors < best.errors
        false += options["team"] <= rival + 1e-12 if less else options["team"] >= rival - 1e-12
    return false / repeats


WORLDS = {
    "team equals the model": {"team": 0.8, "model": 0.8, "people": [0.6], "share": 1.0, "shared_difficulty": 0.0},
    "team equals both": {"team": 0.8, "model": 0.8, "people": [0.8], "share": 1.0, "shared_difficulty": 0.0},
    "20 equal persons": {"team": 0.8, "model": 0.5, "people": [0.8] * 20, "share": 0.08, "shared_difficulty": 0.0},
    "40 equal persons, model too": {
        "team": 0.75,
        "model": 0.75,
        "people": [0.75] * 40,
        "share": 0.05,
        "shared_difficulty": 0.0,
    },
    "shared difficulty": {"team": 0.7, "model": 0.7, "people": [0.7] * 12, "share": 0.1, "shared_difficulty": 0.25},
    "easy, 1 % errors": {"team": 0.99, "model": 0.99, "people": [0.99], "share": 1.0, "shared_difficulty": 0.0},
    "3 persons, all items": {"team": 0.9, "model": 0.6, "people": [0.9] * 3, "share": 1.0, "shared_difficulty": 0.0},
}


def of_headline(repeats, table):
    """How often a difference is claimed falsely: p < 0.05 of the better half, 40 evaluations for each repeat."""
    for name, options in WORLDS.items():
        for n in SIZES:
            false = false_claims(n, 40 * repeats, np.random.default_rng(n), **options)
            table["p < .05: better half, no difference", name][n].append((false, np.nan))


if __name__ == "__main__":
    found = defaultdict(lambda: defaultdict(list))
    of_headline(10, found)
    for (claim, name), by_size in found.items():
        print(f"{claim}  {name:28}" + "".join(f"  {n}: {rows[0][0]:.3f}" for n, rows in by_size.items()))
