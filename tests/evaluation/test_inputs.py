"""What the functions of this package refuse, in words; and what they read into what they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from twoheads.errors import InvalidObservations
from twoheads.evaluation import brier_score, error_rate, human_confidence_ratio, log_loss

HALVES = [[0.5, 0.5], [0.5, 0.5]]


def _message(call, *args, **options):
    with pytest.raises(InvalidObservations) as caught:
        call(*args, **options)
    return str(caught.value)


def test_rows_that_do_not_sum_to_one():
    assert _message(log_loss, [0, 1, 1], [[0.5, 0.5], [0.7, 0.7], [1.0, 1.0]]) == (
        "proba must be finite, not negative and sum to 1 in every row; row 1 sums to 1.4 (2 of 3 rows are off). "
        "Give probabilities: divide each row by its sum, or turn logits into probabilities first."
    )


@pytest.mark.parametrize(("row", "shown"), [([1.5, -0.5], "-0.5"), ([np.nan, 1.0], "nan"), ([np.inf, 0.0], "inf")])
def test_probabilities_that_are_none(row, shown):
    assert f"row 1 has {shown} (1 of 2 rows are off)" in _message(log_loss, [0, 1], [[0.5, 0.5], row])


@pytest.mark.parametrize("proba", [[[1.0], [1.0]], np.empty((0, 2)), [["a", "b"]], np.zeros((2, 2, 2))])
def test_probabilities_of_the_wrong_shape_or_type(proba):
    message = _message(log_loss, [0, 1], proba)
    assert message.startswith(
        "proba must be numbers of shape (n_items, n_classes) with at least one item and two classes"
    )


def test_lengths_that_differ():
    assert _message(log_loss, [0, 1, 1], HALVES) == (
        "y and proba must have the same number of rows; y has 3, proba has 2. "
        "Give one entry per item, in the same order."
    )
    assert _message(error_rate, [0, 1, 1], [0, 1]) == (
        "y and proba must have the same number of rows; y has 3, proba has 2. "
        "Give one entry per item, in the same order."
    )
    assert _message(log_loss, [0, 1], HALVES, sample_weight=[1.0]) == (
        "sample_weight and y must have the same number of rows; sample_weight has 1, y has 2. "
        "Give one entry per item, in the same order."
    )


@pytest.mark.parametrize("y", [[0, None], [0.0, np.nan], ["a", ""], ["a", None]])
def test_a_truth_that_is_missing(y):
    classes = ["a", "b"] if y[0] == "a" else [0, 1]
    assert _message(log_loss, y, HALVES, classes=classes) == (
        "y must be known for every item here; row 1 is missing (1 of 2 rows are off). Leave those items out."
    )


def test_a_truth_that_is_no_class():
    message = _message(log_loss, ["cat", "horse"], HALVES, classes=["cat", "dog"])
    assert message.startswith("y must hold classes; row 1 has 'horse' (1 of 2 rows are off)")


def test_labels_in_a_table():
    assert _message(log_loss, [[0, 1]], HALVES) == "y must be one-dimensional, one label per item; it has shape (1, 2)."


def test_no_rows():
    assert _message(error_rate, [], []) == "y must have at least one row; it has none."


def test_classes_that_cannot_be_told_from_the_truth():
    assert _message(log_loss, ["cat", "cat"], HALVES) == (
        "y must have every class if classes is not given; there are 2 columns of probabilities and "
        "1 different labels, the first 'cat'. Give classes, the label of each column."
    )
    assert "the first 5" in _message(log_loss, [5, 5], HALVES)


@pytest.mark.parametrize("classes", [["cat"], ["cat", "cat"], [["cat", "dog"]]])
def test_classes_that_do_not_name_each_column_once(classes):
    message = _message(log_loss, ["cat", "cat"], HALVES, classes=classes)
    assert message.startswith("classes must name each of the 2 columns of the probabilities once; it has shape")


def test_labels_of_two_types():
    assert _message(error_rate, [0, 1], ["cat", "dog"]) == (
        "y and proba must hold labels of one type; y holds numbers and proba holds text. "
        "Give classes, or labels of one type."
    )


def test_weights_that_do_not_count():
    assert _message(log_loss, [0, 1], HALVES, sample_weight=[0, 0]) == (
        "sample_weight must be positive for at least one item; all are 0."
    )
    assert "row 1 has -1 (1 of 2 rows are off)" in _message(log_loss, [0, 1], HALVES, sample_weight=[1, -1])


@pytest.mark.parametrize("matrix", [[[0.5, 0.5]], [["a", "b"], ["c", "d"]], [0.5, 0.5], 0.5])
def test_a_matrix_that_is_not_square(matrix):
    message = _message(human_confidence_ratio, matrix, [0, 1], [0, 1])
    assert message.startswith("human_given_true must be numbers of shape (n_classes, n_classes); it has shape")


def test_a_matrix_that_is_transposed():
    assert _message(human_confidence_ratio, [[0.9, 0.1], [0.3, 0.7]], [0, 1], [0, 1]) == (
        "human_given_true must not be negative and sum to 1 in every column; column 0 sums to 1.2 "
        "(2 of 2 columns are off). Transpose it if its rows are the distributions."
    )


def test_columns_are_the_sorted_labels_where_all_are_shown():
    assert error_rate(["dog", "cat"], [[0.1, 0.9], [0.9, 0.1]]) == 0.0
    assert error_rate([10, 2], [[0.1, 0.9], [0.9, 0.1]]) == 0.0


def test_columns_are_counted_from_zero_where_some_labels_are_not_shown():
    assert error_rate([2, 0], [[0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]) == 0.0
    assert error_rate([2.0, 2.0], [[0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]) == 0.5


def test_booleans_name_two_columns():
    assert error_rate([True, True], [[0.1, 0.9], [0.9, 0.1]]) == 0.5
    assert error_rate([True, False], [[0.1, 0.9], [0.9, 0.1]]) == 0.0


def test_labels_of_pandas_and_of_python_objects():
    proba = [[0.1, 0.9], [0.9, 0.1]]
    for labels in (pd.Series(["dog", "cat"]), np.array(["dog", "cat"], dtype=object), pd.Categorical(["dog", "cat"])):
        assert error_rate(labels, proba) == 0.0
    assert error_rate(np.array([7, 3], dtype=object), proba) == 0.0
    assert brier_score(pd.Series([1, 0]), pd.DataFrame(proba)) == pytest.approx(0.02)


def test_rows_within_the_tolerance_are_used_as_given():
    assert log_loss([0, 1], [[0.5, 0.4995], [0.5, 0.4995]]) == pytest.approx(-(np.log(0.5) + np.log(0.4995)) / 2)
