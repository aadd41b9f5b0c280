"""Simulated worlds of one person and one model, whose parameters are drawn anew each time.

No constant was chosen on the worlds of `OTHER_WORLDS`, nor on any like them.
"""

import numpy as np
from scipy.special import expit, logit, softmax

#: In "agree" truth is known only where person and model agree.
WORLDS = (
    "independent",
    "shared difficulty",
    "weak correlated person",
    "weak person",
    "weak model",
    "strong model",
    "copies the model",
    "easy",
    "adversary",
    "1 : 99",
    "agree",
)
#: Classes of different frequency; errors to the next class; two classes that the person confuses; a person who knows
#: the classes that the model does not; none of these. From 2 to 16 classes, and items that are hard for both.
OTHER_WORLDS = ("skewed", "ordinal", "confused pair", "complement", "plain")
#: Ranges of the model's strength and of the person's ability (logit of the accuracy), where a world has its own.
STRENGTH = {"weak model": (0.3, 0.9), "strong model": (3.0, 5.0), "easy": (3.0, 5.0)}
ABILITY = {"weak person": (0.0, 0.6), "strong model": (0.2, 1.2), "easy": (2.5, 4.5)}


def world_of(world, rng):
    """A function from a number of items to observations and truth, with parameters drawn for this world."""
    n_classes = 2 if world in ("weak correlated person", "1 : 99") else int(rng.choice([2, 3, 5, 10]))
    prevalence = np.array([0.99, 0.01]) if world == "1 : 99" else np.full(n_classes, 1 / n_classes)
    strength, ability = rng.uniform(*STRENGTH.get(world, (0.8, 3.5))), rng.uniform(*ABILITY.get(world, (0.6, 3.0)))
    sharpness, slope, copied = rng.uniform(0.5, 3.0), rng.uniform(0.3, 1.2), rng.uniform(0.1, 0.5)
    spread = rng.uniform(0.8, 2.2) if world in ("shared difficulty", "agree") else 0.0

    def draw(size):
        truth, hard = rng.choice(n_classes, size, p=prevalence), rng.normal(0, spread, size)
        logits = rng.normal(0, 1, (size, n_classes))
        logits[np.arange(size), truth] += np.maximum(strength + slope * hard, -1.0)
        model = logits.argmax(axis=1)
        chance = expit(ability + hard)
        if world == "weak correlated person":
            chance = np.where(model == truth, 0.8, 0.15)
        if world == "adversary":
            chance = np.full(size, 0.1)
        wrong = (truth + rng.integers(1, n_classes, size)) % n_classes
        wrong = np.where((rng.random(size) < 0.6) & (model != truth), model, wrong)
        human = np.where(rng.random(size) < chance, truth, wrong)
        if world == "copies the model":
            human = np.where(rng.random(size) < copied, model, human)
        return np.column_stack([human, softmax(sharpness * logits + np.log(prevalence), axis=1)]), truth

    return draw


def other_world_of(world, rng):
    """As `world_of`, of one of `OTHER_WORLDS`."""
    n_classes = int(rng.integers(3, 7) if world == "ordinal" else rng.integers(2, 17))
    prevalence = np.maximum(rng.dirichlet(np.full(n_classes, 0.7 if world == "skewed" else 5.0)), 0.02)
    prevalence /= prevalence.sum()
    ability, strength, sharpness = logit(rng.uniform(0.55, 0.97)), rng.uniform(0.8, 4.0), rng.uniform(0.5, 3.0)
    spread, confused = rng.uniform(0.0, 1.5), rng.uniform(0.3, 0.9)

    def draw(size):
        truth, hard = rng.choice(n_classes, size, p=prevalence), rng.normal(0, spread, size)
        logits, chance = rng.normal(0, 1, (size, n_classes)), expit(ability + hard)
        known = truth < n_classes / 2  # to the person, in "complement"
        logits[np.arange(size), truth] += strength + 0.7 * hard
        if world == "ordinal":
            logits -= np.abs(np.arange(n_classes) - truth[:, None])
            step = np.where(rng.random(size) < 0.5, -1, 1)
            wrong = np.where((truth + step >= 0) & (truth + step < n_classes), truth + step, truth - step)
        else:
            wrong = (truth + rng.integers(1, n_classes, size)) % n_classes
        if world == "confused pair":
            wrong, chance = np.where(truth < 2, 1 - truth, wrong), np.where(truth < 2, confused, chance)
        if world == "complement":
            logits[np.arange(size), truth] += np.where(known, -1.0, 1.0)
            chance = np.where(known, 0.97, 0.6)
        human = np.where(rng.random(size) < chance, truth, wrong)
        return np.column_stack([human, softmax(sharpness * logits + np.log(prevalence), axis=1)]), truth

    return draw
