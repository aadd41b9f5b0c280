"""The result of a comparison as sentences."""

from __future__ import annotations

from twoheads.text import SIGNIFICANCE, count, interval, p_value, percent

#: With fewer errors than this, counts are given in place of percentages: one error more or less would change them.
_FEW_ERRORS = 20

#: The members of a comparison as they are named in tables.
NAME = {
    "human": "human",
    "crowd": "people, combined",
    "model": "model",
    "calibrated_model": "model, calibrated",
    "combination": "combination",
}
_LABEL_MORE = "Label more items before preferring the team."


def name_of(member: str, *, crowd: bool) -> str:
    """Name of a member; with several people, who are also combined, the human is their majority vote."""
    return "people, majority" if crowd and member == "human" else NAME[member]


def decimals(n_items: int) -> int:
    """Digits of a percentage of so many items: one, and two from 10,000 items on."""
    return 2 if n_items >= 10_000 else 1


def team_error(n_items: int, error: float, low: float | None, high: float | None) -> str:
    """Error of the combination: the beginning of the headline."""
    digits = decimals(n_items)
    known = f" {interval(low, high, digits)}" if low is not None else ""
    return f"On {count(n_items, 'item')} the combination errs on {percent(error, digits)}{known}"


def against(
    better: str, better_error: float, error: float, p: float, n_items: int, *, of_all: bool, alone: bool = False
) -> str:
    """Compare with the better partner, or the only one, and recommend what to do: the end of the headline.

    better  "human", "model", or "crowd" for several people's answers combined without the model
    of_all  whether the better partner has a label for every item
    alone   whether there is only one partner
    """
    digits = decimals(n_items)
    partner = "people" if better == "crowd" else better
    name = "people combined, without the model" if better == "crowd" else f"the {better} alone"
    named = f"{name} ({percent(better_error, digits)})" + ("" if alone else ", the better of the two")
    start = ": " if of_all else f"; on the {n_items:,} with a label of the {partner}, on {percent(error, digits)}, "
    if abs(error - better_error) < 1e-12:
        return f"{start}as many errors as {named}. {_LABEL_MORE}"
    start += f"{_change(error, better_error, n_items)} {named}"
    if p >= SIGNIFICANCE:
        return f"{start}; no significant difference ({p_value(p)}). {_LABEL_MORE}"
    start += f"; the difference is significant ({p_value(p)})."
    if error < better_error:
        return start
    return f"{start} Use the {partner} alone, or fit the team on more items with truth."


def _change(error: float, better_error: float, n_items: int) -> str:
    """How many fewer or more errors, up to the name of the better partner."""
    side = "fewer" if error < better_error else "more"
    errors, better_errors = error * n_items, better_error * n_items
    if better_errors >= _FEW_ERRORS:
        return f"{100 * abs(1 - error / better_error):.0f} % {side} errors than"
    if max(abs(errors - round(errors)), abs(better_errors - round(better_errors))) < 1e-6:
        return f"{count(round(errors), 'error')}, against {round(better_errors)} by"
    return f"{100 * abs(error - better_error):.1f} points {side} errors than"


def notes(how: str, n_items: int, n_unknown: int, n_not_asked: int, n_without_model: int) -> list[str]:
    """Remarks on the items evaluated, a sentence each."""
    found = []
    if "cross-validation" in how:
        found.append(
            f"The team was fitted on these items, so it was evaluated by {how}: "
            "each item by a copy fitted without its truth."
        )
    if n_items < 30:
        found.append(f"With {count(n_items, 'item')} of known truth the intervals are wide.")
    if n_unknown:
        found.append(f"{count(n_unknown, 'item')} of unknown truth {_was(n_unknown)} left out.")
    if n_not_asked:
        items = f"{count(n_not_asked, 'item')} {_has(n_not_asked)}"
        found.append(f"{items} no answer: the human is evaluated on the others.")
    if n_without_model == n_items:
        found.append("No model has predictions for these items: only people's answers are combined.")
    elif n_without_model:
        items = f"{count(n_without_model, 'item')} {_has(n_without_model)}"
        found.append(f"{items} no model prediction: the model is evaluated on the others.")
    return found


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"
