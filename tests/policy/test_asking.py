"""What one more answer is worth to a fitted team, and whom to ask: against posteriors computed one by one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

import twoheads as th
from twoheads.errors import InvalidParameter
from twoheads.kernels.answers import pack_answers
from twoheads.policy import choose, expected_gain


def crowd(n, accuracy, *, n_classes=3, share=1.0, seed=0, named="p{}"):
    """Observations of simulated people, each of whom answers a share of the items, and the truth."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=2.0, size=(n, n_classes))
    chances = softmax(logits / 1.5, axis=1)
    truth = (chances.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    item, column = [], []
    for person, right in enumerate(accuracy):
        answer = np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n))
        asked = np.flatnonzero(rng.random(n) < share)
        item.append(asked)
        column.append(person * n_classes + answer[asked])
    seen = th.Observations.from_arrays(np.full(n, -1), softmax(logits, axis=1))
    answers = pack_answers(np.concatenate(item), np.concatenate(column), n)
    return replace(seen, answers=answers, annotators=tuple(map(named.format, range(len(accuracy))))), truth


@pytest.fixture(scope="module")
def team():
    X, y = crowd(600, [0.95, 0.7, 0.5], share=0.6)
    return th.recommended().fit(X, y)


def one_by_one(team, X, row, person):
    """The gain from Bayes' rule on predictions with each answer written into the observations."""
    n_classes = len(team.classes_)
    place = [*team.annotators_, person].index(person)
    item = X[[row]]
    base = team.predict_proba(item)[0]
    start = item.answers.start
    had = item.answers.column if start is None else item.answers.column[start[0] : start[1]]
    had = had[had >= 0]
    belief = base
    if not len(had):
        calibrated = team.rule().calibrated_log_proba(team.block(item, slice(0, 1)))[:, 0]
        belief = softmax(calibrated * np.exp(-team.answer_log_temperature_))
    gain = 0.0
    names = [*X.annotators, "somebody new"]
    at = names.index(person) if person in names else len(names) - 1
    for answer in range(n_classes):
        column = np.append(had, at * n_classes + answer)
        more = replace(item, answers=pack_answers(np.zeros(len(column), dtype=int), column, 1), annotators=tuple(names))
        after = team.predict_proba(more)[0]
        chance = team.confusion_.people()[place][answer] @ belief
        gain += chance * (after.max() - after[base.argmax()])
    return team.gain_factor_ * gain


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("person", ["p0", "p1", None])
def test_expected_gain_is_the_formula_item_by_item(team, share, person):
    X, _ = crowd(40, [0.9, 0.6, 0.6], share=share, seed=5)
    gain = expected_gain(team, X, person=person)
    assert (gain >= 0).all()
    assert gain.max() > 0.01
    for row in range(len(X)):
        item = X[[row]]
        had = item.answers.column[item.answers.column >= 0] // 3
        if person is not None and X.annotators.index(person) in had:
            assert gain[row] == 0.0
        else:
            assert gain[row] == pytest.approx(one_by_one(team, X, row, person or "somebody new"), abs=1e-12)


@pytest.mark.parametrize("class_prior", ["model", [0.6, 0.3, 0.1]])
def test_plain_product_gains_as_bayes_rule_says(class_prior):
    # Without a correction, and with the model's own temperature: sum_h max_y phi_hy b_y - max_y b_y.
    X, y = crowd(300, [0.8], seed=1, named="human")
    team = th.ProbabilityLabelCombiner(class_prior=class_prior).fit(X, y)
    team._answer_log_temperature = 0.0
    new, _ = crowd(50, [0.8], share=0.0, seed=2, named="human")
    belief = team.predict_proba(new)
    phi = team.confusion_.human_given_true_
    by_rule = (phi[None] * belief[:, None, :]).max(axis=2).sum(axis=1) - belief.max(axis=1)
    np.testing.assert_allclose(expected_gain(team, new), team.gain_factor_ * by_rule, atol=1e-12)


def test_cost_of_being_wrong_is_accuracy(team):
    X, _ = crowd(60, [0.9, 0.6, 0.6], share=0.5, seed=6)
    by_cost = expected_gain(team, X, cost=1.0 - np.eye(3))
    np.testing.assert_allclose(by_cost, expected_gain(team, X), atol=1e-12)
    np.testing.assert_allclose(expected_gain(team, X, cost=5.0 * (1.0 - np.eye(3))), 5 * by_cost, atol=1e-11)


def test_a_decision_that_costs_nothing_leaves_nothing_to_gain(team):
    X, _ = crowd(20, [0.9, 0.6, 0.6], share=0.0, seed=6)
    free = np.vstack([1.0 - np.eye(3), np.zeros(3)])
    np.testing.assert_allclose(expected_gain(team, X, cost=free), 0.0, atol=1e-12)


def test_choice_is_the_best_of_all_pairs(team):
    X, _ = crowd(50, [0.9, 0.6, 0.6], share=0.3, seed=7)
    plan = choose(team, X, 20)
    table = np.stack([expected_gain(team, X, person=name) for name in team.annotators_])
    best = table.max(axis=0)
    order = np.argsort(-best, kind="stable")[:20]
    np.testing.assert_allclose(plan.gain, best[order], atol=1e-12)
    assert len(plan) == len(set(plan.row.tolist())) == 20
    for row, name, gain in zip(plan.row, plan.annotator, plan.gain, strict=True):
        assert table[team.annotators_.index(name), row] == pytest.approx(gain, abs=1e-12)
    assert plan.expected_after == pytest.approx(plan.expected_now + plan.gain.sum() / 50)
    assert plan.next_gain == pytest.approx(np.sort(best)[-21])


def test_a_quick_look_at_many_items_misses_none_of_the_best(team):
    X, _ = crowd(3000, [0.9, 0.6, 0.6], share=0.2, seed=11)
    for cost in (None, np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 1.0], [1.0, 2.0, 0.0]])):
        table = np.stack([expected_gain(team, X, person=name, cost=cost) for name in team.annotators_])
        plan = choose(team, X, 25, cost=cost)  # 1,000 items are looked at closely
        np.testing.assert_allclose(plan.gain, np.sort(table.max(axis=0))[::-1][:25], atol=1e-12)


def test_price_is_weighed_against_gain(team):
    X, _ = crowd(80, [0.9, 0.6, 0.6], share=0.0, seed=8)
    price = {"p0": 3.0, "p1": 0.5, "p2": 1.0}
    plan = choose(team, X, 6.0, price=price)
    ratio = np.stack([expected_gain(team, X, person=name) / price[name] for name in team.annotators_])
    assert plan.price.sum() <= 6.0
    np.testing.assert_allclose(plan.price, [price[name] for name in plan.annotator])
    assert (plan.gain / plan.price).min() >= np.sort(ratio.max(axis=0))[-len(plan) - 1] - 1e-12


def test_asking_stops_where_it_does_not_pay(team):
    X, _ = crowd(80, [0.9, 0.6, 0.6], share=0.0, seed=8)
    every = choose(team, X, 1e6, people=["p2"])  # whom the model's surest labels do not need
    assert every.next_gain == 0.0
    assert 0 < len(every) < 80
    dear = choose(team, X, 1e6, people=["p2"], least_gain=0.1)
    assert len(dear) == (every.gain > 0.1).sum()
    nothing = choose(team, X, 0.0, people=["p2"])
    assert len(nothing) == 0
    assert nothing.next_gain == pytest.approx(every.gain[0])


def test_new_people_answer_as_the_crowd_and_take_turns(team):
    X, _ = crowd(30, [0.9, 0.6, 0.6], share=0.0, seed=9)
    plan = choose(team, X, 4, people=["new", "newer"])
    assert plan.annotator == ["new", "newer", "new", "newer"]
    np.testing.assert_allclose(plan.gain, np.sort(expected_gain(team, X))[::-1][:4])


def test_nobody_is_asked_twice(team):
    X, _ = crowd(60, [0.9, 0.6, 0.6], share=0.5, seed=10)
    for people in (["p0"], ["p0", "p1"], ["p2", "new"]):
        plan = choose(team, X, 1e6, people=people)
        for row, name in zip(plan.row, plan.annotator, strict=True):
            had = X[[row]].answers.column
            assert name not in [X.annotators[who] for who in had[had >= 0] // 3]


def test_answer_temperature_needs_no_truth_and_is_kept_with_the_team(tmp_path):
    X, y = crowd(400, [0.85], seed=3, named="human")
    team = th.recommended().fit(X)
    assert -1 < team.answer_log_temperature_ < 1
    team.save(tmp_path / "team.json")
    assert th.load(tmp_path / "team.json").answer_log_temperature_ == team.answer_log_temperature_
    nobody = th.Observations.from_arrays(np.full(len(y), -1), X.model_proba[0])
    assert th.ProbabilityLabelCombiner().fit(nobody, y).answer_log_temperature_ == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": np.zeros((3, 2))}, "cost must be numbers of shape (n_decisions, 3)"),
        ({"cost": np.full((3, 3), np.nan)}, "cost must be finite; 9 of its entries are not."),
    ],
)
def test_costs_that_cannot_be_used_are_refused(team, options, message):
    X, _ = crowd(5, [0.9, 0.6, 0.6], seed=1)
    with pytest.raises(InvalidParameter) as refused:
        expected_gain(team, X, **options)
    assert message in str(refused.value)


def test_people_given_as_one_text_are_refused(team):
    X, _ = crowd(5, [0.9, 0.6, 0.6], seed=1)
    with pytest.raises(InvalidParameter, match="people must be several names; it is 'ann'"):
        choose(team, X, 5, people="ann")
    with pytest.raises(InvalidParameter, match="team must be a ProbabilityLabelCombiner"):
        choose(th.LogisticCombiner(), X, 5)
