"""People's accuracies after a fit: which kind they are, what they rest on, and that they are kept and renewed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import twoheads as th
from twoheads.kernels.answers import pack_answers
from twoheads.kernels.inference.shrinkage import shrunk_shares
from twoheads.observations import Observations

PLAIN = th.ProbabilityLabelCombiner
COLUMNS = ("accuracy", "accuracy_low", "accuracy_high")


def crowd(n_items=80, seed=0, *, n_people=4, per_item=3, proba=True):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    person = np.argsort(rng.random((n_items, n_people)), axis=1)[:, :per_item].ravel()
    item = np.repeat(np.arange(n_items), per_item)
    right = rng.random(len(item)) < np.linspace(0.6, 0.9, n_people)[person]
    answers = pack_answers(item, person * 2 + np.where(right, truth[item], 1 - truth[item]), n_items)
    share = np.clip(0.5 + 0.3 * (2 * truth - 1) + rng.normal(0, 0.15, n_items), 0.02, 0.98)
    rows = (np.stack([1 - share, share], axis=1),) if proba else ()
    names = tuple(f"p{at}" for at in range(n_people))
    models = ("model",) if proba else ()
    return Observations(np.arange(2), rows, answers, names, np.arange(n_items), models), truth, person, right


def some(truth, n):
    return np.where(np.arange(len(truth)) < n, truth, -1)


def test_judged_counts_answers_with_truth_only():
    seen, truth, person, _ = crowd()
    stats = PLAIN().fit(seen, some(truth, 20)).annotator_stats_
    np.testing.assert_array_equal(stats["judged"], np.bincount(person[:60], minlength=4))
    np.testing.assert_array_equal(stats["answers"], np.bincount(person))
    assert stats["kind"].tolist() == ["measured"] * 4


def test_with_all_truths_it_is_jeffreys_of_the_persons_own_answers():
    seen, truth, person, right = crowd()
    stats = PLAIN().fit(seen, truth).annotator_stats_
    k, n = np.bincount(person, right), np.bincount(person)
    low, high = beta.interval(0.9, k + 0.5, n - k + 0.5)
    np.testing.assert_allclose(stats["accuracy_low"], low, atol=2e-3)
    np.testing.assert_allclose(stats["accuracy_high"], high, atol=2e-3)


def test_a_person_nobody_could_judge_is_believed():
    answers = pack_answers(np.array([0, 1, 2, 3]), np.array([0, 1, 2, 3]), 4)  # ann on 0 and 1, bob on 2 and 3
    proba = np.array([[0.8, 0.2], [0.2, 0.8]] * 2)
    seen = Observations(np.arange(2), (proba,), answers, ("ann", "bob"), np.arange(4))
    team = PLAIN().fit(seen, [0, 1, -1, -1])
    assert team.annotator_stats_["kind"].tolist() == ["measured", "believed"]
    assert team.annotator_stats_["judged"].tolist() == [2, 0]
    assert team.facts()["human"]["kind"] == "measured"


def test_without_truth_everything_is_believed():
    seen, *_ = crowd()
    team = PLAIN().fit(seen)
    found = team.facts()
    assert found["human"]["kind"] == found["people"]["kind"] == found["people"]["most_reliable"]["kind"] == "believed"
    assert "believed" in team.describe()
    assert "measured on" not in team.describe()


def test_the_most_reliable_are_those_of_measured_accuracies():
    seen, truth, *_ = crowd(n_items=200)
    team = PLAIN().fit(seen, some(truth, 100))
    people, stats = team.facts()["people"], team.annotator_stats_
    assert people["kind"] == people["most_reliable"]["kind"] == "measured"
    assert people["most_reliable"]["annotator"] == stats["annotator"][np.argmax(stats["accuracy"])]
    assert people["level"] == team.facts()["level"] == 0.95


def test_one_level_is_wider_than_the_other():
    seen, truth, *_ = crowd()
    team = PLAIN().fit(seen, some(truth, 40))
    shown, stats = team.annotator_stats_at(0.95), team.annotator_stats_
    assert (shown["accuracy_low"] < stats["accuracy_low"]).all()
    np.testing.assert_array_equal(shown["accuracy"], stats["accuracy"])


@pytest.mark.parametrize("n_truths", [0, 30, 80])
def test_they_are_kept_with_and_without_the_sample(n_truths, tmp_path):
    seen, truth, *_ = crowd()
    team = PLAIN().fit(seen, some(truth, n_truths))
    for keep in (True, False):
        team.save(tmp_path / "team.json", keep_sample=keep)
        again = th.load(tmp_path / "team.json")
        for column in ("kind", "judged", *COLUMNS):
            np.testing.assert_array_equal(again.annotator_stats_[column], team.annotator_stats_[column])
        assert again.describe() == team.describe()


def test_more_items_renew_them():
    seen, truth, *_ = crowd()
    team = PLAIN().fit(seen.take(np.arange(40)), truth[:40])
    before = team.annotator_stats_["judged"].sum()
    team.partial_fit(seen.take(np.arange(40, 80)), truth[40:])
    whole = PLAIN().fit(seen, truth)
    merged = (
        PLAIN().fit(seen.take(np.arange(40)), truth[:40]).merge(PLAIN().fit(seen.take(np.arange(40, 80)), truth[40:]))
    )
    assert before == 120
    for other in (team, merged):
        for column in ("judged", *COLUMNS):
            np.testing.assert_allclose(other.annotator_stats_[column], whole.annotator_stats_[column], rtol=1e-9)


def test_a_weight_moves_the_share_as_rows_do_and_counts_no_item_twice():
    seen, truth, person, _ = crowd()
    weight = np.where(np.arange(80) < 30, 2, 1)
    rows = np.repeat(np.arange(80), weight)
    weighted = PLAIN().fit(seen, truth, sample_weight=weight).annotator_stats_
    repeated = PLAIN().fit(seen.take(rows), truth[rows]).annotator_stats_
    np.testing.assert_array_equal(weighted["judged"], np.bincount(person))
    np.testing.assert_array_equal(weighted["answers"], np.bincount(person))
    np.testing.assert_allclose(weighted["accuracy"], repeated["accuracy"], atol=0.005)
    width = [each["accuracy_high"] - each["accuracy_low"] for each in (weighted, repeated)]
    assert (width[0] > 1.1 * width[1]).all()


@pytest.mark.parametrize("unit", [1000, 0.25])
def test_the_unit_of_weights_does_not_matter_to_measured_intervals(unit):
    seen, truth, *_ = crowd()
    weighted, plain = (PLAIN().fit(seen, truth, sample_weight=np.full(80, each)) for each in (unit, 1.0))
    for column in ("answers", "judged", *COLUMNS):
        np.testing.assert_allclose(weighted.annotator_stats_[column], plain.annotator_stats_[column], rtol=1e-9)
    by_class = [team.class_stats() for team in (weighted, plain)]
    np.testing.assert_allclose(by_class[0]["sensitivity_low"], by_class[1]["sensitivity_low"], rtol=1e-9)
    shown = [team.facts()["human"] for team in (weighted, plain)]
    np.testing.assert_allclose(shown[0]["accuracy"], shown[1]["accuracy"], rtol=1e-9)
    for one, other in zip(*(each["accuracy_per_class"].values() for each in shown), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_two_items_of_weight_1000_are_two_observations():
    X = np.array([[0, 0.6, 0.4], [1, 0.3, 0.7]])
    team = PLAIN().fit(X, [0, 1], sample_weight=[1000, 1000])
    stats, human = team.annotator_stats_, team.facts()["human"]
    assert (stats["judged"][0], stats["answers"][0], human["items"], human["answers"]) == (2, 2, 2, 2)
    np.testing.assert_allclose(stats["accuracy_low"], PLAIN().fit(X, [0, 1]).annotator_stats_["accuracy_low"])
    assert "measured on 2 items with truth" in team.describe()
    assert "2,000" not in team.describe()


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_more_weighted_items_than_are_retained_count_once_each(weight):
    seen, truth, person, _ = crowd(n_items=2300, proba=False, per_item=2)
    heavy = np.where(np.arange(2300) % 10 == 0, 10.0 * weight, weight)
    plain, weighted = (PLAIN().fit(seen, truth, sample_weight=each) for each in (None, heavy))
    stats, other = weighted.annotator_stats_, plain.annotator_stats_
    np.testing.assert_array_equal(stats["judged"], np.bincount(person))
    width = [each["accuracy_high"] - each["accuracy_low"] for each in (stats, other)]
    # Kish: (.9 + 1)^2 / (.9 + 10) = .33 of the items
    np.testing.assert_allclose(width[0] / width[1], 0.33**-0.5, rtol=0.12)


def test_more_labelled_items_than_are_retained_are_exact_sums():
    seen, truth, person, right = crowd(n_items=2300, proba=False, per_item=2)
    team = PLAIN().fit(seen, some(truth, 2100))
    known = np.repeat(np.arange(2300) < 2100, 2)
    k, n = np.bincount(person[known], right[known]), np.bincount(person[known]).astype(float)
    assert not np.isinf(team.statistics_.labelled.threshold)
    stats = team.annotator_stats_
    np.testing.assert_array_equal(stats["judged"], n)
    np.testing.assert_allclose(stats["accuracy"], shrunk_shares(k, n).mean, atol=1e-3)


def test_unsure_is_neither_right_nor_wrong():
    names = ["a", "b"]
    frame = {"human": ["a", "b", "unsure", "a"], "p_a": [0.7, 0.3, 0.6, 0.4], "p_b": [0.3, 0.7, 0.4, 0.6]}
    pd = pytest.importorskip("pandas")
    stats = PLAIN().fit(pd.DataFrame(frame), np.array(names)[[0, 1, 0, 1]]).annotator_stats_
    assert stats["judged"].tolist() == stats["answers"].tolist() == [3]
    assert stats["accuracy"][0] == pytest.approx(2.5 / 4, abs=1e-3)  # two of three right, under Jeffreys' prior


def test_sensitivity_and_specificity_by_hand():
    # ann: of six "a" she names four, of four "b" three
    said = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0])
    X = np.column_stack([said, np.full(10, 0.5), np.full(10, 0.5)])
    truth = np.array([0] * 6 + [1] * 4)
    stats = PLAIN().fit(X, truth).class_stats(0.9)
    assert stats["class"].tolist() == [0, 1]
    assert stats["judged"].tolist() == [6, 4]
    np.testing.assert_allclose(stats["sensitivity"], [4.5 / 7, 3.5 / 5], atol=1e-3)
    np.testing.assert_allclose(stats["specificity"], [3.5 / 5, 4.5 / 7], atol=1e-3)
    low, high = beta.interval(0.9, 4.5, 2.5)
    assert (stats["sensitivity_low"][0], stats["sensitivity_high"][0]) == pytest.approx((low, high), abs=2e-3)


@pytest.mark.parametrize("n_truths", [0, 2, 30])
@pytest.mark.parametrize(
    "make",
    [
        PLAIN,
        th.recommended,
        lambda: PLAIN(th.DirichletConfusion(estimate="likelihood"), class_prior="learn"),
        lambda: PLAIN(unlabelled_weight=0.0),
    ],
)
def test_every_team_has_them(make, n_truths):
    seen, truth, *_ = crowd(n_items=40)
    team = make().fit(seen, some(truth, n_truths))
    stats, by_class = team.annotator_stats_, team.class_stats()
    for low, middle, high in (
        [stats[column] for column in ("accuracy_low", "accuracy", "accuracy_high")],
        [by_class[f"sensitivity{end}"] for end in ("_low", "", "_high")],
    ):
        assert (low >= 0).all()
        assert (low <= middle).all()
        assert (middle <= high).all()
        assert (high <= 1).all()


def test_the_sample_stays_as_it_is():
    seen, truth, *_ = crowd()
    proba = seen.model_proba[0].copy()
    proba[::5] = np.nan  # items without a model row
    gaps = Observations(seen.classes, (proba,), seen.answers, seen.annotators, seen.items)
    team = PLAIN().fit(gaps, some(truth, 30))
    before = [sample.log_proba.copy() for sample in (team.statistics_.labelled, team.statistics_.unlabelled)]
    assert (team.annotator_stats_["accuracy"] > 0).all()
    for kept, sample in zip(before, (team.statistics_.labelled, team.statistics_.unlabelled), strict=True):
        np.testing.assert_array_equal(sample.log_proba, kept)
