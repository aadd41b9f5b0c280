"""Two correlated witnesses: factors by hand and by simulation, strengths, and their derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import log_softmax, softmax
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegression

from twoheads.kernels.dependence.witnesses import (
    STRENGTH_TEMPERATURES,
    StrengthRatio,
    answer_strength,
    class_shares,
    factors_and_slopes,
    factors_at,
    group_correlation,
    model_share,
    model_strengths,
    relative_bend,
    soft_correlation,
    strength_ratio,
)


def ratio_of(q):
    """A ratio that is q at every temperature, with as many labels as one wants."""
    return strength_ratio(np.full(len(STRENGTH_TEMPERATURES), q), 1.0, 1e12)


def at(tau, r, ratio):
    found = factors_at(np.float64(tau), np.float64(r), ratio)
    return np.array([found.model, found.answer, found.alone], dtype=float)


def test_the_mean_of_correlated_answers_shares_more_with_the_model():
    # Four answers of correlation .2 with each other: their mean has the variance (1 + 3 * .2) / 4 = .4.
    assert group_correlation(0.3, 0.2, 4.0) == pytest.approx(0.3 / 0.4**0.5)
    assert group_correlation(0.3, 0.2, 1.0) == 0.3
    assert group_correlation(0.3, 0.0, 100.0) == 0.9  # no more than the bound of a correlation


def test_factors_by_hand():
    # r = 0.5, q = 1: people 0.5 / 0.75 = 2/3; model (1 - 0.4) / (1 - 0.16) = 5/7, times e^-tau
    np.testing.assert_allclose(at(0.0, 0.5, StrengthRatio()), [5 / 7, 2 / 3, 1.0], atol=1e-4)
    # r = 0.3, a model twice as strong: people 0.4 / 0.91; model (1 - 0.12) / (1 - 0.0576)
    np.testing.assert_allclose(at(1.0, 0.3, ratio_of(2.0)), [0.88 / 0.9424 / np.e, 0.4 / 0.91, 1 / np.e], atol=2e-3)
    # No correlation changes nothing.
    np.testing.assert_allclose(at(0.0, 0.0, ratio_of(3.0)), [1.0, 1.0, 1.0], atol=2e-3)


def test_beside_several_answers_the_model_shares_nearly_as_much_as_they_do():
    # One answer 0.8, four 1 - 0.2 / 4 = 0.95; with r = 0.5 the model's factor is then 1 / (1 + 0.475).
    assert [model_share(n) for n in (1.0, 4.0)] == pytest.approx([0.8, 0.95])
    found = at(0.0, 0.5, StrengthRatio(model_share=model_share(4.0)))
    np.testing.assert_allclose(found, [1 / 1.475, 2 / 3, 1.0], atol=1e-4)


@pytest.mark.parametrize("r", [-0.25, -0.2, -0.17, 0.3, 0.88, 0.92])
def test_the_bend_at_the_bounds_of_r(r):
    step = 1e-4
    before, here, after = (float(soft_correlation(r + by)) for by in (-step, 0.0, step))
    second, first = (before - 2 * here + after) / step**2, (after - before) / (2 * step)
    assert relative_bend(r) == pytest.approx(second / first, abs=1e-3)


def test_a_weak_witness_that_shares_errors_counts_against():
    # r = 0.5, a model three times as strong: people (1 - 1.5) / 0.75 = -2/3, bounded by -0.3
    assert at(0.0, 0.5, ratio_of(3.0))[1] == pytest.approx(-0.3, abs=0.01)
    assert at(0.0, 0.35, ratio_of(3.0))[1] < 0


def test_the_factors_are_the_log_odds_of_two_gaussian_witnesses():
    # Witnesses of strengths 2 and 1 and correlation 0.4: regression finds the factors on their own log-odds.
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200_000)
    noise = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], len(truth))
    log_odds = (noise + np.outer(truth - 0.5, [2.0, 1.0])) * [2.0, 1.0]
    strong, weak = LogisticRegression(C=np.inf).fit(log_odds, truth).coef_[0]
    assert weak == pytest.approx((1 - 0.4 * 2) / (1 - 0.16), abs=0.02)
    assert at(0.0, 0.4, ratio_of(2.0))[1] == pytest.approx(weak, abs=0.02)
    assert strong == pytest.approx((1 - 0.4 / 2) / (1 - 0.16), abs=0.02)


@pytest.mark.parametrize("point", [(0.3, 0.4), (-1.0, 0.85), (2.0, -0.15), (0.0, 0.0)])
def test_slopes(point):
    ratio = replace(strength_ratio(np.exp(-0.3 * STRENGTH_TEMPERATURES), 0.8, 60.0), model_share=0.9)
    numeric = np.array([approx_fprime(point, lambda x, i=i: at(*x, ratio)[i], 1e-7) for i in range(3)])
    found, slopes, _ = factors_and_slopes(*point, ratio)
    np.testing.assert_allclose([found.model, found.answer, found.alone], at(*point, ratio))
    np.testing.assert_allclose(slopes, numeric, atol=1e-4)


def test_few_labels_take_both_as_equally_strong():
    model = np.full(len(STRENGTH_TEMPERATURES), 3.0)
    assert strength_ratio(model, 1.0, 0.0)(np.float64(0.5)) == pytest.approx(0.0)
    assert strength_ratio(model, 1.0, 30.0)(np.float64(0.5)) == pytest.approx(0.5 * np.log(3.0))
    assert strength_ratio(model, 0.01, 1e12)(np.float64(0.5)) == pytest.approx(np.log(6.0))


def test_beside_several_answers_strengths_count_less():
    model = np.full(len(STRENGTH_TEMPERATURES), 3.0)
    assert strength_ratio(model, 1.0, 30.0, 4.0)(np.float64(0.5)) == pytest.approx(0.125 * np.log(3.0))


def test_class_shares_by_hand():
    # Ten labels of class 0 and the model's mean row, uniform, as ten more.
    shares = class_shares(np.log(np.full((2, 4), 0.5)), np.ones(4), np.array([10.0, 0.0]))
    np.testing.assert_allclose(shares, [0.75, 0.25])


def test_strengths_by_information():
    # A person who is right on 90 % of two equally likely classes removes 1 - H(0.1) bits of one bit.
    shares, given = np.array([0.5, 0.5]), np.log([[0.9, 0.1], [0.1, 0.9]])
    removed = 1.0 + 0.1 * np.log2(0.1) + 0.9 * np.log2(0.9)
    expected = np.sqrt(-np.log(1 - removed))
    assert answer_strength(given, np.ones(2), shares) == pytest.approx(expected)
    # A model with these rows is as strong at temperature 1, and weaker when it is flattened.
    strengths = model_strengths(given, np.ones(2), shares)
    assert np.interp(0.0, STRENGTH_TEMPERATURES, strengths) == pytest.approx(expected, abs=0.05)
    assert (np.diff(strengths) <= 1e-12).all()


def test_a_model_without_information_is_weakest():
    strengths = model_strengths(log_softmax(np.zeros((3, 5)), axis=0), np.ones(5), np.full(3, 1 / 3))
    np.testing.assert_allclose(strengths, np.sqrt(-np.log(0.997)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_strengths_are_those_of_scipys_entropies(n_classes):
    rng = np.random.default_rng(n_classes)
    log_proba, weight = np.log(rng.dirichlet(np.full(n_classes, 0.3), 40).T), rng.random(40)
    shares = rng.dirichlet(np.ones(n_classes))
    rows = [softmax(np.exp(-tau) * log_proba, axis=0) for tau in STRENGTH_TEMPERATURES]
    left = np.array([np.average(entropy(each, axis=0), weights=weight) for each in rows]) / entropy(shares)
    expected = np.sqrt(-np.log(np.clip(left, 0.003, 0.997)))
    np.testing.assert_allclose(model_strengths(log_proba, weight, shares), expected, rtol=1e-9)
