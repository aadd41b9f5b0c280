"""Numbers and names in sentences, by hand."""

import pytest

from twoheads.text import count, cut, interval, listed, p_value, percent


def test_counts():
    assert [count(n, "item") for n in (0, 1, 3000)] == ["0 items", "1 item", "3,000 items"]
    assert count(2, "person", "people") == "2 people"


def test_percentages_and_intervals():
    assert (percent(0.1504), percent(0.1504, 1)) == ("15 %", "15.0 %")
    assert interval(0.0156, 0.0251) == "[1.6, 2.5]"
    assert interval(0.0156, 0.0251, 2) == "[1.56, 2.51]"
    assert interval(None, 0.5) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-9, "p < 0.001"),
        (0.0042, "p = 0.004"),
        (0.214, "p = 0.21"),
        (0.0496, "p = 0.0496"),
        (0.0513, "p = 0.051"),
        (0.05, "p = 0.05"),
    ],
)
def test_p_values_never_round_to_the_significance_level(value, text):
    assert p_value(value) == text


def test_long_lists_are_cut():
    assert listed(["a", "b"]) == "a, b"
    assert listed(range(14)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (14 in all)"


def test_what_is_cut_is_one_line():
    assert cut("a\tb\r\nc\x00é") == "a\\tb\\r\\nc\\x00é"
    assert listed(["a", "b\n" * 3]) == "a, b\\nb\\nb\\n"
    assert cut("x" * 81) == "x" * 80 + "..."
