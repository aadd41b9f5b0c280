"""Numbers of statistics in words that need no statistics."""

from __future__ import annotations

import math

_FEW = 0.01  # below this share, errors are counted in 1,000 items
_NEARLY_ALL = 0.95  # a p-value from which "nearly all" is said
_ZERO = 0.05  # errors that round to none


def odds(p: float) -> str:
    """A p-value as how many of 100 or of 1,000: "fewer than 1 in 1,000", "about 36 in 100"."""
    if p < 0.001:
        return "fewer than 1 in 1,000"
    if p >= _NEARLY_ALL:
        return "nearly all"
    return f"about {1000 * p:.0f} in 1,000" if p < 0.01 else f"about {100 * p:.0f} in 100"


def odds_at_most(p: float) -> str:
    """A bound of a p-value, rounded up: "fewer than 1 in 1,000", "at most 5 in 1,000", "at most 4 in 100"."""
    if p < 0.001:
        return "fewer than 1 in 1,000"
    return f"at most {math.ceil(1000 * p)} in 1,000" if p < 0.01 else f"at most {math.ceil(100 * p)} in 100"


def errors_between(low: float, high: float) -> str:
    """An interval of a difference of errors: "3.1 to 6.0 fewer errors in 100 items"."""
    of = 1000 if max(abs(low), abs(high)) < _FEW else 100
    end = f"in {of:,} items"
    if of * high < _ZERO:
        return f"{_number(-high, of)} to {_number(-low, of)} fewer errors {end}"
    if of * low > -_ZERO:
        return f"{_number(low, of)} to {_number(high, of)} more errors {end}"
    return f"anything from {_number(-low, of)} fewer to {_number(high, of)} more errors {end}"


def errors_at_most(share: float) -> str:
    """A largest difference: "0.8 errors in 100 items", rounded up."""
    of = 1000 if share < _FEW else 100
    return f"{math.ceil(10 * of * share) / 10:.1f} errors in {of:,} items"


def about(number: int) -> str:
    """A number of items to label, to two digits: "60", "760", "1,000"; below 100 to tens, and at least 10."""
    step = 10 ** max(1, len(str(number)) - 2)
    return f"{max(10, round(number / step) * step):,}"


def _number(share: float, of: int) -> str:
    return f"{max(0.0, of * share):.1f}"
