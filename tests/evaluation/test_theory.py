"""Theorems 1 and 2: by hand, where the paper's statement fails, and on simulated teams."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads import evaluation
from twoheads.errors import InvalidObservations

PHI = np.array([[0.8, 0.3, 0.1], [0.1, 0.6, 0.1], [0.1, 0.1, 0.8]])


def _team(n=2000, seed=0):
    """A calibrated model and a human with confusion PHI, independent given the truth."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(3, 0.7), n)
    y = np.array([rng.choice(3, p=row) for row in proba])
    human = np.array([rng.choice(3, p=PHI[:, truth]) for truth in y])
    return proba, human, y


def test_model_confidence_ratio_by_hand():
    ratio = evaluation.model_confidence_ratio([[0.2, 0.3, 0.5], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [2, 2, 1])
    np.testing.assert_allclose(ratio, [1.0, np.inf, 0.0])


def test_model_confidence_ratio_close_to_certainty_is_exact():
    # 1 - m_y would be rounded to 0
    assert evaluation.model_confidence_ratio([[1.0, 1e-20]], [0], classes=[0, 1])[0] == pytest.approx(1e20)


def test_human_confidence_ratio_by_hand():
    # says 0: row (0.8, 0.3, 0.1); truth 1 has 0.3 against 0.9, and as published 0.3 against 0.7
    assert evaluation.human_confidence_ratio(PHI, [0], [1])[0] == pytest.approx(1 / 3)
    assert evaluation.human_confidence_ratio(PHI, [0], [1], published=True)[0] == pytest.approx(3 / 7)
    perfect = evaluation.human_confidence_ratio(np.eye(2), ["a", "b"], ["a", "a"], classes=["a", "b"])
    assert perfect.tolist() == [np.inf, 0.0]
    as_published = evaluation.human_confidence_ratio(
        np.eye(2), ["a", "b"], ["a", "a"], classes=["a", "b"], published=True
    )
    assert as_published.tolist() == [np.inf, 0.0]


def test_both_human_ratios_agree_for_one_coin():
    coin = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    labels, y = np.arange(4).repeat(4), np.tile(np.arange(4), 4)
    published = evaluation.human_confidence_ratio(coin, labels, y, published=True)
    np.testing.assert_allclose(evaluation.human_confidence_ratio(coin, labels, y), published)


def test_theorem_1_as_published_fails_with_two_classes_and_not_when_normalised():
    # The human says 0 whatever the truth, nearly: phi_00 = 0.9, phi_01 = 0.8. The model has 0.3 on the truth, 0.
    # As published r_h = 9 > 1 / r_m = 7/3 promises a right answer; but 0.9 * 0.3 = 0.27 < 0.8 * 0.7 = 0.56.
    phi, proba, human, y, classes = [[0.9, 0.8], [0.1, 0.2]], [[0.3, 0.7]], [0], [0], [0, 1]
    check = evaluation.check_accuracy_bound(proba, phi, human, y, classes=classes)
    assert check.accuracy == 0.0
    model = evaluation.model_confidence_ratio(proba, y, classes=classes)
    published = evaluation.human_confidence_ratio(phi, human, y, published=True, classes=classes)
    assert np.mean(model > 1 / published) == 1.0
    assert check.bound == 0.0
    assert check.holds


def test_theorem_1_as_published_fails_in_the_proportions_of_its_own_matrix():
    # The same human answering in the proportions of phi, and always the same item: m = (0.3, 0.7), truth 0.
    # As published the bound is P(h = 0) = 0.9; but the combination is never right: 0.27 < 0.56, and 0.03 < 0.14.
    phi, human = [[0.9, 0.8], [0.1, 0.2]], [0] * 9 + [1]
    y, proba = [0] * 10, [[0.3, 0.7]] * 10
    check = evaluation.check_accuracy_bound(proba, phi, human, y, classes=[0, 1])
    published = evaluation.human_confidence_ratio(phi, human, y, published=True, classes=[0, 1])
    assert np.mean(evaluation.model_confidence_ratio(proba, y, classes=[0, 1]) > 1 / published) == 0.9
    assert check.accuracy == check.bound == 0.0


def test_theorem_1_as_stated_with_equality_fails_in_a_tie():
    # r_m = r_h = 1: r_m >= 1 / r_h holds, and the first class is taken, which is wrong
    check = evaluation.check_accuracy_bound([[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]], [0], [1], classes=[0, 1])
    assert check == evaluation.AccuracyBoundCheck(bound=0.0, accuracy=0.0, holds=True)


def test_plain_and_stronger_bound_by_hand():
    # truth 0, human says 0, row (0.8, 0.3, 0.1). 0.8 * 0.4 = 0.32 against 0.4 * 0.6 = 0.24: sure.
    # 0.8 * 0.3 = 0.24 against 0.4 * 0.7 = 0.28: not sure; against 0.3 * 0.36 = 0.108: sure in the stronger form.
    # 0.8 * 0.1 = 0.08 against 0.3 * 0.6 = 0.18: not sure, and right no more: 0.08 < 0.18.
    proba = [[0.4, 0.3, 0.3], [0.3, 0.36, 0.34], [0.1, 0.6, 0.3]]
    human, y = [0, 0, 0], [0, 0, 0]
    assert evaluation.combination_accuracy_bound(proba, PHI, human, y) == pytest.approx(1 / 3)
    assert evaluation.combination_accuracy_bound(proba, PHI, human, y, stronger=True) == pytest.approx(2 / 3)
    assert evaluation.check_accuracy_bound(proba, PHI, human, y).accuracy == pytest.approx(2 / 3)


def test_bounds_on_a_simulated_team_against_the_formulas():
    proba, human, y = _team()
    product = proba * PHI[human]
    accuracy = (product.argmax(axis=1) == y).mean()
    model = proba[np.arange(y.size), y] / (1 - proba[np.arange(y.size), y])
    row = PHI[human]
    rest = row.sum(axis=1) - row[np.arange(y.size), y]
    plain = (model > rest / row[np.arange(y.size), y]).mean()
    others = np.where(np.eye(3, dtype=bool)[y], 0.0, 1.0)
    stronger = (product[np.arange(y.size), y] > (row * others).max(axis=1) * (proba * others).max(axis=1)).mean()
    found = evaluation.check_accuracy_bound(proba, PHI, human, y)
    assert (found.bound, found.accuracy) == pytest.approx((plain, accuracy))
    assert evaluation.check_accuracy_bound(proba, PHI, human, y, stronger=True).bound == pytest.approx(stronger)
    assert plain < stronger < accuracy
    assert found.holds


def test_two_models_by_hand_and_against_their_product():
    first, second, y = [[0.6, 0.4], [0.6, 0.4]], [[0.5, 0.5], [0.3, 0.7]], [0, 0]
    assert evaluation.check_product_bound(first, second, y, classes=[0, 1]).bound == 0.5
    proba, _, y = _team()
    other = proba[:, [0, 2, 1]]
    check = evaluation.check_product_bound(proba, other, y)
    assert check.accuracy == ((proba * other).argmax(axis=1) == y).mean()
    assert 0.0 < check.bound < check.accuracy
    stronger = evaluation.check_product_bound(proba, other, y, stronger=True).bound
    assert check.bound < stronger <= check.accuracy


def test_two_labels_are_a_human_and_a_model_that_knows_only_its_label():
    proba, human, y = _team()
    model = proba.argmax(axis=1)
    true_given_model = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.2], [0.1, 0.3, 0.7]])
    as_proba = true_given_model[:, model].T
    for stronger in (False, True):
        expected = evaluation.check_accuracy_bound(as_proba, PHI, human, y, stronger=stronger)
        found = evaluation.check_product_bound(PHI[human], true_given_model.T[model], y, stronger=stronger)
        assert found == expected


def test_two_labels_by_hand():
    phi, psi = np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([[0.6, 0.3], [0.4, 0.7]])
    # human 0, model 1: 0.9 * 0.3 = 0.27 for class 0, 0.2 * 0.7 = 0.14 for class 1
    assert evaluation.check_product_bound(phi[[0, 0]], psi.T[[1, 1]], [0, 1]).bound == 0.5


def test_evidence_that_cannot_be():
    with pytest.raises(InvalidObservations) as caught:
        evaluation.check_product_bound([[0.5, 0.5], [0.5, -0.1]], [[0.5, 0.5]] * 2, [0, 1])
    assert str(caught.value) == (
        "evidence must be finite and not negative; row 1 is not (1 of 2 rows are off). "
        "Give probabilities or likelihoods."
    )


def test_estimation_error_bound_by_hand():
    estimate = PHI[:, [1, 0, 2]]
    # columns 0 and 1 differ by (0.5, 0.5, 0) each
    assert evaluation.estimation_error_bound(PHI, estimate, 0.25) == pytest.approx(2.25)
    with pytest.raises(InvalidObservations, match="estimated_human_given_true must be numbers of shape"):
        evaluation.estimation_error_bound(PHI, np.eye(2), 0.25)


def test_theorem_2_with_everything_known():
    # p(y | m) is known; the model reports a sharpened m, the estimate of phi is off: the bound holds for the true error
    true_proba, human, y = _team()
    sharp = true_proba**2 / (true_proba**2).sum(axis=1, keepdims=True)
    estimate = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    items = np.arange(y.size)
    error = np.abs(PHI[human, y] * true_proba[items, y] - estimate[human, y] * sharp[items, y]).mean()
    calibration_error = np.abs(true_proba[items, y] - sharp[items, y]).mean()
    bound = evaluation.estimation_error_bound(PHI, estimate, calibration_error)
    assert error <= bound
    binned = evaluation.marginal_calibration_error(y, sharp)
    assert binned == pytest.approx(calibration_error, rel=0.25)
    found = evaluation.check_estimation_error_bound(estimate, sharp, human, y)
    assert found.error == pytest.approx(error, rel=0.25)
    assert found.bound == pytest.approx(bound, rel=0.25)


def test_check_of_theorem_2_by_hand():
    # one bin: says 0.6 / 0.4, true are 1/2 and 1/2; the human is right in all of class 0 and half of class 1
    y, human, proba = [0, 0, 1, 1], [0, 0, 0, 1], [[0.6, 0.4]] * 4
    found = evaluation.check_estimation_error_bound([[0.8, 0.5], [0.2, 0.5]], proba, human, y)
    assert found.confusion_error == pytest.approx(0.4)
    assert found.calibration_error == pytest.approx(0.1)
    assert found.bound == pytest.approx(0.5)
    # class 0: |1 * 0.5 - 0.8 * 0.6| = 0.02 twice; class 1: |0.5 * 0.5 - 0.5 * 0.4| = 0.05 twice
    assert found.error == pytest.approx(0.035)
    assert found.holds


def test_check_of_theorem_2_ignores_a_class_without_items():
    found = evaluation.check_estimation_error_bound(np.eye(3), [[0.5, 0.5, 0.0]] * 2, [0, 1], [0, 1])
    assert found.confusion_error == 0.0
    assert found.holds


def test_labels_may_be_names():
    names = np.array(["ant", "bee", "cat"])
    proba, human, y = _team(n=50)
    expected = evaluation.check_accuracy_bound(proba, PHI, human, y)
    assert evaluation.check_accuracy_bound(proba, PHI, names[human], names[y], classes=names) == expected
    with pytest.raises(InvalidObservations, match="y and human_label must have the same number of rows"):
        evaluation.check_accuracy_bound(proba, PHI, human[:-1], y)
