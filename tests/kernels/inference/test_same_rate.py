"""Whether an event is as frequent in some groups as in others."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, fisher_exact

from twoheads.kernels.inference.same_rate import same_rate_p_value


@pytest.mark.parametrize(("first", "second"), [((3, 5), (0, 5)), ((1, 30), (4, 30)), ((9, 20), (2, 20))])
def test_two_groups_of_one_size_are_fishers_exact_test(first, second):
    (a, n), (b, m) = first, second
    exact = fisher_exact([[a, n - a], [b, m - b]]).pvalue
    assert same_rate_p_value(np.array([a, b]), np.array([n, m])) == pytest.approx(exact, abs=0.035)


def test_many_trials_have_the_limit():
    said, asked = np.array([1010, 1090, 1000]), np.array([10_000, 10_000, 10_000])
    limit = chi2_contingency(np.stack([said, asked - said]), correction=False).pvalue
    assert same_rate_p_value(said, asked) == pytest.approx(limit, abs=0.03)
    assert same_rate_p_value(said * 10**6, asked * 10**6) < 1e-9


@pytest.mark.parametrize(
    ("event", "trials"), [([0, 0], [5, 9]), ([5, 9], [5, 9]), ([2, 0], [7, 0]), ([0.2, 0.1], [3.0, 4.0])]
)
def test_nothing_to_compare(event, trials):
    assert same_rate_p_value(np.array(event), np.array(trials)) == 1.0


@pytest.mark.parametrize(("n_groups", "size", "rate"), [(2, 30, 0.05), (3, 100, 0.2), (5, 100, 0.05)])
def test_groups_without_a_difference_are_seldom_told_apart(n_groups, size, rate):
    rng = np.random.default_rng(n_groups)
    found = []
    for _ in range(400):
        trials = rng.multinomial(size, np.full(n_groups, 1 / n_groups))
        found.append(same_rate_p_value(rng.binomial(trials, rate), trials) < 0.05)
    assert np.mean(found) < 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


def test_the_order_of_the_groups_does_not_matter():
    event, trials = np.array([3, 0, 9, 1]), np.array([12, 30, 22, 7])
    found = {same_rate_p_value(event[list(order)], trials[list(order)]) for order in permutations(range(4))}
    assert len(found) == 1
