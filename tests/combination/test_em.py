"""EM against direct maximisation, against the supervised fit, and against simulations with known parameters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from benchmarks.simulation import simulate_crowd
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from strategies import CALIBRATORS, CONFUSIONS, problems, simulate
from twoheads.calibration.dirichlet import DirichletCalibration
from twoheads.calibration.identity import Identity
from twoheads.calibration.imax import IMaxBinning
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.calibration.vector import VectorScaling
from twoheads.combination import ProbabilityLabelCombiner, recommended
from twoheads.combination.fitting import em
from twoheads.combination.fitting.em import EMSettings, Parameters, expectation_maximisation
from twoheads.confusion import DirichletConfusion, OneCoinConfusion
from twoheads.kernels.answers import Answers
from twoheads.kernels.blocks import Block

#: Parts whose fit maximises the likelihood or the posterior, so that EM climbs.
CLIMBING = {
    "priors": (DirichletConfusion(), TemperatureScaling()),
    "likelihood": (DirichletConfusion(estimate="likelihood"), TemperatureScaling(estimate="likelihood")),
    "one coin": (OneCoinConfusion(), TemperatureScaling()),
    "one coin likelihood": (OneCoinConfusion(estimate="likelihood"), TemperatureScaling(estimate="likelihood")),
    "mean and held": (DirichletConfusion(estimate="mean"), TemperatureScaling(log_temperature_sd=0)),
    "identity": (DirichletConfusion(estimate="likelihood"), Identity()),
    "vector": (DirichletConfusion(), VectorScaling()),
    "Dirichlet": (DirichletConfusion(), DirichletCalibration()),
}


def _log_posterior(problem, truth, log_phi, tau, *, pseudo_counts=None, mean=0.5, sd=0.5, weight=None):
    """Log-likelihood of answers and known truth given the model's rows, plus log prior, straight from the equations."""
    calibrated = log_softmax(problem.log_model * np.exp(-tau), axis=1)
    joint = calibrated + np.where(problem.human[:, None] >= 0, log_phi[problem.human], 0.0)
    known = truth >= 0
    per_item = np.where(known, joint[np.arange(len(truth)), truth], logsumexp(joint, axis=1))
    value = per_item.sum() if weight is None else weight @ per_item
    if pseudo_counts is not None:
        value += (pseudo_counts * log_phi).sum() - 0.5 * ((tau - mean) / sd) ** 2
    return float(value)


@settings(max_examples=15)
@given(problems(), st.sampled_from([0.0, 0.3]), st.sampled_from([0.5, 1.0, 3.0]))
@pytest.mark.parametrize("parts", CLIMBING.values(), ids=CLIMBING)
def test_the_objective_never_falls(parts, problem, known, unlabelled_weight):
    truth = np.where(problem.rng.random(len(problem)) < known, problem.truth, -1)
    combiner = ProbabilityLabelCombiner(*parts, unlabelled_weight=unlabelled_weight, max_iter=5000)
    path = combiner.fit(problem.X, truth, sample_weight=problem.weight).objective_
    assert not np.isnan(path).any()
    assert np.all(np.diff(path) >= -1e-9 * np.maximum(np.abs(path[1:]), 1.0))


@settings(max_examples=15)
@given(problems(n_items=st.integers(5, 60)), st.booleans())
def test_the_objective_is_the_log_posterior_of_the_equations(problem, some_truth):
    truth = np.where((np.arange(len(problem)) % 3 == 0) & some_truth, problem.truth, -1)
    combiner = ProbabilityLabelCombiner(tol=1e-12, max_iter=20_000).fit(problem.X, truth, sample_weight=problem.weight)
    expected = _log_posterior(
        problem,
        truth,
        np.log(combiner.confusion_.human_given_true_),
        combiner.calibrator_.log_temperature_,
        pseudo_counts=DirichletConfusion().pseudo_counts(problem.n_classes, problem.n_classes),
        weight=problem.weight,
    )
    assert combiner.objective_[-1] == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (2, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_em_agrees_with_direct_maximisation_of_the_marginal_posterior(n_classes, seed, share):
    problem = simulate(150, n_classes, seed, accuracy=0.8)
    truth = np.where(np.arange(150) < share * 150, problem.truth, -1)
    pseudo_counts = np.full((n_classes, n_classes), 0.1)
    np.fill_diagonal(pseudo_counts, 0.1 * (n_classes - 1) * 3)

    def loss(x):
        log_phi = log_softmax(x[1:].reshape(n_classes, n_classes), axis=0)
        return -_log_posterior(problem, truth, log_phi, x[0], pseudo_counts=pseudo_counts)

    start = pseudo_counts.copy()  # EM starts at the prior's mode, or at the fit of what is labelled
    known = truth >= 0
    np.add.at(start, (problem.human[known], truth[known]), 1)
    found = minimize(
        loss, np.append(0.5, np.log(start).ravel()), method="BFGS", options={"gtol": 1e-7, "maxiter": 5000}
    )
    combiner = ProbabilityLabelCombiner(tol=1e-14, max_iter=100_000).fit(problem.X, truth)
    assert combiner.objective_[-1] == pytest.approx(-found.fun, abs=1e-6)
    assert combiner.calibrator_.log_temperature_ == pytest.approx(found.x[0], abs=1e-3)
    best = np.exp(log_softmax(found.x[1:].reshape(n_classes, n_classes), axis=0))
    np.testing.assert_allclose(combiner.confusion_.human_given_true_, best, atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parts", CLIMBING.values(), ids=CLIMBING)
def test_with_full_truth_em_ends_at_the_supervised_fit(parts, weighted):
    problem = simulate(200, 3, 17, unasked=0.1)
    weight = problem.weight.astype(float) if weighted else None
    confusion, calibrator = (clone(part) for part in parts)
    log_proba = np.ascontiguousarray(log_softmax(problem.log_model, axis=1).T)
    block = Block(log_proba, Answers(problem.human), problem.truth, weight=weight)
    confusion.start(1, 3)
    calibrator.start([block], 3)
    before = confusion.human_given_true_.copy()
    found = expectation_maximisation([block], Parameters(confusion, calibrator), EMSettings(1, tol=1e-13)).parameters
    np.testing.assert_array_equal(confusion.human_given_true_, before)  # what it is handed stays as it is
    confusion, calibrator = found.confusion, found.calibrator
    supervised = ProbabilityLabelCombiner(*parts).fit(problem.X, problem.truth, sample_weight=weight)
    np.testing.assert_allclose(confusion.human_given_true_, supervised.confusion_.human_given_true_, atol=1e-12)
    np.testing.assert_allclose(
        calibrator.calibrate(log_proba.copy()), supervised.calibrator_.calibrate(log_proba.copy()), atol=1e-5
    )


@settings(max_examples=20)
@given(problems(n_items=st.integers(2, 60)))
@pytest.mark.parametrize("estimate", ["mode", "mean", "likelihood"])
def test_unlabelled_items_of_no_weight_leave_the_supervised_fit(estimate, problem):
    truth = problem.truth.copy()
    truth[1::2] = -1
    parts = DirichletConfusion(estimate=estimate), TemperatureScaling(estimate=estimate)
    found = ProbabilityLabelCombiner(*parts, unlabelled_weight=0).fit(problem.X, truth)
    expected = ProbabilityLabelCombiner(*parts).fit(problem.X[::2], problem.truth[::2])
    assert found.predict_proba(problem.X).tolist() == expected.predict_proba(problem.X).tolist()
    assert (found.n_labelled_, found.n_unlabelled_) == ((len(truth) + 1) // 2, len(truth) // 2)


@settings(max_examples=20)
@given(problems(n_items=st.integers(2, 60)))
def test_unlabelled_items_of_weight_two_are_the_same_items_twice(problem):
    known = np.arange(len(problem)) % 3 == 0
    truth = np.where(known, problem.truth, -1)
    found = ProbabilityLabelCombiner(unlabelled_weight=2).fit(problem.X, truth)
    twice = np.where(known, 1, 2)
    expected = ProbabilityLabelCombiner().fit(np.repeat(problem.X, twice, axis=0), np.repeat(truth, twice))
    np.testing.assert_allclose(found.predict_proba(problem.X), expected.predict_proba(problem.X), atol=1e-9)
    weighted = ProbabilityLabelCombiner().fit(problem.X, truth, sample_weight=twice)
    np.testing.assert_allclose(found.predict_proba(problem.X), weighted.predict_proba(problem.X), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_semi_supervised_lies_between_the_labelled_fit_and_em(seed):
    problem = simulate(300, 3, seed)
    truth = np.where(np.arange(300) < 30, problem.truth, -1)
    pseudo_counts = DirichletConfusion().pseudo_counts(3, 3)

    def scores(combiner):
        log_phi, tau = np.log(combiner.confusion_.human_given_true_), combiner.calibrator_.log_temperature_
        labelled = _log_posterior(problem, truth, log_phi, tau, pseudo_counts=pseudo_counts, weight=(truth >= 0) * 1.0)
        return labelled, _log_posterior(problem, truth, log_phi, tau, weight=(truth < 0) * 1.0)

    exact = {"tol": 1e-12, "max_iter": 50_000}
    supervised = scores(ProbabilityLabelCombiner(unlabelled_weight=0).fit(problem.X, truth))
    light = scores(ProbabilityLabelCombiner(unlabelled_weight=0.1, **exact).fit(problem.X, truth))
    full = scores(ProbabilityLabelCombiner(**exact).fit(problem.X, truth))
    heavy = scores(ProbabilityLabelCombiner(unlabelled_weight=20, **exact).fit(problem.X, truth))
    # the more the rest counts, the better it is fitted, and the worse what is labelled
    in_order = [supervised, light, full, heavy]
    for (labelled, rest), (less_labelled, more_rest) in pairwise(in_order):
        assert less_labelled < labelled
        assert more_rest > rest


@pytest.mark.filterwarnings("ignore:EM has not converged")
@pytest.mark.parametrize("calibrator", CALIBRATORS.values(), ids=CALIBRATORS)
@pytest.mark.parametrize(
    "confusion", [CONFUSIONS["Dirichlet mode"], CONFUSIONS["one coin likelihood"]], ids=["Dirichlet", "coin"]
)
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_every_calibrator_learns_without_truth(calibrator, confusion, share):
    problem = simulate(1500, 3, 21, accuracy=0.6, sharpness=3.0, temperature=1.4)
    truth = np.where(np.arange(1500) < share * 1500, problem.truth, -1)
    combiner = ProbabilityLabelCombiner(confusion, calibrator, max_iter=300).fit(problem.X, truth)
    proba = combiner.predict_proba(problem.X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    human, model = ((labels == problem.truth).mean() for labels in (problem.human, problem.model.argmax(axis=1)))
    # bins are free to follow the human, whom nothing then contradicts; the others gain from both
    binned = isinstance(calibrator, IMaxBinning) and not share
    assert combiner.score(problem.X, problem.truth) > (min(human, model) if binned else max(human, model)) - 0.01


@pytest.mark.parametrize(
    "confusion", [DirichletConfusion(estimate="likelihood"), OneCoinConfusion(estimate="likelihood")]
)
def test_answers_not_seen_among_the_labelled_are_learnt_from_the_rest(confusion):
    # three labelled items on which the human is right: maximum likelihood alone would never doubt the human again
    problem = simulate(4000, 3, 41, accuracy=0.6, sharpness=4.0)
    right = np.flatnonzero(problem.human == problem.truth)[:3]
    truth = np.full(4000, -1)
    truth[right] = problem.truth[right]
    combiner = ProbabilityLabelCombiner(confusion).fit(problem.X, truth)
    assert combiner.confusion_.human_given_true_.diagonal() == pytest.approx([0.6 + 0.4 / 3] * 3, abs=0.05)


def test_an_averaged_temperature_settles():
    problem = simulate(1500, 3, 21, accuracy=0.6, sharpness=3.0, temperature=1.4)
    averaged = ProbabilityLabelCombiner(calibrator=TemperatureScaling(estimate="mean")).fit(problem.X)
    assert len(averaged.objective_) < 100
    assert len(averaged.calibrator_.nodes_) > 1
    highest = ProbabilityLabelCombiner().fit(problem.X)
    np.testing.assert_allclose(averaged.predict_proba(problem.X), highest.predict_proba(problem.X), atol=0.02)


def test_parameters_of_a_simulation_are_recovered_without_truth():
    problem = simulate(30_000, 3, 31, accuracy=0.7, sharpness=3.0, temperature=1.6)
    combiner = ProbabilityLabelCombiner().fit(problem.X)
    np.testing.assert_allclose(combiner.confusion_.human_given_true_, 0.1 + 0.7 * np.eye(3), atol=0.03)
    assert combiner.calibrator_.temperature_ == pytest.approx(1.6, abs=0.1)
    assert (combiner.n_labelled_, combiner.n_unlabelled_) == (0, 30_000)
    half = ProbabilityLabelCombiner().fit(problem.X, np.where(np.arange(30_000) < 15_000, problem.truth, -1))
    np.testing.assert_allclose(half.confusion_.human_given_true_, 0.1 + 0.7 * np.eye(3), atol=0.02)
    assert half.calibrator_.temperature_ == pytest.approx(1.6, abs=0.05)


def test_each_person_is_recovered_without_truth():
    import pandas as pd

    from twoheads.observations import Observations

    rng = np.random.default_rng(8)
    problem = simulate(6000, 3, 8, sharpness=3.0)
    accuracy = {"ann": 0.9, "bob": 0.6, "eve": 0.3}
    answers = pd.concat(
        pd.DataFrame(
            {
                "item": np.arange(6000),
                "annotator": name,
                "answer": np.where(
                    rng.random(6000) < right, problem.truth, (problem.truth + rng.integers(1, 3, 6000)) % 3
                ),
            }
        )
        for name, right in accuracy.items()
    )
    model = pd.DataFrame(problem.model, columns=["p_0", "p_1", "p_2"]).assign(item=np.arange(6000))
    combiner = ProbabilityLabelCombiner(OneCoinConfusion()).fit(Observations.from_answers(answers, model))
    assert combiner.annotators_ == ("ann", "bob", "eve")
    assert combiner.confusion_.accuracy_ == pytest.approx([0.9, 0.6, 0.3], abs=0.03)


def test_large_blocks_may_be_gone_through_in_pieces(monkeypatch):
    accuracy = np.linspace(0.6, 0.95, 12)
    seen, _ = simulate_crowd(300, accuracy, per_item=5, n_classes=4, rng=np.random.default_rng(0), given=0.5)
    whole = recommended().fit(seen)
    monkeypatch.setattr(em, "block_slices", lambda n, k: [slice(at, at + 7) for at in range(0, n, 7)])
    pieces = recommended().fit(seen)
    np.testing.assert_allclose(pieces.confusion_.log_table(), whole.confusion_.log_table(), rtol=1e-10)
    np.testing.assert_allclose(pieces.predict_proba(seen), whole.predict_proba(seen), rtol=1e-9)


def test_too_few_iterations_are_told():
    problem = simulate(200, 3, 3)
    with pytest.warns(ConvergenceWarning, match="EM has not converged after 2 iterations; increase max_iter."):
        combiner = ProbabilityLabelCombiner(max_iter=2).fit(problem.X)
    assert len(combiner.objective_) == 2
