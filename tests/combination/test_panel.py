"""The panel stage: when it runs, what it learns, and that it goes wherever a team goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from strategies import simulate
from twoheads.combination.fitting import panel_stage
from twoheads.combination.items import InMemoryItems, open_items
from twoheads.kernels.answers import pack_answers
from twoheads.observations import Observations


def judges(n_items=300, n_classes=2, seed=0, copies=(), model=False, asked=1.0):
    """Two independent people and a family of five judges that share most errors; ``copies`` of annotators."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    wrong = (truth[:, None] + rng.integers(1, n_classes, size=(n_items, 8))) % n_classes
    shared, own = rng.random((n_items, 1)) < 0.35, rng.random((n_items, 7)) < 0.3
    error = np.where(np.arange(7) < 2, own, np.where(rng.random((n_items, 7)) < 0.9, shared, own))
    label = np.where(error, np.where(np.arange(7) < 2, wrong[:, :7], wrong[:, 7:]), truth[:, None])
    label = np.column_stack([label, *(label[:, [at]] for at in copies)])
    n_people = label.shape[1]
    item, person = np.divmod(np.arange(label.size), n_people)
    there = rng.random(label.size) < asked
    answers = pack_answers(item[there], (person * n_classes + label.ravel())[there], n_items)
    proba = rng.dirichlet(np.ones(n_classes), n_items) + 0.3 * np.eye(n_classes)[truth]
    models = (proba / proba.sum(axis=1, keepdims=True),) if model else ()
    names = tuple(f"judge {at:02}" for at in range(n_people))
    return Observations(np.arange(n_classes), models, answers, names, np.arange(n_items)), truth


def known(truth, n_labels):
    return np.where(np.arange(len(truth)) < n_labels, truth, -1)


def log_loss(team, seen, truth):
    return -team.predict_log_proba(seen)[np.arange(len(truth)), truth].mean()


def without_panel(team):
    team.panel_ = None
    return team


def test_one_person_and_a_model_have_no_panel():
    problem = simulate(200, 3, seed=0)
    assert th.recommended().fit(np.column_stack([problem.human, problem.model]), problem.truth).panel_ is None


@pytest.mark.parametrize(("n_labels", "has_panel"), [(19, False), (20, True)])
def test_the_panel_needs_labels(n_labels, has_panel):
    seen, truth = judges(60)
    assert (th.recommended().fit(seen, known(truth, n_labels)).panel_ is not None) == has_panel


def test_members_have_ten_answers_on_labelled_items_and_are_three_or_more():
    seen, truth = judges(60, asked=0.45)
    statistics = th.recommended().fit(seen, known(truth, 24)).statistics_
    members = panel_stage.panel_members(statistics)
    answers = statistics.counts.sum(axis=(1, 2))
    assert members.tolist() == np.flatnonzero(answers >= 10).tolist()
    assert 3 <= len(members) < 7
    two = replace(statistics, answer_numbers=np.where(np.arange(7) < 2, 20.0, 2.0)[:, None] * np.array([0.5, 0.5, 0.0]))
    assert not len(panel_stage.panel_members(two))


@pytest.mark.parametrize(("n_answered", "n_members"), [(70, 7), (71, 0)])
def test_members_answer_about_an_item_at_least_once(n_answered, n_members):
    seen, truth = judges(60)
    statistics = th.recommended().fit(seen, known(truth, 24)).statistics_
    numbers = np.tile([5.0, 5.0, 0.0], (7, 1))  # seven members with ten answers each
    labels = np.where(np.arange(len(statistics.label_numbers)) == 2, n_answered, statistics.label_numbers)
    found = replace(statistics, answer_numbers=numbers, label_numbers=labels)
    assert len(panel_stage.panel_members(found)) == n_members


def test_the_members_with_the_most_answers_are_kept(monkeypatch):
    seen, truth = judges(100, asked=0.7)
    monkeypatch.setattr(panel_stage, "MOST_MEMBERS", 4)
    team = th.recommended().fit(seen, truth)
    answers = team.statistics_.counts.sum(axis=(1, 2))
    assert len(team.panel_.members_) == 4
    assert answers[team.panel_.members_].min() >= np.delete(answers, team.panel_.members_).max()


@pytest.mark.parametrize(("n_classes", "model"), [(2, False), (3, True)])
def test_relatives_are_weighted_down(n_classes, model):
    seen, truth = judges(1500, n_classes, model=model)
    training = known(truth, 400)
    team = th.recommended().fit(seen, training)
    new, new_truth = judges(1500, n_classes, seed=1, model=model)
    with_panel = log_loss(team, new, new_truth)
    assert team.panel_.share > 0.9
    assert with_panel < log_loss(without_panel(team), new, new_truth) - 0.02


def test_the_effective_number_of_members():
    seen, truth = judges(1000)
    found = th.recommended().fit(seen, known(truth, 500)).facts()["panel"]
    # Of 21 pairs, the ten of the family have correlation .81: 7 / (1 + 6 * 10 / 21 * .81) = 2.1.
    estimate, low, high = found["effective_members"]
    assert found["members"] == 7
    assert low < 2.12 < high
    assert low < estimate < high
    assert high - low < 0.5
    sentences = th.recommended().fit(seen, known(truth, 500)).describe()
    assert f"7 members count as {estimate:.1f} independent ones (90 % interval [{low:.1f}, {high:.1f}])" in sentences
    assert "that members need weights beyond their own matrices is above 99 %." in sentences


def test_explanations_add_up_and_show_each_members_weight():
    seen, truth = judges(200, asked=0.8)
    team = th.recommended().fit(seen, truth)
    explanation, log_proba = team.explain(seen), team.predict_log_proba(seen)
    np.testing.assert_allclose(
        explanation.log_odds, log_proba.max(axis=1, keepdims=True) - log_proba, rtol=1e-9, atol=1e-9
    )
    plain = without_panel(team).explain(seen)
    moved = {name: np.abs(part - plain.parts[name]).max() for name, part in explanation.parts.items()}
    same = explanation.label == plain.label
    assert same.mean() > 0.5
    assert all(moved[name] > 0.01 for name in seen.annotators)


def test_saved_and_loaded(tmp_path):
    seen, truth = judges(100)
    team = th.recommended().fit(seen, truth)
    team.save(tmp_path / "team.json")
    np.testing.assert_array_equal(th.load(tmp_path / "team.json").predict_proba(seen), team.predict_proba(seen))


def test_a_continued_fit_and_a_merged_one_have_the_panel_of_all_items():
    seen, truth = judges(200)
    whole = th.recommended().fit(seen, truth)
    first, second = np.arange(120), np.arange(120, 200)
    continued = th.recommended().fit(seen.take(first), truth[first]).partial_fit(seen.take(second), truth[second])
    shards = [th.recommended().fit(seen.take(rows), truth[rows]) for rows in (first, second)]
    for team in (continued, shards[0].merge(shards[1])):
        np.testing.assert_array_equal(team.panel_.members_, whole.panel_.members_)
        np.testing.assert_allclose(team.predict_proba(seen), whole.predict_proba(seen), atol=0.02)


def test_an_unknown_annotator_and_an_unanswered_item():
    seen, truth = judges(150, model=True)
    team = th.recommended().fit(seen, truth)
    answers = pack_answers(np.array([0]), np.array([1]), 2)
    strange = Observations(np.arange(2), (np.array([[0.6, 0.4]] * 2),), answers, ("stranger",), np.arange(2))
    proba = team.predict_proba(strange)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    plain = without_panel(team).predict_proba(strange)
    np.testing.assert_array_equal(proba[1], plain[1])  # nobody answered: the panel says nothing


def test_the_record_of_many_labels_leaves_out_those_of_the_panel(monkeypatch):
    seen, truth = judges(400)
    whole = th.recommended().fit(seen, truth).holdout_
    monkeypatch.setattr(panel_stage, "MOST_ITEMS", 200)
    team = th.recommended().fit(seen, truth)
    assert team.holdout_.n == whole.n == 400
    assert team.holdout_.log_loss == pytest.approx(whole.log_loss, abs=0.02)
    monkeypatch.setattr(panel_stage, "MOST_ITEMS", 5000)
    inside = log_loss(th.recommended().fit(seen, truth), seen, truth)
    assert whole.log_loss > inside


def test_the_record_of_the_panel_is_held_out():
    """With labels that are random, no panel does better than chance on items that were left out."""
    seen, truth = judges(60)
    shuffled = np.random.default_rng(0).permutation(truth)
    record = th.recommended().fit(seen, shuffled).holdout_
    assert record.log_loss > 0.66


def test_weight_two_is_the_item_twice_among_many():
    # Of few, one of two equal rows stays where the other is left out, and an item of weight 2 does not.
    seen, truth = judges(1500)
    weight = np.where(np.arange(1500) < 500, 2, 1)
    twice = np.repeat(np.arange(1500), weight)
    one = th.recommended().fit(seen, truth, sample_weight=weight)
    other = th.recommended().fit(seen.take(twice), truth[twice])
    assert one.panel_.share == pytest.approx(other.panel_.share, abs=0.05)
    np.testing.assert_allclose(one.predict_proba(seen), other.predict_proba(seen), atol=0.02)


def test_blocks_of_any_size_give_the_same_panel():
    seen, truth = judges(300)
    items = open_items(seen, truth, None, model_scale="probability")
    assert isinstance(items, InMemoryItems)
    one = th.recommended().fit(seen, truth)
    lazy = th.recommended().fit_items(replace(items, max_numbers=0))
    np.testing.assert_allclose(lazy.panel_.coefficient_, one.panel_.coefficient_, atol=1e-10)


def graders(n_items=600, seed=0, asked=1.0):
    """Six judges whose scores from 0 to 9 share a nuisance that differences of judges remove, and two classes."""
    rng = np.random.default_rng(seed)
    truth, nuisance = rng.integers(2, size=n_items), rng.normal(size=(n_items, 1))
    score = 4.5 + np.linspace(0.4, 2.0, 6) * (truth[:, None] - 0.5) + 2 * nuisance + 0.7 * rng.normal(size=(n_items, 6))
    score = np.where(rng.random(score.shape) < asked, np.clip(np.round(score), 0, 9), np.nan)
    return pd.DataFrame({f"judge {at}.score": score[:, at] for at in range(6)}), truth


def test_scores_have_weights_of_their_own_beyond_their_sides():
    frame, truth = graders()
    team = th.recommended().fit(frame, known(truth, 300))
    new, new_truth = graders(seed=1)
    assert team.panel_.scored_.tolist() == list(range(6))
    with_levels = log_loss(team, new, new_truth)
    error = np.mean(team.predict(new) != new_truth)
    team.panel_.coefficient_[:, -6:] = 0.0
    assert error < 0.24  # 0.29 by votes alone
    assert log_loss(team, new, new_truth) > with_levels + 0.05


def test_explanations_of_scores_add_up(tmp_path):
    frame, truth = graders(200, asked=0.8)
    team = th.recommended().fit(frame, truth)
    explanation, log_proba = team.explain(frame), team.predict_log_proba(frame)
    np.testing.assert_allclose(
        explanation.log_odds, log_proba.max(axis=1, keepdims=True) - log_proba, rtol=1e-9, atol=1e-9
    )
    item = int(np.flatnonzero(team.predict(frame) == 1)[0])
    levels = [frame.iloc[[item]].assign(**{"judge 5.score": value}) for value in (7.0, 8.0, 9.0)]
    parts = [team.explain(each).parts["judge 5"][0, 0] for each in levels]  # odds of class 1 against class 0
    assert parts == sorted(parts)
    assert parts[0] < parts[-1]
    team.save(tmp_path / "team.json")
    np.testing.assert_array_equal(th.load(tmp_path / "team.json").predict_proba(frame), team.predict_proba(frame))


def test_items_on_which_nobody_gives_a_score():
    frame, truth = graders(200)
    people = pd.DataFrame(
        {f"human_{name}": truth ^ (np.arange(200) % at == 0) for name, at in (("ann", 3), ("bob", 4))}
    )
    team = th.recommended().fit(pd.concat([frame, people], axis=1), truth)
    nothing = pd.concat([frame * np.nan, people], axis=1)
    np.testing.assert_allclose(team.predict_proba(nothing).sum(axis=1), 1.0)
    with pytest.warns(UserWarning, match="6 of 8 members of the team"):
        without_scores = team.predict_proba(people)
    np.testing.assert_allclose(without_scores, team.predict_proba(nothing), atol=1e-12)
