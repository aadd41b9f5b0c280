"""Laws of combining, for any problem and for all combiners, calibrators and confusion estimates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from strategies import CALIBRATORS, COMBINERS, CONFUSIONS, FLOOR, Problem, asked, problems, simulate
from twoheads.calibration.identity import Identity
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination import LabelLabelCombiner, LogisticCombiner, ProbabilityLabelCombiner
from twoheads.confusion import DirichletConfusion, OneCoinConfusion
from twoheads.engines import blocks as engine

every_combiner = pytest.mark.parametrize("combiner", COMBINERS.values(), ids=COMBINERS)
#: Without the regression on log m, whose optimiser takes its time: it is compared with scikit-learn's elsewhere.
QUICK = {name: combiner for name, combiner in COMBINERS.items() if name != "LR on log m"}
every_quick_combiner = pytest.mark.parametrize("combiner", QUICK.values(), ids=QUICK)
every_calibrator = pytest.mark.parametrize("calibrator", CALIBRATORS.values(), ids=CALIBRATORS)
every_confusion = pytest.mark.parametrize("confusion", CONFUSIONS.values(), ids=CONFUSIONS)

#: How a combiner is fitted: with all, some or no truth.
SHOWN = {"all truth": 1.0, "some truth": 0.3, "no truth": 0.0}


def _fit(combiner, problem, share=1.0, sample_weight=None):
    truth = np.where(np.arange(len(problem)) < share * len(problem), problem.truth, -1)
    return clone(combiner).fit(problem.X, truth, sample_weight=sample_weight)


def _reordered(problem, rows):
    return Problem(*(part[rows] for part in (problem.human, problem.model, problem.truth, problem.weight)), problem.rng)


def _tame(combiner, problem):
    """The same problem, for a regression without the rows of zeros and ones on which its optimiser takes an age."""
    if not isinstance(combiner, LogisticCombiner):
        return problem
    model = 0.9 * problem.model + 0.1 / problem.n_classes
    return Problem(problem.human, model, problem.truth, problem.weight, problem.rng)


def _close(combiner, found, expected, atol):
    """Equal up to rounding; a regression's optimiser stops at its own tolerance."""
    np.testing.assert_allclose(found, expected, atol=2e-3 if isinstance(combiner, LogisticCombiner) else atol, rtol=0)


@every_quick_combiner
@settings(max_examples=8)
@given(problem=problems())
def test_probabilities_sum_to_one_and_the_most_probable_class_is_predicted(combiner, problem):
    problem = _tame(combiner, problem)
    fitted = _fit(combiner, problem)
    proba = fitted.predict_proba(problem.X)
    assert proba.shape == problem.model.shape
    assert np.isfinite(proba).all()
    assert proba.min() >= 0
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(np.exp(fitted.predict_log_proba(problem.X)), proba, atol=1e-12)
    chosen = proba[np.arange(len(problem)), fitted.predict(problem.X)]
    np.testing.assert_allclose(chosen, proba.max(axis=1), rtol=1e-12)


@every_quick_combiner
@settings(max_examples=8)
@given(problem=problems())
def test_weight_two_is_an_item_given_twice(combiner, problem):
    if "IMax" in repr(combiner) and problem.n_classes == 2:
        return  # log-odds of two classes mirror each other: where bins begin is decided by rounding
    problem = _tame(combiner, problem)
    repeated = _reordered(problem, np.repeat(np.arange(len(problem)), problem.weight))
    one, other = _fit(combiner, problem, sample_weight=problem.weight), _fit(combiner, repeated)
    if getattr(one, "dependence_", None) is None:
        _close(combiner, one.predict_proba(problem.X), other.predict_proba(problem.X), 1e-6)
    else:  # the dependence is learnt from items left out, of which one of two equal rows stays
        matrices = (team.confusion_.human_given_true_ for team in (one, other))
        np.testing.assert_allclose(*matrices, atol=1e-6)


@every_quick_combiner
@settings(max_examples=8)
@given(problem=problems())
def test_permuting_classes_permutes_everything(combiner, problem):
    problem = _tame(combiner, problem)
    order = problem.rng.permutation(problem.n_classes)  # new class k is old class order[k]
    place = np.append(np.argsort(order), -1)
    permuted = Problem(place[problem.human], problem.model[:, order], place[problem.truth], problem.weight, problem.rng)
    if isinstance(combiner, LabelLabelCombiner):  # the model's label is the first of the most probable
        top = np.sort(problem.model, axis=1)
        if (top[:, -1] == top[:, -2]).any():
            return
    found = _fit(combiner, permuted).predict_proba(permuted.X)
    _close(combiner, found, _fit(combiner, problem).predict_proba(problem.X)[:, order], 1e-7)


@pytest.mark.parametrize("share", SHOWN.values(), ids=SHOWN)
@settings(max_examples=25)
@given(problem=problems())
def test_permuting_classes_permutes_what_is_learnt_without_truth(share, problem):
    order = problem.rng.permutation(problem.n_classes)
    place = np.append(np.argsort(order), -1)
    permuted = Problem(place[problem.human], problem.model[:, order], place[problem.truth], problem.weight, problem.rng)
    found, expected = (_fit(ProbabilityLabelCombiner(max_iter=5000), p, share) for p in (permuted, problem))
    np.testing.assert_allclose(
        found.confusion_.human_given_true_, expected.confusion_.human_given_true_[np.ix_(order, order)], atol=1e-7
    )
    np.testing.assert_allclose(found.predict_proba(permuted.X), expected.predict_proba(problem.X)[:, order], atol=1e-7)


@every_calibrator
@pytest.mark.parametrize(
    "confusion", [DirichletConfusion(estimate="likelihood"), OneCoinConfusion(estimate="likelihood")]
)
@settings(max_examples=10)
@given(problem=problems(unasked=st.just(0.0)))
def test_a_human_who_guesses_leaves_the_calibrated_model_unchanged(confusion, calibrator, problem):
    # every item is shown once with each possible answer: the answers tell nothing
    rows = np.repeat(np.arange(len(problem)), problem.n_classes)
    guessing = _reordered(problem, rows)
    guessing = Problem(
        np.tile(np.arange(problem.n_classes), len(problem)),
        guessing.model,
        guessing.truth,
        guessing.weight,
        problem.rng,
    )
    fitted = _fit(ProbabilityLabelCombiner(confusion, calibrator), guessing)
    alone = clone(calibrator).fit(guessing.model, guessing.truth).predict_proba(problem.model)
    np.testing.assert_allclose(fitted.predict_proba(problem.X), alone, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["identity", "temperature mode", "temperature mean", "temperature likelihood", "ensemble"]
)
@pytest.mark.parametrize("estimate", ["mode", "mean", "likelihood"])
@settings(max_examples=15)
@given(problem=problems(unasked=st.just(0.0)))
def test_a_model_that_says_nothing_leaves_the_humans_posterior(name, estimate, problem):
    n_classes = problem.n_classes
    fitted = _fit(ProbabilityLabelCombiner(DirichletConfusion(estimate=estimate), CALIBRATORS[name]), problem)
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (problem.human, problem.truth), 1)
    if estimate != "likelihood":
        counts += 0.1 + (estimate == "mean") + 0.1 * (3 * (n_classes - 1) - 1) * np.eye(n_classes)
    total = counts.sum(axis=0)
    human_given_true = np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / n_classes)
    answered = human_given_true[problem.human]
    vague = np.column_stack([problem.human, np.full_like(problem.model, 1 / n_classes)])
    np.testing.assert_allclose(fitted.predict_proba(vague), answered / answered.sum(axis=1, keepdims=True), atol=1e-12)


@every_calibrator
@pytest.mark.parametrize(
    "confusion", [DirichletConfusion(estimate="likelihood"), OneCoinConfusion(estimate="likelihood")]
)
@settings(max_examples=10)
@given(problem=problems(unasked=st.just(0.0)), order=st.randoms(use_true_random=False))
def test_a_perfect_human_always_wins(confusion, calibrator, problem, order):
    n_classes = problem.n_classes
    shown = Problem(
        np.append(problem.truth, np.arange(n_classes)),
        np.vstack([problem.model, np.full((n_classes, n_classes), 1 / n_classes)]),
        np.append(problem.truth, np.arange(n_classes)),
        np.append(problem.weight, np.ones(n_classes, dtype=int)),
        problem.rng,
    )
    fitted = _fit(ProbabilityLabelCombiner(confusion, calibrator), shown)
    # even against a model that gives the human's class the probability 0
    says = np.arange(n_classes)
    against = np.column_stack([says, np.eye(n_classes)[(says + 1) % n_classes]])
    np.testing.assert_array_equal(fitted.predict_proba(against), np.eye(n_classes))
    np.testing.assert_array_equal(
        fitted.predict_proba(shown.X)[:, shown.truth][np.arange(len(shown)), np.arange(len(shown))], 1
    )


@pytest.mark.parametrize("share", SHOWN.values(), ids=SHOWN)
@settings(max_examples=6)
@given(problem=problems(n_items=st.integers(2, 60)))
def test_the_order_of_items_does_not_matter(share, problem):
    truth = np.where(np.arange(len(problem)) < share * len(problem), problem.truth, -1)
    order = problem.rng.permutation(len(problem))
    for parts in [(None, None), (DirichletConfusion(estimate="mean"), TemperatureScaling(estimate="mean"))]:
        combiner = ProbabilityLabelCombiner(*parts)
        expected = clone(combiner).fit(problem.X, truth).predict_proba(problem.X)
        found = clone(combiner).fit(problem.X[order], truth[order]).predict_proba(problem.X)
        np.testing.assert_allclose(found, expected, atol=1e-9 if share < 1 else 1e-12)


@every_quick_combiner
@settings(max_examples=5)
@given(problem=problems())
def test_shuffling_items_shuffles_predictions(combiner, problem):
    problem = _tame(combiner, problem)
    order = problem.rng.permutation(len(problem))
    expected = _fit(combiner, problem).predict_proba(problem.X)
    fitted = _fit(combiner, _reordered(problem, order))
    _close(combiner, fitted.predict_proba(problem.X), expected, 1e-9)
    shuffled = fitted.predict_proba(problem.X[order])  # a product of matrices rounds by position
    np.testing.assert_allclose(shuffled, fitted.predict_proba(problem.X)[order], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("share", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("name", ["identity", "temperature mode", "temperature mean", "ensemble", "I-Max", "vector"])
def test_cutting_items_into_blocks_changes_nothing(monkeypatch, name, share):
    problem = simulate(500, 3, 3, unasked=0.1)
    combiner = ProbabilityLabelCombiner(calibrator=CALIBRATORS[name], max_iter=200, tol=1e-6)
    whole = _fit(combiner, problem, share, problem.weight).predict_proba(problem.X)
    monkeypatch.setattr(engine, "BLOCK_NUMBERS", 1)
    assert len(engine.block_slices(500, 3)) == 8
    in_blocks = _fit(combiner, problem, share, problem.weight)
    # EM's stopping rule and Newton's last step leave their own rounding
    np.testing.assert_allclose(in_blocks.predict_proba(problem.X), whole, atol=1e-12 if share == 1 else 1e-10)
    assert in_blocks.predict_proba(problem.X).tolist() == in_blocks.predict_proba(problem.X[:]).tolist()
    parts = [in_blocks.predict_proba(problem.X[rows]) for rows in (slice(0, 7), slice(7, 300), slice(300, 500))]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-10)


@every_calibrator
@every_confusion
@settings(max_examples=6)
@given(problem=problems(unasked=st.just(0.5)))
def test_an_item_nobody_was_asked_about_gets_the_calibrated_model(confusion, calibrator, problem):
    fitted = _fit(ProbabilityLabelCombiner(confusion, calibrator), problem)
    alone = clone(calibrator).fit(problem.model, problem.truth).predict_proba(problem.model)
    unasked = np.column_stack([np.full(len(problem), -1), problem.model])
    np.testing.assert_allclose(fitted.predict_proba(unasked), alone, atol=1e-12)


@every_quick_combiner
def test_memory_layout_and_precision_do_not_matter(combiner):
    problem = _tame(combiner, simulate(90, 4, 5, extreme=0.1, unasked=0.1))
    expected = _fit(combiner, problem).predict_proba(problem.X)
    frozen, fortran = problem.X.copy(), np.asfortranarray(problem.X)
    frozen.setflags(write=False)
    strided = np.repeat(np.repeat(problem.X, 2, axis=0), 2, axis=1)[::2, ::2]
    for X in (frozen, fortran, strided, problem.X.tolist()):
        fitted = clone(combiner).fit(X, problem.truth)
        assert fitted.predict_proba(X).tolist() == expected.tolist()
    assert frozen.tolist() == problem.X.tolist()
    single = problem.X.astype(np.float32)
    found = clone(combiner).fit(single, problem.truth).predict_proba(single)
    assert found.dtype == np.float64
    assert found.tolist() == clone(combiner).fit(single.astype(float), problem.truth).predict_proba(single).tolist()
    binned = "IMax" in repr(combiner)  # an edge may fall between the two roundings
    _close(combiner, found, expected, 0.05 if binned else 1e-3)


@every_combiner
@pytest.mark.parametrize("n_classes", [2, 7])
def test_one_item_is_enough_even_of_certain_models(combiner, n_classes):
    for model in (np.eye(n_classes)[0], np.full(n_classes, 1 / n_classes)):
        for truth in range(2):
            X = np.array([[1, *model]])
            fitted = clone(combiner).fit(X, [truth])
            proba = fitted.predict_proba(
                np.vstack([np.column_stack([np.arange(-1, n_classes), np.tile(model, (n_classes + 1, 1))])])
            )
            assert np.isfinite(proba).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


@every_calibrator
@every_confusion
@pytest.mark.filterwarnings("ignore:EM has not converged")
@settings(max_examples=4)
@given(problem=problems(n_items=st.integers(1, 30)), share=st.sampled_from([0.0, 0.4]))
def test_learning_without_truth_gives_probabilities(confusion, calibrator, problem, share):
    proba = _fit(ProbabilityLabelCombiner(confusion, calibrator, max_iter=30), problem, share).predict_proba(problem.X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("share", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("name", ["identity", "temperature mode", "temperature mean", "ensemble", "I-Max", "vector"])
def test_a_thousand_classes_are_no_trouble(name, share):
    if name == "vector" and share < 1:
        pytest.skip("two thousand parameters, fitted anew at each iteration of EM, take half a minute")
    problem = simulate(40, 1000, 7, sharpness=3.0, extreme=0.1)
    combiner = ProbabilityLabelCombiner(calibrator=CALIBRATORS[name], max_iter=50, tol=1e-3)
    proba = _fit(combiner, problem, share).predict_proba(problem.X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("combiner", [LabelLabelCombiner(), QUICK["LR on m"]], ids=["L+L", "LR"])
def test_a_thousand_classes_are_no_trouble_for_the_baselines(combiner):
    problem = simulate(40, 1000, 7, sharpness=3.0, extreme=0.1)
    proba = _fit(combiner, problem).predict_proba(problem.X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)


@settings(max_examples=30)
@given(problem=problems())
def test_a_certain_model_is_read_as_one_that_could_be_wrong(problem):
    certain = np.eye(problem.n_classes)[problem.rng.integers(0, problem.n_classes, len(problem))]
    fitted = ProbabilityLabelCombiner(DirichletConfusion(), Identity()).fit(asked(problem).X, problem.truth)
    log_proba = fitted.predict_log_proba(np.column_stack([np.full(len(problem), -1), certain]))
    assert np.isfinite(log_proba).all()
    np.testing.assert_allclose(log_proba[certain == 0], np.log(FLOOR), rtol=1e-12)
