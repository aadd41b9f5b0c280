"""Temperature kernels against finite differences and the plain formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.differentiate import derivative, hessian
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.stats import norm

from strategies import problems, simulate
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import (
    LOG_TEMPERATURE_BOUNDS,
    LOG_TEMPERATURE_NODES,
    between_nodes,
    in_log_temperature,
    mode_between_nodes,
    newton_step,
    node_values,
    normal_log_density,
    temperature_slopes,
    temperature_sums,
    temperature_values,
    tempered,
    with_derivatives,
)


def _plain(problem, beta, target=None, weight=None):
    """Log-likelihood of the targets under softmax(beta z)."""
    log_proba = log_softmax(beta * problem.log_model, axis=1)
    if target is None:
        target = np.eye(problem.n_classes)[problem.truth]
    per_item = np.where(target > 0, target * log_proba, 0.0).sum(axis=1)
    return float(per_item.sum() if weight is None else (weight * per_item).sum())


def _block(problem, **others):
    return Block(np.ascontiguousarray(log_softmax(problem.log_model, axis=1).T), **others)


@given(problems(), st.floats(-1.0, 2.0))
def test_derivatives_in_the_inverse_temperature_are_those_of_finite_differences(problem, tau):
    beta = np.exp(-tau)
    value, first, second = temperature_sums(_block(problem, true_label=problem.truth), tau)
    assert value == pytest.approx(_plain(problem, beta), rel=1e-9, abs=1e-9)
    slope = derivative(np.vectorize(lambda at: _plain(problem, at)), beta, initial_step=0.05 * beta)
    assert first == pytest.approx(slope.df, rel=1e-5, abs=1e-5 * len(problem))
    bend = derivative(
        np.vectorize(lambda at: temperature_sums(_block(problem, true_label=problem.truth), -np.log(at))[1]),
        beta,
        initial_step=0.05 * beta,
    )
    assert second == pytest.approx(bend.df, rel=1e-4, abs=1e-4 * len(problem))
    assert second <= 0


def test_second_derivative_is_that_of_the_plain_formula():
    problem = simulate(30, 4, 5)
    found = temperature_sums(_block(problem, true_label=problem.truth), 0.3)[2]
    expected = hessian(lambda at: np.vectorize(lambda b: _plain(problem, b))(at[0]), np.array([np.exp(-0.3)]))
    assert found == pytest.approx(expected.ddf[0, 0], rel=1e-6)


@given(problems(), st.floats(-1.0, 2.0))
def test_soft_targets_and_weights_enter_linearly(problem, tau):
    soft = problem.rng.dirichlet(np.ones(problem.n_classes), len(problem))
    block = _block(problem, target=soft.T, weight=problem.weight.astype(float))
    expected = _plain(problem, np.exp(-tau), soft, problem.weight)
    assert temperature_sums(block, tau)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert temperature_values(block, np.array([tau]))[0][0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(problems())
def test_values_on_a_grid_are_those_of_the_plain_formula(problem):
    grid = np.linspace(*LOG_TEMPERATURE_BOUNDS, 7)
    (values,) = temperature_values(_block(problem, true_label=problem.truth), grid)
    expected = [_plain(problem, np.exp(-tau)) for tau in grid]
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("tau", LOG_TEMPERATURE_BOUNDS)
def test_values_are_finite_at_the_bounds_even_for_a_thousand_classes_alike(tau):
    block = Block(np.full((1000, 1), -np.log(1000)), true_label=np.array([7]))
    assert temperature_values(block, np.array([tau]))[0] == pytest.approx([-np.log(1000)])
    assert temperature_sums(block, tau) == pytest.approx((-np.log(1000), 0.0, 0.0), abs=1e-9)


@given(problems(), st.floats(-1.0, 2.0))
def test_slopes_from_an_e_step_are_those_of_the_sums(problem, tau):
    share = problem.rng.dirichlet(np.ones(problem.n_classes), len(problem)).T
    block = _block(problem, target=share, weight=problem.weight.astype(float))
    calibrated = tempered(block.log_proba, tau)
    found = temperature_slopes(block.log_proba, calibrated, share * problem.weight)
    np.testing.assert_allclose(found, temperature_sums(block, tau)[1:], rtol=1e-7, atol=1e-7)


@given(problems(), st.floats(-3.0, 4.0))
def test_tempered_probabilities_are_powers_normalised(problem, tau):
    log_proba = _block(problem).log_proba
    before = log_proba.copy()
    np.testing.assert_allclose(tempered(log_proba, tau), log_softmax(before * np.exp(-tau), axis=0), atol=1e-9)


def test_a_power_by_hand():
    # T = 1/2 squares: (0.8, 0.2) becomes (0.64, 0.04) / 0.68
    found = np.exp(tempered(np.log(np.array([[0.8], [0.2]])), np.log(0.5)))[:, 0]
    assert found == pytest.approx([0.64 / 0.68, 0.04 / 0.68])


def test_chain_rule_to_the_log_temperature():
    # f(beta) = beta^3 at beta = exp(-tau): exp(-3 tau), derivatives -3 exp(-3 tau) and 9 exp(-3 tau)
    beta = np.exp(-0.7)
    assert in_log_temperature(beta, 3 * beta**2, 6 * beta) == pytest.approx((-3 * beta**3, 9 * beta**3))


def test_normal_density_differs_from_scipy_by_a_constant():
    found = normal_log_density(0.9, 0.5, 0.3)
    assert found[0] - normal_log_density(0.1, 0.5, 0.3)[0] == pytest.approx(
        norm.logpdf(0.9, 0.5, 0.3) - norm.logpdf(0.1, 0.5, 0.3)
    )
    assert found[1:] == pytest.approx((-0.4 / 0.09, -1 / 0.09))
    assert normal_log_density(3.0, 0.5, np.inf) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("first", "second", "step"),
    [
        (0.0, -1.0, 0.0),
        (0.0, 1.0, 0.0),
        (2.0, -4.0, 0.5),
        (-2.0, -4.0, -0.5),
        (9.0, -1.0, 1.0),
        (3.0, 2.0, 1.0),
        (-3.0, 2.0, -1.0),
    ],
)
def test_a_step_is_newtons_or_uphill_and_never_long(first, second, step):
    assert newton_step(first, second) == step


@given(problems())
def test_values_at_the_nodes_are_those_of_the_formula(problem):
    block = _block(problem, true_label=problem.truth)
    (expected,) = temperature_values(block, LOG_TEMPERATURE_NODES)
    np.testing.assert_allclose(node_values(block)[0], expected, rtol=1e-9, atol=1e-9)
    weighted = replace(block, weight=problem.weight.astype(float))
    (expected,) = temperature_values(weighted, LOG_TEMPERATURE_NODES)
    np.testing.assert_allclose(node_values(weighted)[0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_items", [1, 31, 32, 33, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_at_the_nodes_are_those_of_one_softmax_per_node(n_items, weighted):
    problem = simulate(n_items, 5, seed=n_items)
    weight = np.linspace(0.5, 2.0, n_items) if weighted else None
    expected = [_plain(problem, np.exp(-tau), weight=weight) for tau in LOG_TEMPERATURE_NODES]
    (found,) = node_values(_block(problem, true_label=problem.truth, weight=weight))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("n_items", "n_classes"), [(8, 2), (60, 3), (3000, 10)])
@pytest.mark.parametrize("sd", [0.3, np.inf])
def test_the_mode_between_nodes_is_what_an_optimiser_finds(n_items, n_classes, sd):
    problem = simulate(n_items, n_classes, seed=n_items)
    block = _block(problem, true_label=problem.truth)

    def loss(tau):
        return 0.5 * ((tau - 0.5) / sd) ** 2 - temperature_sums(block, tau)[0]

    best = minimize_scalar(loss, bounds=(-3, 4), method="bounded", options={"xatol": 1e-10}).x
    mode, curvature = mode_between_nodes(between_nodes(node_values(block)[0]), 0.5, sd)
    assert mode == pytest.approx(best, abs=1e-6)
    step = 1e-3
    bend = -(loss(mode + step) - 2 * loss(mode) + loss(mode - step)) / step**2
    assert curvature == pytest.approx(bend, rel=1e-3)


def test_values_are_given_a_mode_and_a_curvature():
    problem = simulate(2000, 4, seed=9)
    (values,) = node_values(_block(problem, true_label=problem.truth))
    mode, curvature = mode_between_nodes(between_nodes(values), 0.0, np.inf)
    changed = with_derivatives(values, mode + 0.02, 0.0, 1.1 * curvature)
    found = mode_between_nodes(between_nodes(changed), 0.0, np.inf)
    assert found[0] == pytest.approx(mode + 0.02, abs=1e-9)
    assert found[1] == pytest.approx(1.1 * curvature, rel=1e-6)
