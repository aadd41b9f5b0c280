"""What unlabelled items add to few labels of one person."""

from __future__ import annotations

import numpy as np
import pytest

import twoheads as th
from strategies import simulate
from twoheads.combination.fitting.few_labels import MOST_LABELS
from twoheads.confusion import DirichletConfusion, HierarchicalConfusion


def known(problem, n):
    return np.where(np.arange(len(problem.truth)) < n, problem.truth, -1)


def added(team):
    """The soft counts in a team's matrix."""
    return team.confusion_.crowd_counts_ - team.confusion_.counts_.sum(axis=0)


def written_out(problem, n, temperature):
    """Soft counts by Bayes' rule from the matrix before any label, the unlabelled items together as 100 / (10 + n)."""
    matrix = HierarchicalConfusion().start(1, problem.n_classes).human_given_true_
    log_joint = problem.log_model[n:] / temperature + np.log(matrix[problem.human[n:]])
    posterior = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    soft = np.zeros((problem.n_classes, problem.n_classes))
    np.add.at(soft, problem.human[n:], posterior)
    return soft * 100 / (10 + n) / len(posterior)


@pytest.mark.parametrize("n", [1, 10, 60])
def test_unlabelled_items_count_as_soft_counts_by_hand(n):
    problem = simulate(200, 4, seed=3)
    team = th.recommended().fit(problem.X, known(problem, n))
    assert added(team).sum() == pytest.approx(100 / (10 + n))
    # The temperature is that of the agreement, which a fit does not keep: the counts show it.
    errors = [np.abs(added(team) - written_out(problem, n, t)).max() for t in np.geomspace(0.2, 5.0, 2000)]
    assert min(errors) < 1e-3 * added(team).max()
    np.testing.assert_array_equal(team.confusion_.counts_.sum(), n)


def test_few_unlabelled_items_count_in_proportion_to_their_number():
    problem = simulate(60, 3, seed=1)
    for n, n_unlabelled, share in ((20, 40, 1.0), (40, 20, 1.0), (50, 10, 0.5), (59, 1, 0.05)):
        assert len(problem.truth) - n == n_unlabelled
        soft = added(th.recommended().fit(problem.X, known(problem, n)))
        assert soft.sum() == pytest.approx(share * 100 / (10 + n))


def test_many_labels_other_people_and_no_unlabelled_items_add_nothing():
    problem = simulate(MOST_LABELS + 20, 3, seed=2)
    for truth in (problem.truth, known(problem, MOST_LABELS + 1)):
        assert added(th.recommended().fit(problem.X, truth)).sum() == 0
    plain = th.ProbabilityLabelCombiner(DirichletConfusion(), dependence=th.Dependence())
    fitted = plain.fit(problem.X, known(problem, 5))
    np.testing.assert_array_equal(fitted.confusion_.counts_.sum(), 5)


def test_items_without_a_model_row_add_nothing():
    problem = simulate(90, 3, seed=5)
    X = problem.X.copy()
    X[30:, 1:] = np.nan
    assert added(th.recommended().fit(X, known(problem, 20))).sum() == pytest.approx(10 / 3)
    soft = added(
        th.recommended().fit(np.delete(X, slice(20, 30), axis=0), np.delete(known(problem, 20), slice(20, 30)))
    )
    assert soft.sum() == 0


def test_class_shares_where_the_team_is_used_do_not_matter():
    problem = simulate(120, 3, seed=6)
    plain, rare = (th.recommended(class_prior=prior) for prior in ("model", [0.9, 0.05, 0.05]))
    np.testing.assert_array_equal(*(added(team.fit(problem.X, known(problem, 20))) for team in (plain, rare)))


@pytest.mark.parametrize("n_classes", [2, 6])
def test_one_label_changes_little(n_classes):
    problem = simulate(400, n_classes, seed=4)
    without = th.recommended().fit(problem.X).predict_proba(problem.X)
    one = th.recommended().fit(problem.X, known(problem, 1)).predict_proba(problem.X)
    assert np.abs(one - without).mean() < 0.02


def test_soft_counts_and_the_shape_of_errors_by_hand():
    confusion = HierarchicalConfusion().fit_counts(np.eye(3)[None] * 2)
    soft = np.array([[5.0, 1, 0], [0, 5, 9], [3, 0, 5]])
    same = confusion.backed(soft, weight=0.0, share=0.0)
    np.testing.assert_allclose(same.human_given_true_, confusion.human_given_true_)
    backed = confusion.backed(soft, weight=0.5, share=1.0)
    np.testing.assert_allclose(backed.crowd_counts_, np.eye(3) * 2 + soft / 2)
    np.testing.assert_array_equal(backed.counts_, confusion.counts_)
    shape = backed.shapes_[0]
    np.testing.assert_allclose(shape.sum(axis=0), 1.0)
    assert shape[2, 0] > shape[1, 0]  # of class 0 the wrong answer was 2 three times, and 1 never
    assert shape[1, 2] > shape[0, 2]
    assert backed.human_given_true_[1, 2] > confusion.human_given_true_[1, 2]


@pytest.mark.parametrize("n", [1, 10, 60])
def test_intervals_of_accuracies_rest_on_labels_alone(n):
    # Beliefs about unlabelled items would narrow them: 90 % intervals would cover 71 % with ten labels.
    problem = simulate(400, 2, seed=7)
    fitted = th.recommended().fit(problem.X, known(problem, n)).confusion_
    labels = HierarchicalConfusion().fit_counts(fitted.counts_)
    estimate = np.diagonal(fitted.crowd_given_true_)
    low, high = labels.accuracy_interval(0.9)
    alone = np.diagonal(labels.crowd_given_true_)
    inside = (low < alone) & (alone < high)
    found = fitted.accuracy_interval(0.9)
    np.testing.assert_allclose(found[0][inside], np.minimum(low, estimate)[inside], atol=1e-5)
    np.testing.assert_allclose(found[1][inside], np.maximum(high, estimate)[inside], atol=1e-5)
    assert inside.any()
