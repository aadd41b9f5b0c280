"""People shrunk to the crowd, against the formulas written out and people of known ability."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, gammaln, logit

from twoheads.kernels.people import (
    SPREAD,
    STEP,
    STRENGTH,
    fit_people,
    people_matrices,
    person_means,
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


def test_a_mean_matrix_keeps_the_shape_of_the_crowds_errors():
    ability = np.zeros((1, len(STEP)))
    ability[0, 9] = 1.0
    (mean,) = person_means(CROWD, 0.7, ability)
    np.testing.assert_allclose(mean, abled([0.7 * STEP[9]])[0], rtol=1e-12)


def test_ability_is_what_quadrature_says():
    counts = draw(np.random.default_rng(0), abled([0.6]), 12)
    people = fit_people(counts, CROWD)

    def density(g):
        accuracy = expit(logit(np.diagonal(CROWD)) + g)
        right = np.diagonal(counts[0])
        wrong = counts[0].sum(axis=0) - right
        log_likelihood = (right * np.log(accuracy) + wrong * np.log(1 - accuracy)).sum()
        return np.exp(log_likelihood - 0.5 * (g / people.spread) ** 2 + 12)

    reach = 3.2 * people.spread
    mean = quad(lambda g: g * density(g), -reach, reach)[0] / quad(density, -reach, reach)[0]
    assert abs(people.ability[0] @ (people.spread * STEP) - mean) < 0.01


def test_spread_and_strength_are_found_again():
    rng = np.random.default_rng(1)
    for spread in (0.2, 0.7, 1.4):
        people = fit_people(draw(rng, abled(rng.normal(0, spread, 400)), 40), CROWD)
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
    found = people_matrices(counts, CROWD, fit_people(counts, CROWD))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found, matrices, atol=2e-3)


def test_nobody_answered():
    people = fit_people(np.zeros((4, 3, 3)), CROWD)
    assert people.spread == SPREAD[3]
    np.testing.assert_allclose(people.ability.sum(axis=1), 1.0)
