"""The ridge regression of a panel: its mode, leaving items out, averages, and how far members err together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from twoheads.kernels.answers import pack_answers
from twoheads.kernels.panel.average import chance_at_even_odds, fit_panel
from twoheads.kernels.panel.leave_one_out import left_out_proba, moderated, variance_of_lead
from twoheads.kernels.panel.prediction import FittedPanel, leading_two, moments, panel_proba
from twoheads.kernels.panel.ridge import PanelData, design_of, fit_ridge
from twoheads.kernels.panel.votes import (
    LevelScale,
    effective_members,
    error_correlation,
    level_features,
    vote_features,
    votes_of,
)


def panel(n_items=40, n_classes=3, n_members=4, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    posterior = rng.dirichlet(np.ones(n_classes), n_items).T + 0.1
    posterior[truth, np.arange(n_items)] += 0.5
    votes = np.where(rng.random((n_items, n_members)) < 0.6, truth[:, None], rng.integers(n_classes, size=(n_items, 1)))
    votes[rng.random(votes.shape) < 0.2] = -1
    features = (votes[:, None, :] == np.arange(n_classes)[:, None]) / 2.0
    log_posterior = np.log(posterior / posterior.sum(axis=0))
    weight = np.ones(n_items) if weight is None else weight
    return PanelData(design_of(log_posterior, features), truth, weight), np.exp(log_posterior).T


def written_out(rows, theta, covariance):
    """Probabilities of one item from its rows of the design, (n_classes, n_parameters), and a normal posterior."""
    logits = rows @ theta
    second, first = np.argsort(logits)[-2:]
    lead = rows[first] - rows[second]
    return np.exp(log_softmax(logits / np.sqrt(1 + np.pi * (lead @ covariance @ lead) / 8)))


def log_posterior_of(data, scale, theta):
    """Written out item by item, as an independent computation."""
    n_classes = data.n_classes
    value = -0.5 * ((theta[0] - 1) / 0.2) ** 2 - 0.5 * (theta[1 : 1 + n_classes] ** 2).sum() / 0.2**2
    value -= 0.5 * (theta[1 + n_classes :] ** 2).sum() / scale**2
    for rows, truth, weight in zip(data.design, data.true_label, data.weight, strict=True):
        value += weight * log_softmax(rows @ theta)[truth]
    return value


@pytest.mark.parametrize(("scale", "n_classes"), [(0.2, 3), (1.0, 3), (0.6, 2)])
def test_the_mode_is_that_of_a_general_optimiser(scale, n_classes):
    data, _ = panel(n_classes=n_classes, weight=np.random.default_rng(1).random(40) * 2)
    found = fit_ridge(data, scale)
    start = np.append(1.0, np.zeros(len(found.theta) - 1))
    other = minimize(lambda at: -log_posterior_of(data, scale, at), start, method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found.theta, other.x, atol=1e-4)
    again = fit_ridge(data, scale, start=other.x + 0.3)
    np.testing.assert_allclose(again.theta, found.theta, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("most", [1.0, 3.0])
def test_leaving_an_item_out_is_close_to_a_refit_without_it(n_classes, most):
    own = np.linspace(1.0, most, 60)
    data, _ = panel(n_items=60, n_classes=n_classes, weight=own)
    mode = fit_ridge(data, 0.6)
    approximate = left_out_proba(data, mode)
    inside = fit_ridge(data, 0.6)
    errors, shrunk = [], []
    for item in range(60):
        weight = np.where(np.arange(60) == item, 0.0, own)
        refit = fit_ridge(PanelData(data.design, data.true_label, weight), 0.6)
        exact, fitted = (written_out(data.design[item], at.theta, at.covariance) for at in (refit, inside))
        errors.append(np.abs(exact - approximate[item]).max())
        shrunk.append(np.abs(exact - fitted).max())
    assert max(errors) < 0.01
    assert np.mean(errors) < 0.05 * np.mean(shrunk)  # far closer than no correction at all


def test_two_classes_are_a_third_that_never_comes():
    data, _ = panel(n_items=50, n_classes=2, weight=np.random.default_rng(0).random(50) * 2)
    design = np.zeros((50, 3, data.design.shape[2]))
    design[:, :2], design[:, 2, 0] = data.design, -40.0
    more = PanelData(np.insert(design, 3, np.eye(3)[2], axis=2), data.true_label, data.weight)
    two, three = fit_ridge(data, 0.6), fit_ridge(more, 0.6)
    np.testing.assert_allclose(np.delete(three.theta, 3), two.theta, atol=1e-6)
    np.testing.assert_allclose(left_out_proba(more, three)[:, :2], left_out_proba(data, two), atol=1e-6)


def test_weight_two_is_the_item_twice_at_every_scale():
    weight = np.where(np.arange(40) < 10, 2.0, 1.0)
    data, _ = panel(weight=weight)
    twice = np.repeat(np.arange(40), weight.astype(int))
    repeated = PanelData(data.design[twice], data.true_label[twice], np.ones(50))
    for scale in (0.2, 0.6):
        one, other = fit_ridge(data, scale), fit_ridge(repeated, scale)
        np.testing.assert_allclose(one.theta, other.theta, atol=1e-7)
        np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-7)


def test_items_of_weight_zero_change_nothing():
    data, untouched = panel()
    masked = PanelData(data.design, data.true_label, np.where(np.arange(40) < 30, 1.0, 0.0))
    fewer = PanelData(data.design[:30], data.true_label[:30], np.ones(30))
    one, other = fit_panel(masked, untouched), fit_panel(fewer, untouched[:30])
    np.testing.assert_allclose(one.left_out[:30], other.left_out, rtol=1e-8)


@pytest.mark.parametrize(("n_classes", "scored"), [(2, []), (4, []), (2, [3]), (2, [1, 4])])
def test_predictions_are_those_of_the_design(n_classes, scored):
    """Annotators 1, 3 and 4 of six are members; some are not asked, some answer twice, and nobody answers item 0."""
    rng = np.random.default_rng(n_classes)
    item, column = np.unique(np.stack([rng.integers(1, 30, 90), rng.integers(6 * n_classes, size=90)]), axis=1)
    answers, members = pack_answers(item, column, 30), np.array([1, 3, 4])
    level = np.where(rng.random(len(column)) < 0.2, np.nan, rng.integers(10, size=len(column)))
    proba = rng.dirichlet(np.ones(n_classes), 30).T
    scale = LevelScale(np.array(scored, dtype=np.intp), rng.normal(size=len(scored)), 1 + rng.random(len(scored)))
    n_parameters = 1 + n_classes + 3 + len(scored)
    root = rng.normal(size=(n_parameters, n_parameters))
    panel = FittedPanel(members, scale, 0.3, 0.8, rng.normal(size=n_parameters), root @ root.T)
    levels = level_features(answers, level, scale, n_classes, 0.3)
    design = design_of(np.log(proba), vote_features(answers, members, n_classes, 0.3), levels)
    expected = [written_out(rows, panel.theta, panel.covariance) for rows in design]
    found = panel_proba(panel, proba, answers, level)
    np.testing.assert_allclose(found, 0.2 * proba + 0.8 * np.transpose(expected), rtol=1e-12)


def test_levels_by_hand():
    # Annotators 0 and 2 give scores. 0: levels 2 and 6 with weights 3 and 1, mean 3, variance (3 + 9) / 4. 2: 5 twice.
    item, column = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 2, 5, 1, 4, 3])
    answers, level = pack_answers(item, column, 3), np.array([2.0, np.nan, 5.0, 6.0, 5.0, 9.0])
    scale = LevelScale.of(answers, level, np.array([0, 2]), 2, np.array([3.0, 1.0, 1.0]))
    assert scale.mean.tolist() == [3.0, 5.0]
    assert scale.sd.tolist() == [np.sqrt(3.0), 0.0]
    found = level_features(answers, level, scale, 2, 0.5)
    np.testing.assert_allclose(found, [[-1 / np.sqrt(3) / 2.0, 0], [np.sqrt(3) / 1.5, 0], [0, 0]])
    assert not level_features(answers, None, scale, 2, 0.5).any()


def test_moments_of_a_mixture():
    rng = np.random.default_rng(0)
    theta, root = rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 3))
    covariance = root @ root.transpose(0, 2, 1)
    which = rng.random(200_000) < 0.25
    noise = np.einsum("spq,snq->snp", root, rng.normal(size=(2, 200_000, 3)))
    drawn = np.where(which[:, None], theta[0] + noise[0], theta[1] + noise[1])
    mean, spread = moments(np.array([0.2, 0.6]), theta, covariance)
    np.testing.assert_allclose(mean, drawn.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(spread, np.cov(drawn.T), atol=0.1)


def test_moderation_by_hand():
    # sqrt(1 + pi v / 8) = 2 at v = 24 / pi
    np.testing.assert_allclose(moderated(np.array([[2.0, 0.0]]), np.array([24 / np.pi])), [[1.0, 0.0]])
    spread = np.array([[[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 9.0]]])
    logits = np.array([[1.0, 3.0, -5.0]])
    assert [int(each[0]) for each in leading_two(logits.T)] == [1, 0]
    assert variance_of_lead(logits, spread)[0] == pytest.approx(2.0 + 1.0 - 2 * 0.5)


def test_votes_without_information_leave_the_posterior_nearly_unchanged():
    rng = np.random.default_rng(3)
    posterior = rng.dirichlet(np.ones(2), 1000).T
    truth = (posterior[0] < rng.random(1000)).astype(int)
    features = (rng.integers(2, size=(1000, 5))[:, None, :] == np.arange(2)[:, None]) / 2.0
    fitted = fit_panel(PanelData(design_of(np.log(posterior), features), truth, np.ones(1000)), posterior.T)
    assert np.abs(fitted.left_out.T - posterior).mean() < 0.02
    assert fitted.weight.sum() == pytest.approx(1.0)


def test_features_by_hand():
    # Three items of three classes; annotators 0 and 2 are members, 1 is not; r = .5.
    item, column = np.array([0, 0, 1, 1, 1]), np.array([0 * 3 + 1, 1 * 3 + 0, 0 * 3 + 2, 1 * 3 + 2, 2 * 3 + 0])
    answers = pack_answers(item, column, 3)
    features = vote_features(answers, np.array([0, 2]), 3, 0.5)
    assert features.shape == (3, 3, 2)
    assert features[0, 1, 0] == pytest.approx(1 / 1.5)
    assert features[1, 2, 0] == features[1, 0, 1] == pytest.approx(1 / 2.0)
    assert np.count_nonzero(features) == 3


def complete(errors, truth):
    """Votes of all members on all items of two classes."""
    n_items, n_members = errors.shape
    label = np.where(errors, 1 - truth[:, None], truth[:, None]).ravel()
    item, member = np.divmod(np.arange(errors.size), n_members)
    return votes_of(pack_answers(item, member * 2 + label, n_items), np.arange(n_members), 2)


def test_error_correlation_is_the_mean_of_those_of_all_pairs():
    rng = np.random.default_rng(0)
    errors = (rng.random((200, 1)) < 0.3) ^ (rng.random((200, 4)) < 0.2)
    truth = np.zeros(200, dtype=int)
    estimate, low, high = error_correlation(complete(errors, truth), truth, np.ones(200), 4, 0.9)
    pairs = np.corrcoef(errors.T)[np.triu_indices(4, 1)]
    assert estimate == pytest.approx(pairs.mean(), abs=1e-12)
    assert low < estimate < high


def test_the_interval_of_the_error_correlation_covers():
    rng = np.random.default_rng(1)
    truth, covered = rng.integers(2, size=150), []
    for _ in range(200):
        shared = rng.random((150, 1)) < 0.5  # an error is the shared one with probability 1/2: correlation 1/4
        errors = np.where(rng.random((150, 6)) < 0.5, shared, rng.random((150, 6)) < 0.5)
        _, low, high = error_correlation(complete(errors, truth), truth, np.ones(150), 6, 0.9)
        covered.append(low < 0.25 < high)
    assert 0.84 <= np.mean(covered) <= 0.96


def test_members_who_never_meet_or_never_err_have_no_correlation():
    truth = np.zeros(4, dtype=int)
    apart = votes_of(pack_answers(np.arange(4), np.array([0, 1, 2, 3]), 4), np.array([0, 1]), 2)
    assert np.isnan(error_correlation(apart, truth, np.ones(4), 2, 0.9)).all()
    assert np.isnan(error_correlation(complete(np.zeros((4, 3), dtype=bool), truth), truth, np.ones(4), 3, 0.9)).all()


def test_what_is_stated_of_own_weights_starts_from_even_odds():
    # Nine to one beforehand: .9 is what labels that say nothing leave, and .99 is odds of 99 / 9 = 11 by the labels.
    assert chance_at_even_odds(0.9) == pytest.approx(0.5)
    assert chance_at_even_odds(0.99) == pytest.approx(11 / 12)
    assert (chance_at_even_odds(0.0), chance_at_even_odds(1.0)) == (0.0, 1.0)


def test_effective_members_by_hand():
    assert effective_members(1.0, 7) == pytest.approx(1.0)
    assert effective_members(0.0, 7) == effective_members(-0.1, 7) == 7.0
    assert effective_members(0.25, 5) == pytest.approx(2.5)
