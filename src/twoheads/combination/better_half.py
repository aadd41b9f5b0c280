"""The comparison of a team with its better half in words: the same at fit, in an evaluation and in a report."""

from __future__ import annotations

from twoheads.text import SIGNIFICANCE, count, p_value, percent

#: With fewer errors than this, counts are given in place of percentages: one error more or less would change them.
_FEW_ERRORS = 20


def decimals(n_items: float) -> int:
    """Digits of a percentage of so many items: one, and two from 10,000 items on."""
    return 2 if n_items >= 10_000 else 1


def against(
    words: str,
    better_error: float,
    error: float,
    p: float,
    n_items: float,
    *,
    of_all: bool,
    only: bool,
    alike: bool = True,
) -> str:
    """Compare with the better half: the middle of a sentence, without the full stop.

    words    the better half
    p        the p-value, corrected for having picked it
    n_items  the items that it has labelled
    of_all   whether these are all items
    only     whether it is the only rival
    alike    whether all items have the same weight: else a share of errors is not a number of items
    """
    digits = decimals(n_items)
    named = f"{words} ({percent(better_error, digits)})" + (", the better half" if of_all and not only else "")
    labelled = "with a label to compare with" if only else "that the better half labelled"
    which = "one" if n_items == 1 else f"{n_items:,.0f}"
    start = ": " if of_all else f"; on the {which} {labelled}, on {percent(error, digits)}: "
    if abs(error - better_error) < 1e-12:
        return f"{start}as many errors as {named}"
    start += f"{change(error, better_error, n_items, alike=alike)} {named}"
    verdict = "no significant difference" if p >= SIGNIFICANCE else "the difference is significant"
    return f"{start}; {verdict} ({p_value(p)})"


def change(error: float, better_error: float, n_items: float, *, alike: bool = True) -> str:
    """How many fewer or more errors, up to the name of the better half: "62 % fewer errors than"."""
    side = "fewer" if error < better_error else "more"
    errors, better_errors = error * n_items, better_error * n_items
    if better_errors >= _FEW_ERRORS:
        return f"{_ratio(error / better_error)} {side} errors than"
    if alike and max(abs(errors - round(errors)), abs(better_errors - round(better_errors))) < 1e-6:
        return f"{count(round(errors), 'error')}, against {round(better_errors)} by"
    points = f"{100 * abs(error - better_error):.1f}"
    return f"{'less than 0.1' if points == '0.0' else points} points {side} errors than"


def _ratio(ratio: float) -> str:
    """How far a ratio of errors is from 1: rounded, but never to none, nor to all where some are left."""
    change = f"{100 * abs(1 - ratio):.0f} %"
    if change == "0 %":
        return "less than 1 %"
    return "more than 99 %" if change == "100 %" and 0 < ratio < 1 else change
