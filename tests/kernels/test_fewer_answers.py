import numpy as np
import pytest

from twoheads.kernels.dependence.fewer_answers import between, effective_answers, fitted_share


def test_answers_of_a_correlation_are_worth_fewer_independent_ones():
    np.testing.assert_allclose(effective_answers([0, 1, 2, 3], 0.5), [0, 1, 2 / 1.5, 1.5])
    assert effective_answers(1e9, 0.25) == pytest.approx(4)


def factor_of_model(n_answers, r, s, q):
    """Weight of a Gaussian model q times as strong as one answer, over its weight alone, by linear algebra."""
    covariance = np.full((n_answers + 1, n_answers + 1), s)
    covariance[0] = covariance[:, 0] = r
    np.fill_diagonal(covariance, 1.0)
    means = np.append(q, np.ones(n_answers))
    return np.linalg.solve(covariance, means)[0] / q


@pytest.mark.parametrize(("r", "s", "q"), [(0.2, 0.3, 1.0), (0.3, 0.3, 1.5), (0.3, 0.5, 0.9), (-0.1, 0.2, 1.0)])
def test_the_factor_is_that_of_gaussian_witnesses(r, s, q):
    for n_answers in (1, 2, 5, 50):
        h = effective_answers(n_answers, s)
        assert factor_of_model(n_answers, r, s, q) == pytest.approx((1 - h * r / q) / (1 - h * r**2), rel=1e-9)


@pytest.mark.parametrize(("r", "s", "q"), [(0.2, 0.3, 1.0), (0.3, 0.3, 1.5), (0.24, 0.5, 0.9)])
def test_the_factor_is_nearly_linear_in_the_effective_number(r, s, q):
    n_fit = 5
    at_fit, fitted = effective_answers(n_fit, s), factor_of_model(n_fit, r, s, q)
    assert abs(factor_of_model(1, r, s, q) - fitted) > 0.05  # that of the fit is not as near
    for n_answers in (1, 2, 3):
        share = float(fitted_share(effective_answers([n_answers], s), float(at_fit))[0])
        assert 1 + share * (fitted - 1) == pytest.approx(factor_of_model(n_answers, r, s, q), abs=0.05)


def test_between_goes_from_the_calibrated_model_to_that_of_the_fit():
    log_proba, calibrated = np.log([[0.9, 0.6, 0.2]] * 2), np.log([[0.7, 0.5, 0.3]] * 2)
    part = 0.4 * between(log_proba, calibrated, np.array([0.0, 1.0, 0.25]), factor=0.4)
    np.testing.assert_allclose(part[0], [np.log(0.7), 0.4 * np.log(0.6), 0.75 * np.log(0.3) + 0.1 * np.log(0.2)])


def test_more_answers_than_at_fit_keep_the_factor_of_the_fit():
    np.testing.assert_array_equal(fitted_share(np.array([0.0, 0.5, 2.0, 3.0]), 2.0), [0, 0.25, 1, 1])
    np.testing.assert_array_equal(fitted_share(np.array([0.0, 0.5]), 0.0), [1, 1])
