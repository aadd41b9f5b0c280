"""Laws of scores, of information and of the theorems, for any input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twoheads import evaluation
from twoheads.kernels.scoring import information, scores

METRICS = (
    evaluation.error_rate,
    evaluation.log_loss,
    evaluation.brier_score,
    evaluation.expected_calibration_error,
    evaluation.classwise_calibration_error,
    evaluation.marginal_calibration_error,
)


@st.composite
def problems(draw, n_classes=None):
    """Truth, probabilities with many ties and zeros, whole weights, and a generator of shuffles."""
    n_items = draw(st.integers(1, 40))
    n_classes = n_classes or draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weight = rng.integers(0, draw(st.sampled_from([2, 4, 1000])), (n_items, n_classes)).astype(float)
    weight[np.arange(n_items), rng.integers(0, n_classes, n_items)] += 1.0
    proba = weight / weight.sum(axis=1, keepdims=True)
    return rng.integers(0, n_classes, n_items), proba, rng.integers(1, 4, n_items), rng


@st.composite
def labels(draw, n_labels=3):
    """Several codes per item, of few or many values."""
    n_items = draw(st.integers(1, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return [rng.integers(0, draw(st.integers(1, 5)), n_items) for _ in range(n_labels)]


@st.composite
def teams(draw, n_classes=None):
    """A problem with a human: probabilities, confusion matrix with ties and zeros, human labels, truth."""
    y, proba, _, rng = draw(problems(n_classes=n_classes))
    size = proba.shape[1]
    counts = rng.integers(0, draw(st.sampled_from([2, 5, 100])), (size, size)).astype(float)
    counts[rng.integers(0, size, size), np.arange(size)] += 1.0
    return proba, counts / counts.sum(axis=0), rng.integers(0, size, y.size), y


def _all_scores(y, proba, **options):
    classes = np.arange(proba.shape[1])
    return [metric(y, proba, classes=classes, **options) for metric in METRICS]


@given(problems())
def test_scores_are_finite_and_in_their_range(problem):
    y, proba, _, _ = problem
    error, loss, brier, *calibration = _all_scores(y, proba)
    assert 0.0 <= error <= 1.0
    assert 0.0 <= loss <= 126 * np.log(2) + 1e-9
    assert 0.0 <= brier <= 2.0 + 1e-12
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in calibration)


@given(problems())
def test_the_order_of_rows_does_not_matter(problem):
    y, proba, _, rng = problem
    order = rng.permutation(y.size)
    assert _all_scores(y[order], proba[order]) == pytest.approx(_all_scores(y, proba), abs=1e-12)


@given(problems())
def test_renaming_classes_does_not_matter(problem):
    y, proba, _, rng = problem
    order = rng.permutation(proba.shape[1])
    renamed = np.argsort(order)[y]
    assert _all_scores(renamed, proba[:, order]) == pytest.approx(_all_scores(y, proba), abs=1e-12)


@given(problems())
def test_weight_two_is_the_row_twice(problem):
    y, proba, weight, _ = problem
    rows = np.repeat(np.arange(y.size), weight)
    assert _all_scores(y, proba, sample_weight=weight) == pytest.approx(_all_scores(y[rows], proba[rows]), abs=1e-12)


@given(problems(), st.sampled_from([1e-6, 0.1, 1 / 3, 1e6]))
def test_the_unit_of_weight_does_not_matter(problem, unit):
    y, proba, weight, _ = problem
    first, second = (_all_scores(y, proba, sample_weight=weight * by) for by in (1.0, unit))
    assert first == pytest.approx(second, abs=1e-9)


@given(problems())
def test_certainty_of_the_truth_has_no_loss(problem):
    y, proba, _, _ = problem
    assert _all_scores(y, np.eye(proba.shape[1])[y]) == [0.0] * len(METRICS)


@given(problems())
def test_predicting_the_class_frequencies_is_calibrated(problem):
    y, proba, _, _ = problem
    share = np.bincount(y, minlength=proba.shape[1]) / y.size
    same = np.tile(share, (y.size, 1))
    assert _all_scores(y, same)[3:] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


@given(problems(), st.integers(1, 20))
def test_equal_values_share_a_bin_and_bins_follow_the_values(problem, n_bins):
    _, proba, weight, _ = problem
    values = proba[:, 0]
    bins = scores.bin_codes(values, scores.equal_mass_boundaries(values, weight.astype(float), n_bins))
    order = np.argsort(values)
    assert (np.diff(bins[order]) >= 0).all()
    assert (np.diff(bins[order])[np.diff(values[order]) == 0] == 0).all()
    assert 0 <= bins.min() <= bins.max() < n_bins


@given(problems(), st.integers(1, 20))
def test_a_reliability_curve_holds_every_item_and_gives_the_calibration_error(problem, n_bins):
    y, proba, weight, _ = problem
    options = {"n_bins": n_bins, "classes": np.arange(proba.shape[1]), "sample_weight": weight}
    curve = evaluation.reliability_curve(y, proba, **options)
    assert curve.count.sum() == y.size
    assert curve.count.min() >= 1
    assert (curve.lower_edge <= curve.mean_confidence + 1e-12).all()
    assert (curve.mean_confidence <= curve.upper_edge + 1e-12).all()
    assert (curve.accuracy_low <= curve.accuracy).all()
    assert (curve.accuracy <= curve.accuracy_high).all()
    gap = np.average(np.abs(curve.mean_confidence - curve.accuracy), weights=curve.weight)
    assert gap == pytest.approx(evaluation.expected_calibration_error(y, proba, **options), abs=1e-12)


@given(labels())
def test_information_is_symmetric_and_bounded_by_entropy(codes):
    a, b, c = codes
    own = min(evaluation.mutual_information(a, a), evaluation.mutual_information(b, b))
    assert 0.0 <= evaluation.mutual_information(a, b) <= own + 1e-12
    assert evaluation.mutual_information(a, b) == pytest.approx(evaluation.mutual_information(b, a), abs=1e-12)
    first, second = (evaluation.conditional_mutual_information(*pair, c) for pair in ((a, b), (b, a)))
    assert first == pytest.approx(second, abs=1e-12)


@given(labels())
def test_information_obeys_the_chain_rule(codes):
    a, b, c = codes
    both = b * 10 + c
    parts = evaluation.mutual_information(a, c) + evaluation.conditional_mutual_information(a, b, c)
    assert evaluation.mutual_information(a, both) == pytest.approx(parts, abs=1e-12)


@given(labels(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_shuffled_labels_have_no_more_information_than_their_conditional_entropy(codes, seed):
    a, b, c = codes
    drawn = information.permuted_conditional_mutual_information(a, b, c, 20, np.random.default_rng(seed))
    bound = information.conditional_mutual_information(b, b, c)
    assert (drawn >= 0.0).all()
    assert (drawn <= bound + 1e-12).all()


@given(teams())
def test_theorem_1_holds_and_its_stronger_form_is_stronger(team):
    plain = evaluation.check_accuracy_bound(*team, classes=np.arange(team[0].shape[1]))
    stronger = evaluation.check_accuracy_bound(*team, stronger=True, classes=np.arange(team[0].shape[1]))
    assert plain.bound <= stronger.bound <= plain.accuracy == stronger.accuracy
    assert plain.holds
    assert stronger.holds


@given(teams(n_classes=2))
def test_theorem_1_is_an_equality_for_two_classes_but_for_ties(team):
    proba, phi, human, _ = team
    check = evaluation.check_accuracy_bound(*team, classes=[0, 1])
    product = np.log(np.maximum(proba, 1e-300)) + np.log(np.maximum(phi[human], 1e-300))
    tied = (np.abs(product[:, 0] - product[:, 1]) < 1e-9) | ((proba * phi[human]).sum(axis=1) == 0)
    assert check.accuracy - check.bound <= tied.mean() + 1e-12
    if not tied.any():
        assert check.accuracy == check.bound


@given(teams())
def test_theorem_1_holds_for_two_models(team):
    proba, phi, human, y = team
    other = (phi.T / phi.T.sum(axis=1, keepdims=True))[human]
    check = evaluation.check_product_bound(proba, other, y, classes=np.arange(len(phi)))
    assert check.bound <= check.accuracy
    assert check.holds


@given(teams())
def test_theorem_1_holds_for_two_labels(team):
    proba, phi, human, y = team
    model = proba.argmax(axis=1)
    check = evaluation.check_product_bound(phi[human], phi.T[model], y, classes=np.arange(len(phi)))
    assert check.bound <= check.accuracy
    assert check.holds


@given(teams(), st.integers(1, 20))
def test_theorem_2_holds(team, n_bins):
    proba, phi, human, y = team
    check = evaluation.check_estimation_error_bound(phi, proba, human, y, n_bins=n_bins, classes=np.arange(len(phi)))
    assert check.error <= check.bound + 1e-12
    assert check.holds
    assert check.bound == pytest.approx(check.confusion_error + check.calibration_error, abs=1e-12)
    expected = evaluation.marginal_calibration_error(y, proba, n_bins=n_bins, classes=np.arange(len(phi)))
    assert check.calibration_error == pytest.approx(expected, abs=1e-12)
