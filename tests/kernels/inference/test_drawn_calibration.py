from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binomtest, norm

from twoheads.kernels.inference import calibration, powers
from twoheads.kernels.inference.calibration import (
    classwise_error,
    drawn_errors,
    inverted,
    quantiles_of,
    recalibrated,
    top_label_error,
)
from twoheads.kernels.inference.calibration_cells import equal_mass_cells, expected_cells, outcome_cells
from twoheads.kernels.inference.clustered_independence import (
    clustered_conditional_mutual_information,
    clustered_p_value,
    conditional_information,
    shuffled_within,
)
from twoheads.kernels.inference.powers import best_log_power
from twoheads.kernels.scoring import scores
from twoheads.kernels.scoring.information import conditional_mutual_information

OPTIONS = {"n_bins": 15, "level": 0.95, "n_draws": 100}


def forecaster(n_classes, n_items, seed, power=1.0):
    """Probabilities, and outcomes that come from them to some power."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 2, (n_classes, n_items))
    actual = softmax(power * score, axis=0)
    truth = np.minimum((actual.cumsum(axis=0) < rng.random(n_items)).sum(axis=0), n_classes - 1)
    return softmax(score, axis=0), actual, truth, rng


def test_the_values_are_those_of_the_scores():
    proba, _, truth, rng = forecaster(4, 90, 0)
    weight = rng.random(90) + 0.5
    found = classwise_error(proba, truth, weight, rng=rng, **OPTIONS)
    assert found.value == pytest.approx(scores.classwise_calibration_error(proba, truth, weight, 15))
    top = proba.max(axis=0)
    expected = scores.calibration_error(
        top, (proba.argmax(axis=0) == truth) * 1.0, weight, scores.equal_mass_boundaries(top, weight, 15)
    )
    assert top_label_error(proba, truth, weight, rng=rng, **OPTIONS).value == pytest.approx(expected)


def test_cells_by_hand():
    proba = np.array([[0.1, 0.4, 0.8, 0.9], [0.9, 0.6, 0.2, 0.1]])
    cells = equal_mass_cells(proba, np.ones(4), 2)
    assert cells.cell.tolist() == [[0, 0, 1, 1], [3, 3, 2, 2]]
    assert expected_cells(proba, cells) == pytest.approx([0.5 / 8, 1.7 / 8, 0.3 / 8, 1.5 / 8])
    assert outcome_cells(np.array([[0, 1, 0, 1]]), cells)[0] == pytest.approx([1 / 8, 1 / 8, 1 / 8, 1 / 8])


def test_drawn_outcomes_have_the_expected_counts():
    proba, _, _, rng = forecaster(3, 60, 1)
    cells = equal_mass_cells(proba, np.ones(60), 5)
    certain = np.eye(3)[proba.argmax(axis=0)].T
    excess = [expected_cells(certain, cells) - expected_cells(each, cells) for each in (certain, proba)]
    drawn = drawn_errors(excess, [certain, proba], cells, float((cells.weight**2).sum()), 50, rng)
    assert drawn[0] == pytest.approx(np.zeros(50))
    assert drawn[1].min() > 0


def test_recalibrated_probabilities_meet_the_frequencies_where_nothing_is_cut():
    proba, _, _, _ = forecaster(3, 200, 2)
    cells = equal_mass_cells(proba, np.ones(200), 1)
    excess = np.array([0.01, -0.02, 0.01]) / 3
    assert expected_cells(recalibrated(proba, excess, cells), cells) == pytest.approx(
        expected_cells(proba, cells) - excess, abs=2e-3
    )


def test_power_that_made_the_outcomes_is_found():
    proba, _, truth, _ = forecaster(5, 20_000, 3, power=0.6)
    assert best_log_power(proba, truth, np.full(20_000, 1 / 20_000)) == pytest.approx(np.log(0.6), abs=0.05)


def test_inverted_by_hand():
    true = np.array([0.0, 0.1, 0.2, 0.3])
    low, high = inverted(true, np.array([-1.0, 1.0, 2.0, 2.5]), np.array([2.0, 1.0, 0.5, -1.5]))
    assert (low, high) == pytest.approx((0.05, 0.225))
    assert inverted(true, np.array([0.5, 1.0, 2.0, 3.0]), np.array([2.0, 1.0, 0.5, 0.1])) == (0.0, 0.3)


def test_an_error_that_the_path_passes_is_no_end_where_it_is_not_possible():
    # The third step would show more than was seen: the ends are half-way to it, .2, and half-way back, .25.
    true = np.array([0.0, 0.1, 0.3, 0.2])
    assert inverted(true, np.full(4, 1.0), np.array([2.0, 1.0, -1.0, 1.0]))[1] == pytest.approx(0.25)
    assert inverted(true, np.array([-1.0, 1.0, 2.0, 2.0]), np.full(4, 1.0)) == pytest.approx((0.05, 0.3))


def test_a_way_without_a_possible_step_has_no_lower_end():
    true = np.array([0.0, 0.1, 0.2])
    assert inverted(true, np.array([-3.0, -2.0, -1.0]), np.array([4.0, 4.0, 4.0])) == (np.inf, 0.2)


def test_quantiles_go_on_below_all_draws():
    drawn = np.arange(1.0, 101.0)
    below = (0.5 - drawn.mean()) / drawn.std()
    found = [quantiles_of(value, drawn[None])[0] for value in (-200.0, 0.5, 1.0, 49.0, 200.0)]
    assert found[0] == pytest.approx((-200.0 - drawn.mean()) / drawn.std())
    assert found[1] == pytest.approx(min(below, norm.ppf(1 / 101)))
    assert found[2:] == pytest.approx(norm.ppf([2 / 101, 50 / 101, 100 / 101]))


@pytest.mark.parametrize(("n_classes", "n_items"), [(10, 100), (4, 300)])
def test_a_calibrated_forecaster_is_found_miscalibrated_as_often_as_stated(n_classes, n_items):
    small, begins_above_0 = [], []
    for seed in range(100):
        proba, _, truth, rng = forecaster(n_classes, n_items, seed)
        for error in (classwise_error, top_label_error):
            found = error(proba, truth, np.ones(n_items), rng=rng, **OPTIONS)
            small.append(found.p_value <= 0.05)
            begins_above_0.append(found.low > 0)
            assert (found.low > 0) == (found.p_value < 0.05)
    assert np.mean(small) <= 0.09
    assert np.mean(begins_above_0) <= 0.09


@pytest.mark.parametrize(("n_classes", "spread", "power"), [(2, 0.5, 4.0), (4, 1.0, 3.0), (8, 0.4, 6.0)])
def test_the_interval_of_a_forecaster_far_from_sure_is_that_of_its_accuracy(n_classes, spread, power):
    # In every bin far more is right than was said: the error is the accuracy less the mean of what was said.
    for seed in range(3):
        rng = np.random.default_rng(seed)
        score = rng.normal(0, spread, (n_classes, 1000))
        actual = softmax(power * score, axis=0)
        truth = np.minimum((actual.cumsum(axis=0) < rng.random(1000)).sum(axis=0), n_classes - 1)
        proba = softmax(score, axis=0)
        right = int((proba.argmax(axis=0) == truth).sum())
        accuracy = binomtest(right, 1000).proportion_ci(method="wilson")
        expected = np.array([accuracy.low, accuracy.high]) - proba.max(axis=0).mean()
        found = top_label_error(proba, truth, np.ones(1000), rng=rng, **OPTIONS)
        assert (found.low, found.high) == pytest.approx(expected, abs=0.015)


def test_the_interval_holds_the_error_without_chance():
    held = []
    for seed in range(80):
        proba, actual, truth, rng = forecaster(4, 200, seed, power=0.6)
        cells = equal_mass_cells(proba, np.ones(200), 15)
        target = np.abs(expected_cells(proba, cells) - expected_cells(actual, cells)).sum()
        found = classwise_error(proba, truth, np.ones(200), rng=rng, **OPTIONS)
        held.append(found.low <= target <= found.high)
    assert np.mean(held) >= 0.9


def test_information_by_counting_is_the_plug_in():
    rng = np.random.default_rng(0)
    first, second, given = (rng.integers(0, 3, 200) for _ in range(3))
    assert conditional_information(first, second, given, (3, 3)) == pytest.approx(
        conditional_mutual_information(first, second, given)
    )


def test_shuffling_stays_within_a_class():
    codes = np.repeat([0, 1, 2], [3, 1, 4])
    moved = shuffled_within(codes, np.random.default_rng(0))
    assert sorted(moved) == list(range(8))
    assert codes[moved].tolist() == codes.tolist()


def answers_that_resemble_each_other(seed, n_items=80):
    rng = np.random.default_rng(seed)
    truth, item = rng.integers(0, 3, n_items), np.repeat(np.arange(n_items), 6)
    habit = np.where(rng.random(n_items) < 0.6, truth, rng.integers(0, 3, n_items))
    human = np.where(rng.random(len(item)) < 0.8, habit[item], rng.integers(0, 3, len(item)))
    return truth, item, human, habit, rng


def p_value(model, human, truth, item, rng):
    observed = conditional_information(model[item], human, truth[item], (3, 3))
    return clustered_p_value(observed, clustered_conditional_mutual_information(model, human, truth, item, 99, rng))


def test_several_answers_of_an_item_are_not_taken_for_independent():
    found = []
    for seed in range(100):
        truth, item, human, _, rng = answers_that_resemble_each_other(seed)
        model = np.where(rng.random(80) < 0.6, truth, rng.integers(0, 3, 80))
        found.append(p_value(model, human, truth, item, rng) <= 0.05)
    assert np.mean(found) <= 0.11


def test_dependence_is_found():
    truth, item, human, habit, rng = answers_that_resemble_each_other(0)
    assert p_value(habit, human, truth, item, rng) == pytest.approx(0.01)


def test_many_classes_give_what_few_classes_do(monkeypatch):
    rng = np.random.default_rng(0)
    proba, true_label = rng.dirichlet(np.full(12, 0.3), 40).T, rng.integers(12, size=40)
    proba[:, 0] = np.eye(12)[3]
    u, thresholds = rng.random((30, 40)), proba.cumsum(axis=0)[:-1]
    u[0] = thresholds[4]  # a random number that is a threshold does not exceed it
    one_by_one = calibration.drawn_labels(u, thresholds), powers.log_chance_of(proba, true_label)(0.4)
    for module in calibration, powers:
        monkeypatch.setattr(module, "MANY_CLASSES", 2)
    assert (calibration.drawn_labels(u, thresholds) == one_by_one[0]).all()
    np.testing.assert_allclose(powers.log_chance_of(proba, true_label)(0.4), one_by_one[1], rtol=1e-12)
