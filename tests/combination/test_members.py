"""Teams of members of every kind: labels, scores and grades, of people and machines."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import policy
from twoheads.combination.items import open_items
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.evaluation import compare

CLASSES = np.array(["no", "yes"])


def frame(n=300, seed=0):
    """A person, a model that gives labels, a judge that gives scores on most items, and a person who gives grades."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)

    def labels(accuracy):
        return CLASSES[np.where(rng.random(n) < accuracy, truth, 1 - truth)]

    X = pd.DataFrame(
        {
            "human_ann": labels(0.8),
            "gpt.label": np.where(rng.random(n) < 0.9, labels(0.75).astype(object), None),
            "judge.score": np.where(rng.random(n) < 0.9, 1.5 * truth + rng.normal(size=n), np.nan),
            "human_bob.score": np.clip(np.round(3 + 1.5 * truth + rng.normal(size=n)), 0, 7),
        }
    )
    return X, CLASSES[truth]


@pytest.fixture(scope="module")
def data():
    X, y = frame()
    return th.Observations.from_frame(X, positive="yes"), y


@pytest.fixture(scope="module")
def team(data):
    X, y = data
    return th.recommended().fit(X[:200], y[:200])


def log_loss(team, X, y):
    proba = team.predict_proba(X)
    return -np.log(proba[np.arange(len(y)), np.searchsorted(team.classes_, y)]).mean()


def test_label_columns_of_models_count_as_the_same_answers_of_people():
    X, y = frame()
    X = X[["human_ann", "gpt.label"]].assign(p_yes=0.5, p_no=0.5).rename(columns={"human_ann": "ann.label"})
    as_person = X.rename(columns={"ann.label": "human_ann", "gpt.label": "human_gpt"})
    for truth in (y, None):
        one, other = th.recommended().fit(X, truth), th.recommended().fit(as_person, truth)
        assert (one.annotators_, one.machines_) == (("ann", "gpt"), ("ann", "gpt"))
        assert np.array_equal(one.predict_proba(X), other.predict_proba(as_person))


def test_labels_of_models_for_three_classes():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 300)
    told = {name: np.where(rng.random(300) < 0.7, truth, rng.integers(0, 3, 300)) for name in "abc"}
    X = pd.DataFrame({f"{name}.label": values for name, values in told.items()})
    people = X.rename(columns=lambda name: f"human_{name.removesuffix('.label')}").assign(**{"d.label": None})
    for known in (truth, None):
        fitted = th.recommended().fit(X if known is not None else th.Observations.from_frame(X), known)
        assert np.mean(fitted.predict(X) == truth) > 0.75
        assert fitted.machines_ == ("a", "b", "c")
    one, other = th.recommended().fit(X, truth), th.recommended().fit(people, truth)
    assert np.allclose(one.predict_proba(X), other.predict_proba(people), atol=0.02)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_only_the_rank_of_scores_matters(data, share):
    X, y = frame()
    known = np.where(np.arange(len(y)) < share * len(y), y, "")
    other = X.assign(**{"judge.score": np.exp(3 * X["judge.score"]), "human_bob.score": X["human_bob.score"] ** 3})
    plain, moved = (th.Observations.from_frame(each, positive="yes") for each in (X, other))
    teams = [th.recommended().fit(each, known) for each in (plain, moved)]
    assert np.array_equal(teams[0].predict_proba(plain), teams[1].predict_proba(moved))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_scores_are_never_thresholded_away(share):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 600)
    scores = pd.DataFrame({f"j{at}.score": truth + rng.normal(size=600) for at in range(4)})
    labels = (scores > 0.5).astype(int).rename(columns=lambda name: name.replace("score", "label"))
    known = np.where(rng.random(600) < share, truth, -1)
    both = [th.Observations.from_frame(each, classes=np.array([0, 1])) for each in (scores, labels)]
    losses = [log_loss(th.recommended().fit(each, known), each, truth) for each in both]
    assert losses[0] < losses[1] - 0.02


def test_a_higher_score_is_never_weaker_evidence(team):
    X = pd.DataFrame({"judge.score": np.linspace(-2, 4, 30)})
    with pytest.warns(UserWarning, match="absent for all items"):
        yes = team.predict_proba(X)[:, 1]
    assert yes[0] < 0.3 < 0.7 < yes[-1]
    assert sum(after < before - 0.05 for before, after in pairwise(yes)) == 0


def test_without_truth_high_scores_mean_the_class_that_was_named():
    X, y = frame(seed=2)
    fitted = th.recommended().fit(th.Observations.from_frame(X, positive="yes"))
    assert np.mean(fitted.predict(X) == y) > 0.85
    with pytest.warns(UserWarning, match="absent for all items"):
        assert fitted.predict_proba(pd.DataFrame({"judge.score": [4.0]}))[0, 1] > 0.6


def test_a_member_may_be_missing_when_predicting(data, team):
    X, _ = data
    alone = pd.DataFrame({"human_ann": ["yes", "no"]})
    with pytest.warns(UserWarning, match="absent for all items"):
        yes = team.predict_proba(alone)[:, 1]
    assert yes[0] > 0.7 > 0.3 > yes[1]
    assert np.isfinite(team.predict_proba(X)).all()


def test_scores_all_alike_say_nothing():
    X, y = frame()
    X = X[["human_ann", "gpt.label"]]
    flat = th.Observations.from_frame(X.assign(**{"dull.score": 3.0}), positive="yes")
    with_flat, without = th.recommended().fit(flat, y), th.recommended().fit(X, y)
    assert np.allclose(with_flat.predict_proba(flat), without.predict_proba(X), atol=0.01)


def test_one_column_of_probabilities_is_the_same_as_two():
    X, y = frame()
    X = X[["human_ann"]].assign(p_yes=1 / (1 + np.exp(-X["judge.score"].fillna(0.0))))
    one, two = th.recommended().fit(X, y), th.recommended().fit(X.assign(p_no=1 - X["p_yes"]), y)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X.assign(p_no=1 - X["p_yes"])))


def test_a_saved_team_reads_scores_as_it_did(team, data, tmp_path):
    X, _ = frame()
    team.save(tmp_path / "team.json")
    loaded = th.load(tmp_path / "team.json")
    assert np.array_equal(loaded.predict_proba(X), team.predict_proba(data[0]))
    assert loaded.levels_.positive == "yes"


def test_continuing_and_merging(data):
    X, y = data
    whole = th.recommended().fit(X[:250], y[:250])
    continued = th.recommended().fit(X[:150], y[:150]).partial_fit(X[150:250], y[150:250])
    merged = th.recommended().fit(X[:150], y[:150]).merge(th.recommended().fit(X[150:250], y[150:250]))
    rest, truth = X[250:], y[250:]
    assert continued.levels_ is not None
    for other in (continued, merged):
        assert abs(log_loss(other, rest, truth) - log_loss(whole, rest, truth)) < 0.03
        assert other.annotators_ == whole.annotators_
        assert other.machines_ == ("gpt", "judge")
    counts = merged.confusion_.counts_
    assert np.allclose(counts.sum(axis=(1, 2)), whole.confusion_.counts_.sum(axis=(1, 2)))


def test_continuing_with_the_levels_of_the_fit_is_exact_in_counts(data):
    X, y = data
    first = th.recommended().fit(X[:150], y[:150])
    again = th.recommended().fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    rest = open_items(X[150:], y[150:], classes=first.classes_, models=("model",), levels=first.levels_)
    (block,) = rest.blocks(min_items=1000)
    more = first.response_.counts(block, np.eye(2)[:, block.true_label])
    assert np.allclose(again.statistics_.response_counts, first.statistics_.response_counts + more)


def test_chunks_and_memory_agree(data, tmp_path):
    pytest.importorskip("pyarrow")
    from twoheads import tables

    X, y = frame()
    X.assign(truth=y).to_parquet(tmp_path / "t.parquet")
    table = tables.scan(tmp_path / "t.parquet", positive="yes")
    small = th.recommended().fit(table)
    large = th.recommended().fit_items(open_items(table, max_numbers=10))
    assert np.array_equal(small.levels_.cuts, large.levels_.cuts)
    assert np.allclose(small.predict_proba(table), large.predict_proba(table), atol=1e-10)


def test_each_member_has_a_part_in_the_explanation(data, team):
    X, _ = data
    explained = team.explain(X[:50])
    assert list(explained.parts) == ["prior", "model", "ann", "gpt", "judge", "bob", "dependence"]
    odds = np.exp(-explained.log_odds)
    assert np.allclose(odds / odds.sum(axis=1, keepdims=True), team.predict_proba(X[:50]))
    judge = explained.parts["judge"]
    assert (judge[np.isnan(X.scores.values[:50, 0])] == 0).all()
    assert len(np.unique(np.abs(judge).max(axis=1).round(9))) > 5  # by level, not by side


def sides(team, name, scores):
    """The labels that a member's scores are, by the team's levels."""
    at = team.levels_.names.index(name)
    level = np.searchsorted(team.levels_.bounds[at], scores, side="right")
    return CLASSES[(level >= team.levels_.cuts[at]).astype(int)]


def test_machines_are_not_people(data, team):
    _, y = data
    sentences = team.describe().split("\n")
    assert any(each.startswith("Of the 2 people, the most reliable by all answers with truth is") for each in sentences)
    assert any(each.startswith("1 model gives labels: gpt (") for each in sentences)
    assert (
        "Scores of judge (10 levels), bob (7 levels) count by their rank: high ones mean 'yes', as far as the data "
        "show." in sentences
    )
    X, wrong = frame()[0][200:], np.zeros(100)
    # The majority of two: a tie is broken at random. A grade is the side on which the team reads it.
    for label in (X["human_ann"].to_numpy(), sides(team, "bob", X["human_bob.score"])):
        wrong += (label != y[200:]) / 2
    alone = compare(team, X, y[200:], n_bootstrap=20).human.scores["error"].value
    assert np.isclose(alone, wrong.mean())


def test_machines_are_never_asked(data, team):
    X, y = data
    machines = frame()[0][["gpt.label", "judge.score"]][200:].dropna(how="all")
    hidden = th.Observations.from_frame(machines, classes=CLASSES, positive="yes")
    plan = policy.choose(team, hidden, 30)
    assert len(plan) > 0
    assert set(plan.annotator) <= {"ann", "bob"}
    with pytest.raises(InvalidParameter, match="people must name people; 'gpt' is a model"):
        policy.choose(team, hidden, 30, people=["ann", "gpt"])
    curves = policy.simulate_asking(team, X[200:], y[200:])
    assert curves["everyone"].cost[0] == 200  # answers of ann and bob; those of machines are free
    assert np.isclose(curves["everyone"].accuracy[0], team.score(X[200:], y[200:]), atol=0.1)


def test_only_machines():
    X, y = frame()
    X = X[["gpt.label", "judge.score"]].fillna({"judge.score": 0.0})
    fitted = th.recommended().fit(th.Observations.from_frame(X, y=y, positive="yes"), y)
    assert not any("eople are" in sentence for sentence in fitted.describe().split("\n"))
    assert fitted.annotators_ == fitted.machines_ == ("gpt", "judge")


def test_scores_that_were_not_there_at_fit(team):
    with pytest.raises(
        InvalidObservations, match="X must hold scores only of those who gave scores at fit, judge, bob"
    ):
        team.predict(pd.DataFrame({"human_ann": ["yes"], "other.score": [1.0]}))
    people = th.recommended().fit(pd.DataFrame({"human": [0, 1], "p_0": [0.6, 0.3], "p_1": [0.4, 0.7]}), [0, 1])
    with pytest.raises(InvalidObservations, match="X must hold scores only if there were scores at fit"):
        people.predict(pd.DataFrame({"human": [1], "judge.score": [1.0]}))


def test_teams_of_other_members_are_not_merged(data, team):
    X, y = frame()
    other = th.recommended().fit(X[["human_ann", "gpt.label"]], y)
    with pytest.raises(InvalidObservations, match="others must have scores of the same members, judge, bob"):
        team.merge(other)


def test_methods_without_scores_refuse_them(data):
    with pytest.raises(
        InvalidObservations, match=r"X must hold labels or probabilities for this method; it holds scores of 'judge'"
    ):
        th.LogisticCombiner().fit(*data)
