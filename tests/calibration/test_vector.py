from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import LogisticRegression

from twoheads.calibration.vector import VectorScaling
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.affine import diagonal_curvature, diagonal_loss
from twoheads.kernels.numerics import newton as convex
from twoheads.kernels.simplex import log_simplex
from twoheads.testing.calibrators import problem


def objective(parameters: Floats, proba: Floats, label: Codes, regularisation: float) -> float:
    slope, intercept = parameters.reshape(2, -1)
    logits = slope * np.log(proba) + intercept
    log_proba = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    penalty = ((slope - 1) ** 2).sum() + (intercept**2).sum()
    return float(-log_proba[np.arange(len(label)), label].sum() + regularisation / 2 * penalty)


@pytest.mark.parametrize("regularisation", [0.1, 10.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_minimises_the_plain_objective(n_classes: int, regularisation: float) -> None:
    proba, label = problem(150, n_classes)
    start = np.concatenate([np.ones(n_classes), np.zeros(n_classes)])
    solved = minimize(objective, start, args=(proba, label, regularisation), method="BFGS", options={"gtol": 1e-4})
    calibrator = VectorScaling(regularisation=regularisation).fit(proba, label)
    found = np.concatenate([calibrator.coef_, calibrator.intercept_])
    assert objective(found, proba, label, regularisation) <= solved.fun + 1e-9
    np.testing.assert_allclose(found, solved.x, atol=1e-3)
    assert calibrator.intercept_.sum() == pytest.approx(0.0, abs=1e-8)


def test_without_a_prior_two_classes_are_a_logistic_regression() -> None:
    # The log-odds of class 1 are w_1 log m_1 - w_0 log m_0 + b_1 - b_0.
    proba, label = problem(400, 2)
    features = np.log(proba) * [-1.0, 1.0]
    reference = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000).fit(features, label)
    calibrator = VectorScaling(regularisation=0.0).fit(proba, label)
    np.testing.assert_allclose(calibrator.predict_proba(proba), reference.predict_proba(features), atol=1e-5)
    np.testing.assert_allclose(calibrator.coef_, reference.coef_[0], atol=1e-3)


def test_parameters_are_recovered() -> None:
    rng = np.random.default_rng(0)
    proba, _ = problem(40_000, 3)
    slope, intercept = np.array([0.5, 0.8, 1.2]), np.array([0.4, -0.1, -0.3])
    honest = proba**slope * np.exp(intercept)
    honest /= honest.sum(axis=1, keepdims=True)
    label = (honest.cumsum(axis=1) < rng.random((len(proba), 1))).sum(axis=1)
    calibrator = VectorScaling().fit(proba, label)
    np.testing.assert_allclose(calibrator.coef_, slope, atol=0.05)
    np.testing.assert_allclose(calibrator.intercept_, intercept, atol=0.05)


def test_gradient_and_curvature_are_derivatives_of_the_loss() -> None:
    proba, label = problem(30, 3)
    block = Block(log_simplex(proba), true_label=label, weight=np.linspace(0.5, 2.0, 30))
    at = np.array([[0.7, 1.1, 0.9], [0.1, -0.3, 0.2]])
    numeric = approx_fprime(at.ravel(), lambda x: diagonal_loss(block, x.reshape(2, 3))[0], 1e-7)
    np.testing.assert_allclose(diagonal_loss(block, at)[1].ravel(), numeric, rtol=1e-4, atol=1e-4)
    bends = approx_fprime(at.ravel(), lambda x: diagonal_loss(block, x.reshape(2, 3))[1].ravel(), 1e-7)
    np.testing.assert_allclose(diagonal_curvature(block, at)[0], bends, rtol=1e-4, atol=1e-4)


def test_the_quasi_newton_way_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    proba, label = problem(100, 3)
    newton = VectorScaling().fit(proba, label)
    monkeypatch.setattr(convex, "NEWTON_LIMIT", 0)
    other = VectorScaling().fit(proba, label)
    np.testing.assert_allclose(other.coef_, newton.coef_, atol=1e-5)
    np.testing.assert_allclose(other.intercept_, newton.intercept_, atol=1e-5)


def test_a_strong_prior_leaves_the_model_as_it_is() -> None:
    proba, label = problem(50, 3)
    np.testing.assert_allclose(
        VectorScaling(regularisation=1e9).fit(proba, label).predict_proba(proba), proba, atol=1e-6
    )


def test_one_label_moves_little_and_separable_labels_without_a_prior_stay_finite() -> None:
    proba, label = problem(50, 3)
    assert np.abs(VectorScaling().fit(proba[:1], label[:1]).predict_proba(proba) - proba).mean() < 0.05
    separated = VectorScaling(regularisation=0.0).fit(proba, proba.argmax(axis=1))
    assert np.isfinite(separated.predict_proba(proba)).all()
    assert np.isfinite(separated.coef_).all()


def test_items_of_no_weight_teach_nothing() -> None:
    proba, label = problem(10, 3)
    block = Block(log_simplex(proba), true_label=label, weight=np.zeros(10))
    for regularisation in (0.0, 10.0):
        calibrator = VectorScaling(regularisation=regularisation).fit_blocks([block], 3)
        np.testing.assert_array_equal(calibrator.coef_, np.ones(3))
        np.testing.assert_array_equal(calibrator.intercept_, np.zeros(3))


def test_log_prior_by_hand() -> None:
    calibrator = VectorScaling(regularisation=4.0)
    calibrator.coef_, calibrator.intercept_ = np.array([1.5, 1.0]), np.array([0.5, -0.5])
    assert calibrator.log_prior() == pytest.approx(-4.0 / 2 * 0.75)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_parameters_outside_their_range(value: float) -> None:
    with pytest.raises(InvalidParameter) as caught:
        VectorScaling(regularisation=value).fit([[0.5, 0.5]], [0])
    assert str(caught.value) == f"regularisation must be a number of at least 0; it is {value!r}. Try 10."
