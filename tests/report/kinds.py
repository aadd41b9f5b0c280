"""Ten kinds of tables, for pages of reports: each a fitted team, the items it is judged on, and their truth."""

from __future__ import annotations

import numpy as np

import twoheads as th
from report.made import problem

LONG = "a rather long name of a class, with no end in sight"
RARE = ["squamous cell carcinoma", "melanoma", "benign keratosis", "naevus", "wart", "none of these", "scar", "tattoo"]


def one_person():
    X, y = problem(400, ["cat", "dog", LONG], seed=1)
    return _split(th.ProbabilityLabelCombiner(), X, y, 200)


def crowd_of_17():
    X, y = problem(220, ["benign", "malignant"], seed=2, people=17, accuracy=0.6)
    return _split(th.recommended(), X, y, 120)


def two_classes():
    X, y = problem(500, ["no", "yes"], seed=3, people=3, accuracy=0.75)
    return _split(th.recommended(), X, y, 200)


def sixteen_classes():
    X, y = problem(400, [f"{name} ({side})" for name in RARE for side in ("left", "right")], seed=4, strength=2.5)
    return _split(th.ProbabilityLabelCombiner(), X, y, 200)


def three_models():
    X, y = problem(300, ["no", "yes"], seed=5, people=2)
    rng = np.random.default_rng(5)
    X = X.rename(columns={"p_no": "A.p_no", "p_yes": "A.p_yes"})
    for name, strength in (("B", 1.0), ("C", 0.5)):
        logit = rng.normal(size=300) + strength * np.where(y == "yes", 1.0, -1.0)
        X[f"{name}.p_yes"] = 1 / (1 + np.exp(-2 * logit))
        X[f"{name}.p_no"] = 1 - X[f"{name}.p_yes"]
    return _split(th.recommended(), X, y, 150)


def no_truth():
    X, _ = problem(200, ["no", "yes"], seed=6, people=3)
    return th.recommended().fit(X), X, None


def thirty_truths():
    X, y = problem(150, ["no", "yes"], seed=7)
    some = np.where(np.arange(150) < 30, y, None)
    return th.recommended().fit(X, some), X, some


def team_loses():
    """A team that was fitted while the human was good and the model bad; now it is the other way round."""
    X, y = problem(600, ["no", "yes"], seed=8, accuracy=0.97, strength=0.2)
    team = th.ProbabilityLabelCombiner().fit(X, y)
    X, y = problem(500, ["no", "yes"], seed=9, accuracy=0.4, strength=3.0)
    X["item"] = "new " + X["item"]
    return team, X, y


def team_wins():
    X, y = problem(900, ["no", "yes", "maybe"], seed=10, accuracy=0.75, strength=1.5)
    return _split(th.ProbabilityLabelCombiner(), X, y, 300)


def hundred_classes():
    X, y = problem(500, [f"class {at:02}" for at in range(100)], seed=11, people=2, strength=4)
    return _split(th.ProbabilityLabelCombiner(), X, y, 250)


KINDS = {
    made.__name__: made
    for made in (
        one_person,
        crowd_of_17,
        two_classes,
        sixteen_classes,
        three_models,
        no_truth,
        thirty_truths,
        team_loses,
        team_wins,
        hundred_classes,
    )
}


def _split(team, X, y, n_fit):
    """Fit a team on the first items, and judge it on the others."""
    return team.fit(X[:n_fit], y[:n_fit]), X[n_fit:], y[n_fit:]
