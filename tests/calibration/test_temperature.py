"""Temperature scaling against SciPy's optimisers and integrators on the plain formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp

from strategies import FLOOR, Problem, problems, simulate
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination import ProbabilityLabelCombiner
from twoheads.confusion import DirichletConfusion
from twoheads.errors import InvalidParameter
from twoheads.kernels.calibration.tempering import LOG_TEMPERATURE_BOUNDS


def _log_posterior(problem, tau, mean=0.5, sd=0.5, weight=None):
    """sum log softmax(z / T)[truth] + log Normal(tau; mean, sd^2) up to a constant: the plain formula."""
    log_proba = log_softmax(problem.log_model * np.exp(-tau), axis=1)[np.arange(len(problem)), problem.truth]
    prior = 0.0 if sd is None else -0.5 * ((tau - mean) / sd) ** 2
    return float(log_proba.sum() if weight is None else weight @ log_proba) + prior


def _highest(problem, **prior):
    """The best log T, from a grid refined by SciPy."""
    grid = np.linspace(*LOG_TEMPERATURE_BOUNDS, 46)
    best = grid[np.argmax([_log_posterior(problem, tau, **prior) for tau in grid])]
    found = minimize_scalar(
        lambda tau: -_log_posterior(problem, tau, **prior), bounds=(best - 0.2, best + 0.2), options={"xatol": 1e-10}
    )
    return found.x


@pytest.mark.parametrize("n_items", [1, 10, 1000, 40_000])  # beyond 32,768 the search starts from a sample
@pytest.mark.parametrize(("mean", "sd"), [(0.5, 0.5), (0.0, 0.05), (-0.5, 3.0)])
def test_the_mode_is_where_scipy_finds_the_highest_log_posterior(n_items, mean, sd):
    problem = simulate(n_items, 4, 11 + n_items, temperature=1.8, extreme=0.02)
    fitted = TemperatureScaling(log_temperature_mean=mean, log_temperature_sd=sd).fit(problem.model, problem.truth)
    assert fitted.log_temperature_ == pytest.approx(_highest(problem, mean=mean, sd=sd), abs=1e-5)
    assert fitted.temperature_ == np.exp(fitted.log_temperature_)


@pytest.mark.parametrize("n_items", [50, 1000, 40_000])
def test_maximum_likelihood_is_the_mode_without_a_prior(n_items):
    problem = simulate(n_items, 4, n_items, temperature=1.8)
    fitted = TemperatureScaling(estimate="likelihood").fit(problem.model, problem.truth)
    assert fitted.log_temperature_ == pytest.approx(_highest(problem, sd=None), abs=1e-5)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_temperature_of_a_simulation_is_recovered(temperature):
    problem = simulate(20_000, 5, 3, temperature=temperature)
    fitted = TemperatureScaling().fit(problem.model, problem.truth)
    assert abs(np.log(fitted.temperature_ / temperature)) < 4 * fitted.log_temperature_sd_
    assert fitted.log_temperature_sd_ < 0.02


@given(problems())
def test_the_mode_is_higher_than_any_other_temperature(problem):
    fitted = TemperatureScaling().fit(problem.model, problem.truth)
    best = _log_posterior(problem, fitted.log_temperature_)
    for tau in np.linspace(*LOG_TEMPERATURE_BOUNDS, 37):
        assert best >= _log_posterior(problem, tau) - 1e-9 * max(abs(best), 1.0)


@given(problems())
@pytest.mark.parametrize("estimate", ["mode", "mean", "likelihood"])
def test_one_hot_targets_give_the_hard_fit(estimate, problem):
    hard = TemperatureScaling(estimate=estimate).fit(problem.model, problem.truth)
    soft = TemperatureScaling(estimate=estimate).fit(problem.model, np.eye(problem.n_classes)[problem.truth])
    np.testing.assert_allclose(soft.predict_proba(problem.model), hard.predict_proba(problem.model), atol=1e-8)


def test_soft_targets_are_expected_labels():
    # an item that is class 0 with probability 3/4 counts as three items of class 0 and one of class 1
    model = np.array([[0.9, 0.1], [0.6, 0.4]])
    soft = TemperatureScaling().fit(model, [[0.75, 0.25], [0.5, 0.5]], sample_weight=[4, 2])
    hard = TemperatureScaling().fit(model[[0, 0, 0, 0, 1, 1]], [0, 0, 0, 1, 0, 1])
    assert soft.log_temperature_ == pytest.approx(hard.log_temperature_, abs=1e-9)


@given(problems())
@pytest.mark.parametrize("estimate", ["mode", "mean", "likelihood"])
def test_weight_two_is_an_item_given_twice(estimate, problem):
    weighted = TemperatureScaling(estimate=estimate).fit(problem.model, problem.truth, sample_weight=problem.weight)
    repeated = TemperatureScaling(estimate=estimate).fit(
        np.repeat(problem.model, problem.weight, axis=0), np.repeat(problem.truth, problem.weight)
    )
    np.testing.assert_allclose(weighted.predict_proba(problem.model), repeated.predict_proba(problem.model), atol=1e-7)


@given(problems())
@pytest.mark.parametrize("estimate", ["mode", "mean"])
def test_no_doubt_about_the_prior_holds_the_temperature(estimate, problem):
    fitted = TemperatureScaling(log_temperature_mean=0.3, log_temperature_sd=0, estimate=estimate)
    fitted.fit(problem.model, problem.truth)
    assert fitted.log_temperature_ == 0.3
    expected = np.exp(log_softmax(problem.log_model * np.exp(-0.3), axis=1))
    np.testing.assert_allclose(fitted.predict_proba(problem.model), expected, atol=1e-12)


def test_data_that_say_nothing_leave_what_was_believed():
    vague, truth = np.full((5, 3), 1 / 3), [0, 1, 2, 0, 1]
    for mean in (0.5, 0.37):
        assert TemperatureScaling(log_temperature_mean=mean).fit(vague, truth).log_temperature_ == pytest.approx(
            mean, abs=1e-9
        )
    spread = TemperatureScaling(estimate="mean").fit(vague, truth)
    assert (spread.log_temperature_, spread.log_temperature_sd_) == pytest.approx((0.5, 0.5), abs=1e-9)


@pytest.mark.parametrize("sharpness", [1.0, 20.0, np.inf])
@pytest.mark.parametrize("right", [True, False])
def test_a_model_always_right_or_always_wrong_stays_within_bounds(sharpness, right):
    truth = np.arange(30) % 3
    shown = np.eye(3)[truth if right else (truth + 1) % 3]
    model = shown if np.isinf(sharpness) else np.exp(log_softmax(sharpness * shown, axis=1))
    fitted = TemperatureScaling(estimate="likelihood").fit(model, truth)
    low, high = LOG_TEMPERATURE_BOUNDS
    assert low <= fitted.log_temperature_ <= high
    assert fitted.log_temperature_ < 0.1 if right else fitted.log_temperature_ > high - 0.1
    calibrated = fitted.predict_proba(model)
    assert np.isfinite(calibrated).all()
    assert (calibrated.argmax(axis=1) == shown.argmax(axis=1)).all()


def _averaged(problem, others, mean, sd):
    """Calibrated rows of ``others`` averaged over the posterior of log T given ``problem``, by brute force."""
    grid = np.linspace(min(mean - 10 * sd, -6.0), max(mean + 10 * sd, 7.0), 401)
    for _ in range(3):
        values = np.array([_log_posterior(problem, tau, mean, sd) for tau in grid])
        near = np.flatnonzero(values > values.max() - 45)
        grid = np.linspace(grid[max(near[0] - 1, 0)], grid[min(near[-1] + 1, len(grid) - 1)], 401)
    values = np.array([_log_posterior(problem, tau, mean, sd) for tau in grid])
    weights = np.exp(values - logsumexp(values))
    average = np.zeros_like(others)
    for tau, weight in zip(grid, weights, strict=True):
        if weight > 1e-20:
            average += weight * np.exp(log_softmax(others * np.exp(-tau), axis=1))
    return average


@pytest.mark.parametrize("n_items", [1, 3, 10, 100, 2000])
@pytest.mark.parametrize(("mean", "sd"), [(0.5, 0.5), (0.0, 0.03), (0.5, 1.0), (0.0, 2.5)])
@pytest.mark.parametrize("kind", ["vague", "sharp", "certain"])
def test_quadrature_is_brute_force_integration_in_every_probability_of_the_combination(n_items, mean, sd, kind):
    sharpness, extreme = {"vague": (1.0, 0.0), "sharp": (6.0, 0.0), "certain": (4.0, 0.3)}[kind]
    problem = simulate(n_items, 3, n_items, sharpness=sharpness, extreme=extreme, temperature=2.0)
    others = simulate(60, 3, 77, sharpness=sharpness, extreme=0.2)
    part = TemperatureScaling(log_temperature_mean=mean, log_temperature_sd=sd, estimate="mean")
    combiner = ProbabilityLabelCombiner(DirichletConfusion(estimate="mean"), part).fit(problem.X, problem.truth)
    average = _averaged(problem, others.log_model, mean, sd)
    counts = 1.1 + 0.5 * np.eye(3)
    np.add.at(counts, (problem.human, problem.truth), 1)
    product = average * (counts / counts.sum(axis=0))[others.human]
    found = combiner.predict_proba(others.X)
    np.testing.assert_allclose(found, product / product.sum(axis=1, keepdims=True), rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        part.fit(problem.model, problem.truth).predict_proba(others.model), average, rtol=0, atol=1e-6
    )


def test_quadrature_is_scipys_adaptive_integration():
    problem = simulate(7, 3, 5)

    def density(tau):
        return np.exp(_log_posterior(problem, tau) + 3.0)

    evidence = quad(density, -4, 5, epsabs=1e-13, limit=200)[0]
    fitted = TemperatureScaling(estimate="mean").fit(problem.model, problem.truth)
    mean = quad(lambda tau: tau * density(tau), -4, 5, epsabs=1e-13, limit=200)[0] / evidence
    square = quad(lambda tau: tau**2 * density(tau), -4, 5, epsabs=1e-13, limit=200)[0] / evidence
    assert fitted.log_temperature_ == pytest.approx(mean, abs=1e-9)
    assert fitted.log_temperature_sd_ == pytest.approx(np.sqrt(square - mean**2), abs=1e-9)
    for row in range(3):
        for j in range(3):
            expected = quad(
                lambda tau, n=row, j=j: density(tau) * np.exp(log_softmax(problem.log_model[n] * np.exp(-tau)))[j],
                -4,
                5,
                epsabs=1e-13,
                limit=200,
            )
            assert fitted.predict_proba(problem.model)[row, j] == pytest.approx(expected[0] / evidence, abs=1e-9)
    assert fitted.node_weights_.sum() == pytest.approx(1.0)


def test_many_items_that_say_nothing_are_integrated_as_well_as_few():
    vague = Problem(np.zeros(3000, dtype=int), np.full((3000, 2), 0.5), np.arange(3000) % 2, np.ones(3000), None)
    others = np.log([[0.9, 0.1], [1 - 1e-9, 1e-9], [1.0, FLOOR]])
    fitted = TemperatureScaling(log_temperature_sd=1.0, estimate="mean").fit(vague.model, vague.truth)
    grid = np.linspace(-11.5, 12.5, 4801)
    weights = np.exp(-0.5 * (grid - 0.5) ** 2)
    expected = sum(w * np.exp(log_softmax(others * np.exp(-t), axis=1)) for t, w in zip(grid, weights, strict=True))
    np.testing.assert_allclose(fitted.predict_proba(np.exp(others)), expected / weights.sum(), atol=1e-6)


def test_posterior_spread_at_the_mode_is_that_of_the_curvature():
    problem = simulate(500, 3, 8)
    fitted = TemperatureScaling().fit(problem.model, problem.truth)
    at, step = fitted.log_temperature_, 1e-3
    bend = sum(s * _log_posterior(problem, at + d * step) for d, s in ((-1, 1), (0, -2), (1, 1))) / step**2
    assert fitted.log_temperature_sd_ == pytest.approx((-bend) ** -0.5, rel=1e-4)


@pytest.mark.parametrize("scale", ["log", "logit"])
def test_logarithms_and_logits_say_the_same_as_probabilities(scale):
    problem = simulate(100, 3, 1)
    values = problem.log_model + (0 if scale == "log" else problem.rng.normal(size=(100, 1)))
    fitted = TemperatureScaling(model_scale=scale).fit(values, problem.truth)
    expected = TemperatureScaling().fit(problem.model, problem.truth)
    assert fitted.log_temperature_ == pytest.approx(expected.log_temperature_, abs=1e-8)
    np.testing.assert_allclose(fitted.predict_proba(values), expected.predict_proba(problem.model), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimate": "map"}, "estimate must be 'mode', 'mean' or 'likelihood'; it is 'map'."),
        ({"log_temperature_sd": -0.1}, "log_temperature_sd must not be negative; it is -0.1."),
    ],
)
def test_options_outside_their_range_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        TemperatureScaling(**options).fit([[0.9, 0.1]], [0])
