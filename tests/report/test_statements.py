"""What sections of a report say of chance: each statement is right as often as it claims."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

import twoheads as th
from report.made import problem
from twoheads.evaluation.bootstrap import resampling, share_score
from twoheads.kernels.inference.both_wrong import both_wrong_p_value
from twoheads.report import summary
from twoheads.report.sections.independence_section import _sentence
from twoheads.report.sections.reliability_section import _gap


def test_both_wrong_in_one_class_is_fishers_exact_test():
    one, other = (np.random.default_rng(seed).random(80) < 0.3 for seed in (0, 1))
    table = [[(one & other).sum(), (one & ~other).sum()], [(~one & other).sum(), (~one & ~other).sum()]]
    expected, p = both_wrong_p_value(one, other, np.zeros(80, dtype=int))
    assert p == pytest.approx(fisher_exact(table, alternative="greater").pvalue, abs=1e-12)
    assert expected == pytest.approx(one.sum() * other.sum() / 80)


def test_both_wrong_in_several_classes_is_what_shuffling_within_them_gives():
    rng = np.random.default_rng(2)
    stratum = rng.integers(0, 3, 90)
    one, other = rng.random(90) < 0.2 + 0.2 * stratum, rng.random(90) < 0.5 - 0.1 * stratum
    expected, p = both_wrong_p_value(one, other, stratum)
    drawn = []
    for _ in range(4000):
        shuffled = one.copy()
        for at in range(3):
            here = np.flatnonzero(stratum == at)
            shuffled[here] = one[rng.permutation(here)]
        drawn.append((shuffled & other).sum())
    assert expected == pytest.approx(np.mean(drawn), abs=0.15)
    assert p == pytest.approx(np.mean(np.array(drawn) >= (one & other).sum()), abs=0.03)


def test_nobody_errs_together():
    none = np.zeros(5, dtype=bool)
    assert both_wrong_p_value(none, none, np.zeros(5, dtype=int)) == (0.0, 1.0)


def test_errors_together_are_claimed_by_their_own_test():
    # The labels depend on each other, but 3.5 % against 3.4 % of items is no more than chance.
    words = _sentence(0.002, 0.45, 0.035, 0.034)
    assert "do not err on the same items significantly more often" in words
    assert "weaker evidence" not in words
    assert _sentence(0.002, 0.01, 0.08, 0.03).startswith(
        "Human and model err on the same items more often than by chance (p = 0.01)"
    )
    assert _sentence(0.3, 0.01, 0.08, 0.03).startswith("No significant dependence between the labels")


@pytest.mark.parametrize("least", [0.5, 0.9])
def test_a_calibrated_forecaster_is_seldom_called_too_sure_or_not_sure_enough(least):
    rng, claimed = np.random.default_rng(0), []
    draws = resampling(120, 2, rng)
    for _ in range(3000):
        confidence = rng.uniform(least, 1.0, 120)
        wrong = 1.0 * (rng.random(120) > confidence)
        gap = _gap(float(confidence.mean()), share_score(wrong, np.ones(120), draws))
        claimed.append(not gap.low <= 0 <= gap.high)
    assert np.mean(claimed) < 0.06  # 0.05, and what 3,000 draws leave to chance


def test_without_truth_there_are_shares_and_no_counts():
    X, _ = problem(200, ["no", "yes"], seed=6, people=3)
    found = summary(th.recommended().fit(X), X, n_bootstrap=10)["confusion"]
    assert found["kind"] == "believed"
    assert found["n_answers"] is None
    assert {entry["n_seen"] for entry in found["classes"]} == {None}
    assert {pair["count"] for pair in found["pairs"]} == {None}
    assert found["words"].startswith(
        "No truth was known: all shares are what the team believes, on the items it was fitted on."
    )
    assert "slip" not in found["words"]
