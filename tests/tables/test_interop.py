"""What neighbouring projects hold comes in, and goes out again as it was."""

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowds import crowd, told_of
from twoheads import InvalidObservations, LabelLabelCombiner, ProbabilityLabelCombiner
from twoheads.tables import from_cleanlab, from_crowd_kit, from_label_studio, to_cleanlab, to_crowd_kit, to_label_studio

ANSWERS = pd.DataFrame(
    {"task": ["t1", "t1", "t2", "t3"], "worker": ["w1", "w2", "w1", "w2"], "label": ["no", "yes", "yes", "no"]}
)
PROBAS = pd.DataFrame(
    {"no": [0.75, 0.5, 0.25], "yes": [0.25, 0.5, 0.75]}, index=pd.Index(["t1", "t2", "t3"], name="task")
)


def test_crowd_kit_round_trip():
    seen = from_crowd_kit(ANSWERS, PROBAS)
    assert seen.model_proba[0].tolist() == PROBAS.to_numpy().tolist()
    pd.testing.assert_frame_equal(pd.DataFrame(to_crowd_kit(seen)), ANSWERS, check_dtype=False)
    pd.testing.assert_frame_equal(pd.DataFrame(to_crowd_kit(from_crowd_kit(ANSWERS))), ANSWERS, check_dtype=False)
    assert ProbabilityLabelCombiner().fit(seen).predict(seen).shape == (3,)


def test_crowd_kit_with_numbers():
    answers = ANSWERS.assign(label=[0, 1, 1, 0], task=[3, 3, 1, 2])
    probas = pd.DataFrame({0: [0.5, 0.5, 0.5], 1: [0.5, 0.5, 0.5]}, index=[1, 2, 3])
    seen = from_crowd_kit(answers, probas)
    assert (seen.items.tolist(), seen.classes.tolist()) == ([1, 2, 3], [0, 1])
    with pytest.raises(InvalidObservations, match="probas must be a pandas data frame indexed by task"):
        from_crowd_kit(answers, [[0.5, 0.5]])


def test_cleanlab_round_trip():
    nan = np.nan
    labels = pd.DataFrame({"ann": [0, nan, 2, nan], "bob": [1, 1, nan, nan]})
    pred_probs = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.0, 0.0, 1.0], [0.25, 0.5, 0.25]])
    seen = from_cleanlab(labels, pred_probs)
    assert seen.annotators == ("ann", "bob")
    back, proba = to_cleanlab(seen)
    np.testing.assert_array_equal(back, labels.to_numpy())
    np.testing.assert_array_equal(proba, pred_probs)
    assert LabelLabelCombiner().fit(seen, [0, 1, 2, 1]).predict(seen).shape == (4,)


def test_cleanlab_with_names_in_another_order():
    seen = from_cleanlab([[0], [1]], [[0.75, 0.25], [0.5, 0.5]], classes=["yes", "no"])
    assert seen.classes.tolist() == ["no", "yes"]
    assert (seen.model_proba[0].tolist(), seen.answers.column.tolist()) == ([[0.25, 0.75], [0.5, 0.5]], [1, 0])


@pytest.mark.parametrize(
    ("labels", "pred_probs", "expected"),
    [
        ([0, 1], [[0.5, 0.5]] * 2, "labels must have a row per item and a column per annotator; they have shape (2,)."),
        ([[0], [1]], [0.5, 0.5], "pred_probs must have shape (n_items, n_classes); they have shape (2,)."),
        ([[0]], [[0.5, 0.5]] * 2, "labels and pred_probs must have the same number of rows; labels has 1"),
        ([[0], [2]], [[0.5, 0.5]] * 2, "labels of 0 must hold class codes from 0 to 1"),
    ],
)
def test_cleanlab_that_does_not_fit(labels, pred_probs, expected):
    with pytest.raises(InvalidObservations) as caught:
        from_cleanlab(labels, pred_probs)
    assert str(caught.value).startswith(expected)


def test_to_cleanlab_gives_probabilities_whatever_the_scale():
    from twoheads import Observations

    seen = Observations.from_arrays([0, 1], [[0.0, np.log(3)], [np.nan, np.nan]], model_scale="logit")
    np.testing.assert_allclose(to_cleanlab(seen)[1], [[0.25, 0.75], [0.5, 0.5]])


def chosen(*names, control="kind"):
    return [{"from_name": control, "to_name": "image", "type": "choices", "value": {"choices": list(names)}}]


TASKS = [
    {
        "id": 11,
        "data": {"image": "1.jpg"},
        "annotations": [
            {"id": 1, "completed_by": 4, "result": chosen("cat"), "was_cancelled": False, "ground_truth": False},
            {"id": 2, "completed_by": {"id": 5, "email": "bo@x.org"}, "result": chosen("dog"), "ground_truth": True},
            {"id": 3, "completed_by": 6, "result": chosen("dog"), "was_cancelled": True},
        ],
        "predictions": [{"model_version": "v1", "score": 0.7, "result": chosen("cat")}],
    },
    {
        "id": 12,
        "data": {"image": "2.jpg"},
        "annotations": [{"completed_by": 4, "result": [{"type": "textarea", "from_name": "why", "value": {}}]}],
        "predictions": [
            {"model_version": "v1", "score": 0.5, "result": chosen("cow")},
            {"model_version": "v1", "score": 0.3, "result": chosen("cat")},
        ],
    },
    {
        "id": 13,
        "data": {"image": "3.jpg"},
        "annotations": [{"completed_by": 4, "result": chosen("cow")}],
        "predictions": [],
    },
]


def test_label_studio_in():
    seen, truth = from_label_studio(TASKS)
    assert (seen.classes.tolist(), seen.items.tolist()) == (["cat", "cow", "dog"], [11, 12, 13])
    assert (seen.annotators, seen.models) == (("4",), ("v1",))
    assert seen.answers.per_item().tolist() == [1, 0, 1]
    assert seen.answers.column.tolist() == [0, -1, 1]
    np.testing.assert_allclose(seen.model_proba[0], [[0.7, 0.15, 0.15], [0.3, 0.5, 0.2], [np.nan] * 3])
    assert truth.tolist() == ["dog", "", ""]


def test_label_studio_back():
    before = copy.deepcopy(TASKS)
    out = to_label_studio(TASKS, [[0.25, 0, 0.75], [1, 0, 0], [0, 1, 0]], ["cat", "cow", "dog"], model_version="team 1")
    assert before == TASKS
    assert out[0]["predictions"] == [
        TASKS[0]["predictions"][0],
        {"model_version": "team 1", "score": 0.75, "result": chosen("dog")},
    ]
    seen, _ = from_label_studio(out, model_version="team 1", classes=["cat", "cow", "dog"])
    np.testing.assert_allclose(seen.model_proba[0], [[0.125, 0.125, 0.75], [1, 0, 0], [0, 1, 0]])
    again = to_label_studio(out, [[1, 0, 0]] * 3, ["cat", "cow", "dog"], model_version="team 1")
    assert [len(task["predictions"]) for task in again] == [2, 3, 1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda tasks: {}, "tasks must be a list of tasks, each a dict, as Label Studio exports them"),
        (lambda tasks: [], "tasks must hold at least one task; they hold none."),
        (
            lambda tasks: [*tasks, {"id": 9, "predictions": [17]}],
            "tasks must hold their predictions in full; task 9 holds only ids (17). "
            "Export a snapshot that includes predictions, not only their ids.",
        ),
        (
            lambda tasks: [*tasks, tasks[0]],
            "every task must appear once; task 11 appears 2 times (1 of 3 are repeated).",
        ),
        (
            lambda tasks: [
                {**tasks[0], "annotations": [{"result": chosen(name), "ground_truth": True} for name in "ab"]}
            ],
            "task 11 must have one true class; it has 'a' and 'b'. Keep one of them.",
        ),
        (
            lambda tasks: [
                *tasks,
                {"id": 9, "predictions": [{"model_version": "1", "result": chosen("cat")}]},
                {"id": 10, "annotations": [{"completed_by": 1, "result": chosen("cat")}]},
            ],
            "a name must be that of a person or of a model; '1' is both (1 name). Rename one.",
        ),
        (
            lambda tasks: [*tasks, {"id": 9, "annotations": [{"result": chosen("cat", "dog")}]}],
            "task 9 must have one choice per annotation; one has 2 (cat, dog). "
            "Several labels per item are not combined.",
        ),
        (
            lambda tasks: [{"id": 9, "annotations": [{"result": chosen("a") + chosen("b", control="mood")}]}],
            "tasks must hold choices of one control; they hold those of kind, mood. Name one with "
            "from_name (--question).",
        ),
        (
            lambda tasks: [
                *tasks,
                {"id": 9, "predictions": [{"model_version": "v1", "score": 7, "result": chosen("cat")}]},
            ],
            "a prediction must have a score from 0 to 1; that of task 9 has 7.",
        ),
    ],
)
def test_label_studio_that_does_not_fit(change, expected):
    with pytest.raises(InvalidObservations) as caught:
        from_label_studio(change(TASKS))
    assert str(caught.value).startswith(expected)


def test_label_studio_with_given_classes_and_controls():
    tasks = [{"id": 9, "annotations": [{"result": chosen("a") + chosen("b", control="mood")}]}]
    seen, truth = from_label_studio(tasks, from_name="mood", classes=["b", "c"])
    assert (seen.classes.tolist(), seen.answers.column.tolist(), seen.model_proba, truth) == (["b", "c"], [0], (), None)
    with pytest.raises(
        InvalidObservations,
        match=r"every choice must be a class; task 9 has 'a' \(1 of 1 are off\), and the classes are 'b'",
    ):
        from_label_studio(tasks, from_name="kind", classes=["b", "c"])
    with pytest.raises(InvalidObservations, match="tasks must show a control with choices; none does"):
        to_label_studio([{"id": 1}], [[1.0, 0.0]], ["a", "b"])
    made = to_label_studio([{"id": 1}], [[1.0, 0.0]], ["a", "b"], from_name="x", to_name="y")
    assert made[0]["predictions"][0]["result"][0]["from_name"] == "x"


def test_nothing_of_a_crowd_is_lost_silently():
    seen, told, unsure = crowd(n_items=30, seed=4)
    table = pd.DataFrame(to_crowd_kit(seen))
    assert len(table) == len(told)
    by_pair = {(task, int(worker[1:])): (label, sure) for task, worker, label, sure in table.itertuples(index=False)}
    for (item, person), (label, sure) in told.items():
        assert by_pair[item, person][0] == "abc"[label]
        np.testing.assert_equal(by_pair[item, person][1], sure)
    assert told_of(from_crowd_kit(table))[0].keys() == {key for key in told_of(seen)[0] if key[2] != "unsure"}
    labels, pred_probs = to_cleanlab(seen)
    assert all(np.isnan(labels[item, person]) for item, person in unsure)
    assert np.isfinite(labels).sum() == len(told)
    assert pred_probs.shape == (2, 30, 3)
    there = ~np.isnan(seen.model_proba[1][:, 0])
    np.testing.assert_array_equal(pred_probs[1][there], seen.model_proba[1][there])
    np.testing.assert_allclose(pred_probs[1][~there], 1 / 3)


CODES = st.none() | st.integers(0, 2)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(CODES, CODES, st.integers(0, 4)), min_size=1, max_size=8))
def test_labels_lose_nothing_on_their_way_through_cleanlab_and_crowd_kit(rows):
    frame = pd.DataFrame([row[:2] for row in rows], columns=["ann", "bob"], dtype=float)
    frame.index = [f"i{7 * at % 11}" for at in range(len(rows))]
    proba = np.array([[0.125 * row[2], 0.5, 0.5 - 0.125 * row[2]] for row in rows])
    seen = from_cleanlab(frame, proba, classes=["x", "y", "z"])
    labels, pred_probs = to_cleanlab(seen)
    pd.testing.assert_frame_equal(pd.DataFrame(labels, index=seen.items, columns=list(seen.annotators)), frame)
    np.testing.assert_array_equal(pred_probs, proba)
    model = pd.DataFrame(proba, index=frame.index, columns=["x", "y", "z"])
    if not np.isnan(labels).all():
        table = pd.DataFrame(to_crowd_kit(seen))
        again = from_crowd_kit(table, model)
        pd.testing.assert_frame_equal(pd.DataFrame(to_crowd_kit(again)), table)
        np.testing.assert_array_equal(again.model_proba[0], proba)


def test_predictions_without_a_score_are_labels_of_machines():
    people = [{"completed_by": 1, "result": chosen("cat")}, {"completed_by": 2, "result": chosen("dog")}]
    models = [{"model_version": "v1", "result": chosen("dog")}, {"model_version": "v2", "result": chosen("cat")}]
    observations, _ = from_label_studio([{"id": 7, "annotations": people, "predictions": models}])
    assert observations.annotators == ("1", "2", "v1", "v2")
    assert observations.machines == ("v1", "v2")
    assert observations.models == ()
    assert sorted(observations.answers.column.tolist()) == [0, 3, 5, 6]  # a column per member and class
