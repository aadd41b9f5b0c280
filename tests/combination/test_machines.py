"""Machines beside people: models that give labels or scores are members, rivals of the team, and never people."""

import json

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.errors import InvalidArtifact
from twoheads.evaluation import compare
from twoheads.evaluation.people import measured_people
from twoheads.observations import as_truth, people_in
from twoheads.report.sections.confusion_section import confusion_section
from twoheads.report.sections.people_section import people_section
from twoheads.storage.artifact import _checksum

CLASSES = np.array(["no", "yes"])


def frame(n=200, seed=0):
    """Three people, two models that give labels, and one that gives scores."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)

    def labels(accuracy):
        return CLASSES[np.where(rng.random(n) < accuracy, truth, 1 - truth)]

    people = {f"human_{name}": labels(accuracy) for name, accuracy in (("ann", 0.8), ("bob", 0.7), ("eve", 0.75))}
    models = {"good.label": labels(0.95), "poor.label": labels(0.6)}
    score = truth + rng.normal(size=n)
    X = pd.DataFrame(people | models | {"judge.score": score})
    X.loc[::7, "human_eve"] = ""
    return X, CLASSES[truth]


def observed(X):
    return th.Observations.from_frame(X, positive="yes")


@pytest.fixture(scope="module")
def team():
    X, y = frame()
    return th.recommended().fit(observed(X), y)


def side(team, scores):
    """The label that a score is, by the team's one member who gives scores."""
    level = np.searchsorted(team.levels_.bounds[0], scores, side="right")
    return CLASSES[(level >= team.levels_.cuts[0]).astype(int)]


def test_statistics_of_people_are_of_people(team):
    X, _ = frame()
    n_answers = [200, 200, int((X["human_eve"] != "").sum())]
    stats = team.annotator_stats_
    assert stats["annotator"].tolist() == ["ann", "bob", "eve"]
    assert stats["answers"].tolist() == stats["judged"].tolist() == n_answers
    assert set(team.class_stats()["annotator"]) == {"ann", "bob", "eve"}
    facts = team.facts()
    assert (facts["people"]["n"], facts["people"]["most_reliable"]["annotator"]) == (3, "eve")
    assert (facts["human"]["answers"], facts["human"]["given"], facts["human"]["items"]) == (sum(n_answers),) * 2 + (
        None,
    )
    assert list(facts["machines"]) == ["good", "poor", "judge"]


def test_people_are_measured_as_without_machines(team):
    X, y = frame()
    people = X.filter(like="human_").assign(p_no=0.5, p_yes=0.5)
    alone = th.recommended().fit(people, y)
    for fact in ("accuracy", "accuracy_low", "accuracy_high"):
        assert np.allclose(team.annotator_stats_[fact], alone.annotator_stats_[fact], atol=1e-12)
    assert np.allclose(team.facts()["human"]["accuracy"], alone.facts()["human"]["accuracy"], atol=1e-12)
    one, other = (confusion_section(each) for each in (team, alone))
    assert one["n_people"] == 3
    assert [each["n_right"] for each in one["classes"]] == [each["n_right"] for each in other["classes"]]


def test_machines_are_measured_as_people_would_be(team):
    X, y = frame()
    names = {"good.label": "human_good", "poor.label": "human_poor"}
    judge = pd.Series(side(team, X["judge.score"]))
    people = X[list(names)].rename(columns=names).assign(human_judge=judge, p_no=0.5, p_yes=0.5)
    stats = th.recommended().fit(people, y).annotator_stats_at(0.95)
    found = team.facts()["machines"]
    for at, name in enumerate(stats["annotator"]):
        assert found[name]["kind"] == "measured"
        for fact in ("judged", "accuracy", "accuracy_low", "accuracy_high"):
            assert np.isclose(found[name][fact], stats[fact][at], atol=1e-12)


def test_without_truth_machines_are_believed():
    X, _ = frame()
    found = th.recommended().fit(observed(X))
    assert {each["kind"] for each in found.facts()["machines"].values()} == {"believed"}
    assert "2 models give labels, of believed accuracies: good (" in found.describe()
    assert found.facts()["machines"]["good"]["accuracy"] > found.facts()["machines"]["poor"]["accuracy"] + 0.05


def test_some_truth_narrows_accuracies_beside_scores():
    X, y = frame()
    known = np.where(np.arange(200) < 60, y, "")
    found = th.recommended().fit(observed(X), known)
    some = th.recommended().fit(observed(X[:60]), y[:60])
    width, wide = (
        each["accuracy_high"] - each["accuracy_low"] for each in (found.annotator_stats_, some.annotator_stats_)
    )
    assert (width < wide).all()
    assert np.abs(found.annotator_stats_["accuracy"] - (0.8, 0.7, 0.75)).max() < 0.12


def test_rivals_are_the_same_at_fit_and_in_an_evaluation(team):
    X, y = frame()
    at_fit = team.holdout_.rivals
    keys = [(rival.key, rival.name) for rival in at_fit.members]
    models = [("model", name) for name in ("good", "poor", "judge")]
    assert keys == [("person", ""), ("majority", ""), ("crowd", ""), *models, ("best_person", "eve")]
    assert at_fit.better_half.words == "model good alone"
    labels = {"good": X["good.label"], "poor": X["poor.label"], "judge": side(team, X["judge.score"])}
    for rival in at_fit.members[3:6]:
        assert rival.errors == np.sum(labels[rival.name] != y)
    found = compare(team, X, y, n_bootstrap=20)
    assert found.how == "5-fold cross-validation"
    for before, now in zip(at_fit.members, found.rivals, strict=True):
        assert (before.key, before.name) == (now.key, now.name)
        if before.key != "crowd":  # the only one that is fitted
            assert np.isclose(before.error, now.error.value)
    votes = (X.filter(like="human_") == "yes").sum(axis=1) / (X.filter(like="human_") != "").sum(axis=1)
    right = np.where(votes == 0.5, 0.5, np.where(votes > 0.5, y == "yes", y == "no"))
    assert np.isclose(at_fit.members[1].error, 1 - right.mean())
    assert not any("No model has predictions" in note for note in found.notes())


def test_people_combined_are_people(team):
    """At fit and in an evaluation, neither labels nor scores of machines are among them."""
    X, y = frame()
    other = X.assign(**{"good.label": np.where(y == "yes", "no", "yes"), "judge.score": -X["judge.score"]})
    errors = [th.recommended().fit(observed(each), y).holdout_.rivals.members[2].error for each in (X, other)]
    assert abs(errors[0] - errors[1]) < 0.03  # people's own matrices are shrunk to the crowd's, with machines in it
    assert 0.1 < errors[0] < 0.3


def test_only_machines_have_no_human_rival():
    X, y = frame()
    found = th.recommended().fit(observed(X[["good.label", "judge.score"]]), y)
    assert [rival.name for rival in found.holdout_.rivals.members] == ["good", "judge"]
    assert found.annotator_stats_["annotator"].tolist() == []
    assert not people_section(found, observed(X[["good.label", "judge.score"]]), np.full(200, -1))["available"]
    assert not confusion_section(found)["available"]
    notes = compare(found, X[["good.label", "judge.score"]], y, n_bootstrap=20).notes()
    assert "Nobody answered about these items: only models' labels and scores are combined." in notes


def test_the_table_of_people(team):
    X, y = frame(seed=1)
    seen = observed(X)
    assert people_in(seen) == ("ann", "bob", "eve")
    found = measured_people(team, seen, as_truth(y, seen))
    assert found.stats["annotator"].tolist() == ["ann", "bob", "eve"]
    assert found.facts["n"] == 3
    by_hand = np.mean(X["human_ann"] == y)
    assert abs(found.stats["accuracy"][0] - by_hand) < 0.03


def test_learnt_items_are_recognised_by_labels_and_scores(team):
    X, y = frame()
    assert compare(team, X[::-1], y[::-1], n_bootstrap=20).how == "5-fold cross-validation"
    rounded = X.assign(**{"judge.score": X["judge.score"].round(4)})
    assert compare(team, rounded, y, n_bootstrap=20).how == "5-fold cross-validation"
    other, truth = frame(seed=5)
    assert compare(team, other, truth, n_bootstrap=20).how == "none recognised as learnt from"


@pytest.mark.parametrize("max_numbers", [10, 10**6])
def test_they_are_recognised_however_a_table_was_read(max_numbers, tmp_path):
    from twoheads.combination.items import open_items
    from twoheads.tables import scan

    X, y = frame()
    X.assign(truth=y).to_csv(tmp_path / "t.csv", index=False)
    table = scan(tmp_path / "t.csv", positive="yes")
    found = th.recommended().fit_items(open_items(table, max_numbers=max_numbers))
    assert found.learnt_.recognise(observed(X)).learnt.all()
    assert not found.learnt_.recognise(observed(frame(seed=5)[0])).learnt.any()


def test_scores_are_cut_again_from_their_levels(team):
    X, y = frame()
    seen = observed(X.assign(**{"human_eve.score": np.arange(200) % 4}).drop(columns="human_eve"))
    levels = ScoreLevels.of(seen, as_truth(y, seen))
    again = levels.as_scores(levels.answered(seen))
    assert (again.annotators, again.machines) == (seen.annotators, seen.machines)
    assert (again.scores.names, again.scores.machines) == (seen.scores.names, seen.scores.machines)
    assert np.array_equal(again.answers.column, seen.answers.column)
    one, other = levels.answered(seen), ScoreLevels.of(again, as_truth(y, seen)).answered(again)
    assert np.array_equal(one.answers.column, other.answers.column)
    assert np.array_equal(one.confidence, other.confidence, equal_nan=True)


def test_levels_without_the_ends_of_their_silent_scores_are_refused(team, tmp_path):
    team.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    document["object"]["fitted"]["levels_"]["parameters"]["silent"] = {"tuple": []}
    document["sha256"] = _checksum(document["object"])
    (tmp_path / "t.json").write_text(json.dumps(document))
    with pytest.raises(InvalidArtifact, match="its levels_ are not one entry per member"):
        th.load(tmp_path / "t.json")


@pytest.mark.parametrize("step", [-8.5, 8.5, 1.0])
def test_a_sample_with_levels_that_a_member_does_not_have_is_refused(step, team, tmp_path):
    team.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    sample = document["object"]["fitted"]["statistics_"]["parameters"]["labelled"]["parameters"]
    numbers = sample["confidence"]["array"]["values"]
    sample["confidence"]["array"]["values"] = [step if isinstance(number, float) else number for number in numbers]
    document["sha256"] = _checksum(document["object"])
    (tmp_path / "t.json").write_text(json.dumps(document))
    with pytest.raises(InvalidArtifact, match="the confidence of its ItemSample is not a level of its scores"):
        th.load(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("machines_", {"tuple": ["nobody"]}, "its machines_ are not among its annotators_"),
        ("machines_", {"tuple": ["good"]}, "the machines of its levels_ are not among its machines_"),
        ("levels_", "x", "its levels_ are not ScoreLevels"),
        ("levels_", None, "its statistics_ are of other levels_"),
    ],
)
def test_a_damaged_team_is_refused(name, value, words, team, tmp_path):
    team.save(tmp_path / "t.json")
    assert th.load(tmp_path / "t.json").describe() == team.describe()
    document = json.loads((tmp_path / "t.json").read_text())
    document["object"]["fitted"][name] = value
    document["sha256"] = _checksum(document["object"])
    (tmp_path / "t.json").write_text(json.dumps(document))
    with pytest.raises(InvalidArtifact, match=words):
        th.load(tmp_path / "t.json")
