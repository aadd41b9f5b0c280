"""The order of rows does not matter: several people, known and unknown truth, in memory and from disk."""

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items

N_ITEMS, N_CLASSES, N_PEOPLE = 160, 3, 3


def crowd(share_known, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(N_CLASSES, size=N_ITEMS)
    proba = 0.5 * rng.dirichlet(np.ones(N_CLASSES), N_ITEMS) + 0.5 * np.eye(N_CLASSES)[truth]
    answers = np.where(rng.random((N_PEOPLE, N_ITEMS)) < 0.7, truth, rng.integers(N_CLASSES, size=(N_PEOPLE, N_ITEMS)))
    frame = pd.DataFrame({"item": [f"i{at}" for at in range(N_ITEMS)]})
    for person, given in enumerate(answers):
        frame[f"human_{person}"] = np.where(rng.random(N_ITEMS) < 0.8, given.astype(str), "")
    for label in range(N_CLASSES):
        frame[f"p_{label}"] = proba[:, label]
    return frame.assign(truth=np.where(rng.random(N_ITEMS) < share_known, truth.astype(str), ""))


@pytest.mark.parametrize("share_known", [1.0, 0.4, 0.0])
@pytest.mark.parametrize("from_disk", [False, True])
def test_rows_in_another_order_give_the_same_team(share_known, from_disk, tmp_path):
    frame = crowd(share_known)
    teams = []
    for name, order in (("there", np.arange(N_ITEMS)), ("mixed", np.random.default_rng(1).permutation(N_ITEMS))):
        frame.iloc[order].to_csv(tmp_path / f"{name}.csv", index=False)
        items = open_items(tables.scan(tmp_path / f"{name}.csv"), max_numbers=10 if from_disk else 10**6)
        teams.append(th.recommended().fit_items(items))
    one, other = (team.predict_proba(frame.drop(columns="truth")) for team in teams)
    np.testing.assert_allclose(one, other, atol=1e-10)


def members(kind, share_known, seed=0):
    """Members without a model: people, of whom each sees a part of the items, or judges by labels or by scores."""
    rng, n_items = np.random.default_rng(seed), 240
    truth = rng.integers(2, size=n_items)
    shared = rng.normal(size=n_items)
    frame = pd.DataFrame({"item": [f"i{at}" for at in range(n_items)]})
    for at in range(5):
        level = np.clip(np.round(4.5 + 2 * truth - 1 + shared + rng.normal(size=n_items)), 0, 9)
        label = (level > 4).astype(int).astype(str)
        if kind == "people":
            frame[f"human_{at}"] = np.where(rng.random(n_items) < 0.7, label, "")
        elif kind == "labels":
            frame[f"judge{at}.label"] = label
        else:
            frame[f"judge{at}.score"] = level
    return frame.assign(truth=np.where(rng.random(n_items) < share_known, truth.astype(str), ""))


@pytest.mark.parametrize("kind", ["people", "labels", "scores"])
@pytest.mark.parametrize("share_known", [1.0, 0.3, 0.05])
@pytest.mark.parametrize("from_disk", [False, True])
def test_without_a_model_the_order_of_rows_does_not_matter_either(kind, share_known, from_disk, tmp_path):
    frame = members(kind, share_known)
    teams = []
    for name, order in (("there", np.arange(len(frame))), ("mixed", np.random.default_rng(1).permutation(len(frame)))):
        frame.iloc[order].to_csv(tmp_path / f"{name}.csv", index=False)
        frame.drop(columns="truth").iloc[order].to_csv(tmp_path / f"answers-{name}.csv", index=False)
        frame[frame["truth"] != ""][["item", "truth"]].to_csv(tmp_path / "truth.csv", index=False)
        if kind == "people":
            table = tables.scan(answers=tmp_path / f"answers-{name}.csv", truth=tmp_path / "truth.csv")
        else:
            table = tables.scan(tmp_path / f"{name}.csv", classes=["0", "1"])
        teams.append(th.recommended().fit_items(open_items(table, max_numbers=10 if from_disk else 10**6)))
    seen = frame.drop(columns=["item", "truth"]) if kind == "people" else frame.drop(columns="truth")
    one, other = (team.predict_proba(seen) for team in teams)
    np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("share_known", [1.0, 0.3])
def test_without_a_model_the_names_of_classes_do_not_matter(share_known):
    frame = members("labels", share_known)
    labels, known = frame.drop(columns=["item", "truth"]).astype(int), frame["truth"] != ""
    truth = np.where(known, frame["truth"].where(known, "0").astype(int), -1)
    one = th.recommended().fit(labels, truth).predict_proba(labels)
    other = th.recommended().fit(1 - labels, np.where(known, 1 - truth, -1)).predict_proba(1 - labels)
    np.testing.assert_allclose(one, other[:, ::-1], atol=1e-10)


@pytest.mark.parametrize("kind", ["people", "people and scores", "some with a model"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_another_order_give_the_same_accuracies(kind, weighted):
    """Items without truth count in them; items that look alike have no numbers by which they go to folds."""
    frame = crowd(0.5) if kind == "some with a model" else members("people", 0.5)
    truth, X = frame["truth"].to_numpy(), frame.drop(columns=["item", "truth"])
    if kind == "some with a model":
        X.loc[::3, ["p_0", "p_1", "p_2"]] = np.nan
    if kind == "people and scores":
        X["judge.score"] = members("scores", 0.5, seed=1)["judge0.score"]
    weight = np.where(np.arange(len(X)) % 7 == 0, 3.0, 1.0) if weighted else None
    found = []
    for order in (np.arange(len(X)), np.random.default_rng(1).permutation(len(X))):
        share = None if weight is None else weight[order]
        team = th.recommended().fit(X.iloc[order].reset_index(drop=True), truth[order], sample_weight=share)
        stats = team.annotator_stats_
        found.append([*team.facts()["human"]["accuracy"], *stats["accuracy"], *stats["accuracy_low"]])
    np.testing.assert_allclose(*found, rtol=1e-9)


def certain(n_people, n_models, n_items=640, n_known=80, seed=0):
    """Models that give a class and no probabilities: of more items than a sample takes many are alike."""
    rng = np.random.default_rng(seed)
    truth, names = rng.choice(3, n_items, p=[0.5, 0.3, 0.2]), np.array(["a", "b", "c"])
    frame = pd.DataFrame()
    for person in range(n_people):
        answer = np.where(rng.random(n_items) < 0.7, truth, rng.integers(3, size=n_items))
        frame[f"human_{person}"] = np.where(rng.random(n_items) < 1 / n_people, names[answer], None)
    frame.loc[frame.isna().all(axis=1), "human_0"] = "a"
    for model in range(n_models):
        row = np.eye(3)[np.where(rng.random(n_items) < 0.6, truth, rng.integers(3, size=n_items))]
        for at, name in enumerate(names):
            frame[f"m{model}.p_{name}"] = row[:, at]
    return frame, np.where(np.arange(n_items) < n_known, names[truth], None)


@pytest.mark.parametrize(("n_people", "n_models"), [(1, 1), (1, 2), (3, 1)])
def test_of_alike_items_a_sample_takes_the_same_whatever_the_order_and_the_names(n_people, n_models):
    X, y = certain(n_people, n_models)
    proba = th.recommended().fit(X, y).predict_proba(X)
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = th.recommended().fit(X.iloc[order].reset_index(drop=True), y[order])
    np.testing.assert_allclose(shuffled.predict_proba(X), proba, atol=1e-9)
    other = {"a": "c", "b": "a", "c": "b"}
    people = [name for name in X if name.startswith("human")]
    called = X[people].replace(other).set_axis([f"human_z{9 - at}" for at in range(n_people)], axis=1)
    models = X.drop(columns=people).rename(columns=lambda name: name[:-1] + other[name[-1]])
    renamed = pd.concat([called, models], axis=1)
    again = th.recommended().fit(renamed, np.array([other.get(label) for label in y], dtype=object))
    np.testing.assert_allclose(again.predict_proba(renamed)[:, [2, 0, 1]], proba, atol=1e-9)
