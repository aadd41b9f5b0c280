"""Members of every kind in frames: labels, scores and one column of probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from twoheads import Observations
from twoheads.errors import InvalidObservations
from twoheads.observations import answers_of_people, as_observations, people_in

FRAME = pd.DataFrame(
    {
        "human_ann": ["yes", "no", None],
        "gpt.label": ["yes", None, "no"],
        "judge.score": [3.0, None, 9.0],
        "human_bob.score": [0.5, 0.1, None],
    }
)


def refused(make, words):
    with pytest.raises(InvalidObservations) as caught:
        make()
    assert str(caught.value) == words


# ------------------------------------------------------------------------------------------ one column of two classes


def test_one_column_of_two_classes_is_enough():
    X = pd.DataFrame({"human": ["yes", "no"], "p_yes": [0.8, 0.3]})
    observations = Observations.from_frame(X)
    assert observations.classes.tolist() == ["no", "yes"]
    assert np.allclose(observations.model_proba[0], [[0.2, 0.8], [0.7, 0.3]])


@pytest.mark.parametrize(
    ("scale", "given", "other"),
    [("probability", [0.8, np.nan], 0.2), ("log", np.log([0.8, np.nan]), np.log(0.2)), ("logit", [1.5, np.nan], 0.0)],
)
def test_the_other_class_follows_on_every_scale(scale, given, other):
    X = pd.DataFrame({"human": ["a", "b"], "p_a": given})
    (rows,) = Observations.from_frame(X, model_scale=scale).model_proba
    assert np.allclose(rows[0], [given[0], other])
    assert np.isnan(rows[1]).all()


def test_the_other_class_may_come_from_the_truth_or_be_named():
    X = pd.DataFrame({"human": ["yes", None], "p_yes": [0.8, 0.3]})
    assert as_observations(X, y=["yes", "no"]).classes.tolist() == ["no", "yes"]
    assert Observations.from_frame(X, classes=np.array(["no", "yes"])).model_proba[0].shape == (2, 2)
    numbers = pd.DataFrame({"human": [1, 1], "p_1": [0.8, 0.3]})
    assert as_observations(numbers, y=[0, 1]).classes.tolist() == [0, 1]


def test_codes_in_y_are_not_taken_for_class_names():
    X = pd.DataFrame({"human": ["yes", "no"], "p_yes": [0.8, 0.3]})
    assert as_observations(X, y=np.array([1, 0])).classes.tolist() == ["no", "yes"]


def test_of_several_models_each_may_have_one_column():
    X = pd.DataFrame({"human": ["a", "b"], "m.p_a": [0.8, 0.3], "n.p_a": [0.6, 0.1], "n.p_b": [0.4, 0.9]})
    first, second = Observations.from_frame(X).model_proba
    assert np.allclose(first[:, 1], [0.2, 0.7])
    assert np.allclose(second[:, 1], [0.4, 0.9])


def test_one_column_in_a_table_of_model_rows():
    answers = pd.DataFrame({"item": [1, 2], "annotator": ["x", "x"], "answer": ["a", "b"]})
    model = pd.DataFrame({"item": [1, 2], "p_b": [0.4, 0.9]})
    observations = Observations.from_answers(answers, model)
    assert np.allclose(observations.model_proba[0], [[0.6, 0.4], [0.1, 0.9]])


def test_one_column_without_a_second_class():
    refused(
        lambda: Observations.from_frame(pd.DataFrame({"human": ["yes"], "p_yes": [0.8]})),
        "X must show both classes; its only probability column is 'p_yes', and no answer and no truth is of another "
        "class. Add the column of the other class, or name both with classes (--classes), in Python in "
        "Observations.from_frame(X, classes=...).",
    )


def test_one_column_with_three_classes():
    refused(
        lambda: Observations.from_frame(pd.DataFrame({"human": ["a", "b", "c"], "p_a": [0.8, 0.1, 0.1]})),
        "X must have one probability column per class; its only one is 'p_a', which is enough for two classes, but "
        "answers and truth also hold 'b', 'c' (2 others). Give one column per class, or correct the labels.",
    )


def test_one_column_that_holds_no_probabilities():
    refused(
        lambda: Observations.from_frame(pd.DataFrame({"human": ["a", "b"], "p_a": [0.8, 7.0]})),
        "column 'p_a' must hold probabilities from 0 to 1; row 1 has 7 (1 of 2 rows are off). If these are logits, set "
        "model_scale='logit' (--model-scale logit); if scores, name it <model>.score.",
    )


# ------------------------------------------------------------------------------------------ labels and scores


def test_members_are_read_by_the_names_of_columns():
    observations = Observations.from_frame(FRAME, positive="yes")
    assert observations.annotators == ("ann", "gpt")
    assert observations.machines == ("gpt",)
    assert observations.models == ()
    assert observations.classes.tolist() == ["no", "yes"]
    assert observations.scores.names == ("judge", "bob")
    assert observations.scores.machines == ("judge",)
    assert np.array_equal(observations.scores.values, [[3.0, 0.5], [np.nan, 0.1], [9.0, np.nan]], equal_nan=True)
    assert people_in(observations) == ("ann", "bob")
    assert answers_of_people(observations).column.tolist() == [1, 0, -1]


def test_scores_rise_with_the_second_class_whatever_they_mean():
    given, turned = (Observations.from_frame(FRAME, positive=each) for each in ("yes", "no"))
    assert np.array_equal(given.scores.values, -turned.scores.values, equal_nan=True)
    assert (given.scores.positive, turned.scores.positive) == ("yes", "no")


def test_of_the_classes_0_and_1_high_scores_mean_1():
    X = pd.DataFrame({"human": [0, 1], "judge.score": [2.0, 5.0]})
    assert Observations.from_frame(X).scores.values.ravel().tolist() == [2.0, 5.0]


def test_a_plain_score_is_read_only_if_its_class_is_named():
    X = pd.DataFrame({"human": ["a", "b"], "p_a": [0.5, 0.4], "score": [2.0, 5.0]})
    assert Observations.from_frame(X).scores is None
    assert Observations.from_frame(X.drop(columns="p_a"), positive="b").scores.names == ("model",)


def test_an_item_may_have_only_a_score():
    X = pd.DataFrame({"human": ["a", "b", None], "judge.score": [None, 1.0, 2.0]})
    assert len(Observations.from_frame(X, positive="a")) == 3
    refused(
        lambda: Observations.from_frame(X.assign(**{"judge.score": [1.0, 1.0, None]}), positive="a"),
        "every item must have a model row or an answer; row 2 (item 2) has neither (1 of 3 rows are off). "
        "Drop those rows.",
    )


def test_scores_follow_the_items():
    observations = Observations.from_frame(FRAME, positive="yes")
    assert observations[2].scores.values[0, 0] == 9.0
    assert observations.take(np.array([2, 0])).scores.values[:, 0].tolist() == [9.0, 3.0]


def test_scores_in_a_long_table():
    long = pd.DataFrame(
        {
            "item": [1, 1, 2, 2],
            "annotator": ["j", "a", "j", "a"],
            "answer": ["", "y", "n", "n"],
            "score": [3, None, 7, None],
        }
    )
    observations = Observations.from_answers(long, positive="y")
    assert observations.annotators == ("a",)
    assert observations.scores.names == ("j",)
    assert observations.scores.values.ravel().tolist() == [3.0, 7.0]
    only = Observations.from_answers(long[["item", "annotator", "score"]].dropna(), classes=["n", "y"], positive="y")
    assert only.annotators == ()
    refused(
        lambda: Observations.from_answers(long.assign(score=[3, None, None, None]), positive="y"),
        "answers must hold one kind of answer of each member; 'j' has scores, but only an answer in row 2 "
        "(1 of 4 rows are off). Give the score, or leave those rows out.",
    )
    refused(
        lambda: Observations.from_answers(long.assign(item=1), positive="y"),
        "answers must hold one score per item and annotator; 'j' has 2 on the item of row 0 (1 row is repeated). "
        "Keep one of each.",
    )


# ------------------------------------------------------------------------------------------ what is refused


def test_scores_without_their_class():
    refused(
        lambda: Observations.from_frame(FRAME),
        "positive (--positive) must name the class that high scores mean, since column 'judge.score' holds scores; it "
        "is not named. The classes are 'no', 'yes': name one, in Python in Observations.from_frame(X, positive=...).",
    )
    refused(
        lambda: Observations.from_frame(FRAME, positive="Yes"),
        "positive (--positive) must name the class that high scores mean, since column 'judge.score' holds scores; "
        "'Yes' is not a class. Did you mean 'yes'? The classes are 'no', 'yes': name one, in Python in "
        "Observations.from_frame(X, positive=...).",
    )


def test_scores_alone_do_not_show_the_classes():
    X = pd.DataFrame({"judge.score": [1, 2]})
    refused(
        lambda: Observations.from_frame(X, positive="a"),
        "there must be two classes or more, since column 'judge.score' holds scores; answers and truth show none. "
        "Name all with classes (--classes), in Python in Observations.from_frame(X, classes=...).",
    )
    assert len(Observations.from_frame(X, classes=np.array(["a", "b"]), positive="a")) == 2


def test_scores_of_three_classes():
    X = pd.DataFrame({"human": ["a", "b", "c"], "judge.score": [1, 2, 3]})
    refused(
        lambda: Observations.from_frame(X, positive="a"),
        "column 'judge.score' can hold scores only if there are two classes, or numbers as classes, whose order is "
        "known; there are 3 classes: 'a', 'b', 'c'. Correct labels that are misspelt; else name the classes by numbers "
        "that rise with the score (not as text), or give a label (<model>.label), or a probability of each class "
        "(<model>.p_<class>).",
    )


@pytest.mark.parametrize("classes", [np.array([1, 2, 10]), np.array([0.5, 1.5, 2.5]), np.array(["1", "2", "3"])])
def test_scores_of_three_numbers(classes):
    X = pd.DataFrame({"human": classes, "judge.score": [1.0, 2.0, np.nan]})
    high, low = (Observations.from_frame(X, positive=positive).scores for positive in (None, classes[0]))
    assert (high.positive, low.positive) == (str(classes[-1]), str(classes[0]))
    np.testing.assert_array_equal(high.values[:, 0], [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(low.values, -high.values)
    assert high.permuted(np.arange(3)) is high
    np.testing.assert_array_equal(high.permuted(np.arange(3)[::-1]).values, low.values)


def test_scores_of_texts_whose_order_is_not_that_of_their_values():
    X = pd.DataFrame({"human": ["1", "2", "10"], "judge.score": [1, 2, 3]})
    with pytest.raises(InvalidObservations, match=r"there are 3 classes: '1', '10', '2'. .* \(not as text\)"):
        Observations.from_frame(X)
    assert Observations.from_frame(X.astype({"human": int})).scores.positive == "10"


@pytest.mark.parametrize("positive", [2, "2", "high"])
def test_high_scores_mean_the_greatest_class_or_the_smallest(positive):
    X = pd.DataFrame({"human": [1, 2, 3], "judge.score": [1, 2, 3]})
    refused(
        lambda: Observations.from_frame(X, positive=positive),
        "positive (--positive) must name the greatest class or the smallest, since column 'judge.score' holds scores "
        f"of 3 classes; it is '{positive}'. High scores mean the greatest, '3', if it is left out, and the smallest "
        "with '1'.",
    )


def test_a_label_that_is_not_a_class():
    X = pd.DataFrame({"human": ["a", "b"], "p_a": [0.5, 0.4], "p_b": [0.5, 0.6], "gpt.label": ["a", "maybe"]})
    with pytest.raises(InvalidObservations, match=r"^gpt\.label must hold classes; row 1 has 'maybe'"):
        Observations.from_frame(X)


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"gpt.label": "a", "gpt.score": 1.0}, "'gpt' has labels and scores"),
        ({"gpt.p_a": 0.5, "gpt.label": "a"}, "'gpt' has probabilities and labels"),
        ({"human_x": "a", "human_x.score": 1.0}, "'x' has answers and scores"),
        ({"score": 1.0, "model.score": 1.0}, "'model' has a column score and a column model.score"),
    ],
)
def test_one_kind_of_answer_of_each_member(columns, found):
    X = pd.DataFrame({name: [value, value] for name, value in {"human": "a", **columns}.items()})
    refused(
        lambda: Observations.from_frame(X, positive="a"),
        f"X must hold one kind of answer of each member; {found}. "
        "Drop one of them, or rename it if it is another member.",
    )


def test_scores_show_the_spellings_that_make_more_classes_than_two():
    X = pd.DataFrame({"a.label": [True, False], "human_ann": [1, 0], "judge.score": [0.5, 0.2]})
    with pytest.raises(InvalidObservations, match=r"there are 4 classes: '0', '1', 'False', 'True'\. Correct labels"):
        Observations.from_frame(X)


@pytest.mark.parametrize("number", [10**400, -(10**5000)], ids=["high", "low"])
def test_scores_beyond_any_float(number):
    X = FRAME.assign(**{"judge.score": pd.Series([1, number, 2], dtype=object)})
    refused(
        lambda: Observations.from_frame(X, positive="yes"),
        f"column 'judge.score' must hold finite numbers; row 1 has {'inf' if number > 0 else '-inf'} (1 of 3 rows are "
        "off). Correct those entries, or leave them blank where there is no score.",
    )


def test_scores_that_are_not_numbers():
    X = pd.DataFrame({"human": ["a", "b"], "judge.score": [1.0, np.inf]})
    refused(
        lambda: Observations.from_frame(X, positive="a"),
        "column 'judge.score' must hold finite numbers; row 1 has inf (1 of 2 rows are off). "
        "Correct those entries, or leave them blank where there is no score.",
    )
    with pytest.raises(InvalidObservations, match="must hold numbers; row 1 has 'high'"):
        Observations.from_frame(X.assign(**{"judge.score": [1.0, "high"]}), positive="a")


def test_classes_of_a_frame_as_a_list():
    frame = FRAME.drop(columns="human_ann")
    seen = Observations.from_frame(frame, classes=["no", "yes"], positive="yes")
    assert seen.classes.tolist() == ["no", "yes"]
