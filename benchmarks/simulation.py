"""Simulated teams of any size, with known parameters."""

import numpy as np
from scipy.special import softmax

from twoheads import Observations
from twoheads.kernels.answers import pack_answers


def simulate(n_items, n_classes, *, accuracy=0.85, temperature=2.0, seed=0):
    """Observations as an array (human code, model rows), and the truth.

    The model's rows are softmax(z), and the truth is drawn from softmax(z / temperature): it is over-confident by that
    much. The human is right with the given accuracy and guesses else.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3.0, size=(n_items, n_classes))
    chances = softmax(logits / temperature, axis=1)
    truth = (chances.cumsum(axis=1) > rng.random((n_items, 1))).argmax(axis=1)
    human = np.where(rng.random(n_items) < accuracy, truth, rng.integers(0, n_classes, n_items))
    return np.column_stack([human, softmax(logits, axis=1)]), truth


def simulate_in_pieces(n_items, n_classes, *, piece=1000):
    """The same for tables of many classes, without holding more than the result."""
    X, truth = np.empty((n_items, 1 + n_classes)), np.empty(n_items, dtype=np.intp)
    for seed, start in enumerate(range(0, n_items, piece)):
        rows = slice(start, min(start + piece, n_items))
        X[rows], truth[rows] = simulate(rows.stop - start, n_classes, seed=seed)
    return X, truth


def simulate_crowd(n_items, accuracy, *, per_item, n_classes, rng, model=None, given=1.0):
    """Observations of so many answers on each item, by people of the given accuracies who err evenly; and the truth.

    model  the model's rows and the truth; else every class is as likely, and the model knows nothing
    given  the share of the answers that is there: below 1 items have uneven numbers of them
    """
    if model is None:
        model = np.full((n_items, n_classes), 1 / n_classes), rng.integers(n_classes, size=n_items)
    proba, truth = model
    n_people = len(accuracy)
    item = np.repeat(np.arange(n_items), per_item)
    person = (rng.integers(n_people, size=n_items)[:, None] + _offsets(n_items, per_item, n_people, rng)) % n_people
    person = person.ravel()
    if given < 1:
        there = rng.random(len(item)) < given
        item, person = item[there], person[there]
    right = rng.random(len(item)) < accuracy[person]
    label = np.where(right, truth[item], (truth[item] + rng.integers(1, n_classes, len(item))) % n_classes)
    answers = pack_answers(item, person * n_classes + label, n_items)
    names = tuple(f"person {number}" for number in range(n_people))
    seen = Observations(np.arange(n_classes), (np.ascontiguousarray(proba),), answers, names, np.arange(n_items))
    return seen, truth


def _offsets(n_items, per_item, n_people, rng):
    """Different numbers below n_people in each row: one from each of as many stretches."""
    ends = np.linspace(0, n_people, per_item + 1).astype(int)
    return ends[:-1] + (rng.random((n_items, per_item)) * np.diff(ends)).astype(int)


def simulate_people(X, truth, n_people, *, per_item=2, accuracy=0.85, seed=1):
    """More answers on the same items: ``per_item`` of ``n_people`` people each, as (item, person, class code)."""
    rng = np.random.default_rng(seed)
    n_items, n_classes = len(X), X.shape[1] - 1
    item = np.repeat(np.arange(n_items), per_item)
    first = rng.integers(0, n_people, n_items)
    person = (first[:, None] + np.arange(per_item)).ravel() % n_people
    guess = rng.integers(0, n_classes, len(item))
    return item, person, np.where(rng.random(len(item)) < accuracy, truth[item], guess)
