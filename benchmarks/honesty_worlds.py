"""Simulated worlds of one person and one model, whose parameters are drawn anew each time.

No constant was chosen on the worlds of `OTHER_WORLDS`, nor on any like them; `SECOND_WORLDS` were looked at when the
constants of `chance_best` were rounded.
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
    "hard items",
    "agree",
)
#: Six of these kinds by another recipe, and a weak person whose evidence is nearly the model's own.
SECOND_WORLDS = (
    "independent, again",
    "shared difficulty, again",
    "weak correlated person, again",
    "adversary, again",
    "1 : 99, again",
    "weak model, again",
    "nearly the same evidence",
)
#: Classes of different frequency; errors to the next class; two classes that the person confuses; a person who knows
#: the classes that the model does not; none of these. From 2 to 16 classes, and items that are hard for both.
OTHER_WORLDS = ("skewed", "ordinal", "confused pair", "complement", "plain")
#: Ranges of the model's strength and of the person's ability (logit of the accuracy), where a world has its own.
STRENGTH = {"weak model": (0.3, 0.9), "strong model": (3.0, 5.0), "easy": (3.0, 5.0)}
ABILITY = {"weak person": (0.0, 0.6), "strong model": (0.2, 1.2), "easy": (2.5, 4.5)}


def any_world_of(world, rng):
    """A function from a number of items to observations and truth, with parameters drawn for this world."""
    if world == "hard items":
        return hard_world(rng)
    if world == "nearly the same evidence":
        return same_evidence_world(rng)
    recipe = second_world_of if world in SECOND_WORLDS else other_world_of if world in OTHER_WORLDS else world_of
    return recipe(world, rng)


def world_of(world, rng):
    """As `any_world_of`, of the others of `WORLDS`."""
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
    """As `any_world_of`, of one of `OTHER_WORLDS`."""
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


def hard_world(rng):
    """Some items are hard for both, who may take them for the same wrong class; the model is nearly as sure of them."""
    n_classes, share = int(rng.integers(2, 11)), rng.uniform(0.1, 0.5)
    easy, hard = rng.uniform(0.75, 0.99, 2), rng.uniform(1 / n_classes, 0.7, 2)
    lured, gap = rng.uniform(0, 1), rng.uniform(1, 4)

    def draw(size):
        truth, is_hard = rng.integers(0, n_classes, size), rng.random(size) < share
        lure = (truth + rng.integers(1, n_classes, size)) % n_classes
        labels = []
        for at in range(2):
            other = (truth + rng.integers(1, n_classes, size)) % n_classes
            wrong = np.where(rng.random(size) < lured, lure, other)
            labels.append(np.where(rng.random(size) < np.where(is_hard, hard[at], easy[at]), truth, wrong))
        logits = rng.normal(0, 0.7, (size, n_classes))
        logits[np.arange(size), labels[1]] += np.where(is_hard, 0.5, 1.0) * gap
        return np.column_stack([labels[0], softmax(logits, axis=1)]), truth

    return draw


def same_evidence_world(rng):
    """Two classes, and a weak person whose evidence correlates with the model's by .8 to .95."""
    correlation, ability, strength = rng.uniform(0.8, 0.95), rng.uniform(0.4, 1.0), rng.uniform(1.0, 2.2)
    sharpness = rng.uniform(0.4, 2.5)

    def draw(size):
        truth, noise = rng.integers(0, 2, size), rng.normal(size=(size, 2))
        other = correlation * noise + np.sqrt(1 - correlation**2) * rng.normal(size=(size, 2))
        model = softmax(sharpness * strength * (strength * np.eye(2)[truth] + noise), axis=1)
        return np.column_stack([(ability * np.eye(2)[truth] + other).argmax(axis=1), model]), truth

    return draw


def second_world_of(world, rng):
    """As `any_world_of`, of one of `SECOND_WORLDS`: accuracies first, then how sure the model is."""
    n_classes = int(rng.choice([2, 3, 4, 6, 10, 16]))
    ability, strength = rng.uniform(0.6, 0.95, 2)
    if world.startswith("weak model"):
        strength = rng.uniform(1 / n_classes, 0.5 + 0.5 / n_classes)
    if world.startswith("weak correlated"):
        ability, strength = rng.uniform(0.6, 0.8), rng.uniform(0.75, 0.95)
    sensitivity, specificity, distance = rng.uniform(0.6, 0.97), rng.uniform(0.9, 0.995), rng.uniform(1.5, 4.0)

    def rare(size):
        truth = (rng.random(size) < 0.01) * 1
        second = expit(distance * rng.normal(distance * truth, 1) - distance**2 / 2 + np.log(0.01 / 0.99))
        right = rng.random(size) < np.where(truth == 1, sensitivity, specificity)
        return np.column_stack([np.where(right, truth, 1 - truth), 1 - second, second]), truth

    def draw(size):
        truth = rng.integers(0, n_classes, size)
        hard = rng.normal(0, 1.5 if world.startswith("shared") else 0.0, size)
        chance, model_right = expit(logit(ability) + hard), rng.random(size) < expit(logit(strength) + hard)
        wrong, other = ((truth + rng.integers(1, n_classes, size)) % n_classes for _ in range(2))
        model = np.where(model_right, truth, other)
        sure = 1 / n_classes + (1 - 1 / n_classes) * np.where(model_right, rng.beta(6, 1.5, size), rng.beta(3, 2, size))
        proba = rng.dirichlet(np.ones(n_classes), size)
        proba[np.arange(size), model] = 0.0
        proba *= ((1 - sure) / proba.sum(axis=1))[:, None]
        proba[np.arange(size), model] = sure
        if world.startswith("weak correlated"):
            chance, wrong = np.where(model_right, ability, 0.1), np.where(model_right, wrong, model)
        if world.startswith("adversary"):
            chance = np.full(size, 0.1)
        human = np.where(rng.random(size) < chance, truth, wrong)
        return np.column_stack([human, np.maximum(proba, 1e-4) / np.maximum(proba, 1e-4).sum(axis=1)[:, None]]), truth

    return rare if world.startswith("1 : 99") else draw
