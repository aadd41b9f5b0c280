"""What ``ask`` takes and gives: people, prices, a table of questions, and what is to be expected of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from twoheads import tables
from twoheads.cli import say
from twoheads.cli.given import names_of
from twoheads.errors import InvalidParameter
from twoheads.wording import count

if TYPE_CHECKING:
    from twoheads.policy import Plan


def people_of(text: str | None) -> list[str] | None:
    """Names from ``A,B,...``; None where none are given."""
    return None if text is None else [name for name in names_of(text, "--people") if name]


def note_on_people(names: Sequence[str] | None, known: Sequence[str]) -> None:
    """Say who is not known to the team: a misspelt name would be overlooked."""
    new = [name for name in names or () if name not in known]
    if new:
        say.words(
            f"--people names {count(len(new), 'person', 'people')} unknown to the team ({', '.join(new[:8])}): "
            "taken to answer as all together do."
        )


def prices_of(given: Sequence[str]) -> float | dict[str, float]:
    """Prices from ``NAME=PRICE`` for some people, or from one ``PRICE`` for all."""
    prices: dict[str, float] = {}
    for text in given:
        name, named, number = text.rpartition("=")
        try:
            price = float(number)
        except ValueError:
            raise InvalidParameter(f"--price must be a number or NAME=NUMBER; it is {text!r}.") from None
        if not named and len(given) == 1:
            return price
        if not named:
            raise InvalidParameter(f"--price must say whose it is where there are several; {text!r} does not.")
        prices[name.strip()] = price
    return prices


def write_plan(plan: Plan, scanned: tables.Table, output: Path | None) -> None:
    """The questions as a table, best first: to a file, or as CSV to stdout."""
    from twoheads.tables.duckdb import pa

    names = [scanned.item_name, "annotator", "expected_gain", "price"]
    columns = [
        pa.array(plan.item, scanned.item_type),
        pa.array(plan.annotator, pa.string()),
        pa.array(plan.gain),
        pa.array(plan.price),
    ]
    batch = pa.RecordBatch.from_arrays(columns, names=names)
    if output is not None:
        tables.write(output, [batch])
        return
    tables.write(sys.stdout.buffer, [batch], format="csv")
    sys.stdout.flush()


def summary_of(plan: Plan, budget: float) -> list[str]:
    """What is asked, what it is expected to bring, and whether more would pay; one sentence each."""
    if not len(plan):
        why = "no price is within the budget" if plan.next_gain else "no single answer is expected to change a label"
        return [f"Nothing to ask about {count(plan.n_items, 'item')}: {why}."]
    people = len(set(plan.annotator))
    lines = [
        f"{count(len(plan), 'question')} to {count(people, 'person', 'people')}, for {plan.price.sum():g} "
        f"of a budget of {budget:g}.",
        f"Expected accuracy over {count(plan.n_items, 'item')}: {100 * plan.expected_now:.2f} % now, "
        f"{100 * plan.expected_after:.2f} % with the answers.",
    ]
    if plan.next_gain:
        return [*lines, f"More would pay: the next question would gain {plan.next_gain:.4f} of an item per price of 1."]
    return [*lines, "More does not pay: no other single answer is expected to change a label. Ask again with these in."]


def say_plan(plan: Plan, budget: float) -> None:
    """Say the summary, to stderr."""
    for line in summary_of(plan, budget):
        say.words(line)
