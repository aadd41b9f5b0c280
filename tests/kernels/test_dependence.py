from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, logsumexp

from twoheads.kernels.confusion.hierarchical import ACCURACY
from twoheads.kernels.dependence.agreement import agreement_log_density
from twoheads.kernels.dependence.grid import dependence_values, model_alone_weight
from twoheads.kernels.dependence.mode import (
    DependencePrior,
    Posterior,
    dependence_mode,
    dependence_sums,
    log_prior,
    prior_with_agreement,
    start_between,
)
from twoheads.kernels.dependence.nodes import dependence_proba
from twoheads.kernels.dependence.posterior import fit_dependence, fit_dependence_mode
from twoheads.kernels.dependence.witnesses import Factors, StrengthRatio, factors_at

EQUAL = StrengthRatio()


def factors(model, answer, alone):
    return Factors(np.array(model), np.array(answer), np.array(alone))


def simulated(n, k, seed=0):
    """Items as (Z, L, y): an over-confident model, and a human of accuracy 0.7 whose matrix is known."""
    rng = np.random.default_rng(seed)
    true_label = rng.integers(k, size=n)
    logits = rng.normal(size=(k, n))
    logits[true_label, np.arange(n)] += 2.0
    human_label = np.where(rng.random(n) < 0.7, true_label, rng.integers(k, size=n))
    matrix = np.full((k, k), 0.3 / k) + 0.7 * np.eye(k)
    return log_softmax(2.0 * logits, axis=0), np.log(matrix)[:, human_label], true_label


def functions(*items, weight=None):
    return partial(dependence_sums, *items, weight), partial(dependence_values, *items, weight)


def fitted(*items, weight=None, **options):
    n = items[0].shape[1] if weight is None else weight.sum()
    return fit_dependence(*functions(*items, weight=weight), n, len(items[0]), **options)


def written_out(z, given, y, weight, model, answer, own, bias, alone):
    """The objective as the formula is, for checking against."""
    item = np.arange(len(y))
    both = log_softmax(model * z + answer * given + bias[:, None], axis=0)[y, item]
    return float((both + alone * log_softmax(own * z + bias[:, None], axis=0)[y, item]) @ weight)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("biased", [False, True])
def test_value_gradient_and_hessian(k, biased):
    rng = np.random.default_rng(3)
    items, weight = simulated(25, k), rng.gamma(1, size=25)
    point = np.concatenate([[0.5, 0.8, 0.7], rng.normal(size=k) if biased else []])

    def at(x):
        return dependence_sums(*items, weight, factors(*x[:3]), x[3:] if biased else None, 0.3)

    value, gradient, hessian = at(point)
    bias = point[3:] if biased else np.zeros(k)
    assert value == pytest.approx(written_out(*items, weight, 0.5, 0.8, 0.7, bias, 0.3))
    np.testing.assert_allclose(gradient, approx_fprime(point, lambda x: at(x)[0], 1e-6), atol=1e-3)
    np.testing.assert_allclose(hessian, approx_fprime(point, lambda x: at(x)[1], 1e-6), atol=1e-3)


@pytest.mark.parametrize("bias_sd", [0.0, 0.3])
def test_prior_gradient_and_hessian(bias_sd):
    prior = DependencePrior()
    point = np.array([2.5, -0.4, 0.2, -0.1])[: 4 if bias_sd else 2]

    def at(x):
        return log_prior(prior, x[0], x[1], x[2:] if bias_sd else None, bias_sd)

    np.testing.assert_allclose(at(point)[1], approx_fprime(point, lambda x: at(x)[0], 1e-6), atol=1e-3)
    np.testing.assert_allclose(at(point)[2], approx_fprime(point, lambda x: at(x)[1], 1e-6), atol=1e-3)


def test_sums_and_values_do_not_depend_on_how_items_are_cut():
    z, given, y = simulated(40, 4)
    weight, bias = np.random.default_rng(0).gamma(1, size=40), np.array([0.1, 0, -0.1, 0.2])
    cuts = [slice(0, 7), slice(7, 8), slice(8, 40)]
    one = factors(0.7, 0.9, 0.8)
    whole = dependence_sums(z, given, y, weight, one, bias, 0.5)
    parts = [dependence_sums(z[:, s], given[:, s], y[s], weight[s], one, bias, 0.5) for s in cuts]
    for entry in range(3):
        np.testing.assert_allclose(sum(part[entry] for part in parts), whole[entry], rtol=1e-10)
    four = factors([[0.7, 0.6], [0.5, 0.4]], [[0.9, 0.8], [1.0, -0.2]], [[0.8], [0.3]])
    grid = dependence_values(z, given, y, weight, four, bias, 0.5)
    parts = [dependence_values(z[:, s], given[:, s], y[s], weight[s], four, bias, 0.5) for s in cuts]
    np.testing.assert_allclose(sum(parts), grid, rtol=1e-10)
    assert grid[0, 0] == pytest.approx(whole[0])
    assert grid[1, 1] == pytest.approx(written_out(z, given, y, weight, 0.4, -0.2, 0.3, bias, 0.5))


def test_values_of_many_items_agree_with_those_of_few():
    z, given, y = simulated(9000, 5)
    four = factors([[0.7, 0.6], [0.5, 0.4]], [[0.9, 0.8], [1.0, -0.2]], [[0.8], [0.3]])
    whole = dependence_values(z, given, y, None, four, None, 0.1)
    assert whole[1, 1] == pytest.approx(written_out(z, given, y, np.ones(9000), 0.4, -0.2, 0.3, np.zeros(5), 0.1))


@pytest.mark.parametrize(("n", "k", "bias_sd"), [(5, 3, 0.0), (40, 3, 0.3), (300, 6, 1.0), (0, 4, 0.3)])
def test_mode_agrees_with_a_general_optimiser(n, k, bias_sd):
    items, prior = simulated(n, k), DependencePrior()
    sums, _ = functions(*items)

    def objective(x):
        bias = x[2:] if bias_sd else None
        value = sums(factors_at(x[0], x[1], EQUAL), bias, model_alone_weight(n))[0]
        return -(value + log_prior(prior, x[0], x[1], bias, bias_sd)[0])

    start = np.concatenate([[0.5, 0.3], np.zeros(k if bias_sd else 0)])
    best = minimize(objective, start, method="BFGS", options={"gtol": 1e-6})
    posterior = Posterior(sums, model_alone_weight(n), prior, EQUAL, bias_sd)
    mode = dependence_mode(posterior, (2.0, 0.0), k, enough=1e-8)
    assert mode.log_posterior == pytest.approx(-best.fun, abs=1e-4)
    assert mode.log_temperature == pytest.approx(best.x[0], abs=2e-3)
    assert mode.correlation == pytest.approx(best.x[1], abs=2e-3)
    if mode.bias is not None:
        np.testing.assert_allclose(mode.bias, best.x[2:], atol=2e-3)


def test_a_mode_at_the_bound_of_r_takes_few_passes():
    # People's evidence is understated by two thirds, so that r would be far below its bound of -0.2.
    z, given, y = simulated(2000, 3)
    passes, prior = [], DependencePrior()

    def sums(*at):
        passes.append(at)
        return dependence_sums(z, 0.3 * given, y, None, *at)

    mode = dependence_mode(Posterior(sums, 0.0, prior, EQUAL), (0.5, 0.3), 3, enough=1e-6)

    def objective(x):
        value = dependence_sums(z, 0.3 * given, y, None, factors_at(x[0], x[1], EQUAL), None, 0.0)[0]
        return -(value + log_prior(prior, x[0], x[1], None, 0.0)[0])

    best = minimize(objective, [mode.log_temperature, -0.25], method="Nelder-Mead", options={"xatol": 1e-6})
    assert mode.log_posterior == pytest.approx(-best.fun, abs=1e-4)
    assert mode.correlation < -0.2
    assert len(passes) < 20


@pytest.mark.parametrize("n", [30, 400])
def test_the_grid_agrees_with_a_fine_one(n):
    # Without bias, tau and r can be integrated by brute force.
    z, given, y = simulated(n, 3)
    prior = DependencePrior(bias_sd=(0.0,), bias_weight=(1.0,))
    nodes = fitted(z, given, y, prior=prior)
    tau, r = np.linspace(-2, 4, 121)[:, None], np.tile(np.linspace(-0.2, 0.9, 67), (121, 1))
    log_weight = dependence_values(z, given, y, None, factors_at(tau, r, EQUAL), None, model_alone_weight(n))
    log_weight += [[log_prior(prior, t[0], each, None, 0.0)[0] for each in r[0]] for t in tau]
    weight = np.exp(log_weight - logsumexp(log_weight))
    assert nodes.weight @ nodes.log_temperature == pytest.approx(weight.sum(axis=1) @ tau[:, 0], abs=0.02)
    assert nodes.weight @ nodes.correlation == pytest.approx(weight.sum(axis=0) @ r[0], abs=0.01)


@pytest.mark.parametrize(("n", "other"), [(199, 200), (999, 1000)])
def test_the_grids_of_few_and_of_many_labels_agree_where_they_meet(n, other):
    z, given, y = simulated(n, 4)
    sums, values = functions(z, given, y)
    proba = [dependence_proba(z, given, fit_dependence(sums, values, m, 4)) for m in (n, other)]
    np.testing.assert_allclose(proba[0], proba[1], atol=3e-3)


def test_with_many_labels_the_mode_says_what_the_grid_says():
    z, given, y = simulated(20_000, 4)
    sums, values = functions(z, given, y)
    sample_sums, _ = functions(z[:, ::10], given[:, ::10], y[::10])
    mode = fit_dependence_mode(sums, sample_sums, 20_000, 2_000, 4)
    assert len(mode.weight) == 1
    grid = fit_dependence(sums, values, 20_000, 4)
    np.testing.assert_allclose(dependence_proba(z, given, mode), dependence_proba(z, given, grid), atol=2e-3)


def test_parameters_are_recovered():
    # Labels drawn from the combination itself with tau = 0.8, r = 0.5, and a bias towards class 0.
    rng = np.random.default_rng(0)
    z, given, _ = simulated(20_000, 3)
    true = factors_at(0.8, 0.5, EQUAL)
    logits = true.model * z + true.answer * given + np.array([[0.6], [0], [-0.6]])
    proba = np.exp(log_softmax(logits, axis=0))
    y = (rng.random(20_000) > np.cumsum(proba, axis=0)).sum(axis=0).clip(0, 2)
    mode = fit_dependence_mode(functions(z, given, y)[0], functions(z, given, y)[0], 20_000, 20_000, 3)
    assert mode.log_temperature[0] == pytest.approx(0.8, abs=0.05)
    assert mode.correlation[0] == pytest.approx(0.5, abs=0.1)
    np.testing.assert_allclose(mode.bias[0], [0.6, 0, -0.6], atol=0.1)


def test_without_labels_the_prior_speaks():
    nodes = fitted(*simulated(0, 3))
    assert nodes.weight.sum() == pytest.approx(1.0)
    assert nodes.weight @ nodes.log_temperature == pytest.approx(0.5, abs=0.02)
    assert nodes.weight @ nodes.correlation == pytest.approx(0.3, abs=0.02)
    np.testing.assert_array_equal(nodes.bias, 0.0)


@pytest.mark.parametrize("n", [1, 10, 300])
@pytest.mark.parametrize("k", [2, 100])
def test_predictions_are_distributions(n, k):
    z, given, y = simulated(n, k)
    proba = dependence_proba(z, given, fitted(z, given, y))
    np.testing.assert_allclose(proba.sum(axis=0), 1.0, rtol=1e-10)
    assert (proba >= 0).all()


@pytest.mark.parametrize("n", [3, 50, 500])
def test_a_model_that_is_certain_and_wrong_is_not_believed(n):
    _, given, y = simulated(n, 4)
    z = np.full((4, n), -87.0)
    z[(y + 1) % 4, np.arange(n)] = 0.0
    nodes = fitted(z, given, y)
    proba = dependence_proba(z, given, nodes)
    assert np.isfinite(proba).all()
    assert nodes.weight @ nodes.log_temperature > 1.0
    if n >= 50:
        assert np.mean(proba.argmax(axis=0) == given.argmax(axis=0)) > 0.9


@pytest.mark.parametrize("n", [10, 300, 3000])
def test_a_model_that_knows_nothing_changes_nothing(n):
    _, given, y = simulated(n, 3)
    z = log_softmax(3.0 * np.random.default_rng(1).normal(size=(3, n)), axis=0)
    nodes = fitted(z, given, y)
    assert np.isfinite(nodes.weight).all()
    proba = dependence_proba(z, given, nodes)
    if n >= 300:
        assert np.mean(proba.argmax(axis=0) == given.argmax(axis=0)) > 0.95


def test_a_model_that_is_certain_and_right_and_a_class_without_example():
    _, given, y = simulated(60, 4)
    y = y % 3
    z = np.full((4, 60), -87.0)
    z[y, np.arange(60)] = 0.0
    proba = dependence_proba(z, given, fitted(z, given, y))
    assert (proba.argmax(axis=0) == y).all()
    assert np.isfinite(proba).all()


def test_weight_two_is_twice():
    z, given, y = simulated(30, 3)
    weighted = fitted(z, given, y, weight=np.full(30, 2.0))
    twice = fitted(np.tile(z, 2), np.tile(given, 2), np.tile(y, 2))
    np.testing.assert_allclose(dependence_proba(z, given, weighted), dependence_proba(z, given, twice), atol=1e-9)


def test_renaming_classes_permutes():
    z, given, y = simulated(60, 4)
    order = np.array([2, 0, 3, 1])
    nodes, renamed = fitted(z, given, y), fitted(z[order], given[order], np.argsort(order)[y])
    proba = dependence_proba(z, given, nodes)
    np.testing.assert_allclose(dependence_proba(z[order], given[order], renamed), proba[order], atol=1e-6)


def test_a_shared_bias_is_found_only_where_there_is_one():
    z, given, y = simulated(400, 3)
    plain = fitted(z, given, y)
    shifted = z + np.array([[2.0], [0.0], [-2.0]])
    biased = fitted(shifted, given, y)
    assert np.bincount(plain.bias_of, plain.weight, 3)[0] > 0.5
    assert np.bincount(biased.bias_of, biased.weight, 3)[0] < 0.01


def test_agreement_tells_an_overconfident_model_from_a_sound_one():
    rng = np.random.default_rng(0)
    answer = rng.integers(4, size=200)
    z = np.log(np.full((4, 200), 0.01 / 3))
    z[answer, np.arange(200)] = np.log(0.99)
    accuracy_weight = np.exp(-0.5 * ((ACCURACY - 0.9) / 0.03) ** 2)
    accuracy_weight /= accuracy_weight.sum()
    doubted = np.where(rng.random(200) < 0.5, answer, rng.integers(4, size=200))
    tau = np.linspace(-1, 3, 41)
    sound = tau[np.argmax(agreement_log_density(z, np.eye(len(z))[:, answer], ACCURACY, accuracy_weight)(tau))]
    boasting = tau[np.argmax(agreement_log_density(z, np.eye(len(z))[:, doubted], ACCURACY, accuracy_weight)(tau))]
    assert boasting > sound + 0.5


def test_agreement_of_an_item_of_weight_2_is_that_of_two():
    rng = np.random.default_rng(1)
    z, label = np.log(rng.dirichlet(np.ones(3), 12).T), np.eye(3)[:, rng.integers(3, size=12)]
    weight, chance = rng.integers(1, 4, 12), np.full(len(ACCURACY), 1.0 / len(ACCURACY))
    rows, tau = np.repeat(np.arange(12), weight), np.linspace(-3.0, 4.0, 9)
    weighted = agreement_log_density(z, label, ACCURACY, chance, weight.astype(float))
    repeated = agreement_log_density(z[:, rows], label[:, rows], ACCURACY, chance)
    np.testing.assert_allclose(weighted(tau), repeated(tau), atol=1e-12)
    assert weighted.share == repeated.share


def test_agreement_by_hand():
    # Two classes, one item, the model indifferent: q = 1/2 at every temperature, so nothing is learnt.
    density = agreement_log_density(np.log([[0.5], [0.5]]), np.array([[1.0], [0.0]]), np.array([0.8]), np.array([1.0]))
    np.testing.assert_allclose(density(np.array([-4.0, 0.0, 7.0])), 0.0, atol=1e-12)
    # m = (0.8, 0.2), answer 0, at tau = 0 (taken at 0.2 further on): q = 0.8, 0.8 * 0.8 + 0.2 * 0.2 = 0.68;
    # at the sharpest temperature q = 1 and the likelihood is 0.8, which is the maximum.
    density = agreement_log_density(np.log([[0.8], [0.2]]), np.array([[1.0], [0.0]]), np.array([0.8]), np.array([1.0]))
    assert density(np.array([-0.2]))[0] == pytest.approx(np.log(0.68 / 0.8))
    # Two answers that are tied: q = (0.8 + 0.2) / 2 at every temperature, so nothing is learnt.
    density = agreement_log_density(np.log([[0.8], [0.2]]), np.array([[0.5], [0.5]]), np.array([0.8]), np.array([1.0]))
    np.testing.assert_allclose(density(np.array([-4.0, 0.0, 7.0])), 0.0, atol=1e-12)


def test_agreement_moves_the_temperature_and_its_prior_goes_with_it():
    z, given, y = simulated(5, 3)
    prior = prior_with_agreement(5)
    assert sum(prior.bias_weight) == pytest.approx(1.0)
    plain = fitted(z, given, y, prior=prior)
    pulled = fitted(z, given, y, prior=prior, agreement=lambda tau: -0.5 * ((tau - 2.0) / 0.2) ** 2)
    assert pulled.weight @ pulled.log_temperature > plain.weight @ plain.log_temperature + 0.3
    nothing = fitted(*simulated(0, 3), prior=prior_with_agreement(0))
    assert len(nothing.bias) == 1  # without a label a bias has no weight


def test_a_search_for_the_mode_starts_between_its_neighbours():
    modes = {-1.0: (0.2, 0.4), 1.0: (0.6, 0.2), 0.0: (0.3, 0.3)}
    assert start_between(modes, 0.5) == pytest.approx((0.45, 0.25))
    assert start_between(modes, -3.0) == (0.2, 0.4)
