"""P+L by hand, with one person and with several."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from strategies import simulate
from twoheads.calibration.identity import Identity
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination import ProbabilityLabelCombiner
from twoheads.confusion import DirichletConfusion, OneCoinConfusion
from twoheads.errors import InvalidParameter
from twoheads.observations import Observations


def _as_given(truth, human):
    """X whose human answers as given and whose model says nothing."""
    return np.column_stack([human, np.full((len(truth), 2), 0.5)])


def test_matches_bayes_rule_by_hand():
    # ten items of each class: P(h=0|y=0)=0.9, P(h=0|y=1)=0.2; model (0.4, 0.6): 0.36 / (0.36 + 0.12) = 3/4
    truth = np.repeat([0, 1], 10)
    human = np.array([0] * 9 + [1] + [0] * 2 + [1] * 8)
    combiner = ProbabilityLabelCombiner(DirichletConfusion(estimate="likelihood"), Identity())
    combiner.fit(_as_given(truth, human), truth)
    np.testing.assert_allclose(combiner.predict_proba([[0, 0.4, 0.6]]), [[0.75, 0.25]])
    # h=1: 0.4 * 0.1 against 0.6 * 0.8
    np.testing.assert_allclose(combiner.predict_proba([[1, 0.4, 0.6]]), [[0.04 / 0.52, 0.48 / 0.52]])
    # nobody asked
    np.testing.assert_allclose(combiner.predict_proba([[-1, 0.4, 0.6], [np.nan, 0.4, 0.6]]), [[0.4, 0.6]] * 2)
    assert combiner.predict([[0, 0.4, 0.6], [1, 0.4, 0.6]]).tolist() == [0, 1]


def test_a_held_temperature_by_hand():
    # T = 1/2 squares the model: (0.16, 0.36); P(h=0|.) = (0.9, 0.2): 0.144 against 0.072
    truth = np.repeat([0, 1], 10)
    human = np.array([0] * 9 + [1] + [0] * 2 + [1] * 8)
    held = TemperatureScaling(log_temperature_mean=np.log(0.5), log_temperature_sd=0)
    combiner = ProbabilityLabelCombiner(DirichletConfusion(estimate="likelihood"), held).fit(
        _as_given(truth, human), truth
    )
    np.testing.assert_allclose(combiner.predict_proba([[0, 0.4, 0.6]]), [[2 / 3, 1 / 3]])


def test_the_defaults_are_the_posterior_modes_of_the_papers_priors():
    problem = simulate(300, 10, 4)
    counts = 0.1 + 2.6 * np.eye(10)
    np.add.at(counts, (problem.human, problem.truth), 1)
    found = minimize_scalar(
        lambda tau: (
            -log_softmax(problem.log_model * np.exp(-tau), axis=1)[np.arange(300), problem.truth].sum()
            + 0.5 * ((tau - 0.5) / 0.5) ** 2
        ),
        bounds=(-2, 3),
        options={"xatol": 1e-10},
    )
    product = (
        np.exp(log_softmax(problem.log_model * np.exp(-found.x), axis=1)) * (counts / counts.sum(axis=0))[problem.human]
    )
    combiner = ProbabilityLabelCombiner().fit(problem.X, problem.truth)
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(combiner.predict_proba(problem.X), expected, atol=1e-6)
    np.testing.assert_allclose(np.exp(combiner.predict_log_proba(problem.X)), expected, atol=1e-6)
    assert combiner.score(problem.X, problem.truth) == (expected.argmax(axis=1) == problem.truth).mean()


def test_single_accuracy_by_hand():
    # 3 of 4 right and a prior worth 4 answers, 3 of them right: 6/8. Model (0.4, 0.6), answer 0: 0.3 against 0.15
    combiner = ProbabilityLabelCombiner(OneCoinConfusion(), Identity()).fit(
        _as_given([0] * 4, [0, 0, 1, 0]), [0, 0, 0, 0]
    )
    np.testing.assert_allclose(combiner.predict_proba([[0, 0.4, 0.6]]), [[2 / 3, 1 / 3]])


ANSWERS = pd.DataFrame(
    {
        "item": [0, 1, 2, 3, 0, 1, 2, 3],
        "annotator": ["ann"] * 4 + ["bob"] * 4,
        "answer": ["cat", "dog", "cat", "dog", "cat", "cat", "dog", "dog"],
    }
)
MODEL = pd.DataFrame({"item": range(4), "p_cat": [0.5] * 4, "p_dog": [0.5] * 4})
TRUTH = ["cat", "dog", "dog", "cat"]


def test_several_people_multiply_and_a_stranger_answers_as_the_crowd():
    combiner = ProbabilityLabelCombiner(DirichletConfusion(), Identity()).fit(
        Observations.from_answers(ANSWERS, MODEL), TRUTH
    )
    # K = 2: 0.3 on, 0.1 off. ann under cat: cat, dog; under dog: dog, cat. bob the same; the crowd twice that.
    person, crowd = 1.3 / 2.4, 2.3 / 4.4
    np.testing.assert_allclose(combiner.confusion_.human_given_true_[0], [[person, 1 - person], [1 - person, person]])
    asked = pd.DataFrame({"item": [0, 0, 1], "annotator": ["ann", "eve", "eve"], "answer": ["cat", "cat", "dog"]})
    model = pd.DataFrame({"item": [0, 1, 2], "p_cat": [0.3, 0.3, 0.3], "p_dog": [0.7, 0.7, 0.7]})
    odds = [
        0.3 / 0.7 * person / (1 - person) * crowd / (1 - crowd),
        0.3 / 0.7 * (1 - crowd) / crowd,
        0.3 / 0.7,
    ]
    found = combiner.predict_proba(Observations.from_answers(asked, model))
    np.testing.assert_allclose(found[:, 0] / found[:, 1], odds)


def test_an_item_without_a_model_row_is_decided_by_people_alone():
    combiner = ProbabilityLabelCombiner().fit(Observations.from_answers(ANSWERS, MODEL), TRUTH)
    alone = Observations.from_answers(ANSWERS[:1], classes=["cat", "dog"])
    np.testing.assert_allclose(combiner.predict_proba(alone), [[1.3 / 2.4, 1.1 / 2.4]])


def test_where_nobody_was_asked_the_calibrated_model_is_given():
    frame = pd.DataFrame({"human": ["a", "b", "a"], "p_a": [0.6, 0.3, 0.8], "p_b": [0.4, 0.7, 0.2]})
    combiner = ProbabilityLabelCombiner(calibrator=Identity()).fit(frame, ["a", "b", "a"])
    np.testing.assert_allclose(combiner.predict_proba(frame.assign(human=None)), frame[["p_a", "p_b"]])


def test_one_person_named_in_a_frame_is_the_human_of_an_array():
    problem = simulate(50, 3, 2)
    frame = pd.DataFrame(problem.model, columns=["p_0", "p_1", "p_2"]).assign(human=problem.human)
    by_frame = ProbabilityLabelCombiner().fit(frame, problem.truth)
    by_array = ProbabilityLabelCombiner().fit(problem.X, problem.truth)
    assert by_frame.predict_proba(frame).tolist() == by_array.predict_proba(problem.X).tolist()


@pytest.mark.parametrize("scale", ["log", "logit"])
def test_the_models_scale_changes_nothing(scale):
    problem = simulate(80, 4, 6)
    other = np.column_stack([problem.human, problem.log_model + (scale == "logit") * problem.rng.normal(size=(80, 1))])
    found = ProbabilityLabelCombiner(model_scale=scale).fit(other, problem.truth).predict_proba(other)
    expected = ProbabilityLabelCombiner().fit(problem.X, problem.truth).predict_proba(problem.X)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_parameters_of_a_simulation_are_recovered_with_full_truth():
    problem = simulate(30_000, 3, 9, accuracy=0.7, temperature=1.6)
    combiner = ProbabilityLabelCombiner().fit(problem.X, problem.truth)
    # a human who guesses in 30 % of cases is right in 0.7 + 0.1
    np.testing.assert_allclose(combiner.confusion_.human_given_true_, 0.1 + 0.7 * np.eye(3), atol=0.02)
    assert combiner.calibrator_.temperature_ == pytest.approx(1.6, abs=0.05)
    assert (combiner.n_labelled_, combiner.n_unlabelled_, len(combiner.objective_)) == (30_000, 0, 0)


@pytest.mark.parametrize("weight", [-1, "a", float("nan"), float("inf"), True])
def test_a_weight_of_items_without_truth_that_is_none_is_refused(weight):
    message = rf"^unlabelled_weight must be a number, not negative; it is {weight!r}\.$"
    with pytest.raises(InvalidParameter, match=message):
        ProbabilityLabelCombiner(unlabelled_weight=weight).fit([[0, 0.5, 0.5]])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"calibrator": "temperature"},
            "calibrator must be a Calibrator, such as TemperatureScaling(); it is 'temperature'.",
        ),
        (
            {"calibrator": Identity},
            "calibrator must be an object, not a class; it is Identity. Write Identity().",
        ),
        ({"confusion": 3}, "confusion must be a Confusion, such as DirichletConfusion(); it is 3."),
        ({"dependence": True}, "dependence must be a Dependence, such as Dependence(); it is True."),
    ],
)
def test_parts_of_the_wrong_kind(parts, message):
    with pytest.raises(InvalidParameter) as caught:
        ProbabilityLabelCombiner(**parts).fit([[0, 0.6, 0.4], [1, 0.3, 0.7]], [0, 1])
    assert str(caught.value) == message
