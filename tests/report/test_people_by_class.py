"""Sensitivity, specificity and the hardest class of each person, and what a team costs."""

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.metrics import recall_score

import twoheads as th
from report.made import problem
from twoheads.observations import as_observations, as_truth
from twoheads.report.sections.cost_section import cost_section
from twoheads.report.sections.people_by_class import people_by_class


def by_class(X, y, weight=None):
    team = th.ProbabilityLabelCombiner().fit(X, y)
    seen = as_observations(X)
    return people_by_class(team, seen, as_truth(y, seen), weight)


def test_sensitivity_and_specificity_are_recalls_of_the_two_classes():
    X, y = problem(150, ["no", "yes"], people=3, seed=1)
    positive, found = by_class(X, y)
    assert positive == "yes"
    for person in ("p0", "p1", "p2"):
        said = X[f"human_{person}"]
        here = said.notna().to_numpy()
        for key, name in (("sensitivity", "yes"), ("specificity", "no")):
            recall = recall_score(y[here].astype(str), said[here].astype(str), pos_label=name)
            n = np.count_nonzero(here & (y == name))
            assert found[person][key]["value"] == pytest.approx(recall, abs=1e-12)
            interval = beta.ppf([0.025, 0.975], n * recall + 0.5, n * (1 - recall) + 0.5)
            assert [found[person][key][end] for end in ("low", "high")] == pytest.approx(interval.tolist())


def test_an_item_of_weight_2_counts_twice():
    X, y = problem(60, ["no", "yes"], people=2, seed=2)
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    rows = np.repeat(np.arange(60), weight.astype(int))
    _, once = by_class(X, y, weight)
    twice = by_class(X.iloc[rows].assign(item=[f"row {at}" for at in range(len(rows))]), y[rows])[1]
    assert once["p0"]["sensitivity"]["value"] == pytest.approx(twice["p0"]["sensitivity"]["value"])


def test_somebody_who_never_saw_a_class_has_no_share_of_it():
    X, y = problem(40, ["no", "yes"], people=2, seed=3)
    X.loc[y == "yes", "human_p1"] = None
    _, found = by_class(X, y)
    assert found["p1"]["sensitivity"] is None
    assert found["p1"]["specificity"] is not None


def test_with_more_classes_the_hardest_is_named():
    X, y = problem(90, ["a", "b", "c"], people=2, seed=4, accuracy=1.0)
    X["human_p0"] = np.where(y == "b", np.where(np.arange(90) % 3, "b", "a"), y)
    positive, found = by_class(X, y)
    assert positive is None
    is_b = y == "b"
    right = np.count_nonzero(X["human_p0"][is_b] == "b")
    assert found["p0"]["hardest"] == {"class": "b", "right": right, "n": is_b.sum()}
    assert found["p1"]["hardest"] is None  # never wrong


def test_the_cost_counts_answers_of_people():
    X, y = problem(50, ["no", "yes"], people=4, seed=5)
    team = th.recommended().fit(X, y)
    per_item = X.filter(like="human_").notna().sum(axis=1).mean()
    found = {key: cost_section(team, as_observations(X), key) for key in ("majority", "best_person", "model", None)}
    assert found["majority"] == {
        "answers_per_item": per_item,
        "better_answers_per_item": per_item,
        "n_models": 1,
        "n_labelled": 50,
    }
    assert found["best_person"]["better_answers_per_item"] == 1.0
    assert found["model"]["better_answers_per_item"] == 0.0
    assert found[None]["better_answers_per_item"] is None
