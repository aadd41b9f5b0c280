"""Numbers and names in sentences: counts, percentages, intervals, p-values and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

#: The significance level; a p-value is never rounded to it.
SIGNIFICANCE = 0.05
#: Characters of a name that are compared with others: comparing takes time that grows with the square.
_COMPARED = 80
#: Words before the name of a person, or the number.
_PERSON = ("annotator", "expert", "human", "person", "rater", "reader", "user", "worker")


def count(number: float, one: str, many: str | None = None) -> str:
    """Write how many of what there are: "1 item", "3,000 items", "2 people"."""
    shown = f"{number:,.0f}"
    return f"{shown} {one if shown == '1' else many or one + 's'}"


def are(number: float, one: str, many: str | None = None) -> str:
    """Write how many of what are: "1 row is", "3 rows are"."""
    counted = count(number, one, many)
    return f"{counted} {'is' if counted.startswith('1 ') else 'are'}"


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
    """A text, or the beginning of a long one, on one line: a line break in it is shown as in Python."""
    shown = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text[:most])
    return shown if len(text) <= most else f"{shown}..."


def listed(names: Sequence[object], most: int = 12) -> str:
    """Names with commas between them, the first few of many: "a, b, ... (12 in all)"."""
    shown = ", ".join(cut(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"


def spelling(text: str) -> str:
    """What two spellings of one label have in common: no case, no blanks around it, single blanks within."""
    return " ".join(text.split()).casefold()


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a name, apart from case and signs, if any is.

    >>> nearest("Reader 3", ["reader_3", "reader_4"])
    'reader_3'
    """
    plain = {_letters(each): each for each in reversed(list(known))}
    near = get_close_matches(_letters(name), list(plain), n=1, cutoff=0.6)
    return plain[near[0]] if near else None


def same_person(name: str, known: Iterable[str]) -> str | None:
    """The known name of which a name is another spelling: apart from case, signs and a word such as "reader".

    >>> same_person("Reader 3", ["2", "3"]), same_person("ANN", ["ann"]), same_person("Reader 10", ["Reader 1"])
    ('3', 'ann', None)
    """
    wanted = _person(name)
    return next((each for each in known if _person(each) == wanted), None)


def _person(name: str) -> str:
    words = re.findall(r"[^\W_]+", name.casefold())
    return "".join(words[1:] if len(words) > 1 and words[0] in _PERSON else words)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to add to a message about a name that is not known: " Did you mean 'x'?"; empty if none is like it."""
    near = nearest(name, known)
    return "" if near is None else f" Did you mean {near!r}?"


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name[:_COMPARED]).casefold()


def probability(value: float) -> str:
    """Write a probability: "74 %", or "above 99 %"."""
    return "above 99 %" if value > 0.99 else "below 1 %" if value < 0.01 else percent(value)
