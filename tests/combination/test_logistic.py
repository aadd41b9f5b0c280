"""LR against scikit-learn on features built by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from strategies import FLOOR, simulate
from twoheads.combination import LogisticCombiner
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.observations import Observations


def _features(problem, how):
    model = problem.log_model if how == "log" else problem.model
    hot = np.zeros((len(problem), problem.n_classes))
    asked = np.flatnonzero(problem.human >= 0)
    hot[asked, problem.human[asked]] = 1.0
    return np.hstack([model, hot])


@pytest.mark.parametrize("how", ["log", "probability"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("C", "weighted"), [(1.0, False), (0.1, True)])
def test_it_is_scikit_learns_regression_on_hand_built_features(how, n_classes, C, weighted):
    problem = simulate(300, n_classes, 13, unasked=0.1, sharpness=1.0)
    weight = problem.weight.astype(float) if weighted else None
    features = _features(problem, how)
    expected = LogisticRegression(C=C, max_iter=100_000, tol=1e-10).fit(features, problem.truth, sample_weight=weight)
    combiner = LogisticCombiner(features=how, C=C).fit(problem.X, problem.truth, sample_weight=weight)
    np.testing.assert_allclose(combiner.predict_proba(problem.X), expected.predict_proba(features), atol=1e-3)


def test_classes_never_shown_have_no_probability():
    problem = simulate(200, 5, 4)
    some = np.isin(problem.truth, [1, 3, 4])
    combiner = LogisticCombiner().fit(problem.X[some], problem.truth[some])
    proba = combiner.predict_proba(problem.X)
    assert (proba[:, [0, 2]] == 0).all()
    features = _features(problem, "log")
    expected = LogisticRegression(max_iter=100_000, tol=1e-10).fit(features[some], problem.truth[some])
    np.testing.assert_allclose(proba[:, [1, 3, 4]], expected.predict_proba(features), atol=1e-3)
    assert set(combiner.predict(problem.X)) <= {1, 3, 4}


def test_two_classes_of_many_are_a_binary_regression():
    problem = simulate(200, 4, 5)
    some = np.isin(problem.truth, [1, 3])
    proba = LogisticCombiner().fit(problem.X[some], problem.truth[some]).predict_proba(problem.X)
    features = _features(problem, "log")
    expected = LogisticRegression(max_iter=100_000, tol=1e-10).fit(features[some], problem.truth[some])
    np.testing.assert_allclose(proba[:, [1, 3]], expected.predict_proba(features), atol=1e-3)


@pytest.mark.parametrize("n_items", [1, 6])
def test_one_class_shown_is_certain(n_items):
    problem = simulate(n_items, 3, 6)
    combiner = LogisticCombiner().fit(problem.X, [2] * n_items)
    assert combiner.predict_proba(problem.X).tolist() == [[0.0, 0.0, 1.0]] * n_items


@pytest.mark.parametrize("left", [2, 1])
def test_items_of_no_weight_are_as_if_they_were_not_there(left):
    problem = simulate(90, 3, 7, sharpness=1.0)
    some = problem.truth < left
    weighted = LogisticCombiner().fit(problem.X, problem.truth, sample_weight=some * 1.0)
    alone = LogisticCombiner().fit(problem.X[some], problem.truth[some])
    np.testing.assert_allclose(weighted.predict_proba(problem.X), alone.predict_proba(problem.X), atol=1e-3)


def test_several_people_have_weights_each_and_a_stranger_none():
    rng = np.random.default_rng(0)
    problem = simulate(80, 3, 8, sharpness=1.0)
    model = pd.DataFrame(problem.model, columns=["p_0", "p_1", "p_2"]).assign(item=range(80))
    other = np.where(rng.random(80) < 0.5, problem.truth, 0)
    answers = pd.DataFrame(
        {"item": [*range(80), *range(80)], "annotator": ["ann"] * 80 + ["bob"] * 80, "answer": [*problem.human, *other]}
    )
    combiner = LogisticCombiner().fit(Observations.from_answers(answers, model), problem.truth)
    features = np.hstack([problem.log_model, np.eye(3)[problem.human], np.eye(3)[other]])
    expected = LogisticRegression(max_iter=100_000, tol=1e-10).fit(features, problem.truth)
    found = combiner.predict_proba(Observations.from_answers(answers, model))
    np.testing.assert_allclose(found, expected.predict_proba(features), atol=1e-3)
    strange = answers.replace({"annotator": {"bob": "eve"}})
    found = combiner.predict_proba(Observations.from_answers(strange, model))
    features[:, 6:] = 0.0
    np.testing.assert_allclose(found, expected.predict_proba(features), atol=1e-3)


def test_a_probability_of_zero_is_read_as_the_floor():
    X = np.array([[0, 1.0, 0.0], [1, 0.0, 1.0], [0, 0.5, 0.5], [1, 0.5, 0.5]])
    combiner = LogisticCombiner().fit(X, [0, 1, 0, 1])
    features = np.hstack([np.log(np.maximum(X[:, 1:], FLOOR)), np.eye(2)[X[:, 0].astype(int)]])
    logits = features @ combiner.coef_.T + combiner.intercept_
    np.testing.assert_allclose(combiner.predict_proba(X)[:, 1], 1 / (1 + np.exp(logits[:, 0] - logits[:, 1])))


def test_features_of_another_kind_are_refused():
    with pytest.raises(InvalidParameter, match=r"features must be 'log' or 'probability'; it is 'logits'."):
        LogisticCombiner(features="logits").fit([[0, 0.5, 0.5]], [0])


def test_without_any_truth_there_is_nothing_to_learn_from():
    with pytest.raises(InvalidObservations, match="y must be known for at least one item here; it is missing for all"):
        LogisticCombiner().fit([[0, 0.5, 0.5]], [None])
