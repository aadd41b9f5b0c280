"""The hierarchical confusion against its formula written out, refits without an item, and draws from its prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, gammaln, logit, logsumexp

from strategies import simulate
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination import ProbabilityLabelCombiner
from twoheads.confusion import DirichletConfusion, HierarchicalConfusion, OneCoinConfusion
from twoheads.kernels.confusion.annotators import annotator_means

ACCURACY = expit(np.linspace(logit(0.03), logit(0.995), 24))
STRENGTH = np.geomspace(1, 1000, 11)


def written_out(counts, shapes, shrinkage=3):
    """The posterior mean, node by node as the formula is, of one person; with shrinkage 1 that of a crowd."""
    total, matrix, norm = counts.sum(axis=0), 0.0, 0.0
    seen = counts > 0
    logs, means = [], []
    for shape in shapes:
        for a in ACCURACY:
            mean = a * np.eye(len(counts)) + (1 - a) * shape
            for s in STRENGTH:
                log = (gammaln(s) - gammaln(s + total)).sum()
                log += (gammaln(s * mean[seen] + counts[seen]) - gammaln(s * mean[seen])).sum()
                log += 2 * np.log(a) + np.log(a * (1 - a)) - 0.5 * ((np.log(s) - np.log(15)) / 1.2) ** 2
                logs.append(log)
                means.append((counts + shrinkage * s * mean) / (total + shrinkage * s))
    for log, mean in zip(logs, means, strict=True):
        weight = np.exp(log - max(logs))
        matrix, norm = matrix + weight * mean, norm + weight
    return matrix / norm


def counted(problem):
    counts = np.zeros((problem.n_classes, problem.n_classes))
    np.add.at(counts, (problem.human, problem.truth), 1.0)
    return counts


@pytest.mark.parametrize(("n", "k"), [(1, 2), (12, 3), (200, 5)])
def test_the_posterior_mean_is_that_of_the_formula(n, k):
    problem = simulate(n, k, seed=n)
    confusion = HierarchicalConfusion().fit(problem.X, problem.truth)
    assert confusion.shapes_.shape == (1 if k == 2 else 3, k, k)
    np.testing.assert_allclose(confusion.human_given_true_, written_out(counted(problem), confusion.shapes_), rtol=1e-9)
    np.testing.assert_allclose(confusion.human_given_true_.sum(axis=0), 1.0)


def test_errors_of_another_estimate_by_hand():
    # Of the errors under each class of the other matrix, three in four are the next answer.
    other, confusion = HierarchicalConfusion(), HierarchicalConfusion().fit_counts(np.full((1, 3, 3), 2.0))
    other.crowd_given_true_ = np.array([[0.6, 0.1, 0.3], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
    moved = confusion.with_errors_of(other)
    shape = np.array([[0, 0.25, 0.75], [0.75, 0, 0.25], [0.25, 0.75, 0]])
    np.testing.assert_allclose(moved.shapes_, shape[None], atol=1e-8)
    np.testing.assert_allclose(moved.crowd_given_true_, written_out(np.full((3, 3), 2.0), moved.shapes_), rtol=1e-9)
    assert len(confusion.shapes_) == 3  # as it was


def test_shapes_by_hand():
    # The model hesitates between 0 and 1 alone; answers are 0, 0, 1.
    model = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
    confusion = HierarchicalConfusion().fit(np.column_stack([[0, 0, 1], model]), [0, 1, 1])
    uniform, confused, common = confusion.shapes_
    np.testing.assert_allclose(uniform, (1 - np.eye(3)) / 2)
    np.testing.assert_allclose(confused[:, 0], [0.0, (0.5 + 1.0) / 2, 0.25], atol=1e-6)
    # of truth 2: answers 0 and 1 were given 2 + 1 and 1 + 1 times
    np.testing.assert_allclose(common[:, 2], [(0.5 + 3 / 5) / 2, (0.5 + 2 / 5) / 2, 0.0])


@pytest.mark.parametrize(
    "confusion",
    [
        HierarchicalConfusion(),
        DirichletConfusion(),
        DirichletConfusion(estimate="mean"),
        DirichletConfusion(estimate="likelihood"),
        OneCoinConfusion(),
        OneCoinConfusion(estimate="likelihood"),
    ],
    ids=repr,
)
def test_leave_one_out_rows_are_those_of_a_refit(confusion):
    problem = simulate(25, 3, seed=5)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.5], 25)
    confusion.fit(problem.X, problem.truth, sample_weight=weight)
    rows = confusion.leave_one_out_rows(problem.human, problem.truth, weight)(np.arange(25), None)
    assert rows.shape == (3, 25)
    for item, (answer, truth) in enumerate(zip(problem.human, problem.truth, strict=True)):
        counts = confusion.counts_[0].copy()
        counts[answer, truth] -= min(weight[item], counts[answer, truth])
        if isinstance(confusion, HierarchicalConfusion):
            refitted = written_out(counts, confusion.shapes_)[answer]
        else:
            refitted = confusion.given_true(counts)[answer]
        np.testing.assert_allclose(rows[:, item], refitted, rtol=1e-9, atol=1e-12)


def test_leave_one_out_rows_of_several_people():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, (2, 3, 3)).astype(float)
    column, truth = np.array([0, 4, 5]), np.array([0, 1, 2])  # the first person's 0, the second's 1 and 2
    for confusion in (DirichletConfusion(), OneCoinConfusion()):
        rows = confusion.fit_counts(counts).leave_one_out_rows(column, truth, np.ones(3))(np.arange(3), None)
        for at, (person, answer) in enumerate([(0, 0), (1, 1), (1, 2)]):
            left = counts.copy()
            left[person, answer, truth[at]] -= 1
            expected = confusion.given_true(left)[person, answer]
            np.testing.assert_allclose(rows[:, at], expected, rtol=1e-9)


def test_people_like_the_crowd_are_the_crowd_and_one_who_differs_is_not():
    usual = np.array([[80.0, 10, 10], [10, 80, 10], [10, 10, 80]])
    odd = np.array([[30.0, 40, 30], [30, 30, 40], [40, 30, 30]])
    confusion = HierarchicalConfusion().fit_counts(np.stack([usual, usual, usual, odd, np.zeros((3, 3))]))
    *alike, able, unseen = confusion.human_given_true_
    assert np.ptp(alike, axis=0).max() == 0
    assert np.trace(alike[0]) > np.trace(confusion.crowd_given_true_) > np.trace(able)
    np.testing.assert_allclose(unseen.sum(axis=0), 1.0)
    np.testing.assert_allclose(unseen, confusion.crowd_given_true_, atol=0.05)


def test_the_crowd_is_learnt_from_counts_of_its_own():
    counts = np.random.default_rng(1).integers(0, 5, (4, 3, 3)).astype(float)
    confusion = HierarchicalConfusion().fit_counts(counts, crowd_counts=counts.sum(axis=0) / 2)
    expected = written_out(counts.sum(axis=0) / 2, confusion.shapes_, shrinkage=1)
    np.testing.assert_allclose(confusion.crowd_given_true_, expected, rtol=1e-9)
    assert confusion.human_given_true_.shape == (4, 3, 3)
    np.testing.assert_allclose(confusion.human_given_true_.sum(axis=1), 1.0)


def test_folds_give_the_crowd_without_the_item_and_the_person_without_the_answer():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 6, (5, 3, 3)).astype(float) + 1
    fold_counts = np.stack([counts.sum(axis=0) * 0.3, counts.sum(axis=0) * 0.1])
    confusion = HierarchicalConfusion().fit_counts(counts)
    column, truth, fold = np.array([0, 4, 8, 13]), np.array([0, 2, 1, 1]), np.array([0, 1, 1, 0])
    weight = np.array([1.0, 1.0, 0.5, 1.0])
    rows = confusion.leave_one_out_rows(column, truth, weight, fold_counts)(np.arange(4), fold)
    for at, (place, true_label, part) in enumerate(zip(column, truth, fold, strict=True)):
        person, answer = divmod(place, 3)
        crowd = written_out(confusion.crowd_counts_ - fold_counts[part], confusion.shapes_, shrinkage=1)
        left = counts[person].copy()
        left[answer, true_label] -= weight[at]
        (mean,) = annotator_means(crowd, _accuracy(left, crowd, confusion.spread_)[None])
        expected = (left + confusion.strength_ * mean) / (left.sum(axis=0) + confusion.strength_)
        np.testing.assert_allclose(rows[:, at], expected[answer], atol=1e-5)


def _accuracy(counts, crowd, spread):
    """Expected accuracies, by a loop over abilities and cells."""
    ability = np.linspace(-9, 9, 4001) * spread
    joint = -0.5 * (ability / spread) ** 2
    right = [expit(np.log(crowd[j, j] / (1 - crowd[j, j])) + ability) for j in range(3)]
    for j in range(3):
        wrong = counts[:, j].sum() - counts[j, j]
        joint += counts[j, j] * np.log(right[j]) + wrong * np.log(1 - right[j])
    return np.array(right) @ np.exp(joint - logsumexp(joint))


def test_a_class_without_an_example_has_the_accuracy_of_the_others():
    truth = np.repeat([0, 1], 40)
    good, poor = (
        HierarchicalConfusion().fit(np.column_stack([human, np.full((80, 3), 1 / 3)]), truth).human_given_true_
        for human in (truth, np.roll(truth, 20))
    )
    assert good[2, 2] > 0.85
    assert poor[2, 2] < 0.7
    np.testing.assert_allclose([good.sum(axis=0), poor.sum(axis=0)], 1.0)


def test_it_serves_plain_probability_label():
    problem = simulate(400, 4, seed=2)
    supervised = ProbabilityLabelCombiner(HierarchicalConfusion()).fit(problem.X, problem.truth)
    overlap_free = written_out(counted(problem), supervised.confusion_.shapes_)
    calibrated = problem.log_model / supervised.calibrator_.temperature_
    joint = np.exp(calibrated) * overlap_free[problem.human]
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(supervised.predict_proba(problem.X), expected, rtol=1e-6)
    without_truth = ProbabilityLabelCombiner(HierarchicalConfusion()).fit(problem.X)
    assert len(without_truth.objective_) > 1
    assert np.diagonal(without_truth.confusion_.human_given_true_).min() > 0.5
    assert np.mean(without_truth.predict(problem.X) == supervised.predict(problem.X)) > 0.9


def test_accuracy_intervals_cover_what_the_prior_draws():
    rng = np.random.default_rng(0)
    prior = HierarchicalConfusion().start(1, 3)
    nodes = prior.node_weight_.sum(axis=0)
    covered = {0.95: [], 0.5: []}
    for _ in range(150):
        a, s = np.divmod(rng.choice(nodes.size, p=nodes.ravel() / nodes.sum()), nodes.shape[1])
        shape = prior.shapes_[0]
        mean = ACCURACY[a] * np.eye(3) + (1 - ACCURACY[a]) * shape
        matrix = np.stack([rng.dirichlet(STRENGTH[s] * mean[:, j] + 1e-12) for j in range(3)], axis=1)
        counts = np.stack([rng.multinomial(15, matrix[:, j]) for j in range(3)], axis=1).astype(float)
        confusion = HierarchicalConfusion().fit_counts(counts[None])
        for level, hits in covered.items():
            low, high = confusion.accuracy_interval(level)
            hits.extend((low <= np.diagonal(matrix)) & (np.diagonal(matrix) <= high))
    assert 0.92 < np.mean(covered[0.95]) < 0.98
    assert 0.44 < np.mean(covered[0.5]) < 0.56


@pytest.mark.parametrize("n_classes", [3, 20])
def test_intervals_of_a_dirichlet_confusion_cover_what_its_prior_draws(n_classes):
    rng = np.random.default_rng(1)
    confusion = DirichletConfusion(prior_strength=3)
    concentration = confusion.pseudo_counts(n_classes, n_classes)  # of the Dirichlet whose mean is the estimate
    hits = []
    for _ in range(1500 // n_classes):
        matrix = np.stack([rng.dirichlet(column) for column in concentration.T], axis=1)
        counts = np.stack([rng.multinomial(10, matrix[:, j]) for j in range(n_classes)], axis=1).astype(float)
        low, high = confusion.fit_counts(counts[None]).accuracy_interval()
        hits.extend((low <= np.diagonal(matrix)) & (np.diagonal(matrix) <= high))
    assert 0.92 < np.mean(hits) < 0.98


def test_temperature_intervals_cover_what_the_prior_draws():
    rng = np.random.default_rng(2)
    hits = []
    for _ in range(300):
        temperature = np.exp(rng.normal(0.5, 0.5))
        problem = simulate(80, 3, int(rng.integers(2**32)), sharpness=3.0, temperature=temperature)
        low, high = TemperatureScaling().fit(problem.model, problem.truth).temperature_interval()
        hits.append(low <= temperature <= high)
    assert 0.92 < np.mean(hits) < 0.98
