"""Small problems for the tests of reports."""

from __future__ import annotations

import numpy as np
import pandas as pd

EVIL = ["<script>alert(1)</script>", '猫 & "犬"', "$x_1$", "naïve'quote"]


def problem(n, classes, *, seed=0, people=1, accuracy=0.8, strength=1.5):
    """A data frame of people's answers and a model's rows, and the truth."""
    rng = np.random.default_rng(seed)
    names = np.array(classes, dtype=object)
    y = rng.integers(0, len(names), n)
    logits = rng.normal(size=(n, len(names)))
    logits[np.arange(n), y] += strength
    proba = np.exp(1.5 * logits)
    proba /= proba.sum(axis=1, keepdims=True)
    X = pd.DataFrame(proba, columns=[f"p_{name}" for name in names])
    X.insert(0, "item", [f"item {at}" for at in range(n)])
    for person in range(people):
        said = names[np.where(rng.random(n) < accuracy, y, rng.integers(0, len(names), n))]
        if people > 1:
            said[rng.random(n) < 0.4] = None
        X["human" if people == 1 else f"human_p{person}"] = said
    return X, names[y]
