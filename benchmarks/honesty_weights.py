"""``python -m benchmarks.honesty_weights [--repeats N] [--seed SEED]``: intervals of weighted items.

From 8,000 items some are drawn with unequal probabilities, and weighted by one over these, rounded to whole numbers of
up to a few hundred. What is stated of the drawn items is compared with what is true of all: people's accuracies (90 %),
"people are correct on" (95 %), and the error, the log loss and the difference of `compare` (95 %). Twenty repeats take
about two minutes.
"""

import numpy as np
from scipy.special import expit

import twoheads as th
from benchmarks.honesty_command import repeats_and_seed
from twoheads.evaluation import compare
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations

ITEMS = 8000
#: People and items drawn.
SIZES = ((3, 60), (3, 250), (8, 120))
#: How items are drawn: hard ones more often, easy ones more often, those of one class, or some whatever they are.
DRAWS = {
    "equal": lambda hard, truth, rng: np.ones(len(hard)),
    "hard ones more often": lambda hard, truth, rng: expit(-1.5 - 1.2 * hard),
    "easy ones more often": lambda hard, truth, rng: expit(-1.5 + 1.2 * hard),
    "one class more often": lambda hard, truth, rng: np.where(truth == 1, 0.9, 0.05),
    "a third more often": lambda hard, truth, rng: np.where(rng.random(len(hard)) < 0.3, 0.9, 0.02),
}


class Population:
    """Items of two classes, the answers of all people about them, and a model's probabilities."""

    def __init__(self, n_people, rng):
        self.truth, self.hard = rng.integers(0, 2, ITEMS), rng.normal(0, 1.2, ITEMS)
        ability = rng.normal(1.4, 0.5, n_people)
        self.right = rng.random((ITEMS, n_people)) < expit(ability + self.hard[:, None])
        self.label = np.where(self.right, self.truth[:, None], 1 - self.truth[:, None])
        self.proba = expit(1.2 * ((2 * self.truth - 1) * (1.0 + 0.8 * self.hard) + rng.normal(0, 1, ITEMS)))

    def rows(self, at):
        """Some of the items as observations."""
        n_people = self.label.shape[1]
        item, person = np.repeat(np.arange(len(at)), n_people), np.tile(np.arange(n_people), len(at))
        answers = pack_answers(item, person * 2 + self.label[at].ravel(), len(at))
        proba = np.stack([1 - self.proba[at], self.proba[at]], axis=1)
        names = tuple(f"p{number}" for number in range(n_people))
        return Observations(np.arange(2), (proba,), answers, names, np.arange(len(at)))


def outcomes(draw, n_people, size, rng):
    """Whether each statement about one drawn sample holds of all items."""
    world = Population(n_people, rng)
    chance = np.maximum(draw(world.hard, world.truth, rng), 0.004)
    chance = np.minimum(chance * size / chance.sum(), 1.0)
    drawn = np.flatnonzero(rng.random(ITEMS) < chance)
    weight = np.maximum(np.round(1.0 / chance[drawn]), 1.0)
    seen, truth = world.rows(drawn), world.truth[drawn]
    team = th.ProbabilityLabelCombiner().fit(seen, truth, sample_weight=weight)
    stats, accuracy = team.annotator_stats_, world.right.mean(axis=0)
    _, low, high = team.facts()["human"]["accuracy"]
    other = rng.choice(ITEMS, 200, replace=False)
    judged = th.ProbabilityLabelCombiner().fit(world.rows(other), world.truth[other])
    found = compare(judged, seen, truth, sample_weight=weight, held_out=True, n_bootstrap=20)
    proba = judged.predict_proba(world.rows(np.arange(ITEMS)))
    error = np.mean(proba.argmax(axis=1) != world.truth)
    loss = -np.log(np.maximum(proba[np.arange(ITEMS), world.truth], 1e-12)).mean()
    model_error = np.mean((world.proba > 0.5) != world.truth)
    return [
        ((stats["accuracy_low"] <= accuracy) & (accuracy <= stats["accuracy_high"])).mean(),
        low <= accuracy.mean() <= high,
        found.combination.error.low <= error <= found.combination.error.high,
        found.combination.log_loss.low <= loss <= found.combination.log_loss.high,
        found.model.error.low <= model_error <= found.model.error.high,
        weight.sum() ** 2 / (weight**2).sum(),
    ]


def main():
    """Print how often each statement held."""
    given = repeats_and_seed(__doc__, repeats=60, seed=7)
    print(
        f"{'drawn':24}{'people':>7}{'items':>6}{'Kish':>6}{'person':>8}{'people':>8}{'team':>7}{'loss':>7}{'model':>7}"
    )
    for name, draw in DRAWS.items():
        for n_people, size in SIZES:
            rngs = [np.random.default_rng([given.seed, repeat, n_people, size]) for repeat in range(given.repeats)]
            held = np.mean([outcomes(draw, n_people, size, rng) for rng in rngs], axis=0)
            shares = f"{held[0]:8.2f}{held[1]:8.2f}{held[2]:7.2f}{held[3]:7.2f}{held[4]:7.2f}"
            print(f"{name:24}{n_people:7}{size:6}{held[5]:6.0f}{shares}", flush=True)


if __name__ == "__main__":
    main()
