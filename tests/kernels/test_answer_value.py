"""What one more answer is worth, by hand and against Bayes' rule done the long way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from twoheads.kernels.answers import Answers, with_answer, with_value
from twoheads.kernels.priors import ANSWER_TEMPERATURE_SD
from twoheads.kernels.scoring.answer_value import (
    answer_log_likelihood_at,
    coherent_gains,
    fit_answer_temperature,
    gains,
)


def test_gain_by_hand():
    # Belief (.6, .4), a person right 8 times of 10. He says 1 with .2 * .6 + .8 * .4 = .44; then (3/11, 8/11).
    # The choice turns from 0 to 1: .44 * (8/11 - 3/11) = .2. If he says 0 it stays: nothing is gained.
    belief, phi = np.array([[0.6], [0.4]]), np.array([[0.8, 0.2], [0.2, 0.8]])
    proba = phi @ belief
    posterior = (phi * belief[:, 0])[:, :, None] / proba[:, :, None]
    np.testing.assert_allclose(gains(proba, posterior, np.array([0])), [0.2])
    np.testing.assert_allclose(coherent_gains(belief, phi[:, :, None]), [0.2])


def test_gain_with_costs_by_hand():
    # Missing class 1 costs 10, a false alarm 1: at (.95, .05) not to alarm costs .5, to alarm .95.
    # A person right 9 times of 10 says 1 with .9 * .05 + .1 * .95 = .14; then (.095, .045) / .14: alarm, and save
    # (.45 - .095) / .14 of cost.
    cost = np.array([[0.0, 10.0], [1.0, 0.0]])
    belief, phi = np.array([[0.95], [0.05]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    proba = phi @ belief
    posterior = (phi * belief[:, 0])[:, :, None] / proba[:, :, None]
    np.testing.assert_allclose(gains(proba, posterior, np.array([0]), -cost), [0.355])
    np.testing.assert_allclose(coherent_gains(belief, phi[:, :, None], -cost), [0.355])


@st.composite
def crowds(draw):
    n_classes, n_people, n_items = draw(st.integers(2, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    belief = rng.dirichlet(np.full(n_classes, 0.5), n_items).T
    given_true = rng.dirichlet(np.full(n_classes, 0.5), (n_people, n_classes)).swapaxes(1, 2)
    worth = rng.normal(size=(draw(st.integers(2, 4)), n_classes)) if draw(st.booleans()) else None
    return belief, given_true, worth


@given(crowds())
def test_quick_look_is_bayes_rule_and_never_beats_knowing_the_truth(crowd):
    belief, given_true, worth = crowd
    quick = coherent_gains(belief[..., None], np.moveaxis(given_true, 0, 2), worth).T
    value = belief if worth is None else worth @ belief
    choice = value.argmax(axis=0)
    for person, matrix in enumerate(given_true):
        proba = matrix @ belief
        posterior = matrix[:, :, None] * belief / np.maximum(proba[:, None], 1e-300)
        np.testing.assert_allclose(quick[person], gains(proba, posterior, choice, worth), atol=1e-12)
    most = np.eye(len(belief)).max(axis=0) if worth is None else worth.max(axis=0)
    assert (quick >= 0).all()
    assert (quick <= most @ belief - value.max(axis=0) + 1e-12).all()


@given(crowds())
def test_everyone_about_everything_is_one_at_a_time(crowd):
    belief, given_true, worth = crowd
    table = coherent_gains(belief[..., None], np.moveaxis(given_true, 0, 2), worth).T
    for person, matrix in enumerate(given_true):
        own = np.repeat(matrix[:, :, None], belief.shape[1], axis=2)
        np.testing.assert_allclose(coherent_gains(belief, own, worth), table[person], atol=1e-12)


def test_one_who_guesses_is_worth_nothing_and_one_who_knows_all_there_is():
    belief = np.array([[0.5, 0.1], [0.3, 0.2], [0.2, 0.7]])
    for matrix, gain in (np.full((3, 3), 1 / 3), [0.0, 0.0]), (np.eye(3), [0.5, 0.3]):
        np.testing.assert_allclose(coherent_gains(belief, matrix[:, :, None]), gain, atol=1e-12)


def test_answer_temperature_is_recovered_from_simulation():
    rng = np.random.default_rng(0)
    log_proba = np.log(rng.dirichlet(np.full(4, 0.3), 20_000).T)
    phi = 0.85 * np.eye(4) + 0.05 * (1 - np.eye(4))
    chances = phi @ softmax(log_proba * np.exp(-0.4), axis=0)
    answer = (chances.cumsum(axis=0) > rng.random(20_000)).argmax(axis=0)
    weight = np.ones(len(answer))

    def log_likelihood(theta):
        return answer_log_likelihood_at(log_proba, phi[answer].T, weight, theta)

    # The long way: SciPy's search over the same posterior written out.
    def loss(theta):
        likely = (phi @ softmax(log_proba * np.exp(-theta), axis=0))[answer, np.arange(len(answer))]
        return 0.5 * (theta / ANSWER_TEMPERATURE_SD) ** 2 - np.log(likely).sum()

    found = fit_answer_temperature(log_likelihood)
    assert found == pytest.approx(minimize_scalar(loss, bounds=(-1, 1), method="bounded").x, abs=1e-4)
    assert found == pytest.approx(0.4, abs=0.03)
    assert fit_answer_temperature(lambda theta: 0.0) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(
    ("answers", "column", "start"),
    [
        (Answers(np.array([-1, -1])), [7, 8], None),
        (Answers(np.array([3, -1])), [3, 7, 8], [0, 2, 3]),
        (Answers(np.array([1, 5, 2]), np.array([0, 2, 3])), [1, 5, 7, 2, 8], [0, 3, 5]),
    ],
)
def test_one_more_answer_stands_after_an_items_own(answers, column, start):
    more = with_answer(answers, np.array([7, 8]))
    assert more.column.tolist() == column
    assert (None if more.start is None else more.start.tolist()) == start
    values = with_value(answers, answers.column * 1.0)
    np.testing.assert_array_equal(values, np.where(np.isin(column, [7, 8]), np.nan, column))
