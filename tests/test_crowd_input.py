"""Unsure answers, confidence numbers and several models: how observations hold and hand them on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import twoheads as th
from crowds import crowd, entries, long_frames, same, told_of, wide_frame
from twoheads import InvalidObservations, InvalidParameter, Observations
from twoheads.kernels.answers import Answers, pack_answers, pack_values

NAN = np.nan


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
    seen = replace(seen, classes=np.array(["10", "2", "9"]))
    turned = seen.aligned(np.array([2, 9, 10]))
    place = {0: 2, 1: 0, 2: 1}
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
        "X must hold the models of the fit, left, right; 'centre' is new (1 of 2 models are off). Leave "
        "it out, or fit again with it."
    )


def test_one_model_without_a_name_is_the_one():
    seen = Observations.from_arrays([0, 1], [[0.7, 0.3], [0.6, 0.4]])
    named = replace(seen, models=("net",))
    other = replace(seen, models=("other",))
    assert named.with_models(("model",)) is named
    assert seen.with_models(("net",)) is seen
    with pytest.raises(InvalidObservations, match="'other' is new"):
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
    block = team.block(seen, slice(0, 40))
    place = np.array([1, 2, 0, 2])
    assert np.array_equal(block.unsure.column, place[seen.unsure.column])
    assert np.array_equal(block.answers.column // 3, place[seen.answers.column // 3])
    assert np.array_equal(block.confidence, seen.confidence, equal_nan=True)
    assert len(block.members) == 2
    assert block.no_model.any()
    assert team.rule().pooled(block).members == ()


def test_wide_and_long_tables_say_the_same():
    seen, told, unsure = crowd()
    seen = replace(seen, items=np.array([f"i{item}" for item in range(len(seen))], dtype=object))
    wanted = told_of(seen)
    wide = wide_frame(seen, told, unsure)
    answers, model = long_frames(seen, told, unsure)
    for made in (
        Observations.from_frame(wide),
        Observations.from_frame(wide[wide.columns[::-1]]),
        Observations.from_frame(wide.sample(frac=1, random_state=0)),
        Observations.from_answers(answers, model),
        Observations.from_answers(answers.sample(frac=1, random_state=1), model.sample(frac=1, random_state=2)),
        Observations.from_answers(answers, wide),
        Observations.from_frame(wide_frame(seen, told, unsure, word="Don't know"), unsure="don't know"),
        Observations.from_answers(*long_frames(seen, told, unsure, word=" ? "), unsure=["n/k", "?"]),
    ):
        found = told_of(made)
        assert same(found[0], wanted[0])
        assert found[1] == wanted[1]
        assert made.models == ("left", "right")


def test_arrays_say_the_same():
    proba = {"left": np.array([[0.7, 0.3], [0.6, 0.4]]), "right": np.array([[0.1, 0.9], [NAN, NAN]])}
    seen = Observations.from_arrays(["dog", "Unsure"], proba, classes=["dog", "cat"], confidence=[80, 20])
    frame = pd.DataFrame({"human": ["dog", "Unsure"], "confidence": [80, 20]})
    for model, rows in proba.items():
        frame[[f"{model}.p_dog", f"{model}.p_cat"]] = rows
    for made in (seen, Observations.from_frame(frame)):
        told, rows = told_of(made)
        assert same(told, {("0", "human", "dog"): 80.0, ("1", "human", "unsure"): NAN})
        assert rows == {("0", "left"): [0.3, 0.7], ("1", "left"): [0.4, 0.6], ("0", "right"): [0.9, 0.1]}
    coded = Observations.from_arrays([0, 1], proba, classes=["dog", "cat"], confidence=[NAN, 20])
    assert same(told_of(coded)[0], {("0", "human", "dog"): NAN, ("1", "human", "cat"): 20.0})
    assert Observations.from_arrays([0, 1], proba, confidence=[NAN, NAN]).confidence is None


COLUMNS = {
    "human": ["a", "unsure", None, "b"],
    "confidence": [3, 4, None, None],
    "human_x": ["b", None, "Unsure", "a"],
    "confidence_x": [None, None, 1, 2],
    "m.p_a": [0.5] * 4,
    "m.p_b": [0.5] * 4,
    "n.p_a": [0.5, None, 0.1, 0.2],
    "n.p_b": [0.5, None, 0.9, 0.8],
}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).astype({"human": "category", "confidence": "Int64"}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("human").cast(pl.Categorical)),
        pa.table(COLUMNS),
    ],
)
def test_every_library_says_the_same(frame):
    seen = Observations.from_frame(frame)
    assert seen.unsure.column.tolist() == [-1, 0, 1, -1]
    assert seen.answers.column.tolist() == [0, 3, 1, 2]
    assert np.array_equal(seen.confidence, [3, NAN, NAN, 2], equal_nan=True)
    assert np.array_equal(seen.model_proba[1][:, 0], [0.5, NAN, 0.1, 0.2], equal_nan=True)


def test_unsure_may_be_a_class():
    frame = pd.DataFrame({"human": ["unsure", "yes"], "p_unsure": [0.5, 0.5], "p_yes": [0.5, 0.5]})
    seen = Observations.from_frame(frame)
    assert seen.unsure is None
    assert seen.answers.column.tolist() == [0, 1]


def test_unsure_does_not_change_the_type_of_the_classes():
    frame = pd.DataFrame({"human": [0, "unsure", 1], "p_0": [0.5] * 3, "p_1": [0.5] * 3})
    seen = Observations.from_frame(frame)
    assert seen.classes.tolist() == [0, 1]
    coded = Observations.from_frame(frame.assign(human=[0, 99, 1]), unsure="99")
    assert coded.classes.tolist() == [0, 1]
    assert coded.unsure.column.tolist() == seen.unsure.column.tolist() == [-1, 0, -1]
    crowd_only = Observations.from_answers(
        pd.DataFrame({"task": [1, 2, 2], "worker": ["x", "x", "y"], "label": [0, 1, "unsure"]})
    )
    assert crowd_only.classes.tolist() == [0, 1]
    assert crowd_only.unsure.column.tolist() == [-1, 1]


def test_an_item_of_which_all_are_unsure_is_one():
    frame = pd.DataFrame({"human": ["unsure", "a"], "p_a": [NAN, 0.5], "p_b": [NAN, 0.5]})
    seen = Observations.from_frame(frame)
    assert seen.answers.per_item().tolist() == [0, 1]
    team = th.ProbabilityLabelCombiner().fit(seen)
    assert np.allclose(team.predict_proba(seen)[0].sum(), 1)


def test_whose_confidence_it_is():
    half = {"p_a": [0.5, 0.5], "p_b": [0.5, 0.5]}
    only = Observations.from_frame(pd.DataFrame({"human_ann": ["a", None], "confidence": [3, 4], **half}))
    assert np.array_equal(only.confidence, [3, NAN], equal_nan=True)
    two = {"human": ["a", "b"], "human_ann": ["a", "b"], "confidence": [3, 4], **half}
    assert np.array_equal(Observations.from_frame(pd.DataFrame(two)).confidence, [3, NAN, 4, NAN], equal_nan=True)
    nobody = {"human_bo": ["a", "b"], "human_ann": ["a", "b"], "confidence": ["high", "low"], **half}
    assert Observations.from_frame(pd.DataFrame(nobody)).confidence is None
    team = {"human": ["a", "b"], "combined_label": ["a", "b"], "confidence": [0.9, 0.8], **half}
    assert Observations.from_frame(pd.DataFrame(team)).confidence is None


def test_one_named_model():
    frame = pd.DataFrame({"human": ["a"], "net.p_a": [0.4], "net.p_b": [0.6]})
    seen = Observations.from_frame(frame)
    assert seen.models == ("net",)
    assert seen.model_proba[0].tolist() == [[0.4, 0.6]]
    mixed = Observations.from_frame(frame.assign(p_a=0.1, p_b=0.9))
    assert mixed.models == ("model", "net")
    dotted = pd.DataFrame({"human": ["x.p_y"], "p_x.p_y": [0.4], "p_b": [0.6]})
    assert Observations.from_frame(dotted).classes.tolist() == ["b", "x.p_y"]


HALF = {"p_a": [0.5, 0.5], "p_b": [0.5, 0.5]}
LONG = pd.DataFrame({"item": [1, 2], "annotator": ["x", "x"], "answer": ["a", "b"]})
MODEL = pd.DataFrame({"item": [1, 2, 1, 2], "model": ["m", "m", "n", "m"], "p_a": [0.5] * 4, "p_b": [0.5] * 4})
ROWS = np.full((2, 2), 0.5)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Observations.from_frame(pd.DataFrame({"human": ["a", "b"], "confidence": ["high", 3], **HALF})),
            InvalidObservations,
            "column 'confidence' must hold numbers; row 0 has 'high' (1 of 2 rows are off). Give numbers on any "
            "scale, blank where it is not known; or rename the column if it holds something else.",
        ),
        (
            lambda: Observations.from_frame(pd.DataFrame({"human": ["a", "b"], "confidence": [1, np.inf], **HALF})),
            InvalidObservations,
            "column 'confidence' must hold finite numbers; row 1 has inf (1 of 2 rows are off). Give numbers on "
            "any scale, blank where it is not known; or rename the column if it holds something else.",
        ),
        (
            lambda: Observations.from_arrays([0, 1], ROWS, confidence=[1]),
            InvalidObservations,
            "confidence and human_label must have the same number of rows; confidence has 1, human_label has 2. "
            "Give one entry per item, in the same order.",
        ),
        (
            lambda: Observations.from_arrays([0, 1], {"m": ROWS, "n": np.full((2, 3), 1 / 3)}),
            InvalidObservations,
            "model_proba of 'n' must have one column per class, 2; it has shape (2, 3). Give (n_items, n_classes).",
        ),
        (
            lambda: Observations.from_arrays([0, 1], {"m": ROWS, "n": ROWS * 3}),
            InvalidObservations,
            "model_proba of 'n' must sum to 1 in every row; row 0 sums to 3 (2 of 2 rows are off). If these are "
            "logits, set model_scale='logit'; else divide each row by its sum.",
        ),
        (
            lambda: Observations.from_arrays([0, 1], {}),
            InvalidObservations,
            "model_proba must hold each model's rows under its name; its keys are [].",
        ),
        (
            lambda: Observations.from_frame(pd.DataFrame({"human": ["a", "b"], **HALF}), unsure="A"),
            InvalidParameter,
            "unsure (--unsure) must hold words that mean \"don't know\"; 'A' is a class. Give the words that "
            "people use.",
        ),
        (
            lambda: Observations.from_frame(pd.DataFrame({"human": ["a", "b"], **HALF}), unsure=["?", " "]),
            InvalidParameter,
            'unsure (--unsure) must hold words that mean "don\'t know"; one is blank. Give the words that people use.',
        ),
        (
            lambda: Observations.from_frame(
                pd.DataFrame({"human": ["a"], "m.p_a": [0.5], "m.p_b": [0.5], "m.p_c": [0.0], "n.p_a": [0.5]})
            ),
            InvalidObservations,
            "X must have a column for each class of each model; that of class 'b' and model 'n', 'n.p_b', is missing "
            "(2 of 6 are missing). Add it, or drop the model.",
        ),
        (
            lambda: Observations.from_answers(LONG, MODEL),
            InvalidObservations,
            "model must have one row per item and model; item 2 has 2 of model 'm' (1 of 4 rows are repeats). "
            "Keep one of each.",
        ),
        (
            lambda: Observations.from_answers(LONG, MODEL.assign(model=["m", None, "n", "n"])),
            InvalidObservations,
            "model must name the model in every row; row 1 is blank (1 of 4 rows are off). "
            "Name it, or drop those rows.",
        ),
        (
            lambda: Observations.from_answers(LONG, MODEL.rename(columns={"p_a": "m.p_a", "p_b": "m.p_b"})),
            InvalidObservations,
            "model must name its models in a column model or in columns <model>.p_<class>; it does both. Drop one.",
        ),
    ],
)
def test_mistakes_are_told(make, error, message):
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == message
