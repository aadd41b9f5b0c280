"""What sections of a report say of chance: each statement is right as often as it claims."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

import twoheads as th
from report.made import problem
from twoheads.evaluation.bootstrap import resampling, share_score
from twoheads.evaluation.calibration_scores import chance_note, top_label_score
from twoheads.kernels.inference.both_wrong import both_wrong_p_value
from twoheads.report import summary
from twoheads.report.sections.independence_section import _sentence
from twoheads.report.sections.method_section import method_section
from twoheads.report.sections.reliability_section import _gap
from twoheads.report.sections.temperature_section import _sentence as temperature_words
from twoheads.report.sections.temperature_section import temperature_section


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


def test_a_team_that_is_called_underconfident_is_not_called_calibrated():
    # Twenty right labels of confidence .5 to .9: fewer errors than stated for certain, but not by the bins of the ECE.
    confidence = np.linspace(0.5, 0.9, 20)
    gap = _gap(
        float(confidence.mean()), share_score(np.zeros(20), np.ones(20), resampling(20, 2, np.random.default_rng(0)))
    )
    error = top_label_score(np.stack([confidence, 1 - confidence]), np.zeros(20, dtype=int), np.ones(20))
    assert gap.high < 0
    assert error.low == 0
    assert chance_note(error).endswith("this error alone does not show that they are miscalibrated.")


@pytest.mark.parametrize(
    ("temperature", "low", "high", "said"),
    [
        (1.6, None, None, "cannot show whether the model is over- or underconfident"),
        (0.4, None, None, "cannot show whether the model is over- or underconfident"),
        (1.6, 1.1, 2.3, "above 1: the model is overconfident"),
        (1.03, 1.01, 1.05, "above 1: the model is overconfident"),
        (0.98, 0.97, 0.99, "below 1: the model is underconfident"),
        (1.6, 0.9, 2.8, "not significantly different from 1"),
    ],
)
def test_a_temperature_has_the_verdict_of_its_interval(temperature, low, high, said):
    assert said in temperature_words(temperature, low, high, 0.9, measured=True)


def test_the_report_says_of_the_temperature_what_the_team_says():
    said = set()
    for seed in range(4):
        X, y = problem(400, ["no", "yes"], seed=seed, people=2, strength=2.5)
        y[12 if seed % 2 else 400 :] = None
        team = th.recommended().fit(X, y)
        words = temperature_section(team)["words"]
        verdict = next((each for each in ("overconfident", "underconfident") if f"the model is {each}" in words), "")
        assert (verdict != "") == (f"The model is {verdict.replace('conf', '-conf')}:" in team.describe())
        said.add(verdict)
    assert {"", "underconfident"} <= said


def test_the_report_prefers_in_the_words_of_the_team():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    second = np.clip(y + rng.normal(0, 0.3, 60), 0.02, 0.98)
    judge = np.where(rng.random(60) < 0.65, y, 1 - y)
    team = th.recommended().fit(pd.DataFrame({"judge.label": judge, "p_0": 1 - second, "p_1": second}), y)
    words = method_section(team)["preference"]
    assert words.startswith("Where labels and scores and model differ")
    assert words in team.describe()


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
