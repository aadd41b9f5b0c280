"""The recommended combiner: extremes, preferences, explanation, and life among scikit-learn, files and frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import beta
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict

import twoheads
from strategies import simulate
from twoheads.calibration.identity import Identity
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination import Dependence, ProbabilityLabelCombiner, recommended
from twoheads.confusion import DirichletConfusion, HierarchicalConfusion
from twoheads.kernels.answers import Answers
from twoheads.kernels.confusion.hierarchical import hierarchical_posterior, posterior_mean
from twoheads.kernels.dependence.preference import close_calls_to_partner
from twoheads.kernels.priors import AGREEMENT_LABELS
from twoheads.observations import Observations


def check(proba):
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_its_parts():
    team = recommended(class_prior="learn", model_scale="log")
    assert isinstance(team.confusion, HierarchicalConfusion)
    assert isinstance(team.calibrator, TemperatureScaling)
    assert isinstance(team.dependence, Dependence)
    assert (team.class_prior, team.model_scale) == ("learn", "log")


@pytest.mark.parametrize("k", [2, 100])
@pytest.mark.parametrize("n", [0, 1, 30])
@pytest.mark.parametrize("rest", [0, 50])
def test_from_two_to_a_hundred_classes(k, n, rest):
    problem = simulate(max(n + rest, 1), k, seed=n + k)
    truth = np.where(np.arange(len(problem)) < n, problem.truth, -1)
    team = recommended().fit(problem.X, truth)
    assert (team.n_labelled_, team.n_unlabelled_) == (n, len(problem) - n)
    assert team.labels_per_class_.sum() == n
    check(team.predict_proba(simulate(100, k, seed=9, extreme=0.3, unasked=0.1).X))
    assert team.describe().startswith("Fitted on ")
    check(team.predict_proba(problem.X))


def test_a_human_who_is_always_right_is_followed():
    problem, later = simulate(150, 4, seed=1), simulate(500, 4, seed=2)
    team = recommended().fit(np.column_stack([problem.truth, problem.model]), problem.truth)
    X = np.column_stack([later.truth, later.model])
    assert np.mean(team.predict(X) == later.truth) > 0.99
    assert team.holdout_.human_errors == 0
    assert np.diagonal(team.confusion_.human_given_true_).min() > 0.95


def test_a_human_who_always_says_the_same_is_ignored():
    problem, later = simulate(300, 4, seed=3), simulate(500, 4, seed=4)
    team = recommended().fit(np.column_stack([np.zeros(300), problem.model]), problem.truth)
    X = np.column_stack([np.zeros(500), later.model])
    assert np.mean(team.predict(X) == later.model.argmax(axis=1)) > 0.95
    without = recommended().fit(np.column_stack([np.full(300, -1), problem.model]), problem.truth)
    unasked = np.column_stack([np.full(500, -1), later.model])
    np.testing.assert_allclose(team.predict_proba(X), without.predict_proba(unasked), atol=0.05)


@pytest.mark.parametrize("n", [10, 200])
def test_a_model_that_is_certain_and_wrong_is_overruled(n):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, n)
    model = np.eye(3)[(truth + 1) % 3]
    human = np.where(rng.random(n) < 0.9, truth, (truth + 2) % 3)
    X = np.column_stack([human, model])
    for calibrator in (TemperatureScaling(), Identity()):
        team = ProbabilityLabelCombiner(HierarchicalConfusion(), calibrator, Dependence()).fit(X, truth)
        check(team.predict_proba(X))
        assert np.isfinite(team.predict_log_proba(X)).all()
    proba = recommended().fit(X, truth).predict_proba(X)
    assert np.mean(proba.argmax(axis=1) == human) > (0.99 if n > 100 else 0.5)


def test_a_class_with_no_example():
    problem = simulate(60, 3, seed=6)
    shown = problem.truth != 2
    team = recommended().fit(problem.X[shown], problem.truth[shown])
    assert team.labels_per_class_[2] == 0
    proba = team.predict_proba(problem.X)
    check(proba)
    assert (proba[:, 2] > 0).all()
    sure = (problem.human == 2) & (problem.model[:, 2] > 0.8)
    assert proba[sure, 2].mean() > 0.5


def test_nobody_answered_a_labelled_item():
    problem = simulate(40, 3, seed=7)
    X = np.column_stack([np.full(40, -1), problem.model])
    team = recommended().fit(X, problem.truth)
    check(team.predict_proba(X))
    assert team.holdout_.answered == 0
    assert team.facts()["preference"]["alone"] is None
    assert "people" not in team.describe().split("\n")[-1].lower()


def test_several_people_and_missing_answers():
    rng = np.random.default_rng(8)
    problem = simulate(200, 3, seed=8)
    frame = pd.DataFrame(problem.model, columns=["p_a", "p_b", "p_c"])
    for name in ("ann", "bob", "cid"):
        answer = np.where(rng.random(200) < 0.75, problem.truth, rng.integers(0, 3, 200))
        frame[f"human_{name}"] = np.where(rng.random(200) < 0.3, None, np.array(list("abc"), dtype=object)[answer])
    truth = np.array(list("abc"))[problem.truth]
    team = recommended().fit(frame.iloc[:100], truth[:100])
    later = frame.iloc[100:]
    check(team.predict_proba(later))
    assert np.mean(team.predict(later) == truth[100:]) > np.mean(problem.model.argmax(axis=1) == problem.truth)
    explanation = team.explain(later)
    assert set(explanation.parts) - {"preference"} == {"model", "ann", "bob", "cid", "dependence"}
    partly = recommended().fit(frame, np.where(np.arange(200) < 100, truth, ""))
    check(partly.predict_proba(later))


def test_items_without_truth_inform_the_temperature_and_the_matrix_of_few_labels():
    problem = simulate(300, 3, seed=9, temperature=4.0)
    truth = np.where(np.arange(300) < 12, problem.truth, -1)
    alone = recommended().fit(problem.X[:12], problem.truth[:12])
    both = recommended().fit(problem.X, truth)
    ignored = recommended().set_params(unlabelled_weight=0).fit(problem.X, truth)
    np.testing.assert_array_equal(both.confusion_.counts_, alone.confusion_.counts_)
    soft = both.confusion_.crowd_counts_ - alone.confusion_.crowd_counts_
    assert soft.sum() == pytest.approx(10 * 10 / (10 + 12))
    assert both.calibrator_.temperature_ == alone.calibrator_.temperature_
    assert not np.array_equal(both.dependence_.weight_, alone.dependence_.weight_)
    np.testing.assert_array_equal(ignored.predict_proba(problem.X), alone.predict_proba(problem.X))
    assert len(both.objective_) == 0


def test_without_truth_it_is_em_at_the_temperature_that_agreement_suggests():
    problem = simulate(400, 3, seed=10, temperature=2.0)
    team = recommended().fit(problem.X)
    assert team.holdout_ is None
    held = TemperatureScaling(log_temperature_mean=team.dependence_.mean_log_temperature(), log_temperature_sd=0)
    # All items together count as ten labels, so that agreement is not taken for hundreds.
    weight = np.full(400, AGREEMENT_LABELS / 400)
    em = ProbabilityLabelCombiner(HierarchicalConfusion(), held).fit(problem.X, sample_weight=weight)
    np.testing.assert_allclose(team.confusion_.counts_, em.confusion_.counts_, rtol=1e-9)
    # What people confuse is that of EM in which each item counts in full.
    whole = ProbabilityLabelCombiner(HierarchicalConfusion(), held).fit(problem.X)
    expected = em.confusion_.with_errors_of(whole.confusion_).human_given_true_
    np.testing.assert_allclose(team.confusion_.human_given_true_, expected, rtol=1e-4)
    np.testing.assert_allclose(np.diff(team.objective_), np.diff(em.objective_), atol=1e-9)
    assert team.calibrator_.log_temperature_ == team.dependence_.mean_log_temperature()  # and so it is shown
    right = np.mean(team.predict(problem.X) == problem.truth)
    model, human = (np.mean(label == problem.truth) for label in (problem.model.argmax(axis=1), problem.human))
    assert right > model + 0.1
    assert right > model + 0.75 * (human - model)  # who is the better partner is not known


def test_without_truth_the_errors_that_people_make_are_recognised():
    """People confuse 0 with 1 and 2 with 3; how accurate they are is believed from the prior and a little agreement."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 3000)
    model = rng.dirichlet(np.full(4, 0.5), 3000) + 1.5 * np.eye(4)[truth]
    human = np.where(rng.random(3000) < 0.7, truth, truth ^ 1)
    team = recommended().fit(np.column_stack([human, model / model.sum(axis=1, keepdims=True)]))
    given = team.confusion_.human_given_true_
    assert (given[[1, 0, 3, 2], range(4)] > 5 * given[[2, 2, 0, 0], range(4)]).all()
    assert 0.6 < np.diagonal(given).min() <= np.diagonal(given).max() < 0.9


def combined_alone(team, X):
    """The probabilities of the combination, without the preference for a partner."""
    rule = replace(team.rule(), preference=None)
    return np.exp(rule.log_joint(team.block(team.observe(X), slice(0, len(X))))).T


@pytest.mark.parametrize("leader", ["human", "model"])
def test_close_calls_by_hand(leader):
    few, later = simulate(36, 3, seed=21), simulate(2000, 3, seed=12, accuracy=0.6)
    human = few.truth.copy() if leader == "human" else (few.truth + (np.arange(36) % 3 > 0)) % 3
    human[:2] = (few.truth[:2] + (leader == "human")) % 3
    team = recommended().fit(np.column_stack([human, few.model]), few.truth)
    assert team.holdout_.preference().share_alone == 0
    before, after = combined_alone(team, later.X), team.predict_proba(later.X)
    model_right = few.model.argmax(axis=1) == few.truth
    human_only, model_only = ((human == few.truth) & ~model_right).sum(), (model_right & (human != few.truth)).sum()
    lead = 1 - 2 * beta.cdf(0.5, human_only + 8, model_only + 8)
    assert (lead > 0) == (leader == "human")
    threshold = np.exp(lead**2 * 30 / 66)
    partner = later.human if lead > 0 else later.model.argmax(axis=1)
    item = np.arange(2000)
    others = before.copy()
    others[item, partner] = 0
    ratio = others.max(axis=1) / before[item, partner]
    far = np.abs(np.log(ratio)) > 2 * np.log(threshold)
    assert 0 < (~far).sum() < 2000
    np.testing.assert_allclose(after[far], before[far], rtol=1e-12)
    wins = ratio < threshold
    assert (wins & (ratio > 1)).any()
    np.testing.assert_array_equal(team.predict(later.X)[wins], partner[wins])
    np.testing.assert_array_equal(team.predict(later.X)[~wins], others.argmax(axis=1)[~wins])


@pytest.mark.parametrize("member", ["human", "model"])
def test_the_team_answers_as_the_member_that_its_record_is_sure_of(member):
    problem, later = simulate(60, 3, seed=22), simulate(80, 3, seed=23, unasked=0.2)
    team = recommended().fit(problem.X, problem.truth)
    lost = {f"over_{member}": (1.0, 40.0), f"expected_over_{member}": 2.0}
    team.holdout_ = replace(team.holdout_, **lost)
    asked = later.human >= 0
    if member == "human":
        given = team.confusion_.human_given_true_[later.human]
        expected = given / given.sum(axis=1, keepdims=True)
        np.testing.assert_array_equal(team.predict(later.X)[asked], expected.argmax(axis=1)[asked])
    else:
        unasked = later.X.copy()
        unasked[:, 0] = np.nan
        expected = team.predict_proba(unasked)
    np.testing.assert_allclose(team.predict_proba(later.X)[asked], expected[asked], rtol=1e-9)
    np.testing.assert_allclose(team.predict_proba(later.X)[~asked], combined_alone(team, later.X)[~asked], rtol=1e-12)
    assert "so the team answers as" in team.describe()
    explanation = team.explain(later.X)
    log_proba = team.predict_log_proba(later.X)
    np.testing.assert_allclose(explanation.log_odds, log_proba.max(axis=1, keepdims=True) - log_proba, atol=1e-9)
    assert not explanation.parts["preference"][~asked].any()
    assert np.abs(explanation.parts["preference"][asked]).max() > 0.1


def test_the_record_is_of_predictions_without_the_item():
    problem = simulate(25, 3, seed=13)
    team = recommended().fit(problem.X, problem.truth)
    stage, preference, errors = team.dependence_, team.holdout_.preference(), 0
    for item in range(25):
        counts = np.zeros((3, 3))
        np.add.at(counts, (np.delete(problem.human, item), np.delete(problem.truth, item)), 1.0)
        # the shapes of errors stay those of all items
        matrix = posterior_mean(hierarchical_posterior(counts, team.confusion_.shapes_))
        given = np.log(matrix[problem.human[item]])[:, None]
        one = problem.truth[[item]], Answers(problem.human[[item]])
        log_proba = problem.log_model[item][:, None]
        proba, _ = stage.left_out_probas((log_proba, log_proba), given, *one, (None, 25.0))
        partner = problem.human[item] if preference.human_leads else problem.model[item].argmax()
        proba = close_calls_to_partner(proba, np.array([partner]), preference.log_threshold)
        errors += proba.argmax() != problem.truth[item]
    assert team.holdout_.errors == errors
    assert team.holdout_.n == team.holdout_.answered == 25
    assert team.holdout_.human_errors == (problem.human != problem.truth).sum()


@pytest.mark.parametrize("confusion", [HierarchicalConfusion(), DirichletConfusion(estimate="likelihood")], ids=repr)
@pytest.mark.parametrize("calibrator", [TemperatureScaling(), Identity()], ids=repr)
def test_the_parts_of_an_explanation_sum_to_the_log_odds(confusion, calibrator):
    problem = simulate(60, 3, seed=14, unasked=0.1, extreme=0.1)
    team = ProbabilityLabelCombiner(confusion, calibrator, Dependence()).fit(problem.X, problem.truth)
    explanation = team.explain(problem.X)
    assert set(explanation.parts) - {"preference"} == {"model", "human", "dependence"}
    log_proba = team.predict_log_proba(problem.X)
    expected = log_proba.max(axis=1, keepdims=True) - log_proba
    np.testing.assert_allclose(explanation.log_odds, expected, rtol=1e-9, atol=1e-9)
    assert explanation.label.tolist() == team.predict(problem.X).tolist()
    nobody = problem.human == -1
    assert not explanation.parts["human"][nobody].any()


def test_weights_below_one_count_less_and_zero_not_at_all():
    problem = simulate(80, 3, seed=15)
    weight = np.where(np.arange(80) < 50, 1.0, 0.0)
    truth = np.where(np.arange(80) % 10 == 9, -1, problem.truth)
    team = recommended().fit(problem.X, truth, sample_weight=weight)
    dropped = recommended().fit(problem.X[:50], truth[:50])
    np.testing.assert_allclose(team.predict_proba(problem.X), dropped.predict_proba(problem.X), atol=1e-9)
    tenth = recommended().fit(problem.X, problem.truth, sample_weight=np.full(80, 0.1))
    assert tenth.holdout_.n == pytest.approx(8.0)
    check(tenth.predict_proba(problem.X))


@pytest.mark.parametrize("n", [0, 30, 60])
def test_it_is_saved_and_read_to_the_bit(tmp_path, n):
    problem = simulate(60, 4, seed=16)
    team = recommended().fit(problem.X, np.where(np.arange(60) < n, problem.truth, -1))
    team.save(tmp_path / "team.json")
    again = twoheads.load(tmp_path / "team.json")
    np.testing.assert_array_equal(again.predict_proba(problem.X), team.predict_proba(problem.X))
    assert again.holdout_ == team.holdout_
    assert again.describe() == team.describe()
    for name, value in vars(team.dependence_).items():
        np.testing.assert_array_equal(getattr(again.dependence_, name), value)
    for name in ("shapes_", "node_weight_", "counts_", "log_evidence_"):
        np.testing.assert_array_equal(getattr(again.confusion_, name), getattr(team.confusion_, name))


def test_it_lives_among_scikit_learn():
    problem = simulate(90, 3, seed=17)
    team = recommended()
    assert clone(team).get_params().keys() == team.get_params().keys()
    name = "dependence__partner_correlation_mean"
    assert clone(team).set_params(**{name: 0.5}).dependence.partner_correlation_mean == 0.5
    search = GridSearchCV(recommended(), {name: [0.0, 3.0]}, scoring="neg_log_loss", cv=3)
    assert search.fit(problem.X, problem.truth).best_params_ == {name: 0.0}
    proba = cross_val_predict(recommended(), problem.X, problem.truth, method="predict_proba", cv=3)
    check(proba)


def test_strings_frames_and_observations_give_the_same():
    problem = simulate(60, 3, seed=18)
    names = np.array(["cat", "dog", "eel"])
    frame = pd.DataFrame(problem.model, columns=[f"p_{name}" for name in names])
    frame["human"] = names[problem.human]
    expected = recommended().fit(problem.X, problem.truth).predict_proba(problem.X)
    team = recommended().fit(frame, names[problem.truth])
    np.testing.assert_allclose(team.predict_proba(frame), expected, atol=1e-12)
    assert set(team.predict(frame)) <= set(names)
    rarest = names[np.bincount(problem.truth).argmin()]
    assert f"the rarest class is {str(rarest)!r}" in team.describe()
    answers = pd.DataFrame({"item": np.arange(60), "annotator": "x", "answer": names[problem.human]})
    seen = Observations.from_answers(answers, frame.drop(columns="human").assign(item=np.arange(60)))
    np.testing.assert_allclose(recommended().fit(seen, names[problem.truth]).predict_proba(seen), expected, atol=1e-12)
    logits = np.column_stack([problem.human, np.log(problem.model) + 3.0])
    scaled = recommended(model_scale="logit").fit(logits, problem.truth)
    np.testing.assert_allclose(scaled.predict_proba(logits), expected, atol=1e-9)


def test_it_is_calibrated_where_plain_p_plus_l_is_over_confident():
    # An item's difficulty is shared: on hard ones model and human err together.
    rng = np.random.default_rng(19)
    n, k = 4000, 4
    truth, hard = rng.integers(0, k, n), rng.random(n) < 0.4
    right = expit(np.where(hard, -0.7, 3.0))
    lure = (truth + 1 + rng.integers(0, 2, n)) % k
    human = np.where(rng.random(n) < right, truth, lure)
    said = np.where(rng.random(n) < right, truth, lure)
    logits = rng.normal(size=(n, k)) * 0.3
    logits[np.arange(n), said] += 2.5
    model = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    X = np.column_stack([human, model])
    losses = []
    for team in (ProbabilityLabelCombiner(), recommended()):
        proba = team.fit(X[:1000], truth[:1000]).predict_proba(X[1000:])
        losses.append(-np.mean(np.log(proba[np.arange(3000), truth[1000:]])))
    assert losses[1] < losses[0] - 0.01
    assert team.dependence_.weights()[1] < 0.85
    assert "the two err on the same items" in team.describe()


def test_a_model_that_is_undecided_has_no_preferred_class():
    """Rows tied between two classes: which of their names comes first changes nothing."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    model = np.round(0.5 * rng.dirichlet(np.full(3, 0.3), 200) + 0.5 * np.eye(3)[truth], 1)
    model[:6] = [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]] * 2
    model /= model.sum(axis=1, keepdims=True)
    human = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200))
    first = recommended().fit(np.column_stack([human, model]), np.where(np.arange(200) < 80, truth, -1))
    place = np.array([2, 0, 1])  # class k is now place[k]
    renamed = np.column_stack([place[human], model[:, np.argsort(place)]])
    second = recommended().fit(renamed, np.where(np.arange(200) < 80, place[truth], -1))
    assert not first.rule().preference.human_leads
    found = second.predict_proba(renamed)[:, place]
    np.testing.assert_allclose(found, first.predict_proba(np.column_stack([human, model])), atol=1e-9)
