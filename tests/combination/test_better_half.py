"""The comparison with the better half in words."""

import pytest

from twoheads.combination.better_half import change


@pytest.mark.parametrize(
    ("errors", "better_errors", "n_items", "alike", "said"),
    [
        (898, 900, 9000, True, "less than 1 % fewer errors than"),
        (44.1, 44, 117, True, "less than 1 % more errors than"),
        (2, 1000, 9000, True, "more than 99 % fewer errors than"),
        (0, 1000, 9000, True, "100 % fewer errors than"),
        (1998, 1000, 9000, True, "100 % more errors than"),
        (75, 100, 9000, True, "25 % fewer errors than"),
        (12.02, 12, 100, False, "less than 0.1 points more errors than"),
        (13.02, 12, 100, False, "1.0 points more errors than"),
        (3, 5, 100, True, "3 errors, against 5 by"),
    ],
)
def test_a_difference_is_not_rounded_to_none_nor_to_all(errors, better_errors, n_items, alike, said):
    assert change(errors / n_items, better_errors / n_items, n_items, alike=alike) == said
