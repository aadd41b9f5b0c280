"""Class shares of the items at hand, against brute force and a simulation with known shares."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import t as student_t

from twoheads.kernels.inference.label_shift import (
    Prior,
    estimate_shift,
    shift_information,
    shift_log_likelihood,
    shift_mode,
)


def posteriors(rng, shares, n, at_fit):
    """Posteriors of a calibrated forecaster at the shares ``at_fit``, for items of other shares: (n_classes, n)."""
    n_classes = len(shares)
    truth = rng.choice(n_classes, n, p=shares)
    evidence = rng.normal(size=(n_classes, n))
    evidence[truth, np.arange(n)] += 1.5
    joint = np.log(at_fit)[:, None] + 1.5 * evidence
    proba = np.exp(joint - joint.max(axis=0))
    return proba / proba.sum(axis=0), truth


def test_the_mode_is_that_of_an_independent_optimiser():
    rng = np.random.default_rng(0)
    at_fit = np.array([0.5, 0.3, 0.2])
    posterior, _ = posteriors(rng, np.array([0.1, 0.3, 0.6]), 50, at_fit)
    weight = rng.uniform(0.5, 1.5, 50)

    def loss(delta):
        share = at_fit * np.exp(delta)
        ratio = share / share.sum() / at_fit
        return -student_t(2, scale=0.7).logpdf(delta).sum() - weight @ np.log(ratio @ posterior)

    expected = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    found = shift_mode(posterior, weight, at_fit, prior=Prior(0.7, 2.0), start=np.zeros(3))
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_without_a_prior_the_mode_is_the_fixed_point_of_em():
    rng = np.random.default_rng(1)
    at_fit = np.array([0.4, 0.4, 0.2])
    posterior, _ = posteriors(rng, np.array([0.2, 0.2, 0.6]), 400, at_fit)
    shares = at_fit.copy()
    for _ in range(2000):
        each = posterior * (shares / at_fit)[:, None]
        shares = (each / each.sum(axis=0)).mean(axis=1)
    delta = shift_mode(posterior, np.ones(400), at_fit, prior=Prior(1e4, 2.0), start=np.zeros(3))
    odds = at_fit * np.exp(delta)
    np.testing.assert_allclose(odds / odds.sum(), shares, atol=1e-4)


def test_information_is_the_curvature_at_the_maximum():
    rng = np.random.default_rng(2)
    at_fit = np.array([0.6, 0.4])
    posterior, _ = posteriors(rng, at_fit, 300, at_fit)
    weight = np.ones(300)
    delta = shift_mode(posterior, weight, at_fit, prior=Prior(1e4, 2.0), start=np.zeros(2))
    step = 1e-3 * np.array([1.0, -1.0])
    values = shift_log_likelihood(posterior, weight, at_fit, np.array([delta - step, delta, delta + step]))
    curvature = -(values[0] - 2 * values[1] + values[2]) / 1e-6
    direction = np.array([1.0, -1.0])
    assert direction @ shift_information(posterior, weight, delta) @ direction == pytest.approx(curvature, rel=1e-3)


@pytest.mark.parametrize("rare", [0.05, 0.3])
def test_distributions_of_shares_are_near_those_of_brute_force(rare):
    rng, at_fit = np.random.default_rng(8), np.array([0.5, 0.5])
    posterior, _ = posteriors(rng, np.array([1.0 - rare, rare]), 150, at_fit)
    found = estimate_shift(posterior, at_fit, 1e9).unshrunk
    delta = np.stack(np.meshgrid(np.linspace(-20, 20, 401), np.linspace(-40, 20, 601), indexing="ij"), axis=-1)
    share = at_fit * np.exp(delta)
    share /= share.sum(axis=-1, keepdims=True)
    log_density = student_t(2, scale=3.2).logpdf(delta).sum(axis=-1)
    for each in posterior.T:
        log_density += np.log((share / at_fit) @ each)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    order = np.argsort(share[..., 1], axis=None)
    high = share[..., 1].ravel()[order][np.searchsorted(density.ravel()[order].cumsum(), 0.95)]
    assert found.interval(0.9)[1][1] == pytest.approx(high, rel=0.15)  # the grid resolves a tenth
    mean = (density * np.log(share[..., 1])).sum()
    mode = shift_mode(posterior, np.ones(150), at_fit, prior=Prior(3.2, 2.0), start=np.zeros(2))
    mode = np.log(at_fit[1]) + mode[1] - np.log(at_fit @ np.exp(mode))
    assert abs(found.log_share[1] - mean) < max(0.02, 0.8 * abs(mode - mean))  # the mode is not skewed enough


def test_one_absent_class_leaves_the_others_as_they_are():
    rng, at_fit = np.random.default_rng(8), np.full(8, 0.125)
    posterior, _ = posteriors(rng, np.array([0.0] + [1 / 7] * 7), 1000, at_fit)
    found = estimate_shift(posterior, at_fit, 2000)
    assert found.probability > 0.99
    assert found.log_ratio[0] < found.log_ratio[1:].mean() - 2.5
    assert found.log_ratio[1:].std() < 0.2


def test_items_of_the_fit_are_not_shifted():
    rng = np.random.default_rng(3)
    at_fit = np.array([0.7, 0.2, 0.1])
    posterior, _ = posteriors(rng, at_fit, 1000, np.array([0.4, 0.3, 0.3]))  # biased, and so is its mean at fit
    found = estimate_shift(posterior, posterior.mean(axis=1), 1000)
    assert found.probability < 0.2
    np.testing.assert_allclose(found.log_ratio, 0.0, atol=0.01)
    np.testing.assert_allclose(found.shares, posterior.mean(axis=1), atol=1e-3)


def test_a_class_without_an_item_at_fit_is_possible():
    rng = np.random.default_rng(4)
    posterior, _ = posteriors(rng, np.array([0.5, 0.5]), 200, np.array([0.5, 0.5]))
    found = estimate_shift(posterior, np.array([1.0, 0.0]), 30)
    assert np.isfinite(found.log_ratio).all()
    assert found.shares[1] > 0.2


def test_weights_count_items_several_times():
    rng = np.random.default_rng(5)
    at_fit = np.array([0.5, 0.5])
    posterior, _ = posteriors(rng, np.array([0.8, 0.2]), 100, at_fit)
    twice = estimate_shift(np.hstack([posterior, posterior]), at_fit, 500)
    weighted = estimate_shift(posterior, at_fit, 500, np.full(100, 2.0))
    np.testing.assert_allclose(weighted.shares, twice.shares, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 6])
@pytest.mark.parametrize("shifted", [False, True])
def test_intervals_cover_the_shares(n_classes, shifted):
    rng, at_fit = np.random.default_rng(6), np.full(n_classes, 1.0 / n_classes)
    covered, said = [], []
    for _ in range(25):
        shares = 0.6 ** rng.permutation(n_classes) if shifted else np.ones(n_classes)
        shares = shares / shares.sum()
        fit, _ = posteriors(rng, at_fit, 400, at_fit)
        posterior, _ = posteriors(rng, shares, 300, at_fit)
        found = estimate_shift(posterior, fit.mean(axis=1), 400)
        low, high = found.interval(0.9)
        covered.append((low <= shares) & (shares <= high))
        said.append(found.probability >= 0.95)
    assert 0.84 <= np.mean(covered) <= 1.0
    if not shifted:
        assert np.mean(said) <= 0.1
    elif n_classes > 2:
        assert np.mean(said) >= 0.95
