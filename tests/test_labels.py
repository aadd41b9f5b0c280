"""Labels are matched by their text, come back in their type, and say so when they are no class."""

import numpy as np
import pandas as pd
import pytest

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import MISSING
from twoheads.observations.labels import (
    classes_in,
    encode_labels,
    is_missing,
    label_text,
    ordered_classes,
    sorted_names,
)


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, "", " \t"])
def test_what_says_nothing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, -1, False, "nan", "None", "x", 0.0, np.inf, np.str_("a")])
def test_what_says_something(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (np.float32(3), "3"),
        (np.int8(3), "3"),
        ("3", "3"),
        (0.5, "0.5"),
        (-1.0, "-1"),
        (True, "True"),
        (np.False_, "False"),
        (np.str_("a b"), "a b"),
        (np.inf, "inf"),
    ],
)
def test_the_text_of_a_label(value, text):
    assert label_text(value) == text


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["10", "9", "-2"], ["-2", "9", "10"]),
        (["10", "9.5"], ["9.5", "10"]),
        (["10", "9", "x"], ["10", "9", "x"]),
        (["10", "09"], ["09", "10"]),
        (["b", "a", "B"], ["B", "a", "b"]),
        (["True", "False"], ["False", "True"]),
        (["٣", "1"], ["1", "٣"]),  # an Arabic three is a name, not a number
        (["nan", "1"], ["1", "nan"]),
    ],
)
def test_the_order_of_names(names, order):
    assert sorted_names(names) == order


@pytest.mark.parametrize(
    ("labels", "classes", "kind"),
    [
        (np.array([3, 1, -1]), [1, 3], "i"),
        (np.array([3.0, np.nan]), [3], "i"),
        (np.array([3.0, 0.5]), [0.5, 3.0], "f"),
        (np.array([True, False]), [False, True], "b"),
        (np.array(["b", "a", "", "-1"]), ["a", "b"], "U"),
        (np.array([10, "9", None], dtype=object), ["10", "9"], "U"),
        (np.array([1, 2.5], dtype=object), [1.0, 2.5], "f"),
        (np.array([], dtype=object), [], "U"),
    ],
)
def test_classes_in_labels(labels, classes, kind):
    found = classes_in(labels)
    assert found.tolist() == classes
    assert found.dtype.kind == kind


def test_names_that_are_no_numbers_stay_text():
    assert ordered_classes(["cat", "dog"], np.array([0, 1])).tolist() == ["cat", "dog"]
    assert ordered_classes(["0", "1"], np.array([True])).tolist() == ["0", "1"]
    assert ordered_classes(["0", "1"], None, np.array([], dtype=int)).tolist() == ["0", "1"]
    assert ordered_classes(["0.5", "1"], np.array([1])).tolist() == [0.5, 1.0]


def test_the_first_labels_that_show_a_type_decide():
    nothing = np.array([None, np.nan], dtype=object)
    assert ordered_classes(["0", "1"], None, nothing, np.array(["1"]), np.array([1])).dtype.kind == "U"
    assert ordered_classes(["0", "1"], None, nothing, np.array([1]), np.array(["1"])).dtype.kind == "i"


NAMES = np.array(["cat", "dog"])


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        (["dog", "cat", None], [1, 0, MISSING]),
        (np.array(["dog", ""]), [1, MISSING]),
        (np.array([1, 0, -1]), [1, 0, MISSING]),
        (np.array([1.0, np.nan]), [1, MISSING]),
        (np.array([1, None, pd.NA], dtype=object), [1, MISSING, MISSING]),
        (np.array([], dtype=int), []),
    ],
)
def test_codes_of_named_classes(labels, codes):
    assert encode_labels(labels, NAMES, argument="y").tolist() == codes


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        (np.array([30, 20, -1]), [1, 0, MISSING]),
        (np.array([30.0, 20.0, np.nan]), [1, 0, MISSING]),
        (np.array(["30", "20"]), [1, 0]),
        (np.array([30, 20], dtype=np.uint8), [1, 0]),
        (np.array([30, "20", None], dtype=object), [1, 0, MISSING]),
    ],
)
def test_codes_of_numbered_classes(labels, codes):
    assert encode_labels(labels, np.array([20, 30]), argument="y").tolist() == codes


def test_numbers_far_apart():
    classes = np.array([1, 10**12])
    assert encode_labels(np.array([10**12, 1, -1]), classes, argument="y").tolist() == [1, 0, MISSING]


def test_numbers_that_are_not_whole():
    assert encode_labels(np.array([0.5, 2.0, np.nan]), np.array([0.5, 2.0]), argument="y").tolist() == [0, 1, MISSING]
    with pytest.raises(InvalidObservations, match=r"row 1 has 1\.5 \(1 of 2 rows are off\)"):
        encode_labels(np.array([0.5, 1.5]), np.array([0.5, 2.0]), argument="y")
    with pytest.raises(InvalidObservations, match=r"row 0 has inf \(1 of 2 rows are off\)"):
        encode_labels(np.array([np.inf, 2.0]), np.array([0, 2]), argument="y")


def test_codes_only_where_they_are_allowed():
    with pytest.raises(InvalidObservations, match=r"human must hold classes; row 0 has 1 \(1 of 1 rows are off\)"):
        encode_labels([1], NAMES, argument="human", allow_codes=False)


def test_booleans():
    classes = np.array([False, True])
    assert encode_labels(np.array([True, False]), classes, argument="y").tolist() == [1, 0]
    assert encode_labels(np.array([True, None], dtype=object), classes, argument="y").tolist() == [1, MISSING]
    assert encode_labels(np.array([1, 0, -1]), classes, argument="y").tolist() == [1, 0, MISSING]


@pytest.mark.parametrize(("label", "meant"), [("dgo", "dog"), ("catt", "cat")])
def test_the_nearest_class_is_named(label, meant):
    with pytest.raises(InvalidObservations) as caught:
        encode_labels(["cat", label], NAMES, argument="y")
    assert str(caught.value) == (
        f"y must hold classes; row 1 has {label!r} (1 of 2 rows are off). The classes are 'cat', 'dog'. "
        f"Did you mean {meant!r}?"
    )


@pytest.mark.parametrize(("label", "meant"), [("DOG", "dog"), (" cat", "cat")])
def test_a_difference_of_case_or_blanks_is_called_that(label, meant):
    with pytest.raises(InvalidObservations, match=f"Only case or blanks differ from '{meant}'"):
        encode_labels(["cat", label], NAMES, argument="y")
