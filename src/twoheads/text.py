"""Numbers and names in sentences: counts, percentages, intervals, p-values and lists."""

from __future__ import annotations

from collections.abc import Sequence

#: The significance level; a p-value is never rounded to it.
SIGNIFICANCE = 0.05


def count(number: float, one: str, many: str | None = None) -> str:
    """Write how many of what there are: "1 item", "3,000 items", "2 people"."""
    shown = f"{number:,.0f}"
    return f"{shown} {one if shown == '1' else many or one + 's'}"


def percent(share: float, digits: int = 0) -> str:
    """Write a share as a percentage: "15 %", or with more digits "15.0 %"."""
    return f"{100 * share:.{digits}f} %"


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """Write an interval of shares in per cent, such as "[1.6, 2.5]"; empty if there is none."""
    if low is None or high is None:
        return ""
    return f"[{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def p_value(value: float) -> str:
    """Write a p-value: "p < 0.001", "p = 0.004", "p = 0.21"; with more digits if it would round to 0.05."""
    if value < 0.001:
        return "p < 0.001"
    texts = (f"{value:.{digits}f}" for digits in range(3 if value < 0.01 else 2, 7))
    return "p = " + next((text for text in texts if float(text) != SIGNIFICANCE), str(SIGNIFICANCE))


def cut(text: str, most: int = 80) -> str:
    """A text, or the beginning of a long one."""
    return text if len(text) <= most else f"{text[:most]}..."


def listed(names: Sequence[object], most: int = 12) -> str:
    """Names with commas between them, the first few of many: "a, b, ... (12 in all)"."""
    shown = ", ".join(cut(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


def probability(value: float) -> str:
    """Write a probability: "74 %", or "above 99 %"."""
    return "above 99 %" if value > 0.99 else "below 1 %" if value < 0.01 else percent(value)
