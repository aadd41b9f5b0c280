from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc, expit, gammaln, logit, logsumexp

from twoheads.kernels.confusion.accuracies import accuracy_interval, accuracy_posterior
from twoheads.kernels.confusion.hierarchical import (
    ACCURACY,
    STRENGTH,
    hierarchical_posterior,
    leave_one_out,
    leave_one_out_rows,
    posterior_mean,
)
from twoheads.kernels.confusion.shapes import error_shapes, model_overlap


def simulated(n, k, seed=0, accuracy=0.7):
    rng = np.random.default_rng(seed)
    log_proba = rng.normal(size=(k, n)) * 2
    log_proba -= logsumexp(log_proba, axis=0)
    true_label = rng.integers(k, size=n)
    human_label = np.where(rng.random(n) < accuracy, true_label, rng.integers(k, size=n))
    return log_proba, human_label, true_label


def counted(human_label, true_label, k, weight=None):
    counts = np.zeros((k, k))
    np.add.at(counts, (human_label, true_label), 1.0 if weight is None else weight)
    return counts


def fitted(log_proba, human_label, true_label, weight=None, shrinkage=1.0):
    counts = counted(human_label, true_label, len(log_proba), weight)
    return hierarchical_posterior(counts, error_shapes(model_overlap(log_proba, weight), counts.sum(axis=1)), shrinkage)


def node_log_likelihood(counts, shape, a, s):
    """Log-probability of the answers given the truths, written as the formula is."""
    pi = a * np.eye(*counts.shape) + (1 - a) * shape
    seen = counts > 0
    columns = gammaln(s) - gammaln(s + counts.sum(axis=0))
    return columns.sum() + (gammaln(s * pi[seen] + counts[seen]) - gammaln(s * pi[seen])).sum()


@pytest.mark.parametrize("shrinkage", [1.0, 3.0])
def test_weights_and_mean_match_the_formula_written_out(shrinkage):
    posterior = fitted(*simulated(40, 4), shrinkage=shrinkage)
    counts, shapes = posterior.counts, posterior.shapes
    log_weight = np.empty(posterior.weight.shape)
    matrices = np.empty((*posterior.weight.shape, 4, 4))
    for o, shape in enumerate(shapes):
        for i, a in enumerate(ACCURACY):
            for j, s in enumerate(STRENGTH):
                log_prior = 2 * np.log(a) + np.log(a * (1 - a)) - 0.5 * (np.log(s / 15) / 1.2) ** 2
                log_weight[o, i, j] = node_log_likelihood(counts, shape, a, s) + log_prior
                mean = a * np.eye(4) + (1 - a) * shape
                matrices[o, i, j] = (counts + shrinkage * s * mean) / (counts.sum(axis=0) + shrinkage * s)
    weight = np.exp(log_weight - logsumexp(log_weight))
    np.testing.assert_allclose(posterior.weight, weight, atol=1e-12)
    np.testing.assert_allclose(posterior_mean(posterior), np.einsum("oas,oasij->ij", weight, matrices), rtol=1e-10)


def test_evidence_agrees_with_integration_over_a_fine_grid():
    _, human_label, true_label = simulated(30, 3)
    counts = counted(human_label, true_label, 3)
    shapes = error_shapes(np.zeros((3, 3)), np.zeros(3))[:1]
    a = expit(np.linspace(logit(0.03), logit(0.995), 301))
    s = np.geomspace(1, 1000, 201)
    log_prior = (3 * np.log(a) + np.log1p(-a))[:, None] - 0.5 * (np.log(s / 15) / 1.2) ** 2
    log_prior -= logsumexp(log_prior)
    fine = np.array([[node_log_likelihood(counts, shapes[0], x, t) for t in s] for x in a])
    assert hierarchical_posterior(counts, shapes).log_evidence == pytest.approx(logsumexp(fine + log_prior), abs=0.03)


def rows_without(posterior, answer, truth, weight):
    return leave_one_out_rows(posterior, leave_one_out(posterior, answer, truth, weight), np.arange(len(answer)))


@pytest.mark.parametrize("shrinkage", [1.0, 3.0])
@pytest.mark.parametrize(("n", "k"), [(1, 3), (12, 2), (60, 5), (300, 4)])
def test_leave_one_out_rows_agree_with_refits(n, k, shrinkage):
    log_proba, human_label, true_label = simulated(n, k, seed=n)
    posterior = fitted(log_proba, human_label, true_label, shrinkage=shrinkage)
    rows = rows_without(posterior, human_label, true_label, np.ones(n))
    for item in range(min(n, 40)):
        counts = posterior.counts.copy()
        counts[human_label[item], true_label[item]] -= 1
        refit = posterior_mean(hierarchical_posterior(counts, posterior.shapes, posterior.shrinkage))
        np.testing.assert_allclose(np.log(rows[:, item]), np.log(refit[human_label[item]]), atol=1e-9)


def test_rows_are_the_same_item_by_item_and_together():
    posterior = fitted(*(data := simulated(200, 3)))
    answer, truth = np.nonzero(posterior.counts)
    loo = leave_one_out(posterior, answer, truth, np.ones(len(answer)))
    number = np.zeros((3, 3), dtype=int)
    number[answer, truth] = np.arange(len(answer))
    point = number[data[1], data[2]]
    together = leave_one_out_rows(posterior, loo, point)
    one_by_one = [leave_one_out_rows(posterior, loo, point[i : i + 1]) for i in range(200)]
    np.testing.assert_allclose(together, np.concatenate(one_by_one, axis=1), rtol=1e-12)


@pytest.mark.parametrize("shrinkage", [1.0, 3.0])
@pytest.mark.parametrize("unit", [0.3, 1.0, 40.0])
def test_rows_without_an_item_of_any_weight_agree_with_refits(unit, shrinkage):
    log_proba, human_label, true_label = simulated(60, 4, seed=3)
    weight = unit * np.random.default_rng(5).gamma(1.0, size=60)
    posterior = fitted(log_proba, human_label, true_label, weight, shrinkage)
    rows = rows_without(posterior, human_label, true_label, weight)
    for item in range(60):
        counts = posterior.counts.copy()
        counts[human_label[item], true_label[item]] -= min(weight[item], counts[human_label[item], true_label[item]])
        refit = posterior_mean(hierarchical_posterior(counts, posterior.shapes, posterior.shrinkage))
        np.testing.assert_allclose(np.log(rows[:, item]), np.log(refit[human_label[item]]), atol=1e-8)


def test_weight_two_is_twice_in_the_matrix():
    log_proba, human_label, true_label = simulated(15, 4)
    weighted = fitted(log_proba, human_label, true_label, np.full(15, 2.0))
    twice = fitted(np.tile(log_proba, 2), np.tile(human_label, 2), np.tile(true_label, 2))
    np.testing.assert_allclose(posterior_mean(weighted), posterior_mean(twice), rtol=1e-10)


def test_renaming_classes_permutes():
    log_proba, human_label, true_label = simulated(50, 5)
    new = np.random.default_rng(1).permutation(5)  # class j is now called new[j]
    renamed = fitted(log_proba[np.argsort(new)], new[human_label], new[true_label])
    original = fitted(log_proba, human_label, true_label)
    np.testing.assert_allclose(posterior_mean(renamed)[np.ix_(new, new)], posterior_mean(original), rtol=1e-9)
    assert renamed.log_evidence == pytest.approx(original.log_evidence)


@pytest.mark.parametrize("k", [2, 3, 100])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_columns_sum_to_one_and_the_diagonal_leads(n, k):
    posterior = fitted(*simulated(n, k, accuracy=0.9))
    matrix = posterior_mean(posterior)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, rtol=1e-10)
    assert (matrix > 0).all()
    assert (matrix.argmax(axis=0) == np.arange(k)).all()
    assert accuracy_posterior(posterior.weight).sum() == pytest.approx(1.0)
    assert len(posterior.shapes) == (1 if k == 2 else 3)


def test_a_human_who_is_always_right_and_one_who_always_says_the_same():
    log_proba, _, true_label = simulated(400, 4)
    right = posterior_mean(fitted(log_proba, true_label, true_label))
    assert right.diagonal().min() > 0.97
    assert right.max() < 1.0
    same = posterior_mean(fitted(log_proba, np.zeros(400, dtype=int), true_label))
    np.testing.assert_allclose(same[0], 1.0, atol=0.05)
    rows = rows_without(fitted(log_proba, true_label, true_label), true_label, true_label, np.ones(400))
    assert np.isfinite(np.log(rows)).all()


def test_a_class_without_an_example_learns_from_the_others():
    log_proba, human_label, true_label = simulated(300, 4, accuracy=0.95)
    seen = true_label != 3
    good = posterior_mean(fitted(log_proba[:, seen], human_label[seen], true_label[seen]))
    bad = posterior_mean(
        fitted(log_proba[:, seen], np.random.default_rng(0).integers(4, size=seen.sum()), true_label[seen])
    )
    assert good[3, 3] > 0.85
    assert bad[3, 3] < 0.5


def test_intervals_of_accuracies_leave_the_tails_of_the_mixture_of_nodes():
    posterior = fitted(*simulated(60, 3))
    low, high = accuracy_interval(posterior.weight, posterior.counts, 0.9)
    right, total = posterior.counts.diagonal(), posterior.counts.sum(axis=0)
    a, s = ACCURACY[:, None], STRENGTH
    for ends, below in ((low, 0.05), (high, 0.95)):
        for j, end in enumerate(ends):
            mass = betainc(s * a + right[j], s * (1 - a) + total[j] - right[j], end)
            assert (posterior.weight.sum(axis=0) * mass).sum() == pytest.approx(below, abs=1e-4)


def test_soft_counts_and_more_answers_than_classes():
    counts = np.random.default_rng(0).gamma(0.5, size=(5, 4))
    posterior = hierarchical_posterior(counts, error_shapes(np.zeros((5, 4)), counts.sum(axis=1)))
    np.testing.assert_allclose(posterior_mean(posterior).sum(axis=0), 1.0, rtol=1e-10)
    answer, truth = np.nonzero(counts)
    rows = rows_without(posterior, answer, truth, np.ones(len(answer)))
    assert np.isfinite(np.log(rows)).all()


def test_overlaps_add_up_over_blocks():
    log_proba, _, _ = simulated(50, 3)
    weight = np.random.default_rng(0).gamma(1, size=50)
    parts = model_overlap(log_proba[:, :20], weight[:20]) + model_overlap(log_proba[:, 20:], weight[20:])
    np.testing.assert_allclose(model_overlap(log_proba, weight), parts, rtol=1e-12)
    np.testing.assert_allclose(model_overlap(log_proba, np.ones(50)), model_overlap(log_proba), rtol=1e-12)


def test_errors_follow_what_the_model_confuses():
    # 0 and 1 look alike, and 2 and 3, to the model and to the human, who errs on every fifth item.
    true_label = np.arange(60) % 4
    twin = true_label ^ 1
    log_proba = np.full((4, 60), np.log(0.01))
    log_proba[true_label, np.arange(60)] = log_proba[twin, np.arange(60)] = np.log(0.49)
    posterior = fitted(log_proba, np.where(np.arange(60) % 5 == 0, twin, true_label), true_label)
    assert posterior.weight[1].sum() > 0.9
    matrix = posterior_mean(posterior)
    assert matrix[1, 0] > 3 * matrix[2, 0]


@pytest.mark.parametrize("size", [1e-6, 0.3, 40.0, 1e5])
def test_the_weights_are_those_of_a_sum_over_cells_at_each_node(size):
    rng = np.random.default_rng(7)
    counts = size * rng.random((5, 5)) * (rng.random((5, 5)) < 0.8)
    uneven = rng.random((5, 5)) ** 4 * (1 - np.eye(5))
    shapes = np.stack([(1 - np.eye(5)) / 4, uneven / uneven.sum(axis=0)])
    total, seen = counts.sum(axis=0), counts > 0
    expected = np.zeros((2, len(ACCURACY), len(STRENGTH)))
    for o, i, j in np.ndindex(expected.shape):
        a, s = ACCURACY[i], STRENGTH[j]
        x = s * (a * np.eye(5) + (1 - a) * shapes[o])[seen]
        expected[o, i, j] = (gammaln(s) - gammaln(s + total)).sum() + (gammaln(x + counts[seen]) - gammaln(x)).sum()
        expected[o, i, j] += 3 * np.log(a) + np.log1p(-a) - 0.5 * (np.log(s / 15) / 1.2) ** 2
    expected = np.exp(expected - logsumexp(expected))
    assert np.abs(hierarchical_posterior(counts, shapes).weight - expected).max() < 1e-9
