"""A crowd without model or truth, by maximum likelihood, is Dawid and Skene's: step by step as crowd-kit has it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import twoheads as th


def long_table(seed, n_items=150, n_people=12, n_classes=3, per_item=7):
    rng = np.random.default_rng(seed)
    prevalence = np.array([0.5, 0.3, 0.2])
    truth = rng.choice(n_classes, n_items, p=prevalence)
    rows = []
    for item in range(n_items):
        for person in rng.choice(n_people, per_item, replace=False):
            right = rng.random() < 0.35 + 0.05 * person
            label = truth[item] if right else rng.integers(n_classes)
            rows.append((f"item {item}", f"person {person}", f"class {label}"))
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


@pytest.mark.parametrize("n_iter", [1, 2, 10, 60])
def test_equal_iterations_give_equal_errors_and_priors(n_iter):
    crowdkit = pytest.importorskip("crowdkit.aggregation", reason="crowd-kit is not installed")
    table = long_table(n_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = crowdkit.DawidSkene(n_iter=n_iter, tol=-np.inf).fit(table)
    seen = th.Observations.from_answers(table)
    likely = th.DirichletConfusion(estimate="likelihood")
    team = th.ProbabilityLabelCombiner(likely, th.Identity(), class_prior="learn", max_iter=n_iter, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        team.fit(seen)
    classes = list(team.classes_)
    np.testing.assert_allclose(team.prevalence_, theirs.priors_.loc[classes], atol=1e-6)
    for person, matrix in zip(team.annotators_, team.confusion_.human_given_true_, strict=True):
        errors = theirs.errors_.loc[person].reindex(index=classes, columns=classes, fill_value=0.0)
        np.testing.assert_allclose(matrix, errors, atol=1e-6)
