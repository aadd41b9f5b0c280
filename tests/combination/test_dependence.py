"""The dependence stage on top of any confusion and calibrator, on few and many items, kept and made anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.simulation import simulate_crowd
from scipy.special import softmax
from sklearn.base import clone

import twoheads.combination.fitting.cross_fitting as cross_fitting_module
import twoheads.combination.fitting.dependence_stage as stage_module
import twoheads.engines.blocks as engine
from strategies import CALIBRATORS, CONFUSIONS, simulate
from twoheads.calibration.imax import IMaxBinning
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.calibration.vector import VectorScaling
from twoheads.combination import Dependence, ProbabilityLabelCombiner, recommended
from twoheads.combination.items import open_items
from twoheads.confusion import DirichletConfusion, HierarchicalConfusion
from twoheads.errors import InvalidParameter
from twoheads.observations import Observations


def log_loss(truth, proba):
    return -np.mean(np.log(proba[np.arange(len(truth)), truth]))


@pytest.mark.parametrize("calibrator", CALIBRATORS.values(), ids=CALIBRATORS)
@pytest.mark.parametrize("confusion", CONFUSIONS.values(), ids=CONFUSIONS)
def test_it_stands_on_any_confusion_and_calibrator(confusion, calibrator):
    problem, later = simulate(150, 3, seed=0, unasked=0.1), simulate(600, 3, seed=1)
    team = ProbabilityLabelCombiner(confusion, calibrator, Dependence()).fit(problem.X, problem.truth)
    proba = team.predict_proba(later.X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(np.log(proba)).all()
    human, model = np.mean(later.human != later.truth), np.mean(later.model.argmax(axis=1) != later.truth)
    # Three bins per class leave ties, which one draw of 600 items resolves well or badly: a standard error is 0.017.
    coarse = 0.017 if isinstance(calibrator, IMaxBinning) else 0.0
    assert np.mean(team.predict(later.X) != later.truth) < min(human, model) + coarse
    assert log_loss(later.truth, proba) < log_loss(later.truth, later.model)


def test_a_prediction_is_the_mean_over_nodes():
    problem = simulate(60, 3, seed=2)
    team = recommended().fit(problem.X, problem.truth)
    stage = team.dependence_
    assert stage.weight_.sum() == pytest.approx(1.0)
    log_given = np.log(team.confusion_.human_given_true_[problem.human])
    expected = 0.0
    for model, human, weight, bias in zip(
        stage.model_factor_, stage.answer_factor_, stage.weight_, stage.bias_[stage.bias_of_], strict=True
    ):
        expected = expected + weight * softmax(model * problem.log_model + human * log_given + bias, axis=1)
    rule = replace(team.rule(), preference=None)
    found = np.exp(rule.log_joint(team.block(team.observe(problem.X), slice(0, 60)))).T
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    model, human = stage.weights()
    assert human == pytest.approx(stage.weight_ @ stage.answer_factor_)
    assert model == pytest.approx(stage.weight_ @ stage.model_factor_)


@pytest.mark.parametrize("calibrator", [TemperatureScaling(), VectorScaling()], ids=["temperature", "vector"])
def test_the_model_alone_is_calibrated_alone(calibrator):
    problem, later = simulate(400, 3, seed=2), simulate(50, 3, seed=3)
    team = ProbabilityLabelCombiner(HierarchicalConfusion(), calibrator, Dependence()).fit(problem.X, problem.truth)
    stage, calibrated = team.dependence_, team.calibrator_.calibrate(later.log_model.T).T
    weight = np.bincount(stage.bias_of_, stage.weight_)
    expected = sum(share * softmax(calibrated + bias, axis=1) for share, bias in zip(weight, stage.bias_, strict=True))
    X = later.X.copy()
    X[:, 0] = np.nan
    np.testing.assert_allclose(team.predict_proba(X), expected, rtol=1e-9)


def test_without_truth_the_model_alone_is_tempered_as_it_was_learnt():
    problem, later = simulate(400, 3, seed=2), simulate(50, 3, seed=3)
    team = recommended().fit(problem.X)
    X = later.X.copy()
    X[:, 0] = np.nan
    expected = softmax(np.exp(-team.dependence_.mean_log_temperature()) * later.log_model, axis=1)
    np.testing.assert_allclose(team.predict_proba(X), expected, rtol=1e-9)


def long(item, annotator, answer):
    return pd.DataFrame({"item": item, "annotator": annotator, "answer": answer})


def test_people_alone_are_their_matrix_and_the_design_effect():
    problem = simulate(400, 3, seed=2)
    team = recommended(class_prior=[0.5, 0.3, 0.2]).fit(problem.X, problem.truth)
    given = team.confusion_.human_given_true_
    one = Observations.from_answers(long([0, 1], ["ann", "bob"], [2, 0]), classes=[0, 1, 2])
    expected = given[[2, 0]] * [0.5, 0.3, 0.2]
    np.testing.assert_allclose(team.predict_proba(one), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    both = Observations.from_answers(long([0, 0], ["ann", "bob"], [2, 0]), classes=[0, 1, 2])
    shared = np.prod(given[[2, 0]], axis=0) ** (1 / (1 + team.dependence_.correlation_)) * [0.5, 0.3, 0.2]
    np.testing.assert_allclose(team.predict_proba(both)[0], shared / shared.sum(), rtol=1e-9)


def test_items_of_one_side_say_nothing_of_dependence():
    problem, more = simulate(200, 3, seed=2), simulate(300, 3, seed=3)
    unasked = more.X.copy()
    unasked[:, 0] = np.nan
    team = ProbabilityLabelCombiner(DirichletConfusion(), dependence=Dependence())
    without = clone(team).fit(problem.X, problem.truth)
    together = np.concatenate([problem.X, unasked]), np.concatenate([problem.truth, more.truth])
    found = clone(team).fit(*together)
    for name, value in vars(without.dependence_).items():
        np.testing.assert_allclose(getattr(found.dependence_, name), value, rtol=1e-9, err_msg=name)
    assert found.calibrator_.log_temperature_ != without.calibrator_.log_temperature_
    halves = clone(team).partial_fit(*(part[:350] for part in together), classes=[0, 1, 2])
    halves.partial_fit(*(part[350:] for part in together))
    assert halves.statistics_.answered.tolist() == found.statistics_.answered.tolist() == [200.0, 0.0]


def test_people_are_judged_without_the_item_too():
    rng = np.random.default_rng(0)
    seen, truth = simulate_crowd(400, np.full(60, 0.25), per_item=4, n_classes=4, rng=rng)  # who know nothing
    record = recommended().fit(seen, truth).holdout_
    assert record.human_errors / record.n == pytest.approx(0.75, abs=0.08)


def test_plain_is_the_product_at_the_same_temperatures():
    problem = simulate(60, 3, seed=3)
    stage = recommended().fit(problem.X, problem.truth).dependence_
    rng = np.random.default_rng(0)
    log_proba, log_given = np.log(rng.dirichlet(np.ones(3), 5)).T, np.log(rng.dirichlet(np.ones(3), 5)).T
    expected = sum(
        weight * softmax(np.exp(-tau) * log_proba + log_given, axis=0)
        for tau, weight in zip(stage.log_temperature_, stage.weight_, strict=True)
    )
    np.testing.assert_allclose(stage.plain().proba(log_proba, log_given), expected, rtol=1e-9)


def test_partners_who_copy_each_other_count_less():
    rng = np.random.default_rng(4)
    problem = simulate(800, 4, seed=4, temperature=1.0)
    copied = np.where(rng.random(800) < 0.6, problem.model.argmax(axis=1), problem.human)
    alone = recommended().fit(problem.X, problem.truth).dependence_.weights()[1]
    copying = recommended().fit(np.column_stack([copied, problem.model]), problem.truth).dependence_.weights()[1]
    assert alone > 0.85
    assert copying < alone - 0.15


def test_the_prior_of_the_calibrators_temperature_is_used():
    problem = simulate(40, 3, seed=5)
    truth = np.where(np.arange(40) < 20, problem.truth, -1)
    for known in (problem.truth, truth):  # also where items without truth inform the temperature
        held = TemperatureScaling(log_temperature_mean=1.5, log_temperature_sd=0)
        team = ProbabilityLabelCombiner(HierarchicalConfusion(), held, Dependence()).fit(problem.X, known)
        assert team.dependence_.mean_log_temperature() == pytest.approx(1.5, abs=0.05)


def test_the_prior_of_the_dependence_is_used():
    problem = simulate(40, 3, seed=6)
    truth = np.where(np.arange(40) < 20, problem.truth, -1)
    for known in (problem.truth, truth):
        firm = Dependence(partner_correlation_mean=0.7, partner_correlation_sd=0.01, bias_sd=(0.0,), bias_weight=(1.0,))
        team = ProbabilityLabelCombiner(HierarchicalConfusion(), TemperatureScaling(), firm).fit(problem.X, known)
        assert team.dependence_.weight_ @ team.dependence_.partner_correlation_ == pytest.approx(0.7, abs=0.02)
        assert not team.dependence_.bias_.any()


def test_without_labels_it_believes_its_prior():
    stage = Dependence().start(log_temperature_prior=(0.5, 0.5), n_classes=3)
    # Student t of 3 degrees of freedom and a normal: symmetric about their locations, up to the range of the grid
    assert stage.mean_log_temperature() == pytest.approx(0.5, abs=0.05)
    # the correlation is a normal within [-0.2, 0.9], whose mean and sd are a little above and below 0.3 and 0.25
    assert stage.weight_ @ stage.partner_correlation_ == pytest.approx(0.31, abs=0.02)
    sd = np.sqrt(stage.weight_ @ (stage.partner_correlation_ - 0.31) ** 2)
    assert sd == pytest.approx(0.23, abs=0.02)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"partner_correlation_sd": 0}, "partner_correlation_sd must be positive; it is 0"),
        ({"bias_sd": (0.0, 0.3)}, "bias_sd and bias_weight must have the same length"),
        ({"bias_sd": (0.1,), "bias_weight": (1.0,)}, r"bias_sd must begin with 0 \(no bias\)"),
    ],
)
def test_wrong_parameters(parameters, message):
    team = ProbabilityLabelCombiner(dependence=Dependence(**parameters))
    with pytest.raises(InvalidParameter, match=message):
        team.fit([[0, 0.6, 0.4], [1, 0.3, 0.7]], [0, 1])


def test_the_mode_of_many_labels_says_what_the_grid_says(monkeypatch):
    problem = simulate(20_001, 4, seed=7)
    mode = recommended().fit(problem.X, problem.truth)
    assert len(mode.dependence_.weight_) == 1
    assert mode.holdout_.n == 20_000
    monkeypatch.setattr(stage_module, "MODE_LABELS", 30_000)
    grid = recommended().fit(problem.X, problem.truth)
    assert len(grid.dependence_.weight_) > 1
    assert grid.holdout_.n == 20_001
    np.testing.assert_allclose(mode.predict_proba(problem.X), grid.predict_proba(problem.X), atol=1e-3)


@pytest.mark.parametrize("calibrator", [TemperatureScaling(), VectorScaling()], ids=["temperature", "vector"])
def test_blocks_made_anew_in_each_pass_give_the_same(monkeypatch, calibrator):
    problem = simulate(4000, 3, seed=8, unasked=0.1)
    team = ProbabilityLabelCombiner(DirichletConfusion(), calibrator, Dependence())
    monkeypatch.setattr(stage_module, "MODE_LABELS", 1500)
    kept = team.fit(problem.X, problem.truth).predict_proba(problem.X)
    monkeypatch.setattr(engine, "BLOCK_NUMBERS", 900)
    monkeypatch.setattr(cross_fitting_module, "TABLE_NUMBERS", 0)
    items = open_items(problem.X, problem.truth, max_numbers=1000)
    np.testing.assert_allclose(team.fit_items(items).predict_proba(problem.X), kept, atol=1e-10)


def test_small_blocks_on_the_grid_give_the_same(monkeypatch):
    problem = simulate(400, 3, seed=9)
    truth = np.where(np.arange(400) < 300, problem.truth, -1)
    whole = recommended().fit(problem.X, truth).predict_proba(problem.X)
    monkeypatch.setattr(engine, "BLOCK_NUMBERS", 300)
    items = open_items(problem.X, truth, max_numbers=100)
    np.testing.assert_allclose(recommended().fit_items(items).predict_proba(problem.X), whole, atol=1e-10)
