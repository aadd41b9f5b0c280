"""The posterior of the truth against Bayes' rule by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from strategies import problems
from twoheads.kernels.answers import Answers, answer_log_likelihood, hard_counts, soft_counts
from twoheads.kernels.blocks import one_hot
from twoheads.kernels.confusion.matrices import log_table
from twoheads.kernels.posterior import joint_log_proba, responsibilities


def _posterior(model, answers, table):
    return softmax(joint_log_proba(model, answers, table), axis=0)


def test_matches_bayes_rule_by_hand():
    # P(h=0|y=0)=0.9, P(h=0|y=1)=0.2, model (0.4, 0.6): 0.36 / (0.36 + 0.12) = 3/4
    given_true = np.array([[[0.9, 0.2], [0.1, 0.8]]])
    model = np.log(np.array([[0.4], [0.6]]))
    found = _posterior(model, Answers(np.array([0])), log_table(given_true))
    assert found[:, 0] == pytest.approx([0.75, 0.25])


def test_two_people_multiply():
    # person a says 0, person b says 1: 0.4*0.9*0.3 = 0.108 against 0.6*0.2*0.6 = 0.072
    given_true = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.4], [0.3, 0.6]]])
    answers = Answers(np.array([0, 3]), np.array([0, 2]))
    found = _posterior(np.log(np.array([[0.4], [0.6]])), answers, log_table(given_true))
    assert found[:, 0] == pytest.approx([0.6, 0.4])


def test_nobody_asked_leaves_the_model():
    model = np.log(np.array([[0.4, 0.3], [0.6, 0.7]]))
    table = log_table(np.array([[[0.9, 0.2], [0.1, 0.8]]]))
    np.testing.assert_allclose(joint_log_proba(model, Answers(np.array([-1, -1])), table), model, atol=1e-15)
    empty = Answers(np.empty(0, dtype=np.intp), np.zeros(3, dtype=np.intp))
    np.testing.assert_allclose(joint_log_proba(model, empty, table), model, atol=1e-15)


def test_where_all_classes_are_excluded_the_model_speaks():
    # a says 0, which only class 0 does; b says 1, which only class 1 does
    table = log_table(np.array([np.eye(2), np.eye(2)]))
    answers = Answers(np.array([0, 3]), np.array([0, 2]))
    model = np.log(np.array([[0.3], [0.7]]))
    np.testing.assert_allclose(joint_log_proba(model, answers, table), model)


def test_an_impossible_class_has_no_probability_and_nothing_is_nan():
    table = log_table(np.array([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.0, 0.0, 0.0]]]))
    model = np.log(np.full((3, 3), 1 / 3))
    found = _posterior(model, Answers(np.array([0, 1, 2])), table)
    # the answer 2 was never given by any class: it tells nothing
    np.testing.assert_allclose(found.T, [[2 / 3, 0, 1 / 3], [0, 2 / 3, 1 / 3], [1 / 3, 1 / 3, 1 / 3]], atol=1e-15)


@given(problems())
def test_posterior_is_the_normalised_product(problem):
    given_true = problem.rng.dirichlet(np.ones(problem.n_classes), problem.n_classes).T
    found = _posterior(problem.log_model.T, Answers(problem.human), log_table(given_true[None]))
    for item, (human, model) in enumerate(zip(problem.human, problem.model, strict=True)):
        product = model * (given_true[human] if human >= 0 else 1.0)
        np.testing.assert_allclose(found[:, item], product / product.sum(), rtol=1e-9, atol=1e-30)


@given(problems(unasked=st.just(0.3)))
def test_known_truth_is_one_hot_and_its_likelihood_is_the_joint(problem):
    given_true = problem.rng.dirichlet(np.ones(problem.n_classes), problem.n_classes).T
    known = np.where(problem.rng.random(len(problem)) < 0.5, problem.truth, -1)
    share, likelihood = responsibilities(
        problem.log_model.T, Answers(problem.human), log_table(given_true[None]), known
    )
    for item, (human, truth) in enumerate(zip(problem.human, known, strict=True)):
        product = np.exp(problem.log_model[item]) * (given_true[human] if human >= 0 else 1.0)
        if truth >= 0:
            assert share[:, item].tolist() == np.eye(problem.n_classes)[truth].tolist()
            assert likelihood[item] == pytest.approx(np.log(product[truth]), abs=1e-9)
        else:
            np.testing.assert_allclose(share[:, item], product / product.sum(), rtol=1e-9, atol=1e-30)
            assert likelihood[item] == pytest.approx(np.log(product.sum()), abs=1e-9)


@given(problems())
def test_soft_counts_of_one_hot_responsibilities_are_the_hard_counts(problem):
    n_classes = problem.n_classes
    expected = np.zeros((n_classes, n_classes))
    for human, truth, weight in zip(problem.human, problem.truth, problem.weight, strict=True):
        if human >= 0:
            expected[human, truth] += weight
    answers, weight = Answers(problem.human), problem.weight.astype(float)
    soft = soft_counts(answers, one_hot(problem.truth, n_classes) * weight, n_classes)
    assert soft.tolist() == expected.tolist()
    assert hard_counts(answers, problem.truth, weight, n_classes, n_classes).tolist() == expected.tolist()


@given(problems())
def test_the_answer_matrix_times_a_table_is_a_sum_over_answers(problem):
    n_people, n_classes = 3, problem.n_classes
    table = problem.rng.normal(size=(n_people * n_classes, n_classes))
    per_item = problem.rng.integers(0, 4, len(problem))
    start = np.concatenate([[0], np.cumsum(per_item)])
    column = problem.rng.integers(0, n_people * n_classes, start[-1])
    answers = Answers(column, start)
    share = problem.rng.random((n_classes, len(problem)))
    likelihood, counts = np.zeros((n_classes, len(problem))), np.zeros_like(table)
    for item in range(len(problem)):
        for answer in column[start[item] : start[item + 1]]:
            likelihood[:, item] += table[answer]
            counts[answer] += share[:, item]
    np.testing.assert_allclose(answer_log_likelihood(answers, table), likelihood, atol=1e-12)
    np.testing.assert_allclose(soft_counts(answers, share, len(table)), counts, atol=1e-12)
    assert answers.per_item().tolist() == per_item.tolist()
    some = problem.rng.permutation(len(problem))
    np.testing.assert_allclose(answer_log_likelihood(answers.take(some), table), likelihood[:, some], atol=1e-12)
    half = slice(len(problem) // 2, len(problem))
    np.testing.assert_allclose(answer_log_likelihood(answers.rows(half), table), likelihood[:, half], atol=1e-12)
