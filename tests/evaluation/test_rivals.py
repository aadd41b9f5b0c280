"""The rivals of a team, by hand, and how often a difference from the best of them is claimed falsely."""

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
    said = Labels(answers, 2, np.array([[0, 0, 0, 1]]))
    found = listed.compared(listed.sums(said, np.zeros(4, int), np.array([0, 0, 1, 0])))
    person, majority, model = found.members
    assert person.errors == 0 + 0.5 + 1 + 1
    assert majority.errors == 0 + 0.5 + 1 + 1  # the tie on the second item is broken at random
    assert (model.errors, model.team_errors, model.won, model.lost) == (1, 1, 1, 1)
    assert found.better_half == model
    assert [member.n_people for member in found.members] == [0, 0, 0]  # nobody has ten answers


def test_blocks_sum_to_the_whole():
    rng = np.random.default_rng(0)
    listed = RivalList(("human",), ("a", "b"))
    truth, team, human = rng.integers(0, 3, (3, 50))
    models = rng.integers(-1, 3, (3, 50))
    whole = listed.sums(Labels(Answers(human), 3, models), truth, team)
    parts = [
        listed.sums(Labels(Answers(human[rows]), 3, models[:, rows]), truth[rows], team[rows])
        for rows in (slice(0, 20), slice(20, 50))
    ]
    for one, *cut in zip(whole, *parts, strict=True):
        np.testing.assert_allclose(sum(cut), one)


def test_the_best_person_must_beat_the_best_of_the_others_on_the_same_items():
    rng = np.random.default_rng(1)
    n = 100
    truth, model = np.zeros(n, int), (rng.random(n) < 0.1) * 1
    ann, bob = np.zeros(n, int), (rng.random(n) < 0.5) * 1
    lucky = np.arange(10)  # right ten times of ten, where the model is right too
    item = np.concatenate([np.arange(n), np.arange(n), lucky])
    column = np.concatenate([ann, 2 + bob, 4 + np.zeros(10, int)])
    listed = RivalList(("Ann", "Bob", "Cy"), ("model",), crowd=False)
    said = Labels(pack_answers(item, column, n), 2, model[None])
    found = listed.compared(listed.sums(said, truth, model))
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
    said = Labels(answers, 2, np.zeros((1, 5), int))
    listed = RivalList(("Ann", "Bob"), ("model",), crowd=False)
    found = listed.compared(listed.sums(said, np.zeros(5, int), np.zeros(5, int)))
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
