"""The record of labelled items: counts by hand, the chance to be best, and whom the team prefers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from twoheads.combination import HoldoutRecord
from twoheads.combination.fitting.holdout import HeldOut, holdout_counts, only_one_right
from twoheads.combination.rivals import RivalList
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING
from twoheads.kernels.blocks import Block
from twoheads.kernels.scoring.chance import chance_better

# Five items of truth 0, 0, 1, 1, 1, and who is right:
#   combination  yes  yes  no   yes  no
#   human        yes  no   yes  -    no
#   model        no   yes  yes  yes  no
TRUTH = np.array([0, 0, 1, 1, 1])
HUMAN = np.array([0, 1, 1, MISSING, 0])
COMBINED = np.array([[0.9, 0.8, 0.6, 0.3, 0.7], [0.1, 0.2, 0.4, 0.7, 0.3]])
PLAIN = np.array([[0.95, 0.7, 0.5, 0.4, 0.8], [0.05, 0.3, 0.5, 0.6, 0.2]])
MODEL = np.log([[0.4, 0.7, 0.2, 0.1, 0.9], [0.6, 0.3, 0.8, 0.9, 0.1]])
RIVALS = RivalList(("human",), ("model",))


def one_hot(label):
    return 1.0 * (np.arange(2)[:, None] == label)


def record(weight=None, cuts=((0, 5),)):
    def block(first, last):
        rows = slice(first, last)
        part = Block(MODEL[:, rows], Answers(HUMAN[rows]), TRUTH[rows], weight=None if weight is None else weight[rows])
        return part, COMBINED[:, rows], PLAIN[:, rows]

    known = [block(*cut) for cut in cuts]
    of = {id(part): HeldOut(combined, plain, *[one_hot(part.answers.column)] * 2) for part, combined, plain in known}
    return holdout_counts([part for part, *_ in known], lambda part: of[id(part)], RIVALS)


def test_counts_by_hand():
    found = record()
    assert (found.n, found.answered) == (5, 4)
    assert (found.errors, found.human_errors, found.model_errors) == (2, 2, 2)
    assert found.over_human == (1, 1)  # item 1; item 2 (item 3, which nobody answered, is no win)
    assert found.over_model == (1, 1)  # item 0; item 2
    assert (found.human_only, found.model_only) == (1, 1)  # item 0; item 1
    loss = -np.log([0.9, 0.8, 0.4, 0.7, 0.3])
    plain = -np.log([0.95, 0.7, 0.5, 0.6, 0.2])
    assert found.log_loss == pytest.approx(loss.mean())
    assert found.plain_log_loss == pytest.approx(plain.mean())
    gain, shares = np.log(COMBINED / PLAIN), (COMBINED + PLAIN) / 2
    variance = max((plain - loss).var(), (shares * gain**2).sum() / 5)
    assert found.log_loss_gain_se == pytest.approx((variance / 5) ** 0.5)


def test_rivals_by_hand():
    human, model = record().rivals.members
    assert (human.key, human.n, human.errors, human.team_errors) == ("human", 4, 2, 2)
    assert (model.key, model.n, model.errors, model.team_errors) == ("model", 5, 2, 2)
    assert (human.won, human.lost, model.won, model.lost) == (1, 1, 1, 1)
    # Of the four items that both have labelled, the human errs on two, the model on two: the first is named.
    assert record().rivals.better_half == human


def test_blocks_and_weights_sum():
    for name, value in record(cuts=((0, 2), (2, 5))).get_params(deep=False).items():
        assert value == (record().rivals if name == "rivals" else pytest.approx(getattr(record(), name)))
    twice = record(weight=np.full(5, 2.0))
    assert (twice.n, twice.errors, twice.over_human) == (10, 4, (2, 2))
    assert twice.log_loss == pytest.approx(record().log_loss)
    # The same items: what is stated of them is as sure as before, what is fitted counts ten rows.
    assert (twice.items, twice.effective_items) == (5, 5)
    assert twice.chance_best == pytest.approx(record().chance_best)
    assert twice.log_loss_gain_se == pytest.approx(record().log_loss_gain_se)
    assert twice.preference().log_threshold == pytest.approx(
        HoldoutRecord(n=10.0, answered=10.0, modelled=10.0, human_only=2, model_only=2).preference().log_threshold
    )


def test_what_its_probabilities_expect_by_hand():
    found = record()
    # It differs from the human on items 1 (.8 against .2) and 2 (.6 against .4), from the model on items 0 and 2.
    assert found.expected_over_human == pytest.approx(0.6 + 0.2)
    assert found.expected_over_model == pytest.approx(0.8 + 0.2)


def test_the_chance_to_be_best_is_that_against_both_partners():
    both = {"n": 45.0, "answered": 45.0, "modelled": 45.0}
    human, model = ((7, 2), 3.0), ((1, 3), 1.0)
    found = HoldoutRecord(
        over_human=human[0], expected_over_human=human[1], over_model=model[0], expected_over_model=model[1], **both
    )
    over_human, over_model = chance_better(*human[0], human[1], 45.0), chance_better(*model[0], model[1], 45.0)
    assert found.chance_best == pytest.approx(over_model * over_human**0.5)
    assert over_model < over_human
    alone = HoldoutRecord(n=45.0, over_human=(7, 2), expected_over_human=3.0, answered=45.0)
    assert alone.chance_best == pytest.approx(chance_better(7, 2, 3.0, 45.0))
    assert HoldoutRecord().chance_best == 0.5


def test_the_chance_knows_how_many_answered_beside_a_model():
    two = HoldoutRecord(n=30.0, answered=30.0, modelled=30.0, answers_per_item=2.0)
    assert two.chances() == (chance_better(0, 0, 0, 30.0, 2.0),) * 2
    assert HoldoutRecord(n=30.0, answered=30.0, answers_per_item=2.0).chances()[0] == chance_better(0, 0, 0, 30.0)


def test_a_team_that_answers_as_a_member_draws_with_it():
    both = {"n": 300, "answered": 300.0, "modelled": 300.0, "over_human": (20.0, 2.0), "expected_over_human": 15.0}
    found = HoldoutRecord(over_model=(3.0, 40.0), expected_over_model=2.0, **both)
    assert found.preference().share_alone == 1.0
    assert found.chance_best == 0.5


def test_the_error_of_a_gain_is_no_less_than_what_both_forecasts_believe():
    sure, less = np.array([[0.99], [0.01]]), np.array([[0.9], [0.1]])
    block = Block(np.log(less).repeat(40, axis=1), Answers(np.zeros(40, dtype=int)), np.zeros(40, dtype=int))
    proba, plain = less.repeat(40, axis=1), sure.repeat(40, axis=1)
    found = holdout_counts([block], lambda part: HeldOut(proba, plain, *[one_hot(np.zeros(40))] * 2), RIVALS)
    # The gain was log(.9 / .99) on every item. An error, of which both think possible, would have shown log(10).
    expected = 0.945 * np.log(0.9 / 0.99) ** 2 + 0.055 * np.log(10) ** 2
    assert found.log_loss_gain_se == pytest.approx((expected / 40) ** 0.5)


def test_a_model_is_not_blamed_for_what_it_has_not_seen():
    unseen = np.array([True, False, False, False, True])
    block = Block(MODEL, Answers(HUMAN), TRUTH, no_model=unseen)
    found, whole = (
        holdout_counts([block], lambda part: HeldOut(COMBINED, PLAIN, *[one_hot(HUMAN)] * 2), RIVALS),
        record(),
    )
    wrong = MODEL.argmax(axis=0) != TRUTH
    assert (found.modelled, found.model_errors) == (3, (wrong & ~unseen).sum())
    assert (found.human_errors, found.errors, found.answered) == (whole.human_errors, whole.errors, whole.answered)


def test_the_team_prefers_the_partner_that_was_right_more_often():
    both = {"n": 10, "answered": 10.0, "modelled": 10.0}
    human, model = (HoldoutRecord(human_only=b, model_only=5 - b, **both).preference() for b in (4, 1))
    lead = 1 - 2 * beta.cdf(0.5, 12, 9)
    assert human.human_leads
    assert not model.human_leads
    assert human.lead == pytest.approx(lead)
    assert model.lead == pytest.approx(-lead)
    assert human.log_threshold == pytest.approx(lead**2 * 30 / 40)
    assert human.share_alone == 0.0


def test_a_member_answers_alone_where_it_lost_to_nobody_but_the_team():
    both = {"n": 300, "answered": 300.0, "modelled": 300.0, "over_human": (20.0, 2.0), "expected_over_human": 12.0}
    sure = HoldoutRecord(over_model=(3.0, 40.0), expected_over_model=2.0, **both).preference()
    assert sure.chances == (chance_better(20, 2, 12.0, 300), chance_better(3, 40, 2.0, 300))
    assert (sure.share_alone, sure.human_alone) == (1.0, False)
    assert HoldoutRecord(over_model=(9.0, 14.0), expected_over_model=2.0, **both).preference().share_alone == 0.0
    alone = {"n": 300, "answered": 300.0, "over_human": (0.0, 20.0)}
    assert HoldoutRecord(**alone).preference().share_alone == 0.0  # there is no other member to prefer it to


def test_only_one_right_by_hand():
    block = Block(MODEL, Answers(HUMAN), TRUTH)
    found = record()
    assert only_one_right(block, one_hot(HUMAN)) == (found.human_only, found.model_only, found.n)


def test_heavy_items_on_which_it_differs_are_no_more_than_items():
    # It differs from the human on items 1 and 2: of weights 1 and 9 they are 10^2 / 82 = 1.2 items, a unit is 8.2.
    found = record(weight=np.array([1.0, 1.0, 9.0, 1.0, 1.0]))
    assert found.unit_over_human == pytest.approx(8.2)
    assert found.over_human == (1.0, 9.0)
    assert found.effective_items == pytest.approx(13**2 / 85)
    chance = chance_better(1 / 8.2, 9 / 8.2, found.expected_over_human / 8.2, 13**2 / 85)
    assert found.chances()[0] == pytest.approx(chance)


def test_errors_of_both_are_counted_item_by_item():
    found = record(weight=np.array([1.0, 5.0, 7.0, 1.0, 1.0]))
    human, model = HUMAN != TRUTH, MODEL.argmax(axis=0) != TRUTH
    there = HUMAN >= 0
    assert found.both_labelled == there.sum()
    assert found.both_wrong == (human & model & there).sum()
    assert 0 < found.both_wrong_p <= 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_ties_do_not_depend_on_the_order_of_the_classes(order):
    # Item 0: the model is tied between two classes, item 1: the team too, item 2: people are tied.
    model = np.log(np.array([[0.4, 0.5, 0.1], [0.4, 0.25, 0.8], [0.2, 0.25, 0.1]]))
    combined = np.array([[0.2, 0.4, 0.3], [0.7, 0.2, 0.6], [0.1, 0.4, 0.1]])
    human = np.array([[1.0, 0.0, 0.5], [0.0, 0.0, 0.5], [0.0, 1.0, 0.0]])
    place = np.argsort(order)
    truth = place[np.array([1, 0, 0])]
    rows = [each[list(order)] for each in (combined, model, human)]
    label = place[np.array([0, 2, 0])]
    block = Block(rows[1], Answers(label), truth)
    found = holdout_counts([block], lambda part: HeldOut(rows[0], rows[0], rows[2], rows[2]), RIVALS)
    # Against the model: item 0 the team is right, the model by half; item 1 the team by half; item 2 both are wrong.
    assert found.over_model == (0.5, 0.5)
    assert found.over_human == (1.5, 0.5)
    assert found.expected_over_model == pytest.approx((0.7 - 0.45) + (0.4 - 0.4) + 0.0)
    assert found.expected_over_human == pytest.approx((0.7 - 0.2) + 0.0 + (0.6 - 0.45))
    assert (found.human_only, found.model_only) == (0.5, 1.5)
    # Each errs by half where it is tied with the truth: the team on item 1, the model on item 0, people on item 2.
    assert (found.errors, found.model_errors, found.human_errors) == (0 + 0.5 + 1, 0.5 + 0 + 1, 1 + 1 + 0.5)
