"""Statistics of labels against scikit-learn, statsmodels, krippendorff and published examples."""

import krippendorff
import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics as sk
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from twoheads.kernels.inference.linearised import linearised
from twoheads.kernels.inference.multiplicity import holm
from twoheads.kernels.inference.paired import paired_t
from twoheads.kernels.scoring import label_statistics as statistics
from twoheads.kernels.scoring.label_statistics import as_rater_sums, as_sums, label_values, rater_values
from twoheads.kernels.scoring.ranking import auc_interval, auc_parts


def drawn(n_classes, n_items, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_classes, n_items, p=rng.dirichlet(np.full(n_classes, 3.0)))
    label = np.where(rng.random(n_items) < 0.7, truth, rng.integers(0, n_classes, n_items))
    return truth, label, rng.integers(1, 4, n_items).astype(float)


def sums_of(truth, label, n_classes, weight=None):
    values = label_values(truth, np.eye(n_classes)[:, label])
    return as_sums((np.ones(len(truth)) if weight is None else weight) @ values)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_labels_against_scikit_learn(n_classes):
    truth, label, weight = drawn(n_classes, 60)
    sums = sums_of(truth, label, n_classes, weight)
    options = {"sample_weight": weight}
    expected = {
        statistics.balanced_accuracy: sk.balanced_accuracy_score(truth, label, **options),
        statistics.macro_f1: sk.f1_score(truth, label, average="macro", **options),
        statistics.matthews: sk.matthews_corrcoef(truth, label, **options),
        statistics.cohen_kappa: sk.cohen_kappa_score(truth, label, **options),
        statistics.weighted_kappa: sk.cohen_kappa_score(truth, label, weights="quadratic", **options),
    }
    for statistic, value in expected.items():
        assert float(statistic(sums)) == pytest.approx(value, abs=1e-10)


def test_kappas_against_statsmodels_and_alpha_against_krippendorff():
    truth, label, _ = drawn(4, 50, seed=1)
    sums = sums_of(truth, label, 4)
    table = sk.confusion_matrix(truth, label)
    assert float(statistics.cohen_kappa(sums)) == pytest.approx(cohens_kappa(table).kappa, abs=1e-10)
    weighted = cohens_kappa(table, wt="quadratic").kappa
    assert float(statistics.weighted_kappa(sums)) == pytest.approx(weighted, abs=1e-10)
    votes = np.eye(4)[truth] + np.eye(4)[label]
    assert float(statistics.scott_pi(sums)) == pytest.approx(fleiss_kappa(votes), abs=1e-10)
    alpha = krippendorff.alpha(np.stack([truth, label]), level_of_measurement="nominal")
    assert float(statistics.paired_alpha(sums)) == pytest.approx(alpha, abs=1e-10)


def test_fleiss_own_example():
    # Fleiss (1971) as printed in many textbooks: 14 raters, 10 items, 5 classes; kappa 0.210.
    votes = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ],
        dtype=float,
    )
    sums = as_rater_sums(rater_values(votes).sum(axis=0))
    assert float(statistics.fleiss_kappa(sums)) == pytest.approx(fleiss_kappa(votes), abs=1e-10)
    assert float(statistics.fleiss_kappa(sums)) == pytest.approx(0.210, abs=5e-4)


def test_krippendorffs_own_example_with_gaps():
    # Krippendorff (2011), "Computing Krippendorff's alpha-reliability", C: four observers, nominal alpha 0.743.
    gap = np.nan
    ratings = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
            [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
        ]
    )
    votes = np.stack([(ratings == code).sum(axis=0) for code in range(1, 6)], axis=1).astype(float)
    value = float(statistics.krippendorff_alpha(as_rater_sums(rater_values(votes).sum(axis=0))))
    assert value == pytest.approx(0.743, abs=5e-4)
    assert value == pytest.approx(krippendorff.alpha(ratings, level_of_measurement="nominal"), abs=1e-10)


def test_gwets_ac1_by_hand():
    # Gwet (2008), table 1: two raters, yes/yes 118, yes/no 5, no/yes 2, no/no 0: agreement 118/125 = 0.944,
    # share of yes (123 + 120) / 250 = 0.972, chance 2 * 0.972 * 0.028 = 0.054432.
    truth = np.repeat([0, 0, 1], [118, 5, 2])
    label = np.repeat([0, 1, 0], [118, 5, 2])
    expected = (0.944 - 0.054432) / (1 - 0.054432)
    assert float(statistics.paired_ac1(sums_of(truth, label, 2))) == pytest.approx(expected, abs=1e-10)
    votes = np.eye(2)[truth] + np.eye(2)[label]
    found = statistics.gwet_ac1(as_rater_sums(rater_values(votes).sum(axis=0)))
    assert float(found) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_areas_against_scikit_learn(n_classes):
    rng = np.random.default_rng(2)
    truth, _, weight = drawn(n_classes, 80)
    scores = (rng.dirichlet(np.ones(n_classes), 80) + 0.5 * np.eye(n_classes)[truth]).round(1)  # with ties
    for code in range(n_classes):
        parts = auc_parts(scores[:, code], truth == code, weight)
        expected = sk.roc_auc_score(truth == code, scores[:, code], sample_weight=weight)
        assert weight @ parts / weight.sum() == pytest.approx(expected, abs=1e-10)


def test_the_variance_of_an_area_is_delongs():
    rng = np.random.default_rng(3)
    positive = np.arange(90) < 30
    scores = rng.normal(size=90) + positive
    above = (scores[positive][:, None] > scores[~positive]).astype(float)
    area = above.mean()
    variance = above.mean(axis=1).var(ddof=1) / 30 + above.mean(axis=0).var(ddof=1) / 60
    low, high = auc_interval(auc_parts(scores, positive, np.ones(90)), 1 * positive, np.ones(90), 0.95)
    plain = norm.ppf(0.975) * np.sqrt(variance) / (area * (1 - area))
    half = (np.log(high / (1 - high)) - np.log(low / (1 - low))) / 2
    assert plain < half < 1.08 * plain  # Student's t, and a little for what was not seen


def test_influence_is_that_of_the_jackknife():
    truth, label, _ = drawn(3, 400, seed=4)
    values = label_values(truth, np.eye(3)[:, label])
    parts, _ = linearised(lambda sums: statistics.cohen_kappa(as_sums(sums)), values, np.ones(400))
    whole = float(statistics.cohen_kappa(as_sums(values.sum(axis=0))))
    without = statistics.cohen_kappa(as_sums(values.sum(axis=0) - values))
    assert parts.mean() == pytest.approx(whole, abs=1e-12)
    assert np.allclose(parts - whole, 399 * (whole - without), atol=0.01)


def test_weight_two_is_the_item_twice():
    truth, label, weight = drawn(3, 30, seed=5)
    twice = np.repeat(np.arange(30), weight.astype(int))
    for statistic in (statistics.paired_alpha, statistics.macro_f1, statistics.paired_ac1):
        one = statistic(sums_of(truth, label, 3, weight))
        assert float(one) == pytest.approx(float(statistic(sums_of(truth[twice], label[twice], 3))), abs=1e-12)


def test_holm_by_hand():
    found = holm(np.array([0.01, 0.04, np.nan, 0.03, 0.005]))
    assert np.allclose(found, [0.03, 0.06, np.nan, 0.06, 0.02], equal_nan=True)


def test_a_paired_t_of_few_differing_items_is_as_mcnemars():
    # three items of 34 differ, in one direction: McNemar's exact p is 2 / 2^3 = 0.25.
    apart = np.zeros(34)
    apart[:3] = 1.0
    assert 0.15 < paired_t(apart, np.ones(34), 0.95).p_value < 0.3
    assert paired_t(np.zeros(34), np.ones(34), 0.95) == (0.0, None, None, 1.0)
