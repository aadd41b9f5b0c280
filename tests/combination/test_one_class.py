"""Truth of one class only measures how often people are right about that class, and nothing else."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import twoheads as th
from twoheads import evaluation
from twoheads.combination.unseen import unseen_sentence

NAMES = np.array(["no", "yes", "maybe", "other"])


def world(seed, n_classes=2, n_people=1, share=None, ability=0.9, n=300):
    """Answers of people and probabilities of a calibrated model, and the truth."""
    rng = np.random.default_rng(seed)
    prevalence = np.full(n_classes, 1 / n_classes) if share is None else np.array(share)
    truth = rng.choice(n_classes, n, p=prevalence)
    other = (truth[:, None] + rng.integers(1, n_classes, (n, n_people))) % n_classes
    answers = np.where(rng.random((n, n_people)) < ability, truth[:, None], other)
    logits = rng.normal(size=(n, n_classes)) + 2.0 * np.eye(n_classes)[truth] + np.log(prevalence)
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    who = ["human"] if n_people == 1 else [f"human_{at}" for at in range(n_people)]
    columns = {name: NAMES[each] for name, each in zip(who, answers.T, strict=True)}
    columns |= {f"p_{name}": column for name, column in zip(NAMES[:n_classes], proba.T, strict=True)}
    return pd.DataFrame(columns), truth, answers


def only(truth, label, n):
    """Truth of so many items of one class, and of no other item."""
    return np.where(np.isin(np.arange(len(truth)), np.flatnonzero(truth == label)[:n]), NAMES[truth], None)


@pytest.mark.parametrize("n_people", [1, 3])
def test_the_accuracy_is_believed_and_the_class_is_measured(n_people):
    X, truth, answers = world(1, n_people=n_people)
    team = th.recommended().fit(X, only(truth, 1, 40))
    stats, by_class = team.annotator_stats_, team.class_stats()
    assert stats["kind"].tolist() == ["believed"] * n_people
    assert stats["judged"].tolist() == [40] * n_people
    yes = by_class["class"] == "yes"
    assert by_class["kind"][yes].tolist() == by_class["specificity_kind"][~yes].tolist() == ["measured"] * n_people
    assert by_class["specificity_kind"][yes].tolist() == by_class["kind"][~yes].tolist() == ["believed"] * n_people
    said = team.describe()
    assert "All 40 items with truth are 'yes': what is measured is how often each is right about 'yes'; " in said
    assert "People are correct on" not in said
    assert "they are believed to have" in said
    if n_people == 1:
        # Jeffreys' interval of the right ones among the forty, whatever is believed of the others.
        right = int((answers[truth == 1, 0][:40] == 1).sum())
        ends = by_class["sensitivity_low"][yes][0], by_class["sensitivity_high"][yes][0]
        assert ends == pytest.approx(beta.interval(0.9, right + 0.5, 40 - right + 0.5), abs=0.03)
    facts = team.facts()
    assert facts["human"]["accuracy_per_class"]["yes"][1] is not None
    assert facts["human"]["accuracy_per_class"]["no"][1:] == [None, None]
    json.dumps(facts, allow_nan=False)


@pytest.mark.parametrize("weight", [1.0, 10.0])
def test_answers_of_equal_weights_count_as_one_each(weight):
    X, truth, _ = world(1)
    team = th.recommended().fit(X, only(truth, 1, 40), sample_weight=np.full(len(X), weight))
    at = list(team.classes_).index("yes")
    assert team.people_accuracy_.unit[at] == pytest.approx(weight)
    assert team.people_accuracy_.effect[at] == pytest.approx(weight)


def test_without_a_copy_that_has_seen_no_truth_the_others_are_not_taken_for_wrong(monkeypatch):
    X, truth, answers = world(1)
    monkeypatch.setattr("twoheads.combination.insight.accuracy_at_fit.posterior_without_truth", lambda *_: None)
    stats = th.recommended().fit(X, only(truth, 1, 40)).annotator_stats_
    assert stats["kind"].tolist() == ["believed"]
    assert stats["accuracy_low"][0] <= (answers[:, 0] == truth).mean() <= stats["accuracy_high"][0]


def test_of_several_classes_no_specificity_is_measured():
    X, truth, _ = world(2, n_classes=4)
    by_class = th.recommended().fit(X, only(truth, 1, 30)).class_stats()
    assert by_class["kind"].tolist() == ["measured" if name == "yes" else "believed" for name in by_class["class"]]
    assert by_class["specificity_kind"].tolist() == ["believed"] * 4


def test_truth_of_two_classes_is_measured():
    X, truth, _ = world(3)
    team = th.recommended().fit(X, np.where(np.arange(300) < 30, NAMES[truth], None))
    assert team.annotator_stats_["kind"].tolist() == ["measured"]
    assert "People are correct on" in team.describe()


def test_intervals_cover_whatever_class_was_verified():
    covered = []
    for seed in range(16):
        for label, share in ((1, None), (1, [0.8, 0.2])):
            X, truth, answers = world(seed, share=share)
            team = th.recommended().fit(X, only(truth, label, 30))
            stats, by_class = team.annotator_stats_, team.class_stats()
            right = answers[:, 0] == truth
            at = list(team.classes_).index(NAMES[label])
            for low, high, true in (
                (stats["accuracy_low"][0], stats["accuracy_high"][0], right.mean()),
                (by_class["sensitivity_low"][at], by_class["sensitivity_high"][at], right[truth == label].mean()),
            ):
                covered.append(low <= true <= high)
    assert np.mean(covered[::2]) >= 0.86  # believed accuracies
    assert np.mean(covered[1::2]) >= 0.86  # measured sensitivities


@pytest.mark.parametrize("n_people", [1, 3])
def test_items_of_one_class_are_judged_and_called_so(n_people):
    X, truth, _ = world(4, n_people=n_people)
    team = th.recommended().fit(X, NAMES[truth])
    other, true, _ = world(5, n_people=n_people)
    here = true == 1
    found = evaluation.compare(team, other[here], NAMES[true[here]], held_out=True)
    assert f"All {here.sum()} items with truth are 'yes'" in found.notes()[0]
    json.dumps(found.as_dict(), allow_nan=False)
    every = [metric.name for metric in evaluation.METRICS]
    table = evaluation.score_members(team, other[here], NAMES[true[here]], held_out=True, metrics=every).as_dict()
    json.dumps(table, allow_nan=False)
    scores = table["rows"][0]["scores"]
    undefined = {name for name, score in scores.items() if score is None}
    assert {"auc", "sensitivity[no]", "specificity[yes]"} <= undefined
    assert {"error", "log_loss", "sensitivity[yes]", "specificity[no]"}.isdisjoint(undefined)


@pytest.mark.parametrize(
    ("seen", "n", "sentence"),
    [
        ([True, True], 9, None),
        ([False, False], 0, None),
        (
            [False, True],
            1,
            "The one item with truth is 'yes': what is measured is how often each is right about 'yes'; nothing is "
            "known of 'no'.",
        ),
        ([True, False, True], 50, "No item with truth is 'yes': errors on such items are not counted."),
    ],
)
def test_what_items_cannot_show_is_said_without_blame(seen, n, sentence):
    assert unseen_sentence(NAMES[: len(seen)].tolist(), seen, n) == sentence
