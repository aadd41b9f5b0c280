"""Unsure answers, confidence numbers and several models: how observations hold and hand them on."""

from dataclasses import replace

import numpy as np
import pytest

import twoheads as th
from twoheads import InvalidObservations, Observations
from twoheads.kernels.answers import Answers, pack_answers, pack_values

NAN = np.nan


def crowd(n_items=40, n_classes=3, n_people=4, seed=0):
    """Answers of several people with confidences, some unsure, and two models with gaps, as they would be told by hand.

    Returns the observations and what they were made of: (item, person) -> (label, confidence), (item, person) unsure.
    """
    rng = np.random.default_rng(seed)
    told, unsure = {}, set()
    for item in range(n_items):
        for person in range(n_people):
            kind = rng.integers(4)
            if kind == 0:
                unsure.add((item, person))
            elif kind > 1:
                told[item, person] = int(rng.integers(n_classes)), float(rng.choice([NAN, 1, 2, 3, 4, 5]))
    item, person = np.array(list(told)).T
    label, confidence = np.array(list(told.values())).T
    column = person * n_classes + label.astype(int)
    shuffled = rng.permutation(len(item))
    item, column, confidence = item[shuffled], column[shuffled], confidence[shuffled]
    who = np.array(sorted(unsure))
    models = [rng.dirichlet(np.ones(n_classes), n_items) for _ in range(2)]
    models[0][::5] = NAN
    models[1][::7] = NAN
    seen = Observations(
        np.array(["a", "b", "c"][:n_classes]),
        tuple(models),
        pack_answers(item, column, n_items),
        tuple(f"p{at}" for at in range(n_people)),
        np.arange(n_items),
        ("left", "right"),
        unsure=pack_answers(who[:, 0], who[:, 1], n_items),
        confidence=pack_values(item, column, confidence, n_items),
    )
    return seen, told, unsure


def entries(answers, confidence=None):
    """{(item, column): confidence} of the answers that are there."""
    start = np.arange(len(answers) + 1) if answers.start is None else answers.start
    return {
        (item, int(answers.column[at])): None if confidence is None else float(confidence[at])
        for item in range(len(answers))
        for at in range(start[item], start[item + 1])
        if answers.column[at] >= 0
    }


def same(one, two):
    """Whether two mappings have the same keys and values, NaN equal to NaN."""
    return one.keys() == two.keys() and all(np.array_equal(one[key], two[key], equal_nan=True) for key in one)


def test_what_was_told_is_held():
    seen, told, unsure = crowd()
    wanted = {(item, person * 3 + label): sure for (item, person), (label, sure) in told.items()}
    assert same(entries(seen.answers, seen.confidence), wanted)
    assert set(entries(seen.unsure)) == unsure
    assert seen.shape == (40, 4 + 2 * 3)
    assert seen.has_model().tolist() == [bool(at % 35) for at in range(40)]


def test_one_answer_per_item_keeps_its_confidence_in_place():
    item, column = np.array([2, 0]), np.array([1, 0])
    assert pack_answers(item, column, 4).column.tolist() == [0, -1, 1, -1]
    packed = pack_values(item, column, np.array([0.5, 0.9]), 4)
    assert np.array_equal(packed, [0.9, NAN, 0.5, NAN], equal_nan=True)


def test_some_items_keep_what_is_theirs():
    seen, told, unsure = crowd()
    rows = np.array([7, 3, 3, 39, 0])
    part = seen.take(rows)
    wanted = {
        (at, person * 3 + label): sure
        for at, row in enumerate(rows)
        for (item, person), (label, sure) in told.items()
        if item == row
    }
    assert same(entries(part.answers, part.confidence), wanted)
    assert set(entries(part.unsure)) == {
        (at, person) for at, row in enumerate(rows) for i, person in unsure if i == row
    }
    assert len(seen[:0].confidence) == 0


def test_renamed_classes_carry_the_confidence_along():
    seen, told, _ = crowd()
    turned = seen.aligned(np.array(["c", "a", "b"]))
    place = {0: 1, 1: 2, 2: 0}
    wanted = {(item, person * 3 + place[label]): sure for (item, person), (label, sure) in told.items()}
    assert same(entries(turned.answers, turned.confidence), wanted)
    back = turned.aligned(seen.classes)
    assert np.array_equal(back.confidence, seen.confidence, equal_nan=True)
    assert np.array_equal(back.answers.column, seen.answers.column)
    assert np.array_equal(back.model_proba[1], seen.model_proba[1], equal_nan=True)


def test_blocks_hold_the_same():
    seen, told, unsure = crowd()
    for rows in (slice(0, 13), slice(13, 40), slice(5, 5)):
        block = seen.block(rows)
        wanted = {
            (item - rows.start, person * 3 + label): sure
            for (item, person), (label, sure) in told.items()
            if rows.start <= item < rows.stop
        }
        assert same(entries(block.answers, block.confidence), wanted)
        assert set(entries(block.unsure)) == {
            (item - rows.start, person) for item, person in unsure if rows.start <= item < rows.stop
        }


def test_a_block_of_several_models_has_each_and_their_mean():
    left, right = (
        np.array([[0.5, 0.3, 0.2], [NAN] * 3, [NAN] * 3]),
        np.array([[0.2, 0.2, 0.6], [0.1, 0.1, 0.8], [NAN] * 3]),
    )
    seen = Observations(
        np.arange(3), (left, right), Answers(np.array([0, 1, 2])), ("human",), np.arange(3), ("left", "right")
    )
    block = seen.block(slice(0, 3))
    assert np.allclose(np.exp(block.members[0].T), left, equal_nan=True)
    assert np.allclose(np.exp(block.members[1].T), right, equal_nan=True)
    mean = np.sqrt([0.5 * 0.2, 0.3 * 0.2, 0.2 * 0.6])
    assert np.allclose(np.exp(block.log_proba.T), [mean / mean.sum(), right[1], [1 / 3] * 3])
    assert block.no_model.tolist() == [False, False, True]
    one = replace(seen, model_proba=(right,), models=("right",)).block(slice(0, 2))
    assert one.members == ()
    assert one.no_model is None
    none = replace(seen, model_proba=(), models=()).block(slice(0, 2))
    assert none.no_model.all()
    assert np.allclose(none.log_proba, -np.log(3))


def test_models_are_matched_by_name():
    seen, _, _ = crowd()
    swapped = replace(seen, models=("right", "left"), model_proba=seen.model_proba[::-1])
    team = th.ProbabilityLabelCombiner().fit(seen)
    assert team.models_ == ("left", "right")
    assert np.array_equal(team.predict_proba(seen), team.predict_proba(swapped))
    only = replace(seen, models=("right",), model_proba=seen.model_proba[1:])
    blank = replace(seen, model_proba=(np.full((40, 3), NAN), seen.model_proba[1]))
    assert np.array_equal(team.predict_proba(only), team.predict_proba(blank))
    with pytest.raises(InvalidObservations) as raised:
        team.predict(replace(seen, models=("left", "centre")))
    assert str(raised.value) == (
        "X must hold the models seen at fit, left, right; 'centre' was not there (1 of 2 models are off). "
        "Leave it out, or fit again with it."
    )


def test_one_model_without_a_name_is_the_one():
    seen = Observations.from_arrays([0, 1], [[0.7, 0.3], [0.6, 0.4]])
    named = replace(seen, models=("net",))
    other = replace(seen, models=("other",))
    assert named.with_models(("model",)) is named
    assert seen.with_models(("net",)) is seen
    with pytest.raises(InvalidObservations, match="'other' was not there"):
        other.with_models(("net",))


@pytest.mark.parametrize("method", [th.LabelLabelCombiner(), th.LogisticCombiner(), th.paper_2021("P+L")])
def test_methods_of_one_model_refuse_several(method):
    seen, _, _ = crowd()
    with pytest.raises(InvalidObservations) as raised:
        method.fit(seen, np.tile(["a", "b", "c", "a"], 10))
    assert str(raised.value) == (
        f"X must hold one model's probabilities for {type(method).__name__}; it holds those of left, right "
        "(2 models). Give one, or use ProbabilityLabelCombiner."
    )
    with pytest.raises(InvalidObservations, match=r"one model's probabilities here; it holds those of left, right"):
        th.TemperatureScaling().fit(seen, np.tile(["a", "b", "c", "a"], 10))


def test_people_are_numbered_as_at_fit():
    seen, _, _ = crowd()
    team = th.ProbabilityLabelCombiner().fit(seen)
    team.annotators_ = ("p2", "p0")  # p1 and p3 are new: they are the crowd, number 2
    block = team._block(seen, slice(0, 40))
    place = np.array([1, 2, 0, 2])
    assert np.array_equal(block.unsure.column, place[seen.unsure.column])
    assert np.array_equal(block.answers.column // 3, place[seen.answers.column // 3])
    assert np.array_equal(block.confidence, seen.confidence, equal_nan=True)
    assert len(block.members) == 2
    assert block.no_model.any()
