from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln, expit, logit
from scipy.stats import beta, norm

from twoheads.kernels.inference.believed import believed_shares
from twoheads.kernels.inference.grouped_rows import rows_of
from twoheads.kernels.inference.people import Evidence, measured_ratios, measured_shares, realised_counts
from twoheads.kernels.inference.shrinkage import (
    EITHER,
    LOG_STRENGTH,
    LOGIT_MEAN,
    Counts,
    Realised,
    crowd_design_effect,
    crowd_nodes,
    node_weights,
    shrunk_shares,
)

NONE = np.zeros(0)
NOBODY = np.zeros(0, dtype=int)


def crowd(n_people=30, n_items=400, per_item=3, seed=0, links=1.0):
    """Whether answers are right, who gave them on what, beliefs that they are, and the people's accuracies."""
    rng = np.random.default_rng(seed)
    accuracy = rng.beta(8, 3, n_people)
    person = np.argsort(rng.random((n_items, n_people)), axis=1)[:, :per_item].ravel()
    item = np.repeat(np.arange(n_items), per_item)
    right = (rng.random(len(item)) < accuracy[person]) * 1.0
    belief = np.clip(expit(2.0 * links * (right - 0.5) + rng.normal(0, 1, len(item))), 0, 1)
    return right, belief, person, item, accuracy


def measured(right, belief, person, item, n_labelled, n_people, order=None):
    known = item < n_labelled
    rows = [rows_of(person[part], n_people, cluster=item[part]) for part in (known, ~known)]
    return measured_shares(right[known], belief[known], rows[0], belief[~known], rows[1])


def test_weights_of_the_crowd_by_brute_force():
    right, count, x = np.array([3.0, 1.5]), np.array([4.0, 5.0]), np.array([0.2, -0.2])
    slope, scatter = np.array([0.0, 1.0]), np.array([0.0, 0.05])
    weight = node_weights(LOGIT_MEAN, LOG_STRENGTH, slope, Counts(right, count, x, scatter), 1.5)
    direct = np.empty_like(weight)
    for i, b in enumerate(slope):
        for j, m in enumerate(LOGIT_MEAN):
            for k, s in enumerate(LOG_STRENGTH):
                evidence = 0.0
                for r, n, z, q in zip(right, count, x, scatter, strict=True):
                    own = 1 / (1 / (1 + np.exp(s)) + q * np.exp(s) / (1 + np.exp(s))) - 1
                    a, c = expit(m + b * z) * own + EITHER, expit(-m - b * z) * own + EITHER
                    evidence += betaln(a + r, c + n - r) - betaln(a, c)
                prior = 2 * np.log(expit(m) * expit(-m)) - 0.5 * ((s - np.log(10)) / 1.5) ** 2
                direct[i, j, k] = evidence / 1.5 + prior
    direct = np.exp(direct - direct.max())
    assert weight == pytest.approx(direct / direct.sum())


def test_many_answers_are_not_shrunk():
    right, count = np.array([9000.0, 4000.0, 6000.0]), np.full(3, 10_000.0)
    shares = shrunk_shares(right, count)
    assert shares.mean == pytest.approx(right / count, abs=1e-3)
    low, high = shares.interval(0.9)
    assert high - low == pytest.approx(
        np.diff(beta.interval(0.9, right + 0.5, count - right + 0.5), axis=0)[0], rel=0.02
    )


def test_a_person_without_answers_has_the_crowds_spread():
    rng = np.random.default_rng(0)
    accuracy = rng.beta(8, 2, 400)
    count = np.full(400, 50.0)
    right = rng.binomial(50, accuracy).astype(float)
    shares = shrunk_shares(np.append(right, 0.0), np.append(count, 0.0))
    low, high = shares.interval(0.9)
    assert shares.mean[-1] == pytest.approx(0.8, abs=0.02)
    assert (low[-1], high[-1]) == pytest.approx(beta.interval(0.9, 8, 2), abs=0.03)


def test_fewer_independent_people_know_less_of_the_crowd():
    right, count = np.array([8.0, 7.0, 9.0, 8.0, 6.0]), np.full(5, 10.0)
    nodes = [crowd_nodes(Counts(right, count, *np.zeros((2, 5))), effect, np.zeros(1)) for effect in (1.0, 4.0)]
    spread = [n.weight @ n.logit_mean**2 - (n.weight @ n.logit_mean) ** 2 for n in nodes]
    assert spread[1] > 1.5 * spread[0]


def test_design_effect_of_the_crowd():
    residual = np.array([0.5, -0.5, 0.5, -0.5])
    assert crowd_design_effect(residual, np.array([0, 1, 2, 3])) == 1.0
    assert crowd_design_effect(residual, np.array([0, 1, 0, 1])) == pytest.approx(2.0)
    assert crowd_design_effect(np.zeros(4), np.arange(4)) == 1.0


def test_the_name_of_a_person_and_the_order_of_items_change_nothing():
    right, belief, person, item, _ = crowd()
    first = measured(right, belief, person, item, 100, 30)
    name, order = np.random.default_rng(1).permutation(30), np.random.default_rng(2).permutation(len(item))
    again = measured(right[order], belief[order], name[person[order]], item[order], 100, 30)
    assert again.a[name] == pytest.approx(first.a, rel=1e-6)
    assert again.b[name] == pytest.approx(first.b, rel=1e-6)


def test_shares_of_few_answers_scatter_more_than_abilities():
    # All have the same ability, as far as many answers show it. Somebody's share of 20 answers without a label still
    # scatters like 20 draws; that of very many does not.
    right, count = np.full(40, 160.0), np.full(40, 200.0)
    realised = Realised(np.append(np.full(40, 200.0), [20.0, 1e9]), np.ones(42))
    shares = shrunk_shares(np.append(right, [0.0, 0.0]), np.append(count, [0.0, 0.0]), realised=realised)
    spread = np.sqrt(shares.mean * (1 - shares.mean) / (shares.a + shares.b + 1))[-2:]
    assert spread[0] == pytest.approx(np.sqrt(0.16 / 20), rel=0.1)
    assert spread[1] < 0.35 * spread[0]
    low, high = shares.interval(0.9)
    drawn = np.random.default_rng(0).binomial(20, 0.8, 20_000) / 20
    assert 0.86 <= np.mean((low[-2] <= drawn) & (drawn <= high[-2])) <= 0.95


def test_three_people_who_hardly_err_are_not_sure_never_to_err():
    # 100, 100 and 99 right of 100 labelled of 800 answers; 90 % intervals of Jeffreys of the first two begin at .981.
    right, rows = np.ones(300), rows_of(np.repeat(np.arange(3), 100), 3, cluster=np.tile(np.arange(100), 3))
    right[-1], elsewhere = 0.0, rows_of(np.repeat(np.arange(3), 700), 3, cluster=np.tile(np.arange(700), 3))
    low, _ = measured_shares(right, 0 * right, rows, np.zeros(2100), elsewhere).interval(0.9)
    assert (low < 0.987).all()


def test_realised_counts_without_help_by_hand():
    # 4 of 5 right among 5 labelled of 20 answers: the share of the 20 is known like 5 * 20/15 answers
    right, rows = np.array([1, 1, 1, 1, 0.0]), rows_of(np.zeros(5, dtype=int), 1)
    rest = rows_of(np.zeros(15, dtype=int), 1)
    top, bottom = Evidence(right, np.zeros(5), np.zeros(15)), Evidence(np.ones(5), np.ones(5), np.ones(15))
    found = realised_counts(top, bottom, rows, rest)
    assert (found.share[0], found.known_like[0], found.unexplained[0]) == pytest.approx((0.8, 20 / 3, 1.0))


def test_all_truths_known_is_about_answers_to_come():
    right, _, person, item, accuracy = crowd(n_items=600, seed=3)
    shares = measured_shares(
        right, 0 * right, rows_of(person, 30, cluster=item), NONE, rows_of(NOBODY, 30, cluster=NOBODY)
    )
    low, high = shares.interval(0.9)
    n, k = np.bincount(person), np.bincount(person, right)
    widths = np.diff(beta.interval(0.9, k + 0.5, n - k + 0.5), axis=0)[0]
    assert (high - low).mean() == pytest.approx(widths.mean(), rel=0.15)
    assert np.mean((low <= accuracy) & (accuracy <= high)) >= 0.8


def test_nothing_known_is_no_trouble():
    rows = rows_of(NOBODY, 4, cluster=NOBODY)
    low, high = measured_shares(NONE, NONE, rows, NONE, rows).interval(0.9)
    assert (high - low > 0.5).all()


@pytest.mark.parametrize("links", [0.0, 1.5])
@pytest.mark.parametrize("n_labelled", [30, 150])
def test_intervals_hold_and_are_narrower_than_the_labelled_answers_alone(links, n_labelled):
    held, widths = [], []
    for seed in range(12):
        right, belief, person, item, accuracy = crowd(seed=seed, links=links)
        low, high = measured(right, belief, person, item, n_labelled, 30).interval(0.9)
        known = item < n_labelled
        n, k = np.bincount(person[known], minlength=30), np.bincount(person[known], right[known], 30)
        alone = np.diff(beta.interval(0.9, k + 0.5, n - k + 0.5), axis=0)[0]
        held.append(np.mean((low <= accuracy) & (accuracy <= high)))
        widths.append((high - low).mean() / alone.mean())
    assert 0.83 <= np.mean(held) <= 0.98
    assert np.mean(widths) < (0.8 if links else 0.96)


def test_an_end_within_half_an_answer_of_one_is_one():
    realised = Realised(np.array([10.0, 1e6]), np.ones(2))
    shares = shrunk_shares(np.array([10.0, 10.0]), np.array([10.0, 10.0]), realised=realised)
    _, high = shares.interval(0.9)
    assert high[0] == 1.0
    assert high[1] < 1.0


def test_sensitivity_rests_on_the_answers_about_its_class():
    # 12 of 20 labelled items are of class 1, of which the person calls 9
    truth, answer = np.repeat([1, 0], [12, 8]), np.concatenate([np.ones(9), np.zeros(11)]).astype(int)
    top = Evidence((truth & answer) * 1.0, np.zeros(20), np.zeros(0))
    bottom = Evidence(truth * 1.0, np.zeros(20), np.zeros(0))
    rows, none = rows_of(np.zeros(20, dtype=int), 1), rows_of(NOBODY, 1)
    assert realised_counts(top, bottom, rows, none).share[0] == pytest.approx(0.75)
    low, high = measured_ratios(top, bottom, rows, none).interval(0.9)
    assert low[0] < 0.75 < high[0]
    assert high[0] - low[0] == pytest.approx(np.diff(beta.interval(0.9, 9.5, 3.5))[0], rel=0.2)


def test_believed_interval_by_hand():
    believed = believed_shares(np.array([0.8 * 98]), np.array([98.0]))
    assert believed.mean == pytest.approx(0.8)
    low, high = believed.interval(0.9)
    half = norm.ppf(0.95) * np.sqrt(1 / (100 * 0.16) + 0.25)
    assert (low[0], high[0]) == pytest.approx((expit(logit(0.8) - half), expit(logit(0.8) + half)))


def test_with_all_answers_labelled_the_interval_is_jeffreys():
    # 3 of 3 and 15 of 20 right: 1e6 is the most that a share can be known like
    right, person = np.repeat([1.0, 1.0, 0.0], [3, 15, 5]), np.repeat([0, 1], [3, 20])
    rows, none = rows_of(person, 2), rows_of(NOBODY, 2)
    shares = measured_shares(right, np.zeros(23), rows, NONE, none)
    assert shares.a == pytest.approx([3.5, 15.5], rel=1e-3)
    assert shares.b == pytest.approx([0.5, 5.5], rel=1e-3)
