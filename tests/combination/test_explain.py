"""explain: the log-odds of the combined label as a sum of parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from strategies import CALIBRATORS, CONFUSIONS, problems, simulate
from twoheads.calibration.identity import Identity
from twoheads.combination import ProbabilityLabelCombiner
from twoheads.confusion import DirichletConfusion
from twoheads.observations import Observations


def _expected(combiner, X):
    """Log-odds of the most probable class against each class, from predicted probabilities alone."""
    log_proba = combiner.predict_log_proba(X)
    return log_proba.max(axis=1, keepdims=True) - log_proba


def _check(combiner, X):
    explanation = combiner.explain(X)
    own = explanation.log_odds[np.arange(len(explanation.label)), np.searchsorted(combiner.classes_, explanation.label)]
    for part in [*explanation.parts.values(), explanation.log_odds]:
        assert not np.isnan(part).any()
    assert (own == 0).all()
    np.testing.assert_allclose(explanation.log_odds, _expected(combiner, X), rtol=1e-9, atol=1e-9)
    assert explanation.label.tolist() == combiner.predict(X).tolist()
    return explanation


def test_parts_by_hand():
    # P(h=0|y) = (0.9, 0.2), model (0.4, 0.6): the human says log 4.5 for class 0, the model log 2/3
    truth = np.repeat([0, 1], 10)
    human = np.array([0] * 9 + [1] + [0] * 2 + [1] * 8)
    combiner = ProbabilityLabelCombiner(DirichletConfusion(estimate="likelihood"), Identity())
    combiner.fit(np.column_stack([human, np.full((20, 2), 0.5)]), truth)
    explanation = _check(combiner, [[0, 0.4, 0.6], [-1, 0.4, 0.6]])
    np.testing.assert_allclose(explanation.parts["model"], [[0, np.log(2 / 3)], [np.log(1.5), 0]], atol=1e-12)
    np.testing.assert_allclose(explanation.parts["human"], [[0, np.log(4.5)], [0, 0]], atol=1e-12)
    assert (explanation.label.tolist(), explanation.classes.tolist()) == ([0, 1], [0, 1])


@settings(max_examples=15)
@given(problems())
@pytest.mark.parametrize("calibrator", CALIBRATORS.values(), ids=CALIBRATORS)
@pytest.mark.parametrize("confusion", CONFUSIONS.values(), ids=CONFUSIONS)
def test_parts_sum_to_the_log_odds_of_the_predicted_probabilities(confusion, calibrator, problem):
    combiner = ProbabilityLabelCombiner(confusion, calibrator).fit(problem.X, problem.truth)
    explanation = _check(combiner, problem.X)
    assert list(explanation.parts) == ["model", "human"]
    assert (explanation.parts["human"][problem.human < 0] == 0).all()


def _several(problem, people, unasked=0.3):
    answers = pd.DataFrame(
        [
            (
                item,
                person,
                problem.truth[item] if problem.rng.random() < 0.7 else problem.rng.integers(problem.n_classes),
            )
            for item in range(len(problem))
            for person in people
            if problem.rng.random() > unasked
        ],
        columns=["item", "annotator", "answer"],
    )
    columns = [f"p_{k}" for k in range(problem.n_classes)]
    return answers, pd.DataFrame(problem.model, columns=columns).assign(item=range(len(problem)))


def test_each_of_several_people_is_a_part_and_so_is_a_stranger():
    problem = simulate(60, 3, 1)
    answers, model = _several(problem, ["ann", "bob", "eve"])
    combiner = ProbabilityLabelCombiner().fit(Observations.from_answers(answers, model), problem.truth)
    assert list(_check(combiner, Observations.from_answers(answers, model)).parts) == ["model", "ann", "bob", "eve"]
    strange = answers.replace({"annotator": {"bob": "zoe"}})
    assert list(_check(combiner, Observations.from_answers(strange, model)).parts) == ["model", "ann", "eve", "zoe"]


@pytest.mark.parametrize("seed", range(5))
def test_people_of_maximum_likelihood_who_exclude_each_other_leave_no_nan(seed):
    problem = simulate(8, 3, seed)
    answers, model = _several(problem, ["ann", "bob"], unasked=0.0)
    combiner = ProbabilityLabelCombiner(DirichletConfusion(estimate="likelihood"))
    combiner.fit(Observations.from_answers(answers, model), problem.truth)
    others, model = _several(simulate(40, 3, seed + 100), ["ann", "bob"], unasked=0.0)
    _check(combiner, Observations.from_answers(others, model))


def test_a_person_who_answers_an_item_twice_counts_twice():
    model = pd.DataFrame({"item": [0, 1, 2, 3], "p_0": [0.6, 0.4, 0.7, 0.2], "p_1": [0.4, 0.6, 0.3, 0.8]})
    answers = pd.DataFrame({"item": [0, 1, 2, 3, 0], "annotator": ["ann"] * 5, "answer": [0, 1, 0, 1, 0]})
    seen = Observations.from_answers(answers, model)
    explanation = _check(ProbabilityLabelCombiner().fit(seen, [0, 1, 0, 1]), seen)
    assert explanation.label.tolist() == [0, 1, 0, 1]
    assert explanation.parts["ann"][0].tolist() == pytest.approx(2 * explanation.parts["ann"][2])


def test_labels_come_back_in_their_type():
    frame = pd.DataFrame({"human": ["cat", "dog"], "p_cat": [0.9, 0.2], "p_dog": [0.1, 0.8]})
    explanation = ProbabilityLabelCombiner().fit(frame, ["cat", "dog"]).explain(frame)
    assert explanation.label.tolist() == ["cat", "dog"]
    assert explanation.log_odds.shape == (2, 2)
