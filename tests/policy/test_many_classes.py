"""With many classes only the answers that can change a decision are computed: the gains are those of all answers."""

from copy import copy

import numpy as np
import pytest
from tests.policy.test_asking import crowd

import twoheads as th
from twoheads.combination.insight import realised_gain
from twoheads.combination.insight.answer_gain import answer_margin
from twoheads.kernels.scoring import answer_value
from twoheads.kernels.scoring.answer_value import coherent_gains
from twoheads.kernels.scoring.decisive import DecisiveAnswers, represented
from twoheads.policy import asking, choose, expected_gain


@pytest.fixture(scope="module")
def team():
    X, y = crowd(300, [0.9, 0.7, 0.5], n_classes=8, share=0.6)
    return th.recommended().fit(X, y)


def few_answers(monkeypatch):
    for module in asking, realised_gain, answer_value:
        monkeypatch.setattr(module, "MANY_CLASSES", 2)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_gains_are_those_of_all_answers(team, monkeypatch, share):
    X, _ = crowd(60, [0.9, 0.7, 0.5], n_classes=8, share=share, seed=1)
    every = expected_gain(team, X, person="p1"), choose(team, X, 20)
    factor = team.gain_factor_
    few_answers(monkeypatch)
    np.testing.assert_allclose(expected_gain(team, X, person="p1"), every[0], atol=1e-13)
    plan = choose(team, X, 20)
    assert plan.row.tolist() == every[1].row.tolist()
    assert plan.annotator == every[1].annotator
    np.testing.assert_allclose(plan.gain, every[1].gain, atol=1e-13)
    result = team.result()
    found = realised_gain.fit_gain_factor(result, team.answer_log_temperature_)
    assert found == pytest.approx(factor, abs=1e-12)


def test_gains_with_other_class_shares_are_those_of_all_answers(team, monkeypatch):
    X, _ = crowd(60, [0.9, 0.7, 0.5], n_classes=8, share=0.3, seed=2)
    shifted = copy(team).set_params(class_prior=np.arange(1.0, 9.0) / 36.0)
    every = expected_gain(shifted, X)
    few_answers(monkeypatch)
    np.testing.assert_allclose(expected_gain(shifted, X), every, atol=1e-13)


def test_some_answers_are_left_out(team):
    X, _ = crowd(60, [0.9, 0.7, 0.5], n_classes=8, share=0.5, seed=1)
    block, rule = team.block(team.observe(X), slice(0, 60)), team.rule()
    choice = rule.log_joint(block).argmax(axis=0)
    margin = answer_margin(rule, block, choice)
    answers = DecisiveAnswers.of(rule.log_table[:8])
    found = [len(answers.find(*each)) for each in zip(margin, choice, strict=True)]
    assert 0 < np.mean(found) < 4


def test_decisive_answers_are_those_found_one_by_one():
    rng = np.random.default_rng(0)
    table, margin = rng.normal(size=(30, 30)) + 4.0 * np.eye(30), rng.uniform(1.0, 8.0, 30)
    margin[3] = np.inf
    one_by_one = [h for h in range(30) if (table[h] - table[h, 3] > margin).any()]
    assert DecisiveAnswers.of(table).find(margin, 3).tolist() == one_by_one


@pytest.mark.parametrize("concentration", [0.02, 5.0])
def test_quick_gains_are_those_of_all_classes(monkeypatch, concentration):
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.full(40, concentration), 9).T
    given_true = np.moveaxis(rng.dirichlet(np.full(40, 0.3), (3, 40)).swapaxes(1, 2), 0, 2)
    every = coherent_gains(belief[..., None], given_true), coherent_gains(belief, given_true[..., :1])
    monkeypatch.setattr(answer_value, "MANY_CLASSES", 2)
    np.testing.assert_allclose(coherent_gains(belief[..., None], given_true), every[0], atol=1e-14)
    np.testing.assert_allclose(coherent_gains(belief, given_true[..., :1]), every[1], atol=1e-14)


def test_improbable_answers_are_represented_by_a_few(monkeypatch):
    # Two questions; of the first, two answers are computed each and four in two groups: .1 stands for .1 + .08
    monkeypatch.setattr("twoheads.kernels.scoring.decisive.EACH", 2)
    monkeypatch.setattr("twoheads.kernels.scoring.decisive.GROUPS", 2)
    question = np.array([0, 0, 0, 0, 0, 0, 3])
    proba = np.array([0.08, 0.3, 0.1, 0.4, 0.05, 0.04, 0.7])
    computed, weight = represented(question, proba)
    np.testing.assert_array_equal(computed, [3, 1, 2, 4, 6])
    np.testing.assert_allclose(weight, [0.4, 0.3, 0.18, 0.09, 0.7])
