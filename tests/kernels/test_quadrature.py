"""Integrals over one parameter against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from twoheads.kernels.numerics.quadrature import gauss_rule, normalised_weights, steady_maximum, support


def _random_measure(seed, size=60):
    rng = np.random.default_rng(seed)
    return np.sort(rng.normal(2.0, 3.0, size)), rng.dirichlet(np.ones(size))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_a_gauss_rule_integrates_polynomials_exactly(seed, n_nodes):
    nodes, weights = _random_measure(seed)
    found, share = gauss_rule(nodes, weights, n_nodes)
    assert len(found) == n_nodes
    assert share.min() > 0
    assert share.sum() == pytest.approx(1.0)
    for degree in range(2 * n_nodes):  # in the measure's own units, where powers do not explode
        expected = weights @ ((nodes - 2.0) / 3.0) ** degree
        assert share @ ((found - 2.0) / 3.0) ** degree == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_two_nodes_of_a_normal_are_one_sd_to_either_side():
    grid = np.linspace(-10, 14, 400)
    found, share = gauss_rule(grid, normalised_weights(norm.logpdf(grid, 2.0, 0.5)), 2)
    assert found == pytest.approx([1.5, 2.5])
    assert share == pytest.approx([0.5, 0.5])


def test_nodes_of_a_normal_are_those_of_hermite():
    grid = np.linspace(-9, 9, 400)
    found, share = gauss_rule(grid, normalised_weights(norm.logpdf(grid)), 7)
    nodes, weights = np.polynomial.hermite_e.hermegauss(7)
    np.testing.assert_allclose(found, nodes, atol=1e-9)
    np.testing.assert_allclose(share, weights / np.sqrt(2 * np.pi), atol=1e-9)


def test_a_measure_of_fewer_points_than_nodes_is_given_back():
    found, share = gauss_rule(np.array([1.0, 4.0, 5.0]), np.array([0.5, 0.25, 0.25]), 9)
    np.testing.assert_allclose(found, [1.0, 4.0, 5.0], atol=1e-9)
    np.testing.assert_allclose(share, [0.5, 0.25, 0.25], atol=1e-9)
    found, share = gauss_rule(np.array([3.0, 3.0]), np.array([0.5, 0.5]), 4)
    assert (found @ share, share.sum()) == pytest.approx((3.0, 1.0))


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (-3.0, 0.01), (2.0, 5.0)])
@pytest.mark.parametrize("claimed", [0.2, 1.0, 3.0])
def test_support_reaches_where_the_density_is_negligible(mean, sd, claimed):
    low, high = support(lambda at: norm.logpdf(at, mean, sd), mean, claimed * sd)
    assert norm.logpdf(low, mean, sd) < norm.logpdf(mean, mean, sd) - 37
    assert norm.logpdf(high, mean, sd) < norm.logpdf(mean, mean, sd) - 37
    assert high - low < 2 * 1.4 * max(6 * claimed, np.sqrt(74)) * sd


def test_weights_are_a_density_normalised_whatever_its_scale():
    weights = normalised_weights(np.log([1.0, 2.0, 5.0]) - 1e5)
    assert weights == pytest.approx([0.125, 0.25, 0.625])


def test_mean_of_a_sigmoid_under_a_normal():
    # By symmetry E expit(x) = 1/2 for x ~ N(0, s^2)
    grid = np.linspace(-30, 30, 500)
    nodes, weights = gauss_rule(grid, normalised_weights(norm.logpdf(grid, 0.0, 1.3)), 24)
    assert weights @ expit(nodes) == pytest.approx(0.5, abs=1e-12)


@given(st.floats(-3.9, 3.9), st.floats(0.3, 3.0))
def test_a_steady_maximum_is_that_of_a_hill(top, width):
    found = steady_maximum(lambda at: float(norm.logpdf(at, top, width)), -4.0, 4.0)
    assert found == pytest.approx(top, abs=1e-9)
    assert steady_maximum(lambda at: -float(np.cosh((at - top) / width)), -4.0, 4.0) == pytest.approx(top, abs=0.008)


def test_a_steady_maximum_may_be_at_an_end_and_at_a_kink():
    assert steady_maximum(lambda at: at, -4.0, 4.0) == 4.0
    assert steady_maximum(lambda at: -at, -4.0, 4.0) == -4.0
    # Flat on one side and steep on the other, where a spline would overshoot.
    found = steady_maximum(lambda at: -0.1 * (at - 0.2) ** 2 - 100.0 * max(at - 0.7, 0.0), -4.0, 4.0)
    assert found == pytest.approx(0.2, abs=1e-9)


def test_a_steady_maximum_does_not_depend_on_rounding():
    rng = np.random.default_rng(0)

    def hill(at):
        return 50.0 - np.cosh(at - 0.37) + 1e-13 * rng.normal()

    found = [steady_maximum(hill, -4.0, 4.0) for _ in range(20)]
    assert np.ptp(found) < 1e-9


@pytest.mark.parametrize(("top", "most"), [(0.1, 11), (-1.9, 12), (3.9, 11)])
def test_a_steady_maximum_looks_uphill_only_and_nowhere_twice(top, most):
    places = []

    def hill(at):
        places.append(at)
        return -((at - top) ** 2)

    assert steady_maximum(hill, -4.0, 4.0) == pytest.approx(top, abs=1e-9)
    assert len(set(places)) == len(places) <= most
