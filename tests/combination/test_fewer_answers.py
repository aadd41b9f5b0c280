"""Teams used on items with fewer answers than those of the fit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import twoheads as th
from twoheads.combination.insight import answer_gain
from twoheads.evaluation import log_loss
from twoheads.kernels.answers import pack_answers

CORRELATION, MODEL, PERSON = 0.4, 1.2, 1.0


def problem(n, seed, n_people=5):
    """A calibrated model and people who are all wrong about the same items; answers (n, n_people), and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    sign, shared = 2.0 * truth - 1.0, np.sqrt(CORRELATION) * rng.normal(size=n)
    own = np.sqrt(1 - CORRELATION)
    seen = MODEL * sign + shared + own * rng.normal(size=n)
    model = expit(2 * MODEL * seen)
    answers = PERSON * sign[:, None] + shared[:, None] + own * rng.normal(size=(n, n_people)) > 0
    return np.column_stack([1 - model, model]), answers.astype(int), truth


def observed(model, answers, number):
    """The first ``number`` answers on each item, (n_items,) or one number."""
    item, person = np.nonzero(np.arange(answers.shape[1]) < np.reshape(number, (-1, 1)) * np.ones((len(model), 1)))
    seen = th.Observations.from_arrays(np.full(len(model), -1), model)
    packed = pack_answers(item, person * 2 + answers[item, person], len(model))
    return replace(seen, answers=packed, annotators=tuple(f"p{at}" for at in range(answers.shape[1])))


def without(team):
    """The same team with the factor of the fit for any number of answers."""
    plain = th.recommended()
    plain.__dict__.update(team.__dict__)
    plain.dependence_ = type(team.dependence_)()
    plain.dependence_.__dict__.update(team.dependence_.__dict__ | {"effective_answers_": 0.0})
    return plain


@pytest.mark.parametrize("n_labels", [200, 1500])
def test_a_team_of_five_answers_per_item_is_good_with_one(n_labels):
    gains, behind = [], []
    for seed in range(3):
        model, answers, truth = problem(1500, seed)
        new_model, new_answers, new_truth = problem(20_000, 100 + seed)
        y, one = np.where(np.arange(1500) < n_labels, truth, -1), observed(new_model, new_answers, 1)
        five = th.recommended().fit(observed(model, answers, 5), y)
        single = th.recommended().fit(observed(model, answers, 1), y)
        losses = [log_loss(new_truth, team.predict_proba(one)) for team in (five, without(five), single)]
        gains.append(losses[1] - losses[0])
        behind.append(losses[0] - losses[2])
    assert min(gains) > 0
    assert np.mean(gains) > 0.003
    assert np.mean(behind) < 0.6 * np.mean(gains)


def test_with_as_many_answers_as_at_fit_nothing_changes():
    model, answers, truth = problem(400, 0)
    team = th.recommended().fit(observed(model, answers, 5), truth)
    same = observed(model, answers, 5)
    np.testing.assert_array_equal(team.predict_proba(same), without(team).predict_proba(same))
    fewer = observed(model, answers, 2)
    assert np.abs(team.predict_proba(fewer) - without(team).predict_proba(fewer)).max() > 1e-3


def test_one_answer_per_item_is_worth_one():
    model, answers, truth = problem(300, 1)
    for y in (truth, np.where(np.arange(300) < 20, truth, -1), None):
        assert th.recommended().fit(observed(model, answers, 1), y).dependence_.effective_answers_ == 1.0


def test_the_factor_belongs_to_the_answers_on_items_with_truth():
    model, answers, truth = problem(1000, 2)
    labelled = np.arange(1000) < 100
    seen, y = observed(model, answers, np.where(labelled, 5, 1)), np.where(labelled, truth, -1)
    dependence = th.recommended().fit(seen, y).dependence_
    of_five = 5 / (1 + 4 * dependence.correlation_)
    assert 0.85 * of_five < dependence.effective_answers_ < of_five


def test_expected_gains_allow_for_the_answer_that_is_added(monkeypatch):
    model, answers, truth = problem(300, 3)
    team = th.recommended().fit(observed(model, answers, 5), truth)
    few = observed(model, answers, np.arange(300) % 4)
    gains = th.expected_gain(team, few)
    monkeypatch.setattr(answer_gain, "answer_margin", lambda *_: None)  # every answer is tried, none is ruled out
    np.testing.assert_allclose(th.expected_gain(team, few), gains, atol=1e-12)
    assert np.max(gains) > 0.01


def test_description_says_that_fewer_answers_differ():
    model, answers, truth = problem(600, 3)
    several, one = (th.recommended().fit(observed(model, answers, number), truth) for number in (3, 1))
    assert "(with fewer answers than at fit, closer to that of the model alone)" in several.describe()
    assert "fewer answers" not in one.describe()
