"""The rivals of a team, by hand, and how often a difference from the best of them is claimed falsely."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.honesty_headline import WORLDS, false_claims
from scipy.stats import binomtest

import twoheads as th
from twoheads.combination.rivals import Labels, RivalList
from twoheads.evaluation import compare
from twoheads.kernels.answers import Answers, pack_answers
from twoheads.report import summary


def test_rivals_by_hand():
    # Truth 0 0 0 0; Ann says 0 0 1 -, Bob 0 1 1 1, the model 0 0 0 1, the team 0 0 1 0.
    item, column = [0, 1, 2, 0, 1, 2, 3], [0, 0, 1, 2, 3, 3, 3]
    answers = pack_answers(np.array(item), np.array(column), 4)
    listed = RivalList(("Ann", "Bob"), ("model",), crowd=False)
    said = Labels(answers, 2, np.array([[0.0, 0, 0, 1]]))
    found = listed.compared(listed.sums(said, np.zeros(4, int), np.array([0.0, 0, 1, 0])))
    person, majority, model = found.members
    assert person.errors == 0 + 0.5 + 1 + 1
    assert majority.errors == 0 + 0.5 + 1 + 1  # the tie on the second item is broken at random
    assert (model.errors, model.team_errors, model.won, model.lost) == (1, 1, 1, 1)
    assert found.better_half == model
    assert [member.n_people for member in found.members] == [0, 0, 0]  # nobody has ten answers


def test_blocks_sum_to_the_whole():
    rng = np.random.default_rng(0)
    listed = RivalList(("human",), ("a", "b"))
    truth, human = rng.integers(0, 3, (2, 50))
    models, team = rng.choice([0.0, 0.5, 1.0, np.nan], (3, 50)), rng.choice([0.0, 0.5, 1.0], 50)
    whole = listed.sums(Labels(Answers(human), 3, models), truth, team)
    parts = [
        listed.sums(Labels(Answers(human[rows]), 3, models[:, rows]), truth[rows], team[rows])
        for rows in (slice(0, 20), slice(20, 50))
    ]
    for one, *cut in zip(whole, *parts, strict=True):
        np.testing.assert_allclose(sum(cut), one)


def test_who_alone_labelled_half_of_the_items_is_called_so():
    # Ann is right on all of 40 items; Bob, right on 12 of them, has enough answers, but labelled too few items.
    truth, model = np.zeros(40, int), (np.arange(40) < 20) * 1.0
    answers = pack_answers(np.r_[:40, :12], np.r_[np.zeros(40, int), np.full(12, 2)], 40)
    listed = RivalList(("Ann", "Bob"), ("model",), crowd=False)
    found = listed.compared(listed.sums(Labels(answers, 2, model[None]), truth, model))
    best = {member.name: member for member in found.members if member.key == "best_person"}
    assert best["Ann"].words == "Ann alone, the only one who labelled enough of the items"
    assert best["Bob"].words == "Bob alone on 12 of 40 items"


def test_the_best_person_must_beat_the_best_of_the_others_on_the_same_items():
    rng = np.random.default_rng(1)
    n = 100
    truth, model = np.zeros(n, int), (rng.random(n) < 0.1) * 1
    ann, bob = np.zeros(n, int), (rng.random(n) < 0.5) * 1
    lucky = np.arange(10)  # right ten times of ten, where the model is right too
    item = np.concatenate([np.arange(n), np.arange(n), lucky])
    column = np.concatenate([ann, 2 + bob, 4 + np.zeros(10, int)])
    listed = RivalList(("Ann", "Bob", "Cy"), ("model",), crowd=False)
    said = Labels(pack_answers(item, column, n), 2, 1.0 * model[None])
    found = listed.compared(listed.sums(said, truth, 1.0 * model))
    best, few = found.members[-2:]
    assert found.better_half == best
    assert (best.key, best.name, best.n_people, best.of_all) == ("best_person", "Ann", 2, True)
    assert best.words == "Ann alone, the best of 2 people on the same items"
    assert (few.key, few.name, few.n_people, few.of_all) == ("best_person", "Cy", 1, False)
    assert few.words == "Cy alone on 10 of 100 items"
    # The team has the model's errors: more than Ann's. Four rivals label half of the items, one is the best of two.
    plain = binomtest(0, int(model.sum())).pvalue / 2  # mid-p: half of the probability of as many
    assert found.p_value == pytest.approx(min(1.0, plain * 4 * 2))


def test_votes_that_are_tied_are_tested_as_items_of_half_the_size():
    # Five items, each won by a half: the mid-p of five of five, 2 * (1 / 32) / 2.
    answers = pack_answers(np.repeat(np.arange(5), 2), np.tile([0, 3], 5), 5)
    said = Labels(answers, 2, np.zeros((1, 5)))
    listed = RivalList(("Ann", "Bob"), ("model",), crowd=False)
    found = listed.compared(listed.sums(said, np.zeros(5, int), np.zeros(5)))
    majority = next(rival for rival in found.members if rival.key == "majority")
    assert (majority.errors, majority.p_value) == (2.5, 0.03125)


@pytest.mark.parametrize("world", ["team equals both", "20 equal persons"])
def test_a_significant_difference_is_rarely_claimed_of_equals(world):
    assert false_claims(60, 60, np.random.default_rng(0), **WORLDS[world]) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_a_significant_difference_is_claimed_of_equals_in_five_per_cent_at_most(world):
    assert false_claims(100, 500, np.random.default_rng(1), **WORLDS[world]) <= 0.05 + 2 * (0.05 * 0.95 / 500) ** 0.5


def test_the_best_rival_and_the_most_reliable_may_be_two_people_and_the_words_say_by_what():
    # Ann answers about easy items, Bob about hard ones: on the items of people combined, Ann is ahead by more.
    rng = np.random.default_rng(2)
    truth, hard, columns = rng.integers(0, 2, 120), np.arange(120) >= 60, {}
    for name, rows, chance in (("ann", ~hard, 0.95), ("bob", hard, 0.85), ("cy", hard | ~hard, 0.6)):
        label = np.where(rng.random(120) < chance, truth, 1 - truth)
        columns[f"human_{name}"] = np.where(rows, label.astype(object), None)
    model_right = rng.random(120) < np.where(hard, 0.55, 0.97)
    share = np.where(model_right == (truth == 1), 0.75, 0.25)
    X = pd.DataFrame({**columns, "p_0": 1 - share, "p_1": share})
    team = th.recommended().fit(X, truth)
    best = team.facts()["record"]["rivals"]["members"][-1]
    assert (best["key"], best["name"]) == ("best_person", "ann")
    assert team.facts()["people"]["most_reliable"]["annotator"] == "bob"
    found = compare(team, X, truth, held_out=True, n_bootstrap=20)
    words = next(rival.words for rival in found.rivals if rival.key == "best_person")
    assert words == "ann alone, the best of 3 people on the same items"
    assert "Of the 3 people, the most reliable by all answers with truth is bob (" in team.describe()
    assert "the most reliable by all answers with truth is bob (" in summary(team, X, truth)["people"]["words"]


def crowd_of(n, labels, *, truth=None, team=None, model=None, weight=None):
    """The rivals where each person labels some items, {name: (items, classes)}, and a model some or all."""
    truth = np.zeros(n, int) if truth is None else truth
    item = np.concatenate([np.asarray(rows) for rows, _ in labels.values()])
    column = np.concatenate([2 * at + np.asarray(said) for at, (_, said) in enumerate(labels.values())])
    order = np.argsort(item, kind="stable")
    models = ("model",) if model is not None else ()
    listed = RivalList(tuple(labels), models, crowd=False)
    wrong = np.zeros((1, n)) if model is None else np.where(model < 0, np.nan, model != truth)[None]
    said = Labels(pack_answers(item[order], column[order], n), 2, wrong)
    team_error = np.zeros(n) if team is None else 1.0 * (team != truth)
    return listed.compared(listed.sums(said, truth, team_error, weight))


def test_a_person_on_a_tenth_of_the_items_is_no_better_half_but_a_sentence():
    # The team errs on 60 of 300, of which 20 are among the 30 items that Ann has right; Bob answers all as the team.
    n, team = 300, np.zeros(300, int)
    team[:20], team[100:140] = 1, 1
    bob, model = team.copy(), team.copy()
    model[140:150] = 1
    found = crowd_of(n, {"Ann": (np.arange(30), np.zeros(30, int)), "Bob": (np.arange(n), bob)}, team=team, model=model)
    assert found.better_half.of_all
    assert (found.better_half.items, found.better_half.of_items) == (300, 300)
    ann = found.members[-1]
    assert (ann.name, ann.of_all, ann.items, ann.errors, ann.team_errors) == ("Ann", False, 30, 0, 20)
    assert ann.words == "Ann alone on 30 of 300 items"
    assert found.ahead_on_part() == (  # mid-p of 20 of 20: 0.5^20
        "On 30 of 300 items the error of Ann alone is 0.0 %, and that of the team 66.7 %: a significant difference "
        "(p < 0.001), on too few items for a better half."
    )
    level = crowd_of(n, {"Ann": (np.arange(30), np.zeros(30, int)), "Bob": (np.arange(n), bob)}, model=model)
    assert level.ahead_on_part() is None


def test_being_ahead_on_a_part_is_corrected_for_all_who_labelled_a_part():
    # Seven people of 20 items each; the first is right five times where the team is wrong: mid-p 2^-5, times seven.
    n, team = 140, np.zeros(140, int)
    team[:5] = 1
    people = {name: (20 * at + np.arange(20), np.zeros(20, int)) for at, name in enumerate("abcdefg")}
    model = np.zeros(n, int)
    few = crowd_of(n, people, team=team, model=model)
    assert few.members[-1].p_value <= 1.0
    assert few.ahead_on_part() is None  # 7 * 0.03
    team[:12] = 1
    many = crowd_of(n, people, team=team, model=np.ones(n, int))
    assert (many.members[-1].name, many.members[-1].n_people) == ("a", 7)
    assert "the error of a alone, the best of 7 such people, is 0.0 %, and that of the team 60.0 %" in (
        many.ahead_on_part()
    )


def test_a_model_of_twelve_rows_does_not_decide():
    n, rng = 200, np.random.default_rng(0)
    answer = (rng.random(n) < 0.1) * 1
    model = np.full(n, -1)
    model[np.flatnonzero(answer)[:12]] = 0  # right on twelve items that the person has wrong
    found = crowd_of(n, {"Ann": (np.arange(n), answer)}, team=answer, model=model)
    human, machine = found.members
    assert found.better_half == human
    assert (machine.of_all, machine.words) == (False, "the model alone on 12 of 200 items")
    assert found.n_picked == 1
    assert "On 12 of 200 items the error of the model alone is 0.0 %, and that of the team 100.0 %" in (
        found.ahead_on_part()
    )


def test_where_nobody_labelled_half_those_who_labelled_most_may_be_the_better_half():
    n = 200
    people = {"Ann": (np.arange(60), np.zeros(60, int)), "Bob": (np.arange(40, 90), np.ones(50, int))}
    found = crowd_of(n, people)
    of_all = {member.key: member.of_all for member in found.members}
    assert of_all == {"person": True, "majority": True, "best_person": False}
    assert found.better_half.items == 90


def test_half_of_the_items_is_half_of_their_weight():
    n, model = 100, np.zeros(100, int)
    model[99] = 1
    weight = np.where(np.arange(n) < 30, 9.0, 1.0)  # 30 items have 270 of 340
    answers = {"Ann": (np.arange(30), np.zeros(30, int)), "Bob": (np.arange(30, 100), np.zeros(70, int))}
    heavy = crowd_of(n, answers, model=model, weight=weight)
    assert [(each.name, each.of_all) for each in heavy.members[-2:]] == [("Ann", True), ("Bob", False)]
    plain = crowd_of(n, answers, model=model)
    assert [(each.name, each.of_all) for each in plain.members[-2:]] == [("Bob", True), ("Ann", False)]
    unit = crowd_of(n, answers, model=model, weight=1000.0 * weight)
    assert [each.name for each in unit.members] == [each.name for each in heavy.members]
    assert unit.better == heavy.better


def test_nobody_is_best_because_its_items_were_easy():
    # The model errs on 10 of 100; Ann labels the 60 easy ones, on which it errs on none, and errs on one of them.
    n, model = 100, np.zeros(100, int)
    model[90:] = 1
    easy = np.zeros(60, int)
    easy[0] = 1
    found = crowd_of(n, {"Ann": (np.arange(60), easy)}, model=model)
    human, machine = found.members
    assert human.error < machine.error
    assert found.better_half == machine
    # Three errors on 60 items are better than five on the same, though Ann errs on none of the others.
    ann, other = np.zeros(n, int), np.full(n, -1)
    ann[:5], other[:60], other[:3] = 1, 0, 1
    human, machine = (found := crowd_of(n, {"Ann": (np.arange(n), ann)}, model=other)).members
    assert (human.error, machine.error) == (0.05, 0.05)
    assert found.better_half == machine


@pytest.mark.parametrize("seed", range(30))
def test_the_better_half_has_labelled_half_of_the_items_where_anybody_has(seed):
    rng = np.random.default_rng(seed)
    n, people = 120, {}
    for name in "abcdef":
        rows = np.flatnonzero(rng.random(n) < rng.uniform(0.05, 0.7))
        people[name] = rows, (rng.random(len(rows)) < rng.uniform(0.0, 0.4)) * 1
    model = np.where(rng.random(n) < rng.uniform(0.2, 1.0), (rng.random(n) < 0.2) * 1, -1)
    team, weight = (rng.random(n) < 0.2) * 1, rng.gamma(1.0, size=n) if seed % 2 else np.ones(n)
    found = crowd_of(n, people, team=team, model=model, weight=weight)
    most = max(member.n for member in found.members)
    for member in found.members:
        rows = people[member.name][0] if member.key == "best_person" else None
        if rows is not None:
            assert member.n == pytest.approx(weight[rows].sum())
        assert member.of_all == (member.n >= min(0.5 * weight.sum(), most) - 1e-6)
    assert found.better_half.of_all
    assert found.n_candidates == sum(member.of_all for member in found.members)
    scaled = crowd_of(n, people, team=team, model=model, weight=37.0 * weight)
    assert (scaled.better, scaled.better_half.name) == (found.better, found.better_half.name)
    assert scaled.p_value == pytest.approx(found.p_value)


@pytest.mark.parametrize(("strength", "p_at_fit", "verb"), [(0.1, 0.001, "was"), (0.8, 0.35, "was not")])
def test_an_evaluation_says_that_a_difference_is_significant_only_there_or_only_at_fit(strength, p_at_fit, verb):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    logit = strength * (2 * y - 1) + rng.normal(size=400)
    proba = 1 / (1 + np.exp(-2 * strength * logit))
    X = np.column_stack([np.where(rng.random(400) < 0.8, y, 1 - y), 1 - proba, proba])
    team = th.recommended().fit(X, y)
    assert not any(note.startswith("At fit") for note in compare(team, X, y, n_bootstrap=20).notes())
    team.holdout_ = replace(team.holdout_, rivals=replace(team.holdout_.rivals, p_value=p_at_fit))
    (note,) = (note for note in compare(team, X, y, n_bootstrap=20).notes() if note.startswith("At fit"))
    assert f"the difference {verb} significant (p = {p_at_fit})" in note
