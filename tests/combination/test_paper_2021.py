"""The paper's methods as released: each quirk on its own, against an independent computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.stats import lognorm
from sklearn.linear_model import LogisticRegression

from strategies import simulate
from twoheads.combination import ProbabilityLabelCombiner, paper_2021
from twoheads.errors import InvalidParameter

METHODS = ("P+L", "P+L-EM", "L+L", "SP", "LR", "Bayes", "uncalibrated", "ETS", "IMax")


def _mean_loss(problem, temperature):
    log_proba = log_softmax(problem.log_model / temperature, axis=1)
    return -log_proba[np.arange(len(problem)), problem.truth].mean()


@pytest.mark.parametrize("method", METHODS)
def test_each_method_gives_probabilities_better_than_guessing(method):
    problem = simulate(300, 4, 3)
    combiner = paper_2021(method).fit(problem.X, problem.truth)
    proba = combiner.predict_proba(problem.X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert combiner.score(problem.X, problem.truth) > 0.6
    assert combiner.predict(problem.X).tolist() == proba.argmax(axis=1).tolist()


@pytest.mark.parametrize("n_items", [2, 100, 3000])
@pytest.mark.parametrize("temperature", [0.7, 1.5, 4.0])
def test_the_temperatures_prior_counts_as_often_as_there_are_items(n_items, temperature):
    problem = simulate(n_items, 5, n_items, temperature=temperature)

    def released(at):
        return _mean_loss(problem, at) - lognorm.logpdf(at, s=0.5, scale=np.exp(0.5))

    best = minimize_scalar(released, bounds=(0.05, 20), options={"xatol": 1e-9}).x
    found = paper_2021("P+L").fit(problem.X, problem.truth).calibrator_.temperature_
    # the search stops as soon as the slope is below 1e-3, but with the momentum it still has
    assert found == pytest.approx(best, abs=0.015)


def test_so_that_the_temperature_hardly_moves_from_its_prior():
    # without any data the prior's mode is at log T = 0.5 - 0.25: T = 1.284
    found = [
        paper_2021("P+L").fit(problem.X, problem.truth).calibrator_.temperature_
        for problem in (simulate(2000, 10, seed, temperature=2.0, sharpness=1.5) for seed in range(3))
    ]
    assert 1.25 < min(found) < max(found) < 1.5
    right = [
        ProbabilityLabelCombiner().fit(p.X, p.truth).calibrator_.temperature_
        for p in [simulate(2000, 10, 0, temperature=2.0)]
    ]
    assert right == pytest.approx([2.0], abs=0.15)


def test_the_confusion_matrix_is_the_mode_of_the_papers_prior():
    problem = simulate(50, 10, 1)
    counts = 0.1 + 2.6 * np.eye(10)
    np.add.at(counts, (problem.human, problem.truth), 1)
    found = paper_2021("P+L").fit(problem.X, problem.truth).confusion_.human_given_true_
    np.testing.assert_allclose(found, counts / counts.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("method", ["uncalibrated", "ETS", "IMax"])
def test_maximum_likelihood_counts_are_clipped(method):
    problem = simulate(50, 10, 1)
    counts = np.zeros((10, 10))
    np.add.at(counts, (problem.human, problem.truth), 1)
    counts = np.maximum(counts, 1e-50)
    found = paper_2021(method).fit(problem.X, problem.truth).confusion_.human_given_true_
    np.testing.assert_allclose(found, counts / counts.sum(axis=0), rtol=1e-12)
    mode = paper_2021(method, estimate="mode").fit(problem.X, problem.truth).confusion_.human_given_true_
    assert mode.min() > 1e-3


def test_single_accuracy_is_the_mode_under_its_beta_prior_with_a_temperature_of_no_prior():
    problem = simulate(400, 3, 2, temperature=1.7)
    combiner = paper_2021("SP").fit(problem.X, problem.truth)
    right = (problem.human == problem.truth).sum()
    assert combiner.confusion_.accuracy_ == pytest.approx([(right + 2.3) / (400 + 2.4)])
    best = minimize_scalar(lambda at: _mean_loss(problem, at), bounds=(0.1, 10), options={"xatol": 1e-9}).x
    assert combiner.calibrator_.temperature_ == pytest.approx(best, abs=0.05)


def test_logistic_regression_sees_probabilities_not_their_logarithms():
    problem = simulate(200, 3, 2)
    features = np.hstack([problem.model, np.eye(3)[problem.human]])
    expected = LogisticRegression(max_iter=100_000, tol=1e-10).fit(features, problem.truth).predict_proba(features)
    np.testing.assert_allclose(
        paper_2021("LR").fit(problem.X, problem.truth).predict_proba(problem.X), expected, atol=1e-3
    )


def test_rows_whose_products_are_all_tiny_become_uniform():
    X = np.column_stack([[0, 1, 0, 1], np.full((4, 2), 0.5)])
    combiner = paper_2021("uncalibrated").fit(X, [0, 1, 0, 1])
    np.testing.assert_allclose(combiner.predict_proba([[0, 1e-9, 1 - 1e-9]]), [[0.5, 0.5]])
    np.testing.assert_allclose(combiner.predict_proba([[0, 1e-7, 1 - 1e-7]]), [[1.0, 0.0]], atol=1e-30)


def test_labels_alone_are_the_product_of_the_two_matrices():
    problem = simulate(80, 3, 6)
    human, model = np.full((2, 3, 3), 0.1) + 0.5 * np.eye(3)
    label = problem.model.argmax(axis=1)
    np.add.at(human, (problem.human, problem.truth), 1)
    np.add.at(model, (problem.truth, label), 1)
    product = (human / human.sum(axis=0))[problem.human] * (model / model.sum(axis=0))[:, label].T
    found = paper_2021("L+L").fit(problem.X, problem.truth).predict_proba(problem.X)
    np.testing.assert_allclose(found, product / product.sum(axis=1, keepdims=True), rtol=1e-9)


def test_em_begins_absurdly_and_takes_the_identity_away():
    problem = simulate(100, 3, 6)
    combiner = paper_2021("P+L-EM").fit(problem.X)
    assert len(combiner.objective_) >= 50
    matrix, temperature = combiner.confusion_.human_given_true_, combiner.calibrator_.temperature_
    assert (matrix.sum(axis=0) > 1 + 1e-6).all()  # not probabilities: that is the quirk
    # a fixed point of the released iteration
    proba = np.exp(log_softmax(problem.log_model / temperature, axis=1))
    share = proba * matrix[problem.human]
    share /= share.sum(axis=1, keepdims=True)
    counts = np.full((3, 3), 1.1) + 0.5 * np.eye(3)
    np.add.at(counts, problem.human, share)
    np.testing.assert_allclose((counts - np.eye(3)) / (counts.sum(axis=0) - 3), matrix, rtol=1e-2)
    assert combiner.fit(problem.X, problem.truth).confusion_.human_given_true_.tolist() == matrix.tolist()


def test_fully_bayesian_is_the_mean_of_both_parts():
    problem = simulate(30, 10, 4)
    combiner = paper_2021("Bayes").fit(problem.X, problem.truth)
    counts = 1.1 + 2.6 * np.eye(10)
    np.add.at(counts, (problem.human, problem.truth), 1)
    np.testing.assert_allclose(combiner.confusion_.human_given_true_, counts / counts.sum(axis=0))
    assert len(combiner.calibrator_.nodes_) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"method": "PL"},
            r"method must be one of P\+L, P\+L-EM, L\+L, SP, LR, Bayes, uncalibrated, ETS, IMax; it is 'PL'.",
        ),
        ({"method": "L+L", "estimate": "mean"}, "estimate must be 'mode' or 'likelihood'; it is 'mean'."),
    ],
)
def test_names_that_are_not_there_are_refused(arguments, message):
    with pytest.raises(InvalidParameter, match=message):
        paper_2021(**arguments)


def test_no_default_carries_a_quirk():
    default = ProbabilityLabelCombiner()
    fitted = default.fit([[0, 0.6, 0.4], [1, 0.3, 0.7]], [0, 1])
    assert {type(fitted.confusion_).__name__, type(fitted.calibrator_).__name__} == {
        "DirichletConfusion",
        "TemperatureScaling",
    }
