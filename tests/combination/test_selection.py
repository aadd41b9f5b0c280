"""A warning where the items of known truth are a selection."""

import itertools

import numpy as np
import pandas as pd
import pytest
from benchmarks.honesty_worlds import OTHER_WORLDS, SECOND_WORLDS, WORLDS, any_world_of
from scipy.stats import binom, fisher_exact, hypergeom

from strategies import simulate
from twoheads.combination import recommended
from twoheads.combination.insight.selection import _p_value, selection_facts
from twoheads.observations import Observations


def known(problem, rows):
    return np.where(np.isin(np.arange(len(problem.truth)), rows), problem.truth, -1)


def test_truth_only_where_both_agree_is_noticed():
    problem = simulate(400, 3, seed=0)
    agreed = np.flatnonzero(problem.human == problem.model.argmax(axis=1))
    team = recommended().fit(problem.X, known(problem, agreed[:80]))
    found = team.facts()["selection"]
    assert found["what"] == "agreement"
    assert found["shares"][0] == 1.0
    assert found["p_value"] < 1e-4
    assert (
        "The items with truth are not a random sample of all items: people and model agree on 100 % of them"
        in team.describe()
    )


def test_truth_of_one_class_is_noticed_without_a_model():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 300)
    names = np.array(["a", "b", "c"])
    frame = {f"human_{who}": names[np.where(rng.random(300) < 0.8, truth, rng.integers(0, 3, 300))] for who in "xyz"}
    chosen = np.where((truth == 0) & (np.arange(300) < 150), names[truth], None)
    frame = (
        pd.DataFrame(frame).rename_axis("item").reset_index().melt("item", var_name="annotator", value_name="answer")
    )

    team = recommended().fit(Observations.from_answers(frame, classes=names.tolist()), chosen)
    assert team.facts()["selection"]["what"] == "answers"
    assert team.facts()["selection"]["class"] == "a"


@pytest.mark.parametrize("modelled", [False, True], ids=["alone", "beside a model"])
def test_a_selection_of_what_judges_say_names_no_people(modelled):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 400)
    panel = pd.DataFrame({f"{judge}.label": np.where(rng.random(400) < 0.8, truth, 1 - truth) for judge in "abc"})
    chosen = panel["a.label"] == 1
    if modelled:
        panel["p_1"] = np.where(truth == 1, 0.7, 0.3) + rng.uniform(-0.29, 0.29, 400)
        chosen = (panel["p_1"] > 0.5) == (panel[["a.label", "b.label", "c.label"]].mean(axis=1) > 0.5)
    team = recommended().fit(panel, np.where(chosen & (np.arange(400) < 250), truth, -1))
    (warning,) = [sentence for sentence in team.describe().split("\n") if "not a random sample" in sentence]
    assert "people" not in warning
    said = "agree with the model on 100 %" if modelled else "say '1' on"
    assert f"labels and scores together {said}" in warning


def confident(kind, seed, n=400):
    """Scores of two judges, or two people with confidences on different scales; how sure they are; and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    if kind == "scores":
        scores = 2.0 * truth - 1.0 + 1.5 * rng.normal(size=(2, n))
        return pd.DataFrame({"a.score": scores[0], "b.score": scores[1]}), np.abs(scores).mean(axis=0), truth
    sure = rng.integers(1, 6, (2, n))
    answers = np.where(rng.random((2, n)) < 0.75, truth, 1 - truth)
    columns = {"human_a": answers[0], "human_b": answers[1], "confidence_a": sure[0], "confidence_b": 20 * sure[1]}
    return pd.DataFrame(columns), sure.mean(axis=0), truth


@pytest.mark.parametrize("kind", ["scores", "confidences"])
@pytest.mark.parametrize("side", [1, -1], ids=["sure", "unsure"])
def test_truth_only_where_members_are_sure_or_unsure_is_noticed(kind, side):
    X, sure, truth = confident(kind, seed=0)
    chosen = np.argsort(-side * sure, kind="stable")[:80]
    team = recommended().fit(X, np.where(np.isin(np.arange(len(truth)), chosen), truth, -1))
    found = team.facts()["selection"]
    assert found["what"] == "confidence"
    assert side * (found["shares"][0] - found["shares"][1]) > 0.2
    known, others = (f"{100 * share:.0f} %" for share in found["shares"])
    assert (
        "sorted by members' confidences, and by how far scores are from the middle, they are at "
        f"{known} on average, and the others at {others} (p < 0.001)"
    ) in team.describe()


@pytest.mark.parametrize("kind", ["scores", "confidences"])
def test_a_random_part_is_rarely_called_a_selection_by_confidence(kind):
    said = 0
    for seed in range(30):
        X, _, truth = confident(kind, seed, n=150)
        rows = np.random.default_rng(seed).choice(150, 50, replace=False)
        y = np.where(np.isin(np.arange(150), rows), truth, -1)
        said += selection_facts(recommended().fit(X, y).result()) is not None
    assert said <= 2


def crowd(seed, n=300):
    """Three to five answers of seven people per item, without a model: a long table, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    people = [rng.choice(7, rng.integers(3, 6), replace=False) for _ in range(n)]
    item = np.repeat(np.arange(n), [len(each) for each in people])
    answer = np.where(rng.random(len(item)) < 0.75, truth[item], 1 - truth[item])
    who = np.array([f"w{person}" for each in people for person in each])
    return pd.DataFrame({"item": item, "annotator": who, "answer": answer}), truth


def test_truth_only_where_a_crowd_is_unanimous_is_noticed():
    frame, truth = crowd(0)
    alike = (frame.groupby("item")["answer"].nunique() == 1).to_numpy()
    known = np.where(alike & (np.arange(300) < 200), truth, -1)
    team = recommended().fit(Observations.from_answers(frame, classes=[0, 1]), known)
    found = team.facts()["selection"]
    assert found["what"] == "unanimity"
    assert found["shares"][0] == 1.0
    assert "all answers are alike on 100 % of them" in team.describe()


def test_more_answers_on_items_with_truth_are_no_selection():
    said = 0
    for seed in range(12):
        frame, truth = crowd(seed)
        most = (frame.groupby("item").size() > 3).to_numpy()
        known = np.where(most & (np.arange(300) < 120), truth, -1)
        team = recommended().fit(Observations.from_answers(frame, classes=[0, 1]), known)
        found = selection_facts(team.result())
        said += found is not None and found["what"] == "unanimity"
    assert said <= 1


def test_a_random_part_is_rarely_called_a_selection():
    said = 0
    for seed in range(60):
        problem = simulate(200, 4, seed=seed)
        rows = np.random.default_rng(seed).choice(200, 60, replace=False)
        said += selection_facts(recommended().fit(problem.X, known(problem, rows)).result()) is not None
    assert said <= 3


def test_a_few_truths_of_one_class_are_noticed():
    # Eighteen of class 0 of two that are equally frequent: people answered 0 on nearly all of them.
    problem = simulate(300, 2, seed=0)
    rows = np.flatnonzero(problem.truth == 0)[:18]
    found = recommended().fit(problem.X, known(problem, rows)).facts()["selection"]
    assert found["what"] in ("answers", "model")
    assert found["p_value"] < 0.01


def test_what_the_model_says_shows_a_selection_that_people_do_not():
    # People guess; the model knows, and the truth was stated where it says 0.
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    sure = np.where(truth == 1, 0.8, 0.2)
    X = np.column_stack([rng.integers(0, 2, 300), 1.0 - sure, sure])
    rows = np.flatnonzero(truth == 0)[:30]
    team = recommended().fit(X, np.where(np.isin(np.arange(300), rows), truth, -1))
    assert team.facts()["selection"]["what"] == "model"
    assert "the model finds '0' most probable on 100 % of them, and on " in team.describe()


def test_few_items_are_tested_exactly():
    # Six of six with truth are 0, of 94 others 34: the one table that is as rare has the hypergeometric probability.
    table = np.array([[6, 0], [34, 60]])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chances = hypergeom.pmf(np.arange(7), 100, 40, 6)
    assert _p_value(table, expected) == pytest.approx(chances[chances <= chances[6] * (1 + 1e-7)].sum())
    # Of three classes each is tested, and the smallest p-value counts three times.
    three = np.array([[4, 1, 1], [20, 34, 40]])
    alone = [fisher_exact(np.stack([each, three.sum(axis=1) - each], axis=1)).pvalue for each in three.T]
    assert _p_value(three, np.outer(three.sum(axis=1), three.sum(axis=0)) / three.sum()) == min(1, 3 * min(alone))


@pytest.mark.slow
@pytest.mark.parametrize("n_known", [8, 15, 30, 100])
def test_a_random_part_is_rarely_called_a_selection_in_any_world(n_known):
    said, worlds = 0, [*(set(WORLDS) - {"agree"}), *SECOND_WORLDS, *OTHER_WORLDS]
    for seed, world in itertools.product(range(6), sorted(worlds)):
        rng = np.random.default_rng([seed, *world.encode()])
        X, truth = any_world_of(world, rng)(300)
        rows = rng.choice(300, n_known, replace=False)
        y = np.where(np.isin(np.arange(300), rows), truth, -1)
        said += selection_facts(recommended().fit(X, y).result()) is not None
    assert said <= binom.ppf(0.999, 6 * len(worlds), 0.01)


@pytest.mark.parametrize("n_known", [0, 4, 200])
def test_too_few_items_are_not_tested(n_known):
    problem = simulate(200, 3, seed=2)
    assert selection_facts(recommended().fit(problem.X, known(problem, np.arange(n_known))).result()) is None
