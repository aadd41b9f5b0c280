"""Descriptions of teams: sentences spelled by hand, and the numbers behind them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from strategies import simulate
from twoheads.calibration.identity import Identity
from twoheads.combination import LabelLabelCombiner, LogisticCombiner, ProbabilityLabelCombiner, recommended
from twoheads.combination.insight.facts import team_facts
from twoheads.combination.insight.sentences import team_sentences

FACTS = {
    "classes": ["cat", "dog"],
    "annotators": ["human"],
    "labelled": 300,
    "unlabelled": 1200,
    "labels_per_class": {"cat": 180.0, "dog": 120.0},
    "level": 0.95,
    "human": {
        "kind": "measured",
        "given": 1500.0,
        "answers": 300.0,
        "items": 300.0,
        "accuracy": [0.917, 0.884, 0.944],
        "accuracy_per_class": {},
    },
    "model": {"calibrator": "TemperatureScaling", "temperature": [1.734, 1.6, 1.88]},
    "dependence": {
        "partner_correlation": 0.3,
        "strength_ratio": 1.1,
        "weight_of_model": 0.449,
        "weight_of_human": 0.779,
        "effective_answers": 1.0,
    },
    "record": {
        "n": 300.0,
        "items": 300.0,
        "effective_items": 300.0,
        "both_labelled": 300.0,
        "both_wrong": 8.0,
        "both_wrong_by_chance": 2.86,
        "both_wrong_p": 0.0041,
        "answered": 300.0,
        "modelled": 300.0,
        "errors": 6.0,
        "human_errors": 24.0,
        "model_errors": 36.0,
        "log_loss": 0.0805,
        "plain_log_loss": 0.0994,
        "log_loss_gain_se": 0.004,
        "chance_best": 0.9991,
        "rivals": {
            "members": [
                {"error": 0.08, "team_error": 0.02, "n": 300.0, "items": 300.0},
                {"error": 0.12, "team_error": 0.02, "n": 300.0, "items": 300.0},
            ],
            "better": 0,
            "p_value": 0.0002,
            "better_half": "the human alone",
            "n_candidates": 2,
            "ahead_on_part": None,
        },
    },
}


PREFERENCE = {
    "partner": "model",
    "times_as_probable": 1.8,
    "alone": None,
    "share_alone": 0.0,
    "chance_better_alone": 0.3,
}


def test_many_labels():
    assert team_sentences(FACTS) == [
        "Fitted on 300 items with truth and 1,200 without; the rarest class is 'dog' (n = 120).",
        "People are correct on 92 % of items (measured on 300 items with truth; 95 % interval [88, 94]).",
        "The model is over-confident: temperature 1.73 [1.60, 1.88].",
        "Combined with the model, a person's answer has 0.78 times the weight it would have alone, and the model's "
        "log-odds have weight 0.45; the two err on the same items more often than by chance (both are wrong on 8 of "
        "300 items, 2.9 by chance; p = 0.004), so their agreement is weaker evidence than if they were independent.",
        "On these 300 items, each held out, the combination errs on 2.0 %: 75 % fewer errors than the human alone "
        "(8.0 %), the better half; the difference is significant (p < 0.001). The probability that it errs less than "
        "both people and the model is above 99 %.",
        "The correction for dependence lowers the log loss significantly: 0.081 with it, 0.099 without.",
    ]


def test_few_labels():
    record = FACTS["record"] | {
        "n": 12.0,
        "items": 12.0,
        "effective_items": 12.0,
        "both_labelled": 12.0,
        "both_wrong": 1.0,
        "both_wrong_by_chance": 0.5,
        "both_wrong_p": 0.4545,
        "answered": 12.0,
        "modelled": 12.0,
        "errors": 1.0,
        "human_errors": 2.0,
        "model_errors": 3.0,
        "rivals": {
            "members": [
                {"error": 0.25, "team_error": 0.125, "n": 8.0, "items": 8.0},
                {"error": 0.5, "team_error": 0.1, "n": 12.0, "items": 12.0},
            ],
            "better": 0,
            "p_value": 1.0,
            "better_half": "Ann alone, the best of 3 people on the same items",
            "n_candidates": 2,
            "ahead_on_part": None,
        },
    }
    few = FACTS | {
        "labelled": 12,
        "unlabelled": 0,
        "labels_per_class": {"cat": 12.0, "dog": 0.0},
        "human": FACTS["human"]
        | {
            "kind": "believed",
            "answers": 12.0,
            "accuracy": [0.7, 0.4, 0.9],
            "accuracy_per_class": {"cat": [0.75, 0.46, 0.93], "dog": [0.65, None, None]},
        },
        "model": {"temperature": [1.7, 0.6, 4.8]},
        "record": record | {"chance_best": 0.746},
    }
    assert team_sentences(few) == [
        "Fitted on 12 items with truth. All 12 items with truth are 'cat': what is measured is how often each is right "
        "about 'cat'; nothing is known of 'dog'.",
        "Of items that are 'cat' people have 75 % right (measured on 12 answers with truth; 95 % interval [46, 93]). "
        "Of all items they are believed to have 70 % right (no truth of another class is known; 95 % interval "
        "[40, 90]).",
        "The model is not significantly over- or under-confident: temperature 1.70 [0.60, 4.80].",
        "Combined with the model, a person's answer has 0.78 times the weight it would have alone, and the model's "
        "log-odds have weight 0.45; the labels do not show that the two err on the same items more often than by "
        "chance (both are wrong on 1 of 12 items, 0.5 by chance; p = 0.45).",
        "On these 12 items, all 'cat', each held out, the combination errs on 8.3 %; on the 8 that the better half "
        "labelled, on 12.5 %: 1 error, against 2 by Ann alone, the best of 3 people on the same items (25.0 %); no "
        "significant difference (p = 1.00). The probability that it errs less on items that are 'cat' than both "
        "people and the model is 75 %.",
    ]


def test_no_labels():
    none = {key: value for key, value in FACTS.items() if key != "record"} | {
        "labelled": 0,
        "human": {"kind": "believed", "given": 1200.0, "answers": 0.0, "accuracy": [0.917, 0.82, 0.96]},
        "members_per_item": 2.0,
        "model": {"calibrator": "TemperatureScaling"},
    }
    undecided = (
        "With fewer than three members per item, agreement cannot show which member is more accurate: where they "
        "disagree, the prior decides. Labels would settle it."
    )
    assert undecided not in team_sentences(none | {"members_per_item": 3.0})
    assert team_sentences(none) == [
        "Fitted on 1,200 items without truth: all that follows is believed, not measured.",
        undecided,
        "People are believed to be correct on 92 % of items (no truth is known; 95 % interval [82, 96]).",
        "Combined with the model, a person's answer has 0.78 times the weight it would have alone, and the model's "
        "log-odds have weight 0.45; these rest on the prior: without truth it cannot be known how far the two share "
        "errors, nor which is right where they differ.",
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"labels_per_class": {"a": 9.0, "b": 3.0, "c": 3.0}}, "; the rarest classes are 'b', 'c' (n = 3 each)."),
        ({"labels_per_class": dict.fromkeys("abcde", 3.0)}, "; each class has 3 of them."),
        (
            {"labels_per_class": {"a": 9.0, "b": 3.0, "c": 0.0, "d": 0.0}},
            "No item with truth is 'c' or 'd': errors on such items are not counted.",
        ),
        (
            {"labels_per_class": dict.fromkeys("abcde", 0.0) | {"x": 5.0, "y": 6.0}},
            "No item with truth is of 5 of the 7 classes: their errors are not counted.",
        ),
        (
            {"labels_per_class": dict.fromkeys("abcde", 0.0) | {"x": 5.0}},
            "how often each is right about 'x'; nothing is known of the other 5 classes.",
        ),
        ({"model": {"temperature": [0.5, 0.4, 0.8]}}, "is under-confident: temperature 0.50 [0.40, 0.80]."),
        (
            {"record": FACTS["record"] | {"both_labelled": 0.0}},
            "no item with truth has a label of both, so that how far they share errors rests on the prior.",
        ),
        (
            {"dependence": FACTS["dependence"] | {"strength_ratio": 2.04}},
            "if they were independent; the model's evidence is 2.0 times as strong, so people's is discounted more.",
        ),
        (
            {"dependence": FACTS["dependence"] | {"strength_ratio": 0.5}},
            "if they were independent; people's evidence is 2.0 times as strong, so the model's is discounted more.",
        ),
        (
            {"preference": PREFERENCE},
            "Where people and model differ, the model's class is preferred, since it was right more often on these "
            "items: another class must be 1.80 times as probable to overrule it.",
        ),
        (
            {"preference": PREFERENCE | {"alone": "model", "share_alone": 1.0, "chance_better_alone": 0.97}},
            "The probability that the model alone errs less than the combination is 97 %, so the team answers as the "
            "model alone.",
        ),
        (
            {"preference": PREFERENCE | {"alone": "human", "share_alone": 0.4, "chance_better_alone": 0.93}},
            "The probability that people alone err less than the combination is 93 %, so the team's probabilities are "
            "40 % those of people alone.",
        ),
        (
            {"preference": PREFERENCE | {"alone": "model", "share_alone": 1.0, "chance_better_alone": 0.62}},
            "By the weights the model alone errs less than the combination, so the team answers as the model alone; "
            "counted as items, its probability is 62 %.",
        ),
        (
            {"record": FACTS["record"] | {"log_loss": 0.2}},
            "The correction for dependence does not lower the log loss significantly: 0.200 with it, 0.099 without.",
        ),
        (
            {"record": FACTS["record"] | {"log_loss": 0.098}},
            "The correction for dependence does not lower the log loss significantly: 0.098 with it, 0.099 without.",
        ),
        (
            {"labelled": 50_000, "record": FACTS["record"] | {"n": 20_000.0, "items": 20_000.0}},
            "On 20,000 of these items, each held out, the combination",
        ),
        ({"record": FACTS["record"] | {"chance_best": 0.004}}, "than both people and the model is below 1 %."),
        (
            {"record": FACTS["record"] | {"answered": 0.0}},
            "The probability that it errs less than the model is",
        ),
        (
            {"record": FACTS["record"] | {"modelled": 0.0}},
            "The probability that it errs less than people is",
        ),
        (
            {"labelled": 1, "record": FACTS["record"] | {"n": 1.0, "items": 1.0}},
            "On this item, held out, the combination",
        ),
    ],
)
def test_other_cases(change, sentence):
    assert sentence in " ".join(team_sentences(FACTS | change))


def test_facts_of_a_fitted_team():
    problem = simulate(200, 3, seed=0)
    truth = np.where(np.arange(200) < 60, problem.truth, -1)
    team = recommended().fit(problem.X, truth)
    found = team_facts(team.result(), team.people_accuracy_, level=0.9)
    right = int((problem.human == problem.truth)[:60].sum())
    assert found["labelled"] == 60
    assert found["unlabelled"] == 140
    assert found["labels_per_class"] == {str(k): int((truth == k).sum()) for k in range(3)}
    stats = team.annotator_stats_  # of one person, whose numbers they are
    assert found["human"]["kind"] == stats["kind"][0] == "measured"
    assert found["human"]["answers"] == stats["judged"][0] == 60
    assert found["human"]["accuracy"] == [stats[f"accuracy{end}"][0] for end in ("", "_low", "_high")]
    assert found["human"]["accuracy"][0] == pytest.approx(right / 60, abs=0.05)
    for estimate, low, high in [*found["human"]["accuracy_per_class"].values(), found["model"]["temperature"]]:
        assert low < estimate < high
    assert found["record"]["n"] == 60
    assert found["record"]["human_errors"] == 60 - right
    assert json.loads(json.dumps(found)) == json.loads(
        json.dumps(team_facts(team.result(), team.people_accuracy_, level=0.9))
    )
    assert team.describe().split("\n") == team_sentences(team.facts())


def test_facts_without_truth_are_believed():
    team = recommended().fit(simulate(50, 3, seed=0).X)
    found = team.facts()
    estimate, low, high = found["human"]["accuracy"]
    assert low < estimate < high
    assert found["human"]["kind"] == "believed"
    assert found["human"]["answers"] == 0
    assert all(row[1:] == [None, None] for row in found["human"]["accuracy_per_class"].values())
    assert "temperature" not in found["model"]
    assert "record" not in found
    assert "Fitted on 50 items without truth" in team.describe()


def test_plain_teams_describe_themselves_too():
    problem = simulate(40, 3, seed=1)
    said = ProbabilityLabelCombiner(calibrator=Identity()).fit(problem.X, problem.truth).describe()
    assert len(said.split("\n")) == 2


def test_people_who_never_answered_are_not_described():
    X = np.array([[-1, 0.7, 0.3], [-1, 0.2, 0.8], [-1, 0.6, 0.4]])
    said = recommended().fit(X, [0, 1, 0]).describe()
    assert "Nobody answered about any item, so people's accuracy is not known." in said
    assert "People are correct" not in said


def test_of_several_people_it_is_the_answers_that_are_right():
    frame = {"human_ann": ["a", "b", "a"], "human_bob": ["a", "a", "b"], "p_a": [0.7, 0.2, 0.6], "p_b": [0.3, 0.8, 0.4]}
    said = recommended().fit(pd.DataFrame(frame), ["a", "b", "a"]).describe()
    assert "People are correct on 67 % of answers (measured on 3 items with truth; 95 % interval [" in said


def test_the_partner_that_did_better_is_preferred():
    problem = simulate(200, 3, seed=0)
    team = recommended().fit(problem.X, problem.truth)
    preference = team.holdout_.preference()
    assert team.facts()["preference"] == {
        "partner": "human" if team.holdout_.human_only > team.holdout_.model_only else "model",
        "times_as_probable": pytest.approx(np.exp(preference.log_threshold)),
        "alone": None,
        "share_alone": 0.0,
        "chance_better_alone": pytest.approx(1 - min(preference.chances)),
    }
    assert "is preferred, since it was right more often" in team.describe()
    assert "preference" not in recommended().fit(problem.X).facts()


def test_nothing_is_said_of_a_preference_without_effect():
    said = " ".join(team_sentences(FACTS | {"preference": PREFERENCE | {"partner": None, "times_as_probable": 1.0}}))
    assert "prefer" not in said


def test_two_labels_say_how_often_each_is_right():
    X = [[0, 0.6, 0.4]] * 6 + [[1, 0.3, 0.7]] * 4  # the human is right on 8 of 10, the model on 8 of 10
    team = LabelLabelCombiner().fit(X, [0] * 6 + [1, 1, 0, 0])
    assert team.facts()["human"]["answers"] == 10
    assert team.facts()["model"]["accuracy"] == pytest.approx([11 / 14, *beta.interval(0.95, 11, 3)])
    assert team.describe().split("\n")[1:] == [
        "People are correct on 79 % of 10 labels with truth (95 % interval [55, 95]).",
        "The model is correct on 79 % of 10 labels with truth (95 % interval [55, 95]).",
    ]


def test_a_regression_says_what_model_and_answers_count():
    # log-odds of class 0 rise by 0.5 with those of the model, by 1.5 with an answer
    team = LogisticCombiner().fit([[0, 0.6, 0.4], [1, 0.3, 0.7]], [0, 1])
    team.coef_ = np.array([[0.25, -0.25, 0.75, -0.75], [-0.25, 0.25, -0.75, 0.75]])
    assert team.facts()["weight_of_model"] == pytest.approx(0.5)
    assert team.facts()["weight_of_answer"] == {"human": pytest.approx(1.5)}
    assert team.describe().split("\n") == [
        "LR: a logistic regression of the truth on the model's log-odds and people's answers, with 10 weights for 2 "
        "classes.",
        "On average the model's log-odds have weight 0.50, and an answer adds 1.50 to the log-odds of its class.",
    ]


def test_a_regression_names_the_classes_it_never_predicts():
    X = [[0, 0.6, 0.2, 0.2], [1, 0.3, 0.6, 0.1]]
    said = LogisticCombiner(features="probability").fit(X, [0, 1]).describe().split("\n")
    assert said[-1] == "Never predicted, because there are no labels: '2'."
    assert "a model's probability of 1 adds" in said[1]
