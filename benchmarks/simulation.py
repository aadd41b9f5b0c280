"""Simulated teams of any size, with known parameters."""

import numpy as np
from scipy.special import softmax


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
