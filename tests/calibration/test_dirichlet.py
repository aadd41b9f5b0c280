from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import LogisticRegression

from twoheads.calibration.dirichlet import DirichletCalibration
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.affine import full_curvature, full_loss
from twoheads.kernels.numerics import newton as convex
from twoheads.kernels.simplex import log_simplex
from twoheads.testing.calibrators import problem


def mean_log_loss(coefficients: Floats, proba: Floats, label: Codes) -> float:
    logits = np.log(proba) @ coefficients[:, :-1].T + coefficients[:, -1]
    log_proba = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return float(-log_proba[np.arange(len(label)), label].mean())


def paper_objective(flat: Floats, proba: Floats, label: Codes, off_diagonal: float, intercept: float) -> float:
    n_classes = proba.shape[1]
    coefficients = flat.reshape(n_classes, n_classes + 1)
    off = coefficients[:, :-1][~np.eye(n_classes, dtype=bool)]
    return float(
        mean_log_loss(coefficients, proba, label)
        + off_diagonal * (off**2).mean()
        + intercept * (coefficients[:, -1] ** 2).mean()
    )


def coefficients(calibrator: DirichletCalibration) -> Floats:
    return np.concatenate([calibrator.coef_, calibrator.intercept_[:, None]], axis=1)


@pytest.mark.parametrize(("n_classes", "off_diagonal", "intercept"), [(2, 0.01, 0.1), (3, 0.1, 0.01), (3, 1e-3, 1e-3)])
def test_without_the_prior_it_minimises_the_paper_objective(
    n_classes: int, off_diagonal: float, intercept: float
) -> None:
    proba, label = problem(200, n_classes)
    given = (proba, label, off_diagonal, intercept)
    start = np.eye(n_classes, n_classes + 1).ravel()
    solved = minimize(paper_objective, start, args=given, method="BFGS", options={"gtol": 1e-6})
    calibrator = DirichletCalibration(
        off_diagonal_penalty=off_diagonal, intercept_penalty=intercept, regularisation=0.0
    ).fit(proba, label)
    found = coefficients(calibrator)
    assert paper_objective(found.ravel(), *given) <= solved.fun + 1e-10
    np.testing.assert_allclose(found.ravel(), solved.x, atol=5e-3)


def test_the_prior_is_part_of_the_objective() -> None:
    proba, label = problem(60, 3)
    rho = 2.0

    def objective(flat: Floats) -> float:
        away = flat.reshape(3, 4) - np.eye(3, 4)
        scale = np.where(np.eye(3, 4, dtype=bool), 1.0, 9.0)
        scale[:, -1] = 1.0
        return 60 * paper_objective(flat, proba, label, 1e-3, 1e-3) + rho / 2 * float((scale * away**2).sum())

    solved = minimize(objective, np.eye(3, 4).ravel(), method="BFGS", options={"gtol": 1e-4})
    calibrator = DirichletCalibration(regularisation=rho).fit(proba, label)
    np.testing.assert_allclose(coefficients(calibrator).ravel(), solved.x, atol=1e-4)
    penalty = objective(coefficients(calibrator).ravel()) - 60 * mean_log_loss(coefficients(calibrator), proba, label)
    assert calibrator.log_prior() == pytest.approx(-penalty)


def test_without_penalties_it_is_a_logistic_regression_on_log_probabilities() -> None:
    proba, label = problem(500, 3)
    reference = LogisticRegression(C=1e8, tol=1e-10, max_iter=10_000).fit(np.log(proba), label)
    calibrator = DirichletCalibration(off_diagonal_penalty=0.0, intercept_penalty=0.0, regularisation=0.0)
    calibrator.fit(proba, label)
    expected = reference.predict_proba(np.log(proba))
    np.testing.assert_allclose(calibrator.predict_proba(proba), expected, atol=1e-4)


def test_a_confused_pair_of_classes_is_untangled() -> None:
    # The model swaps classes 0 and 1: no temperature mends that, a full matrix does.
    proba, label = problem(3000, 3)
    swapped = proba[:, [1, 0, 2]]
    out = DirichletCalibration().fit(swapped, label).predict_proba(swapped)
    honest = proba**0.6 / (proba**0.6).sum(axis=1, keepdims=True)
    assert np.abs(out - honest).mean() < 0.03


def test_gradient_and_curvature_are_derivatives_of_the_loss() -> None:
    proba, label = problem(30, 3)
    block = Block(log_simplex(proba), true_label=label, weight=np.linspace(0.5, 2.0, 30))
    at = np.eye(3, 4) + 0.1 * np.random.default_rng(0).normal(size=(3, 4))
    numeric = approx_fprime(at.ravel(), lambda x: full_loss(block, x.reshape(3, 4))[0], 1e-7)
    np.testing.assert_allclose(full_loss(block, at)[1].ravel(), numeric, rtol=1e-4, atol=1e-4)
    bends = approx_fprime(at.ravel(), lambda x: full_loss(block, x.reshape(3, 4))[1].ravel(), 1e-7)
    np.testing.assert_allclose(full_curvature(block, at)[0], bends, rtol=1e-4, atol=1e-4)


def test_the_quasi_newton_way_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    proba, label = problem(100, 3)
    newton = DirichletCalibration().fit(proba, label)
    monkeypatch.setattr(convex, "NEWTON_LIMIT", 0)
    other = DirichletCalibration().fit(proba, label)
    np.testing.assert_allclose(coefficients(other), coefficients(newton), atol=1e-4)


def test_one_label_moves_little() -> None:
    proba, label = problem(50, 5)
    for at in range(5):
        moved = DirichletCalibration().fit(proba[at : at + 1], label[at : at + 1]).predict_proba(proba)
        assert np.abs(moved - proba).mean() < 0.05


def test_a_thousand_classes() -> None:
    proba, label = problem(1, 1000)
    out = DirichletCalibration().fit(proba, label).predict_proba(proba)
    assert np.isfinite(out).all()
    np.testing.assert_allclose(out.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["off_diagonal_penalty", "intercept_penalty", "regularisation"])
def test_parameters_outside_their_range(name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"^{name} must be a number of at least 0; it is -1. Try "):
        DirichletCalibration(**{name: -1}).fit([[0.5, 0.5]], [0])
