from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from twoheads.calibration.ensemble_temperature import EnsembleTemperatureScaling
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.ensemble import best_weights, ensemble_products, log_ensemble, tempered_squared_error
from twoheads.kernels.simplex import log_simplex
from twoheads.testing.calibrators import problem


def softmax(logits: Floats) -> Floats:
    share = np.exp(logits - logits.max(axis=1, keepdims=True))
    return share / share.sum(axis=1, keepdims=True)


def mixture(proba: Floats, temperature: float, weights: Floats) -> Floats:
    tempered = softmax(np.log(proba) / temperature)
    return weights[0] * tempered + weights[1] * proba + weights[2] / proba.shape[1]


def squared_error(proba: Floats, label: Codes, temperature: float, weights: Floats) -> float:
    return float(((mixture(proba, temperature, weights) - np.eye(proba.shape[1])[label]) ** 2).mean())


@pytest.mark.parametrize("seed", range(5))
def test_the_temperature_minimises_the_squared_error(seed: int) -> None:
    proba, label = problem(80, 4, seed)
    only_tempered = np.array([1.0, 0.0, 0.0])
    best = minimize_scalar(
        lambda tau: squared_error(proba, label, np.exp(tau), only_tempered),
        bounds=np.log([0.05, 5]),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert EnsembleTemperatureScaling().fit(proba, label).temperature_ == pytest.approx(np.exp(best.x), rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_no_weights_on_a_fine_grid_are_better(seed: int) -> None:
    proba, label = problem(40, 3, seed)
    calibrator = EnsembleTemperatureScaling().fit(proba, label)
    assert calibrator.weights_.min() >= 0
    assert calibrator.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    found = squared_error(proba, label, calibrator.temperature_, calibrator.weights_)
    steps = np.linspace(0, 1, 41)
    for first in steps:
        for second in steps[steps <= 1 - first]:
            weights = np.array([first, second, 1 - first - second])
            assert found <= squared_error(proba, label, calibrator.temperature_, weights) + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_weights_agree_with_a_general_solver(seed: int) -> None:
    proba, label = problem(300, 3, seed)
    noisy = 0.6 * proba**2 / (proba**2).sum(axis=1, keepdims=True) + 0.4 / 3  # a mixture is called for
    calibrator = EnsembleTemperatureScaling().fit(noisy, label)
    solved = minimize(
        lambda weights: squared_error(noisy, label, calibrator.temperature_, weights),
        [1.0, 0.0, 0.0],
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-14},
    )
    found = squared_error(noisy, label, calibrator.temperature_, calibrator.weights_)
    assert found == pytest.approx(solved.fun, abs=1e-9)
    assert found <= solved.fun + 1e-12


def test_weights_of_a_known_mixture_are_found() -> None:
    proba, _ = problem(50, 3)
    for weights in ([0.5, 0.2, 0.3], [0.0, 0.4, 0.6], [0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]):
        target = mixture(proba, 2.0, np.array(weights))
        gram, cross = ensemble_products(Block(log_simplex(proba), target=target.T), np.log(2.0))
        np.testing.assert_allclose(best_weights(gram, cross), weights, atol=1e-9)


def test_best_weights_by_hand() -> None:
    # Two orthogonal parts of length 1; the target stands at (0.2, 0.3) of them: inside the triangle.
    gram = np.diag([1.0, 1.0, 0.0])
    np.testing.assert_allclose(best_weights(gram, np.array([0.2, 0.3, 0.0])), [0.2, 0.3, 0.5])
    # At (2, 1.5) the nearest point of the triangle is on its long edge, at (0.75, 0.25); at (3, -1) it is a corner.
    np.testing.assert_allclose(best_weights(gram, np.array([2.0, 1.5, 0.0])), [0.75, 0.25, 0.0])
    np.testing.assert_array_equal(best_weights(gram, np.array([3.0, -1.0, 0.0])), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(best_weights(gram, np.array([-1.0, -1.0, 0.0])), [0.0, 0.0, 1.0])


def test_of_equally_good_answers_the_simplest_is_kept() -> None:
    calibrator = EnsembleTemperatureScaling().fit(np.full((4, 2), 0.5), [0, 1, 0, 0])
    assert calibrator.temperature_ == 1.0
    np.testing.assert_array_equal(calibrator.weights_, [1.0, 0.0, 0.0])


def test_a_model_that_is_never_wrong_gets_the_lowest_temperature() -> None:
    calibrator = EnsembleTemperatureScaling().fit([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    assert calibrator.temperature_ == pytest.approx(0.05)
    np.testing.assert_array_equal(calibrator.weights_, [1.0, 0.0, 0.0])
    assert (calibrator.calibrate(log_simplex(np.eye(2))) > -np.inf).all()


def test_a_model_that_is_always_wrong_is_not_listened_to() -> None:
    calibrator = EnsembleTemperatureScaling().fit([[0.9, 0.1], [0.2, 0.8]], [1, 0])
    np.testing.assert_array_equal(calibrator.weights_, [0.0, 0.0, 1.0])
    np.testing.assert_allclose(calibrator.predict_proba([[0.9, 0.1]]), [[0.5, 0.5]])


def test_the_derivative_is_that_of_the_error() -> None:
    proba, label = problem(30, 4)
    block = Block(log_simplex(proba), true_label=label, weight=np.linspace(0.5, 2, 30))
    tau, step = np.array([-1.0, 0.2, 1.1]), 1e-6
    ahead, behind = (tempered_squared_error(block, tau + move)[0] for move in (step, -step))
    np.testing.assert_allclose(tempered_squared_error(block, tau)[1], (ahead - behind) / (2 * step), rtol=1e-6)


def test_the_mixture_by_hand() -> None:
    # m = (0.8, 0.2), T = 2: sqrt(0.8) / (sqrt(0.8) + sqrt(0.2)) = 2/3; 0.5 * 2/3 + 0.25 * 0.8 + 0.25 / 2 = 0.658333
    out = np.exp(log_ensemble(np.log([[0.8], [0.2]]), np.log(2.0), np.array([0.5, 0.25, 0.25])))
    np.testing.assert_allclose(out[:, 0], [0.6583333333, 0.3416666667])
