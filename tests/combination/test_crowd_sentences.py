"""Descriptions of many people, their answers and several models: sentences spelled by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from crowds import crowd
from twoheads.combination.insight.crowd_facts import crowd_facts
from twoheads.combination.insight.crowd_sentences import crowd_sentences
from twoheads.combination.insight.sentences import team_sentences
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations

BEST = {
    "annotator": "ann",
    "answers": 99.0,
    "judged": 56.0,
    "kind": "measured",
    "accuracy": 0.884,
    "accuracy_low": 0.82,
    "accuracy_high": 0.93,
}
LEAST = {
    "annotator": "bob",
    "answers": 2000.0,
    "judged": 1039.0,
    "kind": "measured",
    "accuracy": 0.49,
    "accuracy_low": 0.47,
    "accuracy_high": 0.51,
}
PEOPLE = {
    "n": 145,
    "kind": "measured",
    "level": 0.95,
    "nine_in_ten": [0.63, 0.9],
    "with_enough_answers": 145,
    "most_reliable": BEST,
    "least_reliable": LEAST,
}


@pytest.mark.parametrize(
    ("found", "sentences"),
    [
        (
            {"people": PEOPLE},
            [
                "Nine in ten of the 145 people are estimated to have an accuracy between 63 % and 90 %.",
                "Of the 145 people, the most reliable by all answers with truth is ann (88 % [82, 93], 56 answers with "
                "truth), the least bob "
                "(49 % [47, 51], 1,039 answers with truth); the intervals are corrected for this choice.",
            ],
        ),
        (
            {"people": PEOPLE | {"with_enough_answers": 7, "least_reliable": LEAST | {"accuracy_high": 0.85}}},
            [
                "Nine in ten of the 145 people are estimated to have an accuracy between 63 % and 90 %.",
                "Of the 7 people with enough answers, the most reliable by all answers with truth is ann "
                "(88 % [82, 93], 56 answers with truth), "
                "the least bob (49 % [47, 85], 1,039 answers with truth); the intervals are corrected for this "
                "choice, and overlap.",
            ],
        ),
        (
            {
                "people": PEOPLE
                | {"kind": "believed"}
                | {
                    name: person | {"kind": "believed"}
                    for name, person in (("most_reliable", BEST), ("least_reliable", LEAST))
                }
            },
            [
                "Nine in ten of the 145 people are believed to have an accuracy between 63 % and 90 %.",
                "Of the 145 people, the most reliable is believed to be ann (88 % [82, 93], 99 answers), the least bob "
                "(49 % [47, 51], 2,000 answers); the intervals are corrected for this choice.",
            ],
        ),
        (
            {"people": {"n": 2, "kind": "measured", "nine_in_ten": [0.5, 0.9], "with_enough_answers": 1}},
            [
                "No ranking of the 2 people: it needs two with 10 answers on items with truth each.",
            ],
        ),
        (  # of two people nothing is said that takes ten
            {"people": PEOPLE | {"n": 2, "with_enough_answers": 2}},
            [
                "Of the 2 people, the most reliable by all answers with truth is ann (88 % [82, 93], 56 answers with "
                "truth), the least bob "
                "(49 % [47, 51], 1,039 answers with truth); the intervals are corrected for this choice."
            ],
        ),
        (  # 5 / (1 + 4 * 0.375) = 2
            {"several_answers": {"correlation": 0.375}},
            ["Answers on the same item are correlated (r = 0.38): five count as 2.0 independent ones."],
        ),
        (
            {"several_answers": {"correlation": 0.3}, "labelled": 0},
            [
                "Answers on the same item are correlated (r = 0.30, believed, not measured): five count as 2.3 "
                "independent ones."
            ],
        ),
        (
            {"confidence": {"right": [0.61, None, 0.8, 0.95]}},
            ["95 % of answers at the highest of 4 levels of confidence are correct, and 61 % at the lowest."],
        ),
        ({"confidence": {"right": [0.6, None]}}, []),
        ({"confidence": {"right": [0.6, 0.7, None]}}, []),  # of the highest level nothing is known
        (
            {"confidence": {"right": [0.61, 0.95]}, "labelled": 0},
            [
                "95 % of answers at the highest of 2 levels of confidence are believed to be correct, and 61 % at the "
                "lowest."
            ],
        ),
        (
            {"unsure": {"said": 1369.0, "given_true": {"cat": 0.1, "dog": 0.12}, "p_value": 0.001}},
            [
                "“Unsure” was answered 1,369 times on items with truth, about equally often for all true classes: it "
                "carries little information."
            ],
        ),
        (
            {"unsure": {"said": 69.0, "given_true": {"cat": 0.1, "dog": 0.21}, "p_value": 0.003}},
            [
                "“Unsure” was answered 69 times on items with truth, 2.1 times as often where 'dog' is true as where "
                "'cat' is (p = 0.003)."
            ],
        ),
        (
            {"unsure": {"said": 3.0, "given_true": {"cat": 0.1, "dog": 0.21}, "p_value": 0.4}},
            [
                "“Unsure” was answered 3 times on items with truth; that does not show that it depends on the true "
                "class (p = 0.40)."
            ],
        ),
        (
            {"unsure": {"said": 69.0, "given_true": {"cat": 0.1, "dog": 0.21}, "p_value": None}},
            [
                "“Unsure” was answered 69 times; it is believed to be 2.1 times as likely where 'dog' is true as where "
                "'cat' is."
            ],
        ),
        (
            {"unsure": {"said": 9.0, "given_true": {"cat": 0.1, "dog": 0.12}, "p_value": None}},
            [
                "“Unsure” was answered 9 times; it is believed to be about equally likely for all true classes, and to "
                "carry little information."
            ],
        ),
        (
            {"unsure": {"said": 1.0, "given_true": {"cat": 0.1, "dog": 0.12}, "p_value": 1.0}},
            [
                "“Unsure” was answered 1 time on items with truth; that does not show that it depends on the true "
                "class (p = 1.00)."
            ],
        ),
        (
            {"unsure": {"said": 10.0, "given_true": {"cat": 0.1, "dog": 0.12}, "p_value": 0.8}},
            [
                "“Unsure” was answered 10 times on items with truth, about equally often for all true classes: it "
                "carries little information."
            ],
        ),
        (
            {"models": {"vgg": 0.77, "alex": 0.23}},
            ["The 2 models are averaged with these weights: vgg 0.77, alex 0.23."],
        ),
    ],
)
def test_sentences(found, sentences):
    assert crowd_sentences({"labelled": 100} | found) == sentences


def test_facts_of_a_fitted_crowd():
    seen, told, unsure = crowd(n_items=200, seed=1)
    truth = np.random.default_rng(0).integers(3, size=200)
    names = np.array(["a", "b", "c"])
    team = th.recommended().fit(seen, names[truth])
    found = team.facts()
    assert json.loads(json.dumps(found, allow_nan=False))["people"] == found["people"]
    right = np.array([sum(label == truth[i] for (i, p), (label, _) in told.items() if p == q) for q in range(4)])
    judged = np.array([sum(p == q for _, p in told) for q in range(4)])
    low, high = found["people"]["nine_in_ten"]
    assert low < np.mean(right / judged) < high
    np.testing.assert_array_equal(team.annotator_stats_["judged"], judged)  # "unsure" is none of them
    np.testing.assert_allclose(team.annotator_stats_["accuracy"], (right + 0.5) / (judged + 1), atol=2e-3)
    assert found["people"]["n"] == found["people"]["with_enough_answers"] == 4
    assert found["people"]["most_reliable"]["annotator"] == f"p{np.argmax(team.annotator_stats_['accuracy'])}"
    assert found["unsure"]["said"] == len(unsure)
    assert list(found["models"]) == ["left", "right"]
    assert sum(found["models"].values()) == pytest.approx(1.0)
    sure = {key: value for key, value in told.items() if np.isfinite(value[1])}
    assert sum(found["confidence"]["answers"]) == pytest.approx(len(sure))
    hits = sum(label == truth[item] for (item, _), (label, _) in sure.items())
    shares, answers = np.array(found["confidence"]["right"]), np.array(found["confidence"]["answers"])
    assert shares @ answers == pytest.approx(hits)
    assert found["several_answers"]["correlation"] == team.dependence_.correlation_
    assert "The models together are" in team.describe()


def test_one_person_with_one_model_has_no_crowd():
    team = th.recommended().fit([[0, 0.6, 0.4], [1, 0.3, 0.7]] * 5, [0, 1] * 5)
    assert crowd_facts(team.result(), team.people_accuracy_) == {}


def test_without_a_model_nothing_is_said_of_one():
    rng = np.random.default_rng(0)
    item, person = np.divmod(np.arange(300), 3)
    answers = pack_answers(item, person * 2 + rng.integers(2, size=300), 100)
    team = th.recommended().fit(Observations(np.array(["a", "b"]), (), answers, ("x", "y", "z"), np.arange(100)))
    said = team.describe()
    assert "model" not in said
    weight = team.facts()["dependence"]["weight_of_human"]
    assert said.endswith(
        f"The joint evidence of an item's answers is multiplied by {weight:.2f}, in addition to the corrections above."
    )
    again = team.facts()
    assert again["model"]["names"] == []
    assert team_sentences(again) == said.split("\n")


def test_a_temperature_that_em_found_has_no_interval():
    seen, _, _ = crowd(n_items=200, seed=2)
    truth = np.where(np.arange(200) < 60, np.random.default_rng(0).integers(3, size=200), -1)
    known = np.where(truth < 0, None, np.array(["a", "b", "c"])[truth])
    team = th.recommended().fit(seen, known)
    assert team.facts()["model"]["temperature"][1:] == [None, None]
    assert "estimated partly from people's answers" in team.describe()


def test_unsure_is_counted_on_items_with_truth_alone():
    # On 40 labelled items "unsure" is as frequent for both classes; on the others it is said where the class is 1.
    rng = np.random.default_rng(3)
    truth = np.r_[np.tile([0, 1], 20), rng.integers(0, 2, 400)]
    right = rng.random((440, 3)) < 0.85
    answers = np.where(right, truth[:, None], 1 - truth[:, None]).astype(str).astype(object)
    answers[:10, 0] = "unsure"
    answers[40:, 0][rng.random(400) < np.where(truth[40:] == 1, 0.6, 0.0)] = "unsure"
    frame = pd.DataFrame(answers, columns=["human_ann", "human_bob", "human_cy"])
    known = np.where(np.arange(440) < 40, truth.astype(str), None)
    team = th.recommended().fit(frame, known)
    found = team.facts()["unsure"]
    assert found["said"] == 10
    assert found["p_value"] == 1.0
    assert found["given_true"] == pytest.approx(
        th.recommended().fit(frame[:40], known[:40]).facts()["unsure"]["given_true"]
    )
    assert "“Unsure” was answered 10 times on items with truth, about equally often" in team.describe()
