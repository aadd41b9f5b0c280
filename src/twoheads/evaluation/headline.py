"""The result of a comparison as sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.combination import better_half
from twoheads.combination.better_half import decimals
from twoheads.combination.unseen import unseen_sentence
from twoheads.evaluation.difference import Difference
from twoheads.evaluation.leakage import TOO_KIND
from twoheads.kernels.arrays import Codes
from twoheads.observations.labels import label_text
from twoheads.text import SIGNIFICANCE, count, interval, percent

#: The members of a comparison as they are named in tables.
NAME = {
    "human": "human",
    "crowd": "people, combined",
    "model": "model",
    "calibrated_model": "model, calibrated",
    "combination": "combination",
}
_LABEL_MORE = "Label more items before preferring the team."


def name_of(member: str, *, several: bool) -> str:
    """Name of a member; with several people on an item the human is their majority vote."""
    return "people, majority" if several and member == "human" else NAME[member]


def of_its_items(n_items: int, n_all: int) -> str:
    """What follows the name of a member that is scored on fewer items than all."""
    return "" if n_items == n_all else f" ({count(n_items, 'item')})"


def team_error(
    n_items: int, error: float, low: float | None, high: float | None, how: str, *, name: str = NAME["combination"]
) -> str:
    """Error of the combination, and on what kind of items: the beginning of the headline."""
    digits = decimals(n_items)
    known = f" {interval(low, high, digits)}" if low is not None else ""
    return f"On {count(n_items, 'item')} ({how}) the {name} errs on {percent(error, digits)}{known}"


def compared_with(found: Difference, *, of_all: bool) -> str:
    """Compare with the better half: the middle of the headline, without the full stop.

    of_all  whether the better half has a label for every item
    """
    numbers = found.better_error, found.error, found.p_value, found.n_items
    words = {"of_all": of_all, "only": found.n_rivals == 1, "alike": not found.weighted}
    return better_half.against(found.words, *numbers, **words)


def against(found: Difference, *, of_all: bool) -> str:
    """Compare with the better half and recommend what to do: the end of the headline."""
    compared = compared_with(found, of_all=of_all)
    if found.p_value >= SIGNIFICANCE or found.error == found.better_error:
        return f"{compared}. {_LABEL_MORE}"
    if found.error < found.better_error:
        return f"{compared}."
    return f"{compared}. Use {found.words} instead, or fit the team on more items with truth."


def notes(
    how: str, n_items: int, n_unknown: int, n_not_asked: int, n_without_model: int, *, machines: bool = False
) -> list[str]:
    """Remarks on the items evaluated, a sentence each.

    machines  whether models give labels or scores, and none gives probabilities
    """
    found = []
    if "cross-validation" in how:
        found.append(f"The team was evaluated by {how}: each item by a copy fitted without its truth.")
    if how == TOO_KIND:
        found.append("The team has learnt from these items: its errors here are too few.")
    if n_items < 30:
        found.append(f"With {count(n_items, 'item')} of known truth the intervals are wide.")
    if n_unknown:
        found.append(f"{count(n_unknown, 'item')} of unknown truth {_was(n_unknown)} left out.")
    if n_not_asked == n_items:
        without = "people are not evaluated" if not machines else "only models' labels and scores are combined"
        found.append(f"Nobody answered about these items: {without}.")
    elif n_not_asked:
        items = f"{count(n_not_asked, 'item')} {_has(n_not_asked)}"
        found.append(f"{items} no person's answer: people are evaluated on the others.")
    if n_without_model == n_items and machines:
        return found
    if n_without_model == n_items:
        found.append("No model has predictions for these items: only people's answers are combined.")
    elif n_without_model:
        items = f"{count(n_without_model, 'item')} {_has(n_without_model)}"
        found.append(f"{items} no model prediction: the model is evaluated on the others.")
    return found


def unseen(classes: NDArray[Any], true_label: Codes) -> list[str]:
    """What items evaluated cannot show of classes that none of them is of; codes (n_items,)."""
    seen = np.bincount(true_label, minlength=len(classes)) > 0
    found = unseen_sentence([label_text(name) for name in classes.tolist()], seen.tolist(), len(true_label))
    return [] if found is None else [found]


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"
