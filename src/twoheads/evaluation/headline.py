"""What a comparison found, in words."""

from __future__ import annotations

from twoheads.wording import count

_CHANCE = 0.05
#: Of fewer errors than this, no percentage is told: one more or less would make it another.
_FEW_ERRORS = 20


#: What the members of a comparison are called.
NAME = {
    "human": "human",
    "crowd": "people, combined",
    "model": "model",
    "calibrated_model": "model, calibrated",
    "combination": "combination",
}


def name_of(member: str, *, crowd: bool) -> str:
    """What a member is called; the human of several people, who are also combined, is their majority."""
    return "people, majority" if crowd and member == "human" else NAME[member]


def percent(share: float, n_items: int = 0) -> str:
    """Write a share as a percentage, with two decimals from 10,000 items on."""
    return f"{100 * share:.{_decimals(n_items)}f} %"


def interval(low: float | None, high: float | None, n_items: int = 0) -> str:
    """Write an interval of shares in per cent, such as "[1.6, 2.5]"; empty where there is none."""
    if low is None or high is None:
        return ""
    digits = _decimals(n_items)
    return f"[{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def p_text(p_value: float) -> str:
    """Write a p-value: "p < 0.001", "p = 0.004", "p = 0.21"; with more digits where it would round to 0.05."""
    if p_value < 0.001:
        return "p < 0.001"
    texts = (f"{p_value:.{digits}f}" for digits in range(3 if p_value < 0.01 else 2, 7))
    return "p = " + next((text for text in texts if float(text) != _CHANCE), str(_CHANCE))


def team_errs(n_items: int, error: float, low: float | None, high: float | None) -> str:
    """How often the combination errs, the beginning of the headline."""
    known = f" {interval(low, high, n_items)}" if low is not None else ""
    return f"On {count(n_items, 'item')} the combination errs on {percent(error, n_items)}{known}"


def against(
    better: str, better_error: float, error: float, p_value: float, n_items: int, *, of_all: bool, alone: bool = False
) -> str:
    """How that compares with the better of the two, or the one there is, and what to do; the end of the headline.

    better  "human", "model", or "crowd" for several people's answers combined without the model
    """
    name, better = (better, better) if better != "crowd" else ("people combined", "people")
    named = f"the {name} ({percent(better_error, n_items)})"
    if not alone:
        named = f"the better of the two ({name}, {percent(better_error, n_items)})"
    where = ": " if of_all else f"; on the {n_items:,} the {better} judged it errs on {percent(error, n_items)}, "
    p = p_text(p_value)
    if abs(error - better_error) < 1e-12:
        return f"{where}as many errors as {named}; so far the team gains nothing, so judge it on more items with truth."
    start = f"{where}{_change(error, better_error, n_items)} {named}"
    if error < better_error:
        if p_value < _CHANCE:
            return f"{start}; the difference is beyond chance ({p})."
        return f"{start}, but the difference is not beyond chance ({p}); judge the team on more items with truth."
    if p_value < _CHANCE:
        return (
            f"{start}; the difference is beyond chance ({p}): use the {better} alone, "
            "or fit the team on more items with truth."
        )
    return (
        f"{start}, but the difference is not beyond chance ({p}); "
        f"until more items with truth tell, the {better} alone {'do' if better == 'people' else 'does'} as well."
    )


def _change(error: float, better_error: float, n_items: int) -> str:
    """How many fewer or more errors, before the name of the better of the two."""
    side = "fewer" if error < better_error else "more"
    errors, better_errors = error * n_items, better_error * n_items
    if better_errors >= _FEW_ERRORS:
        return f"{100 * abs(1 - error / better_error):.0f} % {side} errors than"
    if max(abs(errors - round(errors)), abs(better_errors - round(better_errors))) < 1e-6:
        return f"{count(round(errors), 'error')} against {round(better_errors)} of"
    return f"{100 * abs(error - better_error):.1f} points {side} errors than"


def notes(how: str, n_items: int, n_unknown: int, n_not_asked: int, n_without_model: int) -> list[str]:
    """Say what to know about the items judged."""
    said = []
    if "cross-validation" in how:
        said.append(
            f"These are the items the team was fitted on, so it was judged by {how}: "
            "each item by a copy that had not seen its truth."
        )
    if n_items < 30:
        said.append(f"{count(n_items, 'item')} with known truth can tell little: the intervals are wide.")
    if n_unknown:
        said.append(f"{count(n_unknown, 'item')} of unknown truth {_was(n_unknown)} left out.")
    if n_not_asked:
        said.append(f"Nobody gave a label for {count(n_not_asked, 'item')}: the human is judged on the others.")
    if n_without_model == n_items:
        said.append("No model has seen these items: people's answers alone are combined.")
    elif n_without_model:
        said.append(f"The model has no row for {count(n_without_model, 'item')}: it is judged on the others.")
    return said


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _decimals(n_items: int) -> int:
    return 2 if n_items >= 10_000 else 1
