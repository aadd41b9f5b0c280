"""People and machines as one group of witnesses or two: by hand, and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import softmax
from scipy.stats import binom, norm

from twoheads.kernels.dependence.groups import SEPARATIONS, Groups, allowed_correlation, group_weights, separation_mean
from twoheads.kernels.priors import SEPARATION_MEAN, SEPARATION_SD


def groups_of(rng, n_people, n_machines, correlation=0.5, n_items=5):
    people, machines = rng.normal(size=(2, 3, n_items))
    counts = (np.full(n_items, n) for n in (n_people, n_machines))
    return Groups(people * (n_people > 0), machines * (n_machines > 0), *counts, correlation)


def test_weights_by_hand():
    # One person, three machines, s = 1/2, b = 1/2: they share 1/4. d(3) = 2, D = 2 - 3/16 = 29/16.
    # w_p = (2 - 3/4) / D = 20/29, w_m = (1 - 1/4) / D = 12/29.
    np.testing.assert_allclose(group_weights(1, 3, 0.5, 0.5), [20 / 29, 12 / 29])
    np.testing.assert_allclose(group_weights(1, 3, 0.5, 0.0), [0.4, 0.4])
    np.testing.assert_allclose(group_weights(1, 3, 0.5, 1.0), [1.0, 0.5])


@pytest.mark.parametrize(("n_people", "n_machines", "b"), [(1, 12, 0.47), (6, 1, 0.3), (3, 4, 1.2)])
def test_weights_are_those_of_correlated_gaussian_witnesses(n_people, n_machines, b):
    """The likelihood ratio of two classes is linear in the witnesses, with coefficients ``inv(covariance) @ 1``."""
    s, n = 0.57, n_people + n_machines
    is_person = np.arange(n) < n_people
    covariance = np.where(is_person[:, None] == is_person, s, (1 - b) * s)
    covariance[np.diag_indices(n)] = 1.0
    weights = np.linalg.solve(covariance, np.ones(n))
    np.testing.assert_allclose(group_weights(n_people, n_machines, s, b), weights[[0, -1]])


@pytest.mark.parametrize("counts", [(0, 3), (3, 0), (1, 0), (0, 0)])
def test_a_single_group_gains_nothing(counts):
    np.testing.assert_allclose(groups_of(np.random.default_rng(0), *counts).gain(0.7), 0.0, atol=1e-12)


def test_probabilities_are_those_of_the_weighted_evidence():
    rng = np.random.default_rng(0)
    groups, prior = groups_of(rng, 1, 3), rng.normal(size=(3, 5))
    one = softmax(prior + 0.4 * (groups.people + groups.machines), axis=0)
    expected = softmax(prior + 20 / 29 * groups.people + 12 / 29 * groups.machines, axis=0)
    np.testing.assert_allclose(groups.apart(one, 0.5), expected, rtol=1e-12)
    assert groups.apart(np.eye(3)[:, [0] * 5], 0.5)[0].min() == 1.0


def test_likelihood_is_of_the_truth_and_counts_weights_as_repetitions():
    rng = np.random.default_rng(1)
    groups, proba, truth = groups_of(rng, 1, 3), softmax(rng.normal(size=(3, 5)), axis=0), rng.integers(3, size=5)
    found = groups.log_likelihood(proba, truth, None)
    np.testing.assert_allclose(found[10], np.log(groups.apart(proba, 0.5)[truth, np.arange(5)]).sum())
    np.testing.assert_allclose(groups.log_likelihood(proba, truth, np.full(5, 2.0)), 2 * found)


def test_mean_is_that_of_the_posterior():
    def likelihood(b):
        return 40.0 * np.log(b + 0.2) - 60.0 * b

    def density(b):
        return np.exp(likelihood(b)) * norm.pdf(b, SEPARATION_MEAN, SEPARATION_SD)

    ends = SEPARATIONS[[0, -1]]
    expected = quad(lambda b: b * density(b), *ends)[0] / quad(density, *ends)[0]
    assert separation_mean(likelihood(SEPARATIONS)) == pytest.approx(expected, abs=0.01)


def test_the_correlation_that_agreement_allows_by_hand():
    # 150 answers more than items, kappa 0.1: k = (150 * 0.1 + 50 * 0.2) / 200 = 0.125, over 0.2.
    assert allowed_correlation(0.1, 150.0) == pytest.approx(0.625)
    assert allowed_correlation(0.1, 0.0) == 1.0
    assert allowed_correlation(0.2, 1e9) == pytest.approx(1.0)
    assert allowed_correlation(0.7, 40.0) == allowed_correlation(np.nan, 0.0) == 1.0
    assert 0 < allowed_correlation(-0.3, 1e9) < 0.05


def share_after(accuracy, s, iterations, n=6):
    """Accuracy that EM finds of n equal people who answer every item, two classes as likely; all patterns by weight.

    s  the correlation of the design effect in the E-step
    """
    right = np.arange(n + 1)  # how many answer 1; what they say is 0 or 1 with probability 1/2
    weight = (binom.pmf(right, n, accuracy) + binom.pmf(right, n, 1 - accuracy)) / 2
    found = accuracy
    for _ in range(iterations):
        odds = (2 * right - n) * np.log(found / (1 - found)) / (1 + (n - 1) * s)
        one = 1 / (1 + np.exp(-odds))
        found = weight @ (one * right + (1 - one) * (n - right)) / n
    return found


def test_em_forgets_people_whose_agreement_is_below_the_correlation_it_assumes():
    """Kappa of independent people of accuracy .62 is (2 * .62 - 1)^2 = .058. Near 1/2, the factor is the one stated."""
    kappa = (2 * 0.62 - 1) ** 2
    assert share_after(0.62, 0.1, 2000) == pytest.approx(0.5, abs=1e-6)
    assert share_after(0.62, 0.0, 2000) == pytest.approx(0.62)
    assert share_after(0.62, 0.5 * kappa, 2000) - 0.5 > 0.5 * (0.62 - 0.5)
    start, n, s = 0.5 + 1e-6, 6, 0.1
    right = np.arange(n + 1)
    weight = (binom.pmf(right, n, 0.62) + binom.pmf(right, n, 0.38)) / 2
    one = 1 / (1 + np.exp(-(2 * right - n) * np.log(start / (1 - start)) / (1 + (n - 1) * s)))
    after = weight @ (one * right + (1 - one) * (n - right)) / n
    assert (after - 0.5) / (start - 0.5) == pytest.approx((1 + (n - 1) * kappa) / (1 + (n - 1) * s), rel=1e-4)
