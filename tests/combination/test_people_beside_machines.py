"""One person beside related judges: another witness, not one more of the family."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import twoheads as th


def table(n_items=1500, accuracy=0.9, seed=0, asked=0.3):
    """Eight judges that share most of their errors, and a person who answers about some of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    shared = rng.random((n_items, 1)) < 0.3
    error = np.where(rng.random((n_items, 8)) < 0.7, shared, rng.random((n_items, 8)) < 0.3)
    frame = pd.DataFrame({f"judge {at}.label": np.where(error[:, at], 1 - truth, truth) for at in range(8)})
    person = pd.Series(np.where(rng.random(n_items) < accuracy, truth, 1 - truth), dtype="Int64")
    frame["human"] = person.where(rng.random(n_items) < asked)
    return frame, truth


def known(truth, n_labels):
    return np.where(np.arange(len(truth)) < n_labels, truth, -1)


def errors_where_asked(team, frame, truth):
    """Of the team, and of the person."""
    on = frame["human"].notna().to_numpy()
    person = frame["human"][on].to_numpy(dtype=int)
    return np.mean(team.predict(frame[on]) != truth[on]), np.mean(person != truth[on])


def test_an_expert_is_not_outvoted_by_a_family():
    frame, truth = table()
    team = th.recommended().fit(frame[:600], known(truth[:600], 300))
    ours, expert = errors_where_asked(team, frame[600:], truth[600:])
    assert team.dependence_.separation_ > 0.5
    assert ours < expert + 0.02


def test_a_person_who_guesses_is_not_listened_to():
    frame, truth = table(accuracy=0.5, seed=1)
    guesses = th.recommended().fit(frame[:600], known(truth[:600], 300))
    alone = th.recommended().fit(frame[:600].drop(columns="human"), known(truth[:600], 300))
    on = np.flatnonzero(frame[600:]["human"].notna()) + 600
    wrong = np.mean(guesses.predict(frame.iloc[on]) != truth[on])
    assert wrong < np.mean(alone.predict(frame.iloc[on].drop(columns="human")) != truth[on]) + 0.02


def test_without_truth_it_is_the_priors():
    frame, _ = table(300)
    assert th.recommended().fit(frame).dependence_.separation_ == 0.5


def test_items_without_both_are_predicted_as_one_group():
    frame, truth = table(500)
    team = th.recommended().fit(frame, known(truth, 15))  # too few for a panel
    assert team.panel_ is None
    before = team.predict_proba(frame)
    team.dependence_.separation_ = 0.0
    changed = (before != team.predict_proba(frame)).any(axis=1)
    assert changed[frame["human"].notna()].all()
    np.testing.assert_allclose(before[frame["human"].isna()], team.predict_proba(frame)[frame["human"].isna()])


def test_parts_of_an_explanation_add_up():
    frame, truth = table(400)
    team = th.recommended().fit(frame, known(truth, 100))
    some = frame[:40]
    log_proba = team.predict_log_proba(some)
    expected = log_proba.max(axis=1, keepdims=True) - log_proba
    np.testing.assert_allclose(team.explain(some).log_odds, expected, atol=1e-6)


def test_description_says_what_a_person_counts():
    frame, truth = table(400)
    team = th.recommended().fit(frame, known(truth, 100))
    several = team.facts()["several_answers"]
    r, b = team.dependence_.correlation_, team.dependence_.separation_
    shared, family = (1 - b) * r, 1 + 7 * r
    assert several["person_weight"] == pytest.approx((family - 8 * shared) / (family - 8 * shared**2))
    counts = f"one person's answer counts {several['person_weight']:.2f} times"
    assert f"Combined with 8 models that give labels or scores, {counts}" in team.describe()


@pytest.mark.parametrize("n_labels", [0, 30])
def test_a_saved_team_predicts_the_same(n_labels, tmp_path):
    frame, truth = table(300)
    team = th.recommended().fit(frame, known(truth, n_labels)) if n_labels else th.recommended().fit(frame)
    team.save(tmp_path / "team.json")
    np.testing.assert_array_equal(th.load(tmp_path / "team.json").predict_proba(frame), team.predict_proba(frame))
