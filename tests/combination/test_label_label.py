"""L+L by hand and against naive Bayes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import problems, simulate
from twoheads.combination import LabelLabelCombiner
from twoheads.confusion import DirichletConfusion, OneCoinConfusion
from twoheads.errors import InvalidObservations


@given(problems(n_items=st.integers(1, 80), unasked=st.just(0.0)))
def test_maximum_likelihood_is_naive_bayes_with_the_empirical_class_prior(problem):
    combiner = LabelLabelCombiner(DirichletConfusion(estimate="likelihood")).fit(problem.X, problem.truth)
    found = combiner.predict_proba(problem.X)
    model_label = problem.model.argmax(axis=1)
    for item in range(len(problem)):
        product = np.zeros(problem.n_classes)
        for j in set(problem.truth.tolist()):
            own = problem.truth == j
            same_human = (problem.human[own] == problem.human[item]).mean()
            same_model = (model_label[own] == model_label[item]).mean()
            product[j] = own.mean() * same_human * same_model
        np.testing.assert_allclose(found[item], product / product.sum(), atol=1e-12)


def test_the_mode_by_hand():
    # two classes, pseudo-counts 0.3 on and 0.1 off; truths 0, 0, 1, 1; human 0, 1, 1, 1; the model's label 0, 0, 0, 1
    X = [[0, 0.6, 0.4], [1, 0.9, 0.1], [1, 0.7, 0.3], [1, 0.2, 0.8]]
    combiner = LabelLabelCombiner().fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(combiner.confusion_.human_given_true_, [[1.3 / 2.4, 0.1 / 2.4], [1.1 / 2.4, 2.3 / 2.4]])
    # P(y | the model says 0): counts 2, 1; P(y | the model says 1): counts 0, 1
    np.testing.assert_allclose(combiner.true_given_model_, [[2.3 / 3.4, 0.1 / 1.4], [1.1 / 3.4, 1.3 / 1.4]])
    product = np.array([1.3 / 2.4 * 2.3 / 3.4, 0.1 / 2.4 * 1.1 / 3.4])
    np.testing.assert_allclose(combiner.predict_proba([[0, 0.51, 0.49]])[0], product / product.sum())
    np.testing.assert_allclose(combiner.predict_proba([[-1, 0.51, 0.49]])[0], [2.3 / 3.4, 1.1 / 3.4])


def test_the_models_confidence_does_not_matter():
    problem = simulate(100, 4, 1)
    squared = problem.model**2
    squared = np.column_stack([problem.human, squared / squared.sum(axis=1, keepdims=True)])
    combiner = LabelLabelCombiner().fit(problem.X, problem.truth)
    assert combiner.predict_proba(squared).tolist() == combiner.predict_proba(problem.X).tolist()
    assert LabelLabelCombiner().fit(squared, problem.truth).predict_proba(problem.X).tolist() == (
        combiner.predict_proba(problem.X).tolist()
    )


def test_with_much_data_it_is_bayes_rule_of_the_simulation():
    rng = np.random.default_rng(5)
    truth = rng.choice(3, 60_000, p=[0.5, 0.3, 0.2])
    human, model = (np.where(rng.random(60_000) < a, truth, rng.integers(0, 3, 60_000)) for a in (0.6, 0.7))
    X = np.column_stack([human, 0.8 * np.eye(3)[model] + 0.2 / 3])
    found = LabelLabelCombiner().fit(X, truth).predict_proba([[0, *(0.8 * np.eye(3)[1] + 0.2 / 3)]])[0]
    product = np.array([0.5 * (0.6 + 0.4 / 3) * 0.1, 0.3 * (0.4 / 3) * 0.8, 0.2 * (0.4 / 3) * 0.1])
    np.testing.assert_allclose(found, product / product.sum(), atol=0.02)


def test_one_coin_serves_as_well():
    problem = simulate(200, 3, 2)
    combiner = LabelLabelCombiner(OneCoinConfusion(estimate="likelihood")).fit(problem.X, problem.truth)
    assert combiner.confusion_.accuracy_ == pytest.approx([(problem.human == problem.truth).mean()])
    right = (problem.model.argmax(axis=1) == problem.truth).mean()
    assert combiner.true_given_model_.diagonal() == pytest.approx([right] * 3)


def test_items_of_unknown_truth_do_not_count():
    problem = simulate(60, 3, 3)
    truth = np.where(np.arange(60) % 2, -1, problem.truth)
    found = LabelLabelCombiner().fit(problem.X, truth).predict_proba(problem.X)
    assert found.tolist() == LabelLabelCombiner().fit(problem.X[::2], truth[::2]).predict_proba(problem.X).tolist()


def test_without_any_truth_there_is_nothing_to_learn_from():
    with pytest.raises(InvalidObservations, match="y must be known for at least one item here; it is missing for all"):
        LabelLabelCombiner().fit([[0, 0.5, 0.5]], [-1])
