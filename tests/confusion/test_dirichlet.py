"""The Dirichlet confusion matrix by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import dirichlet

from strategies import problems, simulate
from twoheads.confusion import DirichletConfusion
from twoheads.errors import InvalidParameter
from twoheads.observations import Observations


def _rows(human, n_classes):
    return np.column_stack([human, np.full((len(human), n_classes), 1 / n_classes)])


def test_the_default_prior_of_ten_classes_is_the_papers():
    # Dir(3.7 on, 1.1 off): the mode adds 2.7 and 0.1 to the counts, the mean 3.7 and 1.1
    np.testing.assert_allclose(DirichletConfusion().pseudo_counts(10, 10), 0.1 + 2.6 * np.eye(10))
    np.testing.assert_allclose(DirichletConfusion(estimate="mean").pseudo_counts(10, 10), 1.1 + 2.6 * np.eye(10))
    assert DirichletConfusion(estimate="likelihood").pseudo_counts(10, 10).tolist() == np.zeros((10, 10)).tolist()


def test_the_priors_mode_has_the_prior_accuracy_on_its_diagonal_but_its_mean_has_not():
    nothing = np.zeros((1, 10, 10))
    mode = DirichletConfusion(prior_accuracy=0.9, prior_strength=5).fit_counts(nothing).human_given_true_
    assert mode.diagonal() == pytest.approx([0.9] * 10)
    mean = DirichletConfusion(estimate="mean").fit_counts(nothing).human_given_true_
    assert mean.diagonal() == pytest.approx([3.7 / 13.6] * 10)  # 0.27, as the paper's fully Bayesian method begins


HUMAN, TRUTH = [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        # three of class 0 (answers 0, 0, 1), three of class 1 (1, 1, 2), none of class 2; K = 3: 0.1 off, 0.6 on
        ("likelihood", [[2 / 3, 0, 1 / 3], [1 / 3, 2 / 3, 1 / 3], [0, 1 / 3, 1 / 3]]),
        ("mode", [[2.6 / 3.8, 0.1 / 3.8, 0.125], [1.1 / 3.8, 2.6 / 3.8, 0.125], [0.1 / 3.8, 1.1 / 3.8, 0.75]]),
        (
            "mean",
            [[3.6 / 6.8, 1.1 / 6.8, 1.1 / 3.8], [2.1 / 6.8, 3.6 / 6.8, 1.1 / 3.8], [1.1 / 6.8, 2.1 / 6.8, 1.6 / 3.8]],
        ),
    ],
)
def test_each_estimate_by_hand_and_a_class_without_examples(estimate, expected):
    fitted = DirichletConfusion(estimate=estimate).fit(_rows(HUMAN, 3), TRUTH)
    np.testing.assert_allclose(fitted.human_given_true_, expected)
    assert fitted.counts_.tolist() == [[[2, 0, 0], [1, 2, 0], [0, 1, 0]]]


def test_the_mean_is_that_of_scipys_dirichlet_and_the_mode_its_maximum():
    problem = simulate(40, 3, 1)
    counts = np.zeros((3, 3))
    np.add.at(counts, (problem.human, problem.truth), 1)
    mean = DirichletConfusion(estimate="mean").fit(problem.X, problem.truth).human_given_true_
    mode = DirichletConfusion().fit(problem.X, problem.truth).human_given_true_
    for j in range(3):
        posterior = counts[:, j] + 1.1 + 0.5 * np.eye(3)[j]
        np.testing.assert_allclose(mean[:, j], dirichlet.mean(posterior))
        found = minimize(
            lambda x, a=posterior: -dirichlet.logpdf(softmax(np.append(x, 0.0)), a), np.zeros(2), tol=1e-10
        )
        np.testing.assert_allclose(mode[:, j], softmax(np.append(found.x, 0.0)), atol=1e-5)


@given(problems())
def test_columns_sum_to_one_and_unknown_truth_or_answers_do_not_count(problem):
    known = np.where(problem.rng.random(len(problem)) < 0.7, problem.truth, -1)
    use = (known >= 0) & (problem.human >= 0)
    for estimate in ("mode", "mean", "likelihood"):
        fitted = DirichletConfusion(estimate=estimate).fit(problem.X, known)
        assert fitted.human_given_true_.sum(axis=0) == pytest.approx(np.ones(problem.n_classes))
        if use.any():
            alone = DirichletConfusion(estimate=estimate).fit(problem.X[use], known[use])
            assert fitted.human_given_true_.tolist() == alone.human_given_true_.tolist()


@given(problems())
def test_weight_counts_as_repetition(problem):
    weighted = DirichletConfusion().fit(problem.X, problem.truth, sample_weight=problem.weight)
    repeated = DirichletConfusion().fit(
        np.repeat(problem.X, problem.weight, axis=0), np.repeat(problem.truth, problem.weight)
    )
    np.testing.assert_allclose(weighted.human_given_true_, repeated.human_given_true_)


def test_each_of_several_people_has_a_matrix_and_the_crowd_pools_them():
    import pandas as pd

    answers = pd.DataFrame(
        {
            "item": [0, 1, 2, 0, 2, 3],
            "annotator": ["ann", "ann", "ann", "bob", "bob", "bob"],
            "answer": [0, 1, 0, 0, 1, 1],
        }
    )
    model = pd.DataFrame({"item": range(4), "p_0": 0.5, "p_1": 0.5})
    fitted = DirichletConfusion(estimate="likelihood").fit(Observations.from_answers(answers, model), [0, 1, 1, 0])
    assert fitted.annotators_ == ("ann", "bob")
    # ann: truth 0 -> 0; truth 1 -> 1, 0.  bob: truth 0 -> 0, 1; truth 1 -> 1
    np.testing.assert_allclose(fitted.human_given_true_, [[[1, 0.5], [0, 0.5]], [[0.5, 0], [0.5, 1]]])
    np.testing.assert_allclose(fitted.crowd_given_true_, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(fitted.people()[-1], fitted.crowd_given_true_)
    assert fitted.log_table().shape == (6, 2)


@pytest.mark.parametrize("estimate", ["mode", "mean", "likelihood"])
@pytest.mark.parametrize("n_people", [1, 3])
def test_em_starts_at_the_priors_mode_whatever_the_estimate(estimate, n_people):
    started = DirichletConfusion(prior_accuracy=0.8, prior_strength=0, estimate=estimate).start(n_people, 5)
    expected = np.full((5, 5), 0.05) + 0.75 * np.eye(5)
    np.testing.assert_allclose(started.people(), np.stack([expected] * (n_people + 1)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_accuracy": 1.0}, "prior_accuracy must be between 0 and 1; it is 1.0."),
        ({"prior_strength": -1}, "prior_strength must not be negative; it is -1."),
        ({"estimate": "map"}, "estimate must be 'mode', 'mean' or 'likelihood'; it is 'map'."),
    ],
)
def test_options_outside_their_range_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        DirichletConfusion(**options).fit(_rows(HUMAN, 3), TRUTH)
