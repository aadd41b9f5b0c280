"""People shrunk to the crowd, against the formulas written out and people of known ability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln, logit, logsumexp

from twoheads.kernels.confusion.abilities import (
    abilities_of,
    ability_modes,
    accuracy_odds,
    log_evidence,
    right_and_answers,
)
from twoheads.kernels.confusion.annotators import (
    SPREAD,
    STRENGTH,
    annotator_matrices,
    annotator_means,
    fit_annotators,
    leave_one_out_annotator_rows,
    strength_of_most_evidence,
)

CROWD = np.array([[0.8, 0.1, 0.05], [0.15, 0.7, 0.05], [0.05, 0.2, 0.9]])


def draw(rng, matrices, n_answers):
    """Counts of people with the given matrices, as many answers under each true class."""
    return np.stack(
        [np.stack([rng.multinomial(n_answers, column) for column in matrix.T], axis=1) for matrix in matrices]
    ).astype(float)


def abled(abilities):
    matrices = np.repeat(CROWD[None], len(abilities), axis=0)
    accuracy = expit(logit(np.diagonal(CROWD)) + np.asarray(abilities)[:, None])
    matrices *= ((1 - accuracy) / (1 - np.diagonal(CROWD)))[:, None, :]
    matrices[:, range(3), range(3)] = accuracy
    return matrices


def brute_force(counts, crowd, spread):
    """Log-evidence of one person's answers, mean and sd of the ability, and expected accuracies: 4,001 abilities."""
    log_odds = logit(np.diagonal(crowd))[:, None]
    right = np.diagonal(counts)[:, None]
    wrong = counts.sum(axis=0)[:, None] - right

    def log_density(g):
        likelihood = right * np.log(expit(log_odds + g)) + wrong * np.log(expit(-log_odds - g))
        return likelihood.sum(axis=0) - 0.5 * (g / spread) ** 2 - np.log(spread * np.sqrt(2 * np.pi))

    mode = minimize_scalar(lambda g: -log_density(np.array([g]))[0], bounds=(-30, 30), options={"xatol": 1e-9}).x
    curved = (counts.sum(axis=0) * expit(log_odds[:, 0] + mode) * expit(-log_odds[:, 0] - mode)).sum() + spread**-2
    reach = min(30 / np.sqrt(curved), 12 * spread)
    g = np.linspace(mode - reach, mode + reach, 4_001)
    joint = log_density(g)
    weight = np.exp(joint - logsumexp(joint))
    mean = weight @ g
    evidence = logsumexp(joint) + np.log(g[1] - g[0])
    return evidence, mean, np.sqrt(weight @ (g - mean) ** 2), expit(log_odds + g) @ weight


def of_one(n_answers, share, rng):
    """Soft counts of one person with so many answers, that share of them right."""
    total = n_answers * rng.dirichlet(np.ones(3))
    wrong = rng.dirichlet(np.ones(2), 3).T * total * (1 - share)
    counts = np.diag(total * share)
    for j in range(3):
        counts[[i for i in range(3) if i != j], j] = wrong[:, j]
    return counts


CASES = [(0, 0.0), (3, 0.0), (3, 0.7), (3, 1.0), (200, 0.0), (200, 0.6), (200, 1.0), (1e5, 0.0), (1e5, 0.8), (1e5, 1.0)]


def test_a_mean_matrix_keeps_the_shape_of_the_crowds_errors():
    (mean,) = annotator_means(CROWD, expit(logit(np.diagonal(CROWD)) + 0.6)[None])
    np.testing.assert_allclose(mean, abled([0.6])[0], rtol=1e-12)


def test_one_answer_by_hand():
    # The crowd is right on half of two classes, and so odds are e^g: P(right) = E[e^g / (1 + e^g)] = 1/2 by symmetry,
    # and after one right answer P(right) = E[expit(g)^2] / (1/2) with g ~ Normal(0, 1): quad says .2934 / .5.
    square = quad(lambda g: expit(g) ** 2 * np.exp(-(g**2) / 2) / np.sqrt(2 * np.pi), -12, 12)[0]
    assert square == pytest.approx(0.2934, abs=1e-4)
    even, right = np.full((2, 2), 0.5), np.array([[[1.0, 0.0], [0.0, 0.0]]])
    found = abilities_of(right, even, 1.0)
    weight = np.exp(found.log_weight) / np.exp(found.log_weight).sum(axis=0)
    assert (weight * expit(found.node)).sum() == pytest.approx(2 * square, abs=1e-5)


@pytest.mark.parametrize("spread", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("n_answers", "share"), CASES)
def test_ability_is_what_brute_force_says(n_answers, share, spread):
    counts = of_one(n_answers, share, np.random.default_rng(0))
    evidence, mean, sd, accuracy = brute_force(counts, CROWD, spread)
    right, answers = right_and_answers(counts[None])
    found = abilities_of(counts[None], CROWD, spread)
    weight = np.exp(found.log_weight[:, 0] - logsumexp(found.log_weight))
    assert abs(weight @ found.node[:, 0] - mean) < 1e-3 * sd
    assert np.sqrt(weight @ (found.node[:, 0] - mean) ** 2) == pytest.approx(sd, rel=2e-3)
    at_nodes = expit(logit(np.diagonal(CROWD))[:, None] + found.node[:, 0])
    np.testing.assert_allclose(at_nodes @ weight, accuracy, atol=3e-4)
    constant = np.diagonal(counts) @ logit(np.diagonal(CROWD))
    off = 2e-4 + 1e-15 * n_answers
    assert log_evidence(right, answers, accuracy_odds(CROWD), np.array([spread]))[0, 0] + constant == pytest.approx(
        evidence, abs=off
    )


def test_people_are_what_brute_force_says_together():
    rng = np.random.default_rng(3)
    counts = np.stack([of_one(n, share, rng) for n, share in CASES])
    people = fit_annotators(counts, CROWD)
    log_prior = -0.5 * np.log(SPREAD / 0.5) ** 2
    evidence = [sum(brute_force(each, CROWD, spread)[0] for each in counts) for spread in SPREAD]
    assert people.spread == SPREAD[np.argmax(evidence + log_prior)]
    for at, each in enumerate(counts):
        _, mean, sd, accuracy = brute_force(each, CROWD, people.spread)
        assert people.ability[at] == pytest.approx(mean, abs=1e-3 * sd)
        assert people.sd[at] == pytest.approx(sd, rel=2e-3)
        np.testing.assert_allclose(people.accuracy[at], accuracy, atol=3e-4)


@pytest.mark.parametrize("n_answers", [2, 30, 20_000])
@pytest.mark.parametrize("true_spread", [0.05, 0.4, 1.2, 3.0])
def test_the_spread_is_that_of_most_evidence(true_spread, n_answers):
    rng = np.random.default_rng(5)
    counts = draw(rng, abled(rng.normal(0, true_spread, 25)), n_answers)
    evidence = [sum(brute_force(each, CROWD, spread)[0] for each in counts) for spread in SPREAD]
    assert fit_annotators(counts, CROWD).spread == SPREAD[np.argmax(evidence - 0.5 * np.log(SPREAD / 0.5) ** 2)]


def test_counts_known_to_rounding_give_abilities_known_to_rounding():
    rng = np.random.default_rng(6)
    counts = draw(rng, abled(rng.normal(0, 0.7, 40)), 50_000)
    counts[:5] = [np.diag(counts[p].sum(axis=0)) for p in range(5)]  # never wrong
    shaken = counts * (1 + 1e-13 * rng.standard_normal(counts.shape))
    here, there = fit_annotators(counts, CROWD), fit_annotators(shaken, CROWD)
    for name in ("ability", "sd", "accuracy"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("diagonal", [(0.5, 0.5, 0.5), (1e-6, 0.4, 1 - 1e-9), (1e-3, 0.999, 0.999)])
@pytest.mark.parametrize("spread", [0.1, 2.0])
def test_modes_have_no_slope(diagonal, spread):
    rng = np.random.default_rng(7)
    answers = rng.exponential(1, (3, 300)) * 10.0 ** rng.uniform(-3, 7, 300)
    right = answers.sum(axis=0) * rng.choice([0, 1e-3, 0.5, 0.999, 1], 300)
    odds = np.array(diagonal) / (1 - np.array(diagonal))
    mode = ability_modes(right, answers, odds, spread)
    for off, sign in ((-1e-7, 1), (1e-7, -1)):
        accuracy = expit(np.log(odds)[:, None] + mode + off)
        slope = right - (answers * accuracy).sum(axis=0) - (mode + off) / spread**2
        assert (sign * slope > -1e-9 * answers.sum(axis=0)).all()


def test_rows_without_an_answer_are_those_of_counts_without_it():
    rng = np.random.default_rng(8)
    counts = np.concatenate([draw(rng, abled(rng.normal(0, 1, 4)), n) for n in (1, 20, 3_000)]) + 0.25
    person, answer, truth = (grid.ravel() for grid in np.meshgrid(range(12), range(3), range(3), indexing="ij"))
    for spread, own in ((0.2, 1.0), (2.0, 1.0), (2.0, 0.5), (0.2, 3.0), (2.0, 3.0), (2.0, 1000.0)):
        weight = own * rng.uniform(0.5, 1.0, len(person)) if own > 1 else np.full(len(person), own)
        held = abilities_of(counts, CROWD, spread)
        rows = leave_one_out_annotator_rows(counts, CROWD, (spread, 12.0), held, person * 3 + answer, truth, weight)
        for at, (p, a, t) in enumerate(zip(person, answer, truth, strict=True)):
            left = counts[p].copy()
            left[a, t] -= min(weight[at], left[a, t])
            prior = annotator_means(CROWD, brute_force(left, CROWD, spread)[3][None])[0]
            expected = (left + 12.0 * prior) / (left.sum(axis=0) + 12.0)
            np.testing.assert_allclose(rows[:, at], expected[a], atol=5e-4)


def test_spread_and_strength_are_found_again():
    rng = np.random.default_rng(1)
    for spread in (0.2, 0.7, 1.4):
        people = fit_annotators(draw(rng, abled(rng.normal(0, spread, 400)), 40), CROWD)
        assert abs(np.log(people.spread / spread)) < 0.4
    matrices = np.stack([np.stack([rng.dirichlet(20 * column) for column in CROWD.T], axis=1) for _ in range(200)])
    found = strength_of_most_evidence(draw(rng, matrices, 50), np.repeat(CROWD[None], 200, axis=0))
    assert abs(np.log(found / 20)) < 0.65


def test_strength_is_the_largest_of_the_evidence_written_out():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 7, (6, 3, 3)).astype(float)
    means = np.repeat(CROWD[None], 6, axis=0)
    log_evidence = []
    for s in STRENGTH:
        total = -0.5 * ((np.log(s) - np.log(30)) / 1.5) ** 2
        for person in range(6):
            for j in range(3):
                total += gammaln(s) - gammaln(s + counts[person, :, j].sum())
                total += sum(
                    gammaln(s * CROWD[i, j] + counts[person, i, j]) - gammaln(s * CROWD[i, j]) for i in range(3)
                )
        log_evidence.append(total)
    assert strength_of_most_evidence(counts, means) == STRENGTH[np.argmax(log_evidence)]


def test_columns_sum_to_one_and_much_data_has_the_last_word():
    matrices = abled([-1.5, 0.0, 1.0])
    counts = 1e6 * matrices
    found = annotator_matrices(counts, CROWD, fit_annotators(counts, CROWD))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found, matrices, atol=2e-3)


def test_nobody_answered():
    people = fit_annotators(np.zeros((4, 3, 3)), CROWD)
    assert people.spread == SPREAD[3]
    np.testing.assert_allclose(people.ability, 0.0, atol=1e-12)
    np.testing.assert_allclose(people.sd, people.spread)
