"""Every form of input, every check: what comes out, and the words that say what is wrong."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

import twoheads.engines.threads as engine
from twoheads import HierarchicalConfusion
from twoheads.engines.blocks import BLOCK_NUMBERS
from twoheads.errors import InvalidObservations, InvalidParameter, Problem, RowNames
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING
from twoheads.observations import (
    Observations,
    as_model,
    as_observations,
    as_targets,
    as_truth,
    as_weight,
    labelled_items,
)

HALF = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]


def refused(make, words):
    with pytest.raises(InvalidObservations) as caught:
        make()
    assert str(caught.value) == words


# ------------------------------------------------------------------------------------------ rows of probabilities


def test_rows_that_do_not_sum_to_one():
    refused(
        lambda: Observations.from_arrays([0, 0, 0], [[0.5, 0.5], [0.9, 0.5], [0.5, 0.1]]),
        "model_proba must sum to 1 in every row; row 1 sums to 1.4 (2 of 3 rows are off). If these are logits, "
        "set model_scale='logit'; else divide each row by its sum.",
    )


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_of_several_blocks_are_counted_together(threads, monkeypatch):
    monkeypatch.setattr(engine, "n_threads", lambda: threads)
    n_items = 5 * BLOCK_NUMBERS // 2 + 7
    X = np.full((n_items, 3), 0.5)
    X[:, 0] = np.arange(n_items) % 2
    seen = as_observations(X)
    assert seen.answers.column.tolist() == X[:, 0].tolist()
    wrong = X.copy()
    wrong[[400_000, 700_000, n_items - 1], 1] = 0.9, 0.7, 0.8
    refused(
        lambda: as_observations(wrong),
        f"model_proba must sum to 1 in every row; row 400000 sums to 1.4 (3 of {n_items} rows are off). "
        "If these are logits, set model_scale='logit'; else divide each row by its sum.",
    )
    wrong = X.copy()
    wrong[[350_000, 5, n_items - 1], 0] = 2, np.nan, 0.5
    refused(
        lambda: as_observations(wrong),
        "the first column of X must hold class codes from 0 to 1, or -1 where nobody answered; row 350000 has 2 "
        f"(2 of {n_items} rows are off). Use a data frame with columns human and p_<class> where classes have names.",
    )
    wrong[[350_000, n_items - 1], 0] = -1
    assert np.flatnonzero(as_observations(wrong).answers.column == MISSING).tolist() == [5, 350_000, n_items - 1]


def test_percentages():
    refused(
        lambda: Observations.from_arrays([0, 0], [[40, 60], [30, 70]]),
        "model_proba must sum to 1 in every row; row 0 sums to 100 (2 of 2 rows are off). "
        "These look like percentages: divide by 100.",
    )


def test_negative_probabilities():
    refused(
        lambda: Observations.from_arrays([0, 0], [[0.5, 0.5], [-0.25, 1.25]]),
        "model_proba must not be negative; row 1 has -0.25 (1 of 2 rows are off). If these are logits, "
        "set model_scale='logit'; if log-probabilities, set model_scale='log'.",
    )


@pytest.mark.parametrize(("value", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_probabilities_that_are_not_finite(value, shown):
    refused(
        lambda: Observations.from_arrays([0, 0], [[0.5, 0.5], [value, 0.5]]),
        f"model_proba must be finite; row 1 has {shown} (1 of 2 rows are off). "
        "Leave the whole row blank (NaN) where the model has no prediction.",
    )


def test_rows_within_the_tolerance_are_normalised():
    seen = Observations.from_arrays([0, 1], [[0.5004, 0.5004], [0.8, 0.1995]])
    proba = np.exp(seen.block(slice(0, 2)).log_proba)
    np.testing.assert_allclose(proba[:, 0], [0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(proba[:, 1], [0.8 / 0.9995, 0.1995 / 0.9995], rtol=1e-15)


def test_a_row_just_outside_the_tolerance_is_refused():
    Observations.from_arrays([0], [[0.5, 0.50099]])
    with pytest.raises(InvalidObservations, match=r"row 0 sums to 1\.001 \(1 of 1 rows are off\)"):
        Observations.from_arrays([0], [[0.5, 0.5011]])


def test_the_first_bad_row_is_found_beyond_the_first_chunk():
    proba = np.full((200_000, 2), 0.5)
    proba[[150_001, 199_999]] = 0.7
    refused(
        lambda: Observations.from_arrays(np.zeros(200_000), proba),
        "model_proba must sum to 1 in every row; row 150001 sums to 1.4 (2 of 200000 rows are off). If these are "
        "logits, set model_scale='logit'; else divide each row by its sum.",
    )


def test_logarithms_that_are_none():
    refused(
        lambda: Observations.from_arrays([0, 0], [np.log([0.5, 0.5]), [1.0, 1.0]], model_scale="log"),
        "model_proba must hold logarithms of probabilities that sum to 1; row 1 sums to 5.437 (1 of 2 rows are "
        "off). If these are logits, set model_scale='logit'.",
    )


@pytest.mark.parametrize(
    ("scale", "row", "words"),
    [
        ("logit", [np.nan, 1.0], "must be finite; row 1 has nan (1 of 2 rows are off)"),
        ("logit", [np.inf, 1.0], "must be finite; row 1 has inf (1 of 2 rows are off)"),
        (
            "logit",
            [-np.inf, -np.inf],
            "must have a finite logit in every row; row 1 has only -inf (1 of 2 rows are off)",
        ),
        ("log", [np.nan, 0.0], "must be finite; row 1 has nan (1 of 2 rows are off)"),
        ("log", [np.inf, 0.0], "must be finite; row 1 has inf (1 of 2 rows are off)"),
        ("log", [-np.inf, -np.inf], "must hold logarithms of probabilities that sum to 1; row 1 sums to 0 (1 of 2"),
    ],
)
def test_logarithms_and_logits_that_are_impossible(scale, row, words):
    with pytest.raises(InvalidObservations) as caught:
        Observations.from_arrays([0, 0], [np.log([0.5, 0.5]), row], model_scale=scale)
    assert str(caught.value).startswith(f"model_proba {words}")


def test_the_three_scales_say_the_same():
    proba = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.0, 0.9]])
    with np.errstate(divide="ignore"):
        log_proba = np.log(proba)
    plain = Observations.from_arrays([0, 1, 2], proba).block(slice(0, 3)).log_proba
    logs = Observations.from_arrays([0, 1, 2], log_proba, model_scale="log").block(slice(0, 3)).log_proba
    logits = Observations.from_arrays([0, 1, 2], log_proba + 7.0, model_scale="logit").block(slice(0, 3)).log_proba
    np.testing.assert_allclose(logs, plain, atol=1e-13)
    np.testing.assert_allclose(logits, plain, atol=1e-13)
    assert np.isfinite(plain).all()


def test_a_scale_that_is_none():
    with pytest.raises(InvalidParameter) as caught:
        Observations.from_arrays([0], [[0.5, 0.5]], model_scale="logits")
    assert (
        str(caught.value) == "model_scale must be one of probability, log, logit; it is 'logits'. Did you mean 'logit'?"
    )


@pytest.mark.parametrize("scale", ["probability", "log", "logit"])
def test_a_blank_row_is_a_model_that_says_nothing(scale):
    known = {"probability": [0.25, 0.75], "log": np.log([0.25, 0.75]), "logit": np.log([0.25, 0.75])}[scale]
    seen = Observations.from_arrays([0, 1], [known, [np.nan, np.nan]], model_scale=scale)
    assert seen.has_model().tolist() == [True, False]
    np.testing.assert_allclose(np.exp(seen.block(slice(0, 2)).log_proba.T), [[0.25, 0.75], [0.5, 0.5]])


def test_an_item_with_neither_model_nor_answer():
    refused(
        lambda: Observations.from_arrays([0, -1, np.nan], [[0.5, 0.5], [np.nan] * 2, [np.nan] * 2], items=list("abc")),
        "every item must have a model row or an answer; row 1 (item b) has neither (2 of 3 rows are off). Drop "
        "those rows.",
    )


# ------------------------------------------------------------------------------------------------- shapes


def test_lengths_that_differ():
    refused(
        lambda: Observations.from_arrays([0, 1], HALF),
        "human_label and model_proba must have the same number of rows; human_label has 2, model_proba has 3. "
        "Give one entry per item, in the same order.",
    )
    refused(
        lambda: as_truth([0, 1], Observations.from_arrays([0, 1, 0], HALF)),
        "y and X must have the same number of rows; y has 2, X has 3. Give one entry per item, in the same order.",
    )
    refused(
        lambda: as_weight([1, 2], 3),
        "sample_weight and X must have the same number of rows; sample_weight has 2, X has 3. "
        "Give one entry per item, in the same order.",
    )
    with pytest.raises(InvalidObservations, match="items and model_proba must have the same number of rows"):
        Observations.from_arrays([0, 1, 0], HALF, items=["a"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: as_observations(np.empty((0, 3))),
        lambda: as_model(np.empty((0, 2))),
        lambda: Observations.from_arrays([], np.empty((0, 2))),
        lambda: as_observations(pd.DataFrame({"human": [], "p_0": [], "p_1": []})),
        lambda: Observations.from_answers(
            pd.DataFrame({"item": [], "annotator": [], "answer": []}), classes=["a", "b"]
        ),
    ],
)
def test_no_rows(make):
    refused(make, "X must have at least one row; it has none. Give one row per item.")


def test_one_class():
    refused(
        lambda: Observations.from_arrays([0], [[1.0]], classes=["cat"]),
        "there must be at least two classes; there is 1 class, 'cat'. Give one probability column per class.",
    )
    refused(
        lambda: as_observations([[0, 1.0]]),
        "X has 2 feature(s) (shape=(1, 2)) while a minimum of 3 is required: "
        "the human's code, then one probability per class.",
    )
    refused(
        lambda: as_model([[1.0]]),
        "X has 1 feature(s) (shape=(1, 1)) while a minimum of 2 is required: one probability per class.",
    )


def test_arrays_that_are_no_tables():
    refused(
        lambda: as_observations([0.1, 0.2]),
        "X must have two dimensions; it has 1. Reshape your data, one row per item: "
        "the human's code, then one probability per class.",
    )
    refused(
        lambda: Observations.from_arrays([0], [0.5, 0.5]),
        "model_proba must have two dimensions, (n_items, n_classes); it has shape (2,).",
    )
    refused(
        lambda: Observations.from_arrays([[0, 1]], [[0.5, 0.5]]),
        "human_label must be one-dimensional, one label per item; it has shape (1, 2).",
    )
    refused(
        lambda: as_observations([[0, 0.5, 0.5], [0, "half", 0.5], [0, "a", "b"]]),
        "X must hold numbers; row 1 has 'half' (2 of 3 rows are off). "
        "Use a data frame with columns human and p_<class> where classes have names.",
    )
    refused(
        lambda: as_observations(np.full((2, 3), 1j)),
        "X must hold real numbers; it has dtype complex128 (Complex data not supported). "
        "Use a data frame with columns human and p_<class> where classes have names.",
    )


def test_a_sparse_matrix():
    from scipy.sparse import csr_array

    refused(
        lambda: as_observations(csr_array([[0, 0.5, 0.5]])),
        "X must be a dense array, a data frame or Observations; it is a sparse matrix. Call X.toarray().",
    )


@pytest.mark.parametrize(("code", "shown"), [(2, "2"), (-2, "-2"), (0.5, "0.5"), (np.inf, "inf")])
def test_a_code_that_is_no_class(code, shown):
    refused(
        lambda: as_observations([[0, 0.5, 0.5], [code, 0.5, 0.5], [np.nan, 0.5, 0.5]]),
        f"the first column of X must hold class codes from 0 to 1, or -1 where nobody answered; row 1 has {shown} "
        "(1 of 3 rows are off). Use a data frame with columns human and p_<class> where classes have names.",
    )


def test_weights_that_are_none():
    for weight, shown in (([1, -1], "-1"), ([1, np.nan], "nan"), ([1, np.inf], "inf")):
        refused(
            lambda weight=weight: as_weight(weight, 2),
            f"sample_weight must be finite and not negative; row 1 has {shown} (1 of 2 rows are off). "
            "Give weight 0 to items that should not count.",
        )
    refused(
        lambda: as_weight([[1.0]], 1),
        "sample_weight must be one-dimensional; it has shape (1, 1). Give one number per item.",
    )
    refused(lambda: as_weight([0, 0], 2), "sample_weight must be positive for at least one item; all are 0.")
    assert as_weight(None, 2) is None
    assert as_weight(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert as_weight(pd.Series([1, 2]), 2).tolist() == [1.0, 2.0]


# ------------------------------------------------------------------------------------------------- truth


def three(classes=("cat", "dog", "eel")):
    return Observations.from_arrays([0, 1, 2], np.full((3, 3), 1 / 3), classes=list(classes))


@pytest.mark.parametrize("missing", [None, np.nan, -1, "", "  ", pd.NA, pd.NaT, "-1", -1.0])
def test_truth_may_be_missing(missing):
    assert as_truth(["dog", missing, "cat"], three()).tolist() == [1, MISSING, 0]
    assert as_truth(pd.Series(["dog", missing, "cat"], dtype=object), three()).tolist() == [1, MISSING, 0]


def test_truth_may_be_absent():
    assert as_truth(None, three()).tolist() == [MISSING] * 3


def test_minus_one_is_a_class_where_a_class_has_that_name():
    seen = Observations.from_arrays([0, 1], [[0.5, 0.5], [0.5, 0.5]], classes=[-1, 1])
    assert as_truth([-1, 1], seen).tolist() == [0, 1]
    assert as_truth([-1.0, np.nan], seen).tolist() == [0, MISSING]


@pytest.mark.parametrize("codes", [np.array([2, 0, -1]), np.array([2.0, 0.0, np.nan]), [2, 0, None]])
def test_whole_numbers_are_codes_where_classes_have_names(codes):
    assert as_truth(codes, three()).tolist() == [2, 0, MISSING]


def test_numbers_are_labels_where_classes_are_numbers():
    assert as_truth([20, 10, 30], three([10, 20, 30])).tolist() == [1, 0, 2]
    assert as_truth(["20", 10.0, 30], three([10, 20, 30])).tolist() == [1, 0, 2]


def test_a_label_that_is_no_class():
    refused(
        lambda: as_truth(["dog", "Eel", "elk"], three()),
        "y must hold classes; row 1 has 'Eel' (2 of 3 rows are off). The classes are 'cat', 'dog', 'eel'. Only "
        "case or blanks differ from 'eel': write it as the class is written.",
    )
    refused(
        lambda: as_truth(["dog", "xyz", "cat"], three()),
        "y must hold classes; row 1 has 'xyz' (1 of 3 rows are off). The classes are 'cat', 'dog', 'eel'. If "
        "'xyz' is a class, it needs a column of probabilities like the others; else correct those labels, or "
        "leave them blank.",
    )
    refused(
        lambda: as_truth([0, 3, 1], three()),
        "y must hold classes; row 1 has 3 (1 of 3 rows are off). The classes are 'cat', 'dog', 'eel'. If these "
        "are codes, write the names of the classes instead: 3 is 'eel' counted from 1.",
    )


def test_many_classes_are_not_all_listed():
    seen = Observations.from_arrays([0], np.full((1, 1000), 1e-3))
    with pytest.raises(InvalidObservations, match=r"'6', '7', \.\.\. \(1000 in all\)\. Correct those labels"):
        as_truth([-5], seen)


def test_truth_in_a_column_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        assert as_truth(np.array([[2], [0], [1]]), three()).tolist() == [2, 0, 1]


def test_truth_of_two_dimensions():
    refused(
        lambda: as_truth(np.zeros((3, 2)), three()),
        "y must be one-dimensional, one label per item; it has shape (3, 2).",
    )


def test_truth_that_is_no_label():
    refused(
        lambda: as_truth([{"a": 1}, "cat", "cat"], three()),
        "y must hold one label per row; row 0 has {'a': 1}. Give names or numbers.",
    )


def test_targets_hard_and_soft():
    hard, soft = as_targets(["eel", "cat", "dog"], three())
    assert hard.tolist() == [2, 0, 1]
    assert soft is None
    hard, soft = as_targets([[0.5, 0.25, 0.25], [1, 0, 0], [0.4996, 0.0, 0.4996]], three())
    assert hard is None
    np.testing.assert_allclose(soft, [[0.5, 1, 0.5], [0.25, 0, 0], [0.25, 0, 0.5]])


def test_soft_targets_in_a_frame_are_matched_by_name():
    frame = pd.DataFrame({"p_eel": [0.7, 0.0, 0.0], "p_cat": [0.2, 1.0, 0.0], "p_dog": [0.1, 0.0, 1.0]})
    _, soft = as_targets(frame, three())
    np.testing.assert_allclose(soft.T, [[0.2, 0.1, 0.7], [1, 0, 0], [0, 1, 0]])


def test_targets_that_are_missing():
    words = "y must be known for every item here; row 1 is missing (1 of 3 rows are off). Leave those items out."
    refused(lambda: as_targets(["cat", None, "dog"], three()), words)
    refused(lambda: as_targets([[1, 0, 0], [np.nan] * 3, [1, 0, 0]], three()), words)
    refused(
        lambda: as_targets([[1, 0, 0], [0.5, 0.1, 0], [1, 0, 0]], three()),
        "y must sum to 1 in every row; row 1 sums to 0.6 (1 of 3 rows are off). "
        "If a class has no column, add it; else divide each row by its sum.",
    )


def test_labelled_items():
    seen, truth, weight = labelled_items(three(), ["dog", None, "cat"], np.array([1.0, 2.0, 3.0]))
    assert seen.items.tolist() == [0, 2]
    assert truth.tolist() == [1, 0]
    assert weight.tolist() == [1.0, 3.0]
    whole = three()
    assert labelled_items(whole, ["dog", "cat", "cat"], None)[0] is whole
    refused(
        lambda: labelled_items(three(), [None] * 3, None),
        "y must be known for at least one item here; it is missing for all. ProbabilityLabelCombiner can be "
        "fitted without any truth.",
    )


# ------------------------------------------------------------------------------------------------- classes


@pytest.mark.parametrize(
    ("y", "classes", "kind"),
    [
        (np.array([0, 1]), [0, 1], "i"),
        (np.array([0, 1], dtype=np.uint8), [0, 1], "i"),
        (np.array([0.0, 1.0]), [0.0, 1.0], "f"),
        (np.array([0.0, np.nan]), [0, 1], "i"),
        ([1, None], [0, 1], "i"),
        (pd.Series([1, None], dtype="Int64"), [0, 1], "i"),
        (pd.Series([1, pd.NA], dtype=object), [0, 1], "i"),
        (np.array([True, False]), [False, True], "b"),
        ([True, None], [False, True], "b"),
        (np.array(["1", "0"]), ["0", "1"], "U"),
        (np.array(["1", "1"]), ["0", "1"], "U"),
        (["cat", "dog"], ["cat", "dog"], "U"),
        (None, [0, 1], "i"),
        ([None, None], [0, 1], "i"),
        (np.array([-1, -1]), [0, 1], "i"),
    ],
)
def test_classes_of_an_array_come_in_the_type_of_y(y, classes, kind):
    seen = as_observations([[0, 0.5, 0.5], [1, 0.5, 0.5]], y=y)
    assert seen.classes.tolist() == classes
    assert seen.classes.dtype.kind == kind


@pytest.mark.parametrize(
    ("y", "kind"), [(np.array([0, 1]), "i"), (np.array([0.0, 1.0]), "f"), (np.array(["0", "1"]), "U")]
)
def test_the_three_forms_agree_on_the_type_of_the_classes(y, kind):
    array = np.array([[0, 0.5, 0.5], [1, 0.5, 0.5]])
    frame = pd.DataFrame({"human": ["0", "1"], "p_1": [0.5, 0.5], "p_0": [0.5, 0.5]})
    observations = Observations.from_arrays([0, 1], array[:, 1:])
    for form in (array, frame, observations):
        seen = as_observations(form, y=y)
        if kind != "U" or form is not observations:
            assert seen.classes.dtype.kind == kind
        assert [str(int(float(name))) for name in seen.classes] == ["0", "1"]


def test_a_class_that_y_never_shows_is_allowed():
    seen = as_observations([[0, 0.2, 0.3, 0.5], [1, 0.2, 0.3, 0.5]], y=[0, 1])
    assert seen.classes.tolist() == [0, 1, 2]


def test_names_must_all_be_shown_where_x_is_an_array():
    refused(
        lambda: as_observations([[0, 0.2, 0.3, 0.5], [1, 0.2, 0.3, 0.5]], y=["cat", "dog"]),
        "y must show every class when X is an array of 3 probability columns; it has 2 distinct labels. Use a "
        "data frame with columns human and p_<class>, or class codes from 0.",
    )


def test_numbers_sort_as_numbers_and_names_as_text():
    frame = {"p_10": [0.1], "p_2": [0.9], "human": [10]}
    assert as_observations(pd.DataFrame(frame)).classes.tolist() == [2, 10]
    frame = {"p_10": [0.1], "p_b2": [0.9], "human": ["10"]}
    assert as_observations(pd.DataFrame(frame)).classes.tolist() == ["10", "b2"]
    frame = {"p_10.5": [0.1], "p_9": [0.9], "human": [10.5]}
    assert as_observations(pd.DataFrame(frame)).classes.tolist() == [9.0, 10.5]


def test_given_classes_are_sorted_with_their_columns_and_codes():
    seen = Observations.from_arrays([0, 1, -1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], classes=["dog", "cat"])
    assert seen.classes.tolist() == ["cat", "dog"]
    assert seen.model_proba[0].tolist() == [[0.1, 0.9], [0.2, 0.8], [0.7, 0.3]]
    assert seen.answers.column.tolist() == [1, 0, -1]


def test_human_labels_may_be_names():
    seen = Observations.from_arrays(["dog", None, "cat"], HALF, classes=["dog", "cat"])
    assert seen.answers.column.tolist() == [1, -1, 0]
    with pytest.raises(
        InvalidObservations, match=r"human_label must hold classes; row 0 has 'dgo'.*Did you mean 'dog'"
    ):
        Observations.from_arrays(["dgo", None, "cat"], HALF, classes=["dog", "cat"])


def test_given_classes_that_are_none():
    for classes, words in (
        (["a", "b", "c"], "it has shape (3,)."),
        (["a", "a"], "position 1 has 'a', which is repeated."),
        (["a", None], "position 1 has None, which is blank."),
        ([1, "1"], "position 1 has '1', which is repeated."),
    ):
        refused(
            lambda classes=classes: Observations.from_arrays([0, 0, 0], HALF, classes=classes),
            f"classes must name each of the 2 columns of model_proba once; {words}",
        )


# ------------------------------------------------------------------------------------------------- frames

NAMES = ["red fox", "a,b", "Füchse 狐"]
ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])


def wide(human):
    return {"human": human} | {f"p_{name}": ROWS[:, at].tolist() for at, name in enumerate(NAMES)}


GIVEN = ["a,b", None, "Füchse 狐"]
FRAMES = {
    "pandas str": lambda: pd.DataFrame(wide(GIVEN)),
    "pandas object": lambda: pd.DataFrame(wide(pd.Series(GIVEN, dtype=object))),
    "pandas blank": lambda: pd.DataFrame(wide(["a,b", " ", "Füchse 狐"])),
    "pandas NA": lambda: pd.DataFrame(wide(pd.Series(["a,b", pd.NA, "Füchse 狐"], dtype="string"))),
    "pandas categorical": lambda: pd.DataFrame(wide(pd.Categorical(GIVEN))),
    "pandas arrow": lambda: pd.DataFrame(wide(GIVEN)).convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": lambda: pd.DataFrame(wide(GIVEN)).convert_dtypes(),
    "polars": lambda: pl.DataFrame(wide(GIVEN)),
    "polars categorical": lambda: pl.DataFrame(wide(GIVEN)).with_columns(pl.col("human").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(wide(GIVEN)).with_columns(pl.col("human").cast(pl.Enum(NAMES))),
    "arrow": lambda: pa.table(wide(GIVEN)),
    "arrow dictionary": lambda: pa.table(wide(pa.array(GIVEN).dictionary_encode())),
    "arrow large string": lambda: pa.table(wide(pa.array(GIVEN, type=pa.large_string()))),
    "arrow chunks": lambda: pa.concat_tables([pa.table(wide(GIVEN)).slice(0, 2), pa.table(wide(GIVEN)).slice(2)]),
    "arrow batch": lambda: pa.RecordBatch.from_pydict(wide(GIVEN)),
    "arrow stream": lambda: pa.RecordBatchReader.from_batches(
        pa.table(wide(GIVEN)).schema, pa.table(wide(GIVEN)).to_batches()
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_says_the_same(kind):
    seen = as_observations(FRAMES[kind]())
    assert seen.classes.tolist() == ["Füchse 狐", "a,b", "red fox"]
    assert seen.model_proba[0].tolist() == ROWS[:, [2, 1, 0]].tolist()
    assert seen.answers.column.tolist() == [1, MISSING, 0]
    assert seen.annotators == ("human",)
    assert seen.columns == ("human", "p_Füchse 狐", "p_a,b", "p_red fox")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_order_of_columns_does_not_matter(library):
    columns = wide(GIVEN) | {"human_bo": ["red fox", None, None], "human_al": [None, "a,b", "a,b"], "other": [1, 2, 3]}
    one = as_observations(library(columns))
    two = as_observations(library(dict(reversed(columns.items()))))
    assert one.annotators == two.annotators == ("human", "al", "bo")
    assert one.answers.column.tolist() == two.answers.column.tolist() == [1, 8, 4, 0, 4]
    assert one.answers.start.tolist() == two.answers.start.tolist() == [0, 2, 3, 5]
    assert one.model_proba[0].tobytes() == two.model_proba[0].tobytes()
    assert one.shape == (3, 6)


@pytest.mark.parametrize("blank", [None, np.nan, "", pd.NA])
def test_blank_probabilities_are_a_model_that_said_nothing(blank):
    frame = pd.DataFrame({"human": ["a", "b"], "p_a": [0.25, blank], "p_b": [0.75, blank]}, dtype=object)
    seen = as_observations(frame)
    assert seen.has_model().tolist() == [True, False]
    assert seen.model_proba[0][0].tolist() == [0.25, 0.75]


def test_integers_with_gaps_are_labels():
    for library in (pd.DataFrame, pl.DataFrame, pa.table):
        seen = as_observations(library({"human": [3, None], "p_3": [0.5, 0.5], "p_12": [0.5, 0.5]}))
        assert seen.classes.tolist() == [3, 12]
        assert seen.classes.dtype.kind == "i"
        assert seen.answers.column.tolist() == [0, MISSING]


def test_people_in_a_frame_answer_by_name_never_by_code():
    refused(
        lambda: as_observations(pd.DataFrame({"human": [0, 1], "p_dog": [0.5, 0.5], "p_cat": [0.5, 0.5]})),
        "human must hold classes; row 0 has 0 (2 of 2 rows are off). The classes are 'cat', 'dog'. If these are "
        "codes, write the names of the classes instead: 0 is 'cat' counted from 0.",
    )


def test_items_are_kept():
    frame = pd.DataFrame({"item": ["x", "y"], "human": ["a", "b"], "p_a": [0.5, 0.5], "p_b": [0.5, 0.5]}, index=[7, 7])
    assert as_observations(frame).items.tolist() == ["x", "y"]
    assert as_observations(frame.drop(columns="item")).items.tolist() == [0, 1]


def test_people_alone_are_read_from_a_wide_frame():
    frame = pd.DataFrame(
        {"item": ["x", "y"], "human_bob": ["b", None], "human_ann": ["a", "b"], "confidence_ann": [1, 2], "truth": "a"}
    )
    seen = as_observations(frame)
    assert seen.annotators == ("ann", "bob")
    assert seen.classes.tolist() == ["a", "b"]
    assert not seen.models
    assert seen.answers.per_item().tolist() == [2, 1]


def test_frames_that_cannot_be_used():
    refused(
        lambda: as_observations(pd.DataFrame([[0, 0.5, 0.5]], columns=["human", "p_a", "p_a"])),
        "X must have each column once; 'p_a' appears 2 times (1 of 2 names are repeated). Drop or rename the copies.",
    )
    refused(
        lambda: as_observations(pd.DataFrame({"human": ["a"], "a": [1.0]})),
        "X must have one probability column per class, named p_<class>; its columns are human, a. Name them so; or "
        "give a model's labels or scores, in a column <model>.label or <model>.score, or the answers of several "
        "people, in columns human_<name>.",
    )
    refused(
        lambda: as_observations(pd.DataFrame({"human_ann": ["a"], "human_bob": ["b"], "P_a": [1.0]})),
        "X must have one probability column per class, named p_<class>; its columns are human_ann, human_bob, P_a. "
        "Without a model, drop all columns but human_<name>, confidence_<name>, item and truth; 'P_a' could be a "
        "model's (1 of 3 columns could).",
    )
    refused(
        lambda: as_observations(pd.DataFrame({"Human": ["a"], "p_a": [0.5], "p_b": [0.5]})),
        "X must have a column of a person's answers, named human or human_<name>; its columns are Human, p_a, "
        "p_b. Add one, blank where nobody was asked.",
    )
    refused(
        lambda: as_observations(pd.DataFrame({"human": ["a"], "human_human": ["a"], "p_a": [0.5], "p_b": [0.5]})),
        "X must name each person once; 'human' and 'human_human' are the same name. Rename one of them.",
    )
    refused(
        lambda: as_observations(pd.DataFrame({"human": ["a", "a"], "p_a": [0.5, 0.5], "p_b": ["0.5", "half"]})),
        "column 'p_b' must hold numbers; row 1 has 'half' (1 of 2 rows are off). Correct those entries, or leave "
        "the whole row blank where the model has no prediction.",
    )
    refused(
        lambda: as_observations(pd.DataFrame({"human_bo": ["a", "dgo"], "p_dog": [0.5, 0.5], "p_a": [0.5, 0.5]})),
        "human_bo must hold classes; row 1 has 'dgo' (1 of 2 rows are off). The classes are 'a', 'dog'. Did you "
        "mean 'dog'?",
    )


def test_a_calibrator_needs_no_people():
    seen = as_model(pd.DataFrame({"p_b": [0.25], "p_a": [0.75]}))
    assert seen.classes.tolist() == ["a", "b"]
    assert seen.model_proba[0].tolist() == [[0.75, 0.25]]
    assert as_model([[0.75, 0.25]]).model_proba[0].tolist() == [[0.75, 0.25]]


def test_the_three_forms_agree_exactly():
    array = np.column_stack([[1, -1, 0], ROWS])
    frame = pd.DataFrame({"human": [1, None, 0]} | {f"p_{at}": ROWS[:, at] for at in range(3)})
    forms = [as_observations(form) for form in (array, frame, Observations.from_arrays([1, -1, 0], ROWS))]
    blocks = [seen.block(slice(0, 3)) for seen in forms]
    assert len({block.log_proba.tobytes() for block in blocks}) == 1
    assert len({block.answers.column.tobytes() for block in blocks}) == 1
    assert [seen.classes.tolist() for seen in forms] == [[0, 1, 2]] * 3


# ------------------------------------------------------------------------------------------- at predict


def test_known_classes_in_another_order_of_columns():
    classes = np.array(["cat", "dog"])
    seen = as_observations(pd.DataFrame({"p_dog": [0.2], "human": ["dog"], "p_cat": [0.8]}), classes=classes)
    assert seen.model_proba[0].tolist() == [[0.8, 0.2]]
    assert seen.answers.column.tolist() == [1]


def test_known_classes_that_x_does_not_have():
    classes = np.array(["cat", "dog"])
    refused(
        lambda: as_observations(pd.DataFrame({"p_dog": [0.2], "human": ["dog"], "p_elk": [0.8]}), classes=classes),
        "X must have the same probability columns as at fit; p_cat is missing, p_elk is new (1 of 2 are "
        "missing, 1 are new). Rename the columns, or fit again with these classes.",
    )
    refused(
        lambda: as_observations([[0, 0.2, 0.3, 0.5]], classes=classes),
        "X must have one probability column per class; it has 3 and there were 2 classes at fit. "
        "Give the same columns as at fit.",
    )
    refused(
        lambda: as_observations(three(), classes=classes),
        "X must have the same classes as at fit; they were 'cat', 'dog' and are 'cat', 'dog', 'eel' (0 of 2 are "
        "missing, 1 are new). Name all classes when making the observations.",
    )


def test_observations_with_the_same_classes_are_put_in_the_known_order():
    seen = Observations.from_answers(
        pd.DataFrame({"item": [1, 1, 2], "annotator": ["x", "y", "x"], "answer": ["10", "9", "9"]}),
        pd.DataFrame({"item": [1, 2], "p_10": [0.9, 0.2], "p_9": [0.1, 0.8]}),
    )
    assert seen.classes.tolist() == ["10", "9"]
    seen = seen.aligned(np.array([9, 10]))
    assert seen.classes.tolist() == [9, 10]
    assert seen.model_proba[0].tolist() == [[0.1, 0.9], [0.8, 0.2]]
    assert seen.answers.column.tolist() == [1, 2, 0]


def test_classes_out_of_order_are_refused():
    seen = Observations.from_arrays([0, 1], [[0.9, 0.1], [0.2, 0.8]], classes=["a", "b"])
    with pytest.raises(InvalidObservations, match=r"classes must be sorted, each once"):
        seen.aligned(np.array(["b", "a"]))
    with pytest.raises(InvalidObservations, match=r"classes must be sorted, each once"):
        replace(seen, classes=np.array(["b", "a"]))
    with pytest.raises(InvalidObservations, match=r"classes must be sorted, each once"):
        replace(seen, classes=np.array(["a", "b", "c"]))


@pytest.mark.parametrize("classes", [["low", "mid", "high"], ["high", "low", "mid"], pd.Series(["mid", "low", "high"])])
def test_a_frame_and_a_long_table_take_required_classes_in_any_order(classes):
    frame = pd.DataFrame({"human_ann": ["low", "mid"], "human_bob": ["low", None]})
    seen = Observations.from_frame(frame, classes=classes)
    long = pd.DataFrame({"item": [0, 0, 1], "annotator": ["ann", "bob", "ann"], "answer": ["low", "low", "mid"]})
    assert seen.classes.tolist() == ["high", "low", "mid"]
    assert seen.classes.tolist() == Observations.from_answers(long, classes=classes).classes.tolist()
    assert [seen.classes[code] for code in seen.answers.column % 3] == ["low", "low", "mid"]


def test_classes_that_are_no_list_are_refused():
    frame = pd.DataFrame({"human_ann": ["low", "mid"], "human_bob": ["low", None]})
    with pytest.raises(InvalidObservations) as raised:
        Observations.from_frame(frame, classes="low")
    assert str(raised.value) == (
        "classes must be a list with the name of each class once; it is 'low'. Give it as in classes=['no', 'yes']."
    )


# ------------------------------------------------------------------------------------------- long tables

ANSWERS = {
    "item": ["i2", "i1", "i1", "i9", "i2"],
    "annotator": ["bo", "al", "bo", "al", "al"],
    "answer": [*"baab", None],
}
MODEL = {"item": ["i1", "i2", "i3"], "p_b": [0.3, 0.6, 0.5], "p_a": [0.7, 0.4, 0.5]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("naming", [("item", "annotator", "answer"), ("task", "worker", "label")])
def test_a_long_table_in_both_namings(library, naming):
    answers = library(dict(zip(naming, ANSWERS.values(), strict=True)))
    model = library({naming[0]: MODEL["item"], "p_b": MODEL["p_b"], "p_a": MODEL["p_a"]})
    seen = Observations.from_answers(answers, model)
    assert seen.items.tolist() == ["i1", "i2", "i3", "i9"]
    assert seen.annotators == ("al", "bo")
    assert seen.classes.tolist() == ["a", "b"]
    # i1: al says a (column 0), bo says a (column 2); i2: bo says b (column 3); i3: nobody; i9: al says b (column 1)
    assert seen.answers.column.tolist() == [0, 2, 3, 1]
    assert seen.answers.start.tolist() == [0, 2, 3, 3, 4]
    assert seen.has_model().tolist() == [True, True, True, False]
    np.testing.assert_array_equal(seen.model_proba[0], [[0.7, 0.3], [0.4, 0.6], [0.5, 0.5], [np.nan, np.nan]])


def test_the_order_of_answers_does_not_matter():
    model = pd.DataFrame(MODEL)
    answers = pd.DataFrame(ANSWERS).drop(index=3)
    one, two = (Observations.from_answers(some, model) for some in (answers, answers.iloc[::-1]))
    assert one.answers.column.tolist() == two.answers.column.tolist()
    assert one.annotators == two.annotators


def test_answers_without_a_model():
    seen = Observations.from_answers(pd.DataFrame(ANSWERS))
    assert seen.items.tolist() == ["i2", "i1", "i9"]
    assert seen.model_proba == ()
    assert seen.models == ()
    assert seen.has_model().tolist() == [False] * 3
    np.testing.assert_allclose(seen.block(slice(0, 3)).log_proba, -np.log(2))
    named = Observations.from_answers(pd.DataFrame(ANSWERS), classes=["c", "b", "a"])
    assert named.classes.tolist() == ["a", "b", "c"]
    assert named.answers.column.tolist() == [4, 0, 3, 1]


def test_one_answer_per_item_needs_no_starts():
    seen = Observations.from_answers(pd.DataFrame(ANSWERS).iloc[[0, 1]], pd.DataFrame(MODEL))
    assert seen.answers.start is None
    assert seen.answers.column.tolist() == [0, 3, MISSING]


def test_items_and_answers_are_matched_by_their_text():
    seen = Observations.from_answers(
        pd.DataFrame({"item": ["7", "3"], "annotator": [1, 2], "answer": [0, 1]}),
        pd.DataFrame({"item": [3, 7], "p_0": [0.5, 0.5], "p_1": [0.5, 0.5]}),
    )
    assert seen.items.tolist() == [3, 7]
    assert seen.answers.column.tolist() == [3, 0]
    assert seen.annotators == ("1", "2")
    assert seen.classes.tolist() == [0, 1]


def test_the_same_person_may_answer_an_item_twice():
    answers = pd.DataFrame({"item": [1, 1], "annotator": ["al", "al"], "answer": ["a", "b"]})
    assert Observations.from_answers(answers).answers.per_item().tolist() == [2]


def test_an_empty_table_of_answers_with_a_model():
    answers = pd.DataFrame({"item": [], "annotator": [], "answer": []})
    seen = Observations.from_answers(answers, pd.DataFrame(MODEL))
    assert len(seen) == 3
    assert seen.answers.per_item().tolist() == [0, 0, 0]


def test_long_tables_that_cannot_be_used():
    answers = pd.DataFrame(ANSWERS)
    refused(
        lambda: Observations.from_answers(answers.rename(columns={"item": "id"})),
        "answers must have a column item or task; its columns are id, annotator, answer.",
    )
    refused(
        lambda: Observations.from_answers(answers, pd.DataFrame(MODEL | {"item": ["i1", "i2", "i1"]})),
        "model must have one row per item; item 'i1' has 2 (1 of 3 rows are repeats). Keep one row of each item.",
    )
    refused(
        lambda: Observations.from_answers(answers.assign(annotator=["bo", None, "bo", " ", "al"])),
        "answers must name the annotator in every row; row 1 is blank (2 of 5 rows are off). "
        "Name it, or drop those rows.",
    )
    refused(
        lambda: Observations.from_answers(answers.assign(answer=["a", "b", " A ", "b", "a"]), pd.DataFrame(MODEL)),
        "answers must hold classes; row 2 has ' A ' (1 of 5 rows are off). The classes are 'a', 'b'. Only case "
        "or blanks differ from 'a': write it as the class is written.",
    )
    refused(
        lambda: Observations.from_answers(answers, pd.DataFrame(MODEL), classes=["a", "c"]),
        "model must have the same probability columns as at fit; p_c is missing, p_b is new (1 of 2 are "
        "missing, 1 are new). Rename the columns, or fit again with these classes.",
    )
    refused(
        lambda: Observations.from_answers(pd.DataFrame({"item": [1], "annotator": ["x"], "answer": ["a"]})),
        "there must be at least two classes; there is 1 class, 'a'. Give one probability column per class.",
    )
    with pytest.raises(InvalidObservations, match=r"row 1 \(item i2\) has neither"):
        Observations.from_answers(
            pd.DataFrame({"item": ["i1", "i2"], "annotator": ["x", "x"], "answer": ["a", None]}), classes=["a", "b"]
        )


# --------------------------------------------------------------------------------------- memory and layout


def layouts(proba):
    read_only = proba.copy()
    read_only.flags.writeable = False
    wide_apart = np.zeros((len(proba) * 2, proba.shape[1] * 3))
    wide_apart[::2, ::3] = proba
    return {
        "float64": proba,
        "float32": proba.astype(np.float32),
        "float16": proba.astype(np.float16),
        "read-only": read_only,
        "Fortran": np.asfortranarray(proba),
        "strided": wide_apart[::2, ::3],
        "reversed": proba[::-1][::-1],
        "list": proba.tolist(),
        "object": proba.astype(object),
    }


@pytest.mark.parametrize("layout", layouts(np.ones((1, 1))))
def test_every_layout_of_memory_is_read_alike(layout):
    proba = np.array([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])  # exact in 16 bits
    seen = Observations.from_arrays([0, 1, 2], layouts(proba)[layout])
    expected = Observations.from_arrays([0, 1, 2], proba).block(slice(0, 3)).log_proba
    np.testing.assert_array_equal(seen.block(slice(0, 3)).log_proba, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_are_not_copied(dtype):
    array = np.column_stack([np.zeros(4), np.full((4, 2), 0.5)]).astype(dtype)
    assert np.shares_memory(as_observations(array).model_proba[0], array)
    assert np.shares_memory(as_model(array[:, 1:]).model_proba[0], array)


def test_checks_need_little_memory():
    import tracemalloc

    array = np.column_stack([np.zeros(400_000), np.full((400_000, 10), 0.1)])
    y = np.zeros(400_000, dtype=int)
    tracemalloc.start()
    for values, scale in ((array, "probability"), (np.where(array == 0.1, np.log(0.1), 0.0), "log")):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        as_observations(values, y=y, model_scale=scale)
        assert tracemalloc.get_traced_memory()[1] - before < 0.4 * array.nbytes
    tracemalloc.stop()


@pytest.mark.parametrize("n_classes", [2, 1000])
def test_one_item_and_few_or_many_classes(n_classes):
    proba = np.zeros((1, n_classes))
    proba[0, -1] = 1.0
    seen = as_observations(np.column_stack([[n_classes - 1], proba]))
    assert len(seen) == 1
    assert seen.n_classes == n_classes
    log_proba = seen.block(slice(0, 1)).log_proba
    assert log_proba[-1, 0] == 0.0
    assert np.isfinite(log_proba).all()


def test_items_are_taken_by_slices_masks_and_positions():
    seen = Observations.from_arrays([0, 1, -1], [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], items=list("abc"))
    assert seen[1:].items.tolist() == ["b", "c"]
    assert seen[np.array([True, False, True])].answers.column.tolist() == [0, -1]
    assert seen[[2, 0], :].model_proba[0].tolist() == [[0.3, 0.7], [0.1, 0.9]]
    assert seen[-1].items.tolist() == ["c"]
    assert seen[1].columns is None


# ------------------------------------------------------------------------------------------- problems as data


def test_a_problem_is_data_and_is_rendered_once():
    with pytest.raises(InvalidObservations) as caught:
        Observations.from_arrays([0, 0, 0], [[0.5, 0.5], [0.9, 0.5], [0.5, 0.1]])
    problem = caught.value.problem
    assert problem == Problem(
        argument="model_proba",
        rule="must sum to 1 in every row",
        row=1,
        found="sums to 1.4",
        n_off=2,
        n_rows=3,
        remedy="If these are logits, set model_scale='logit'; else divide each row by its sum.",
    )

    class Lines(RowNames):
        def where(self, row):
            return f"line {row + 2}"

    assert str(InvalidObservations(problem, Lines())) == (
        "model_proba must sum to 1 in every row; line 3 sums to 1.4 (2 of 3 rows are off). "
        "If these are logits, set model_scale='logit'; else divide each row by its sum."
    )
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.problem == problem


def test_an_error_without_a_row_has_no_problem():
    with pytest.raises(InvalidObservations) as caught:
        Observations.from_arrays([0], [[0.5, 0.5], [0.5, 0.5]])
    assert caught.value.problem is None


def test_checked_takes_fields_by_name():
    proba = np.array([[0.5, 0.5]])
    fields = {"classes": np.array(["a", "b"]), "model_proba": (proba,), "answers": Answers(np.array([1]))}
    made = Observations.checked(**fields)
    assert (made.annotators, made.models, made.items.tolist()) == (("human",), ("model",), [0])
    refused(
        lambda: Observations.checked(**fields | {"answers": Answers(np.array([1, 0]))}),
        "model_proba and the answers must have the same number of rows; model_proba has 1, the answers has 2. "
        "Give one entry per item, in the same order.",
    )


def test_a_remedy_can_be_followed_where_an_estimator_has_no_scale():
    logits = [[0, 2.0, -1.0], [1, -3.0, 0.5], [1, -0.5, 0.25]]
    refused(
        lambda: HierarchicalConfusion().fit(logits, [0, 1, 1]),
        "model_proba must not be negative; row 0 has -1 (3 of 3 rows are off). If these are logits, "
        "give Observations.from_frame(X, model_scale='logit'); if log-probabilities, "
        "give Observations.from_frame(X, model_scale='log').",
    )
    frame = pd.DataFrame({"human": [0, 1, 1], "p_0": [2.0, -3.0, -0.5], "p_1": [-1.0, 0.5, 0.25]})
    followed = Observations.from_frame(frame, model_scale="logit")
    assert HierarchicalConfusion().fit(followed, [0, 1, 1]).human_given_true_.shape == (2, 2)
