"""``twoheads ask``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twoheads import tables
from twoheads.cli import console
from twoheads.cli.methods import read_team
from twoheads.cli.options import ForSpreadsheet, Team, reads_table
from twoheads.cli.outputs import check_output, check_spreadsheet, refuse_both
from twoheads.cli.signatures import Result
from twoheads.cli.table_options import TableOptions, print_notes, split_names
from twoheads.errors import InvalidParameter
from twoheads.tables.formats.registry import titles
from twoheads.text import count, did_you_mean, same_person

if TYPE_CHECKING:
    from twoheads.policy import Plan


@reads_table(truth=False)
def ask(
    team: Team,
    budget: Annotated[float, typer.Option("--budget", help="The maximum total price of all questions.")],
    data: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=f"{titles(written=True)}, by its suffix; - is CSV to stdout."),
    ] = None,
    for_spreadsheet: ForSpreadsheet = False,
    people: Annotated[
        str | None,
        typer.Option("--people", help="Who can be asked; by default the people of the team.", metavar="A,B,..."),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            help="The price of an answer: NAME=2.5 (may be repeated), or one number for all.",
            metavar="PRICE",
        ),
    ] = None,
) -> Result:
    """Choose whom to ask about which item next: the questions expected to correct most labels for their price.

    The table is as for combine; it need not have any answers yet. Nobody is asked twice about the same item.

    Example:  twoheads ask team.json today.csv --budget 200 -o questions.csv
    """
    from twoheads.policy import choose

    fitted = read_team(team)
    scanned = data.scan_for(fitted, truth=False, need_people=False)
    refuse_both(output)
    output = None if output is None or str(output) == "-" else output
    if for_spreadsheet:
        check_spreadsheet(output)
    if output is not None:
        check_output(output, [team, *scanned.files])
    observations, _ = scanned.read(truth=False)
    print_notes(scanned)
    names = None if people is None else [name for name in split_names(people, "--people") if name]
    _note_unknown(names or (), fitted.annotators_)
    plan = choose(fitted, observations, budget, people=names, price=_prices(price or ["1"]))
    _write_plan(plan, scanned, output, for_spreadsheet=for_spreadsheet)
    for line in _sentences(plan, budget):
        console.message(line)
    if output is not None:
        console.message(f"The questions are in {output}.")
    return _as_dict(plan, budget) | {"output": output, "notes": list(scanned.notes)}


def _as_dict(plan: Plan, budget: float) -> Result:
    """The questions, the best first, and what they are expected to gain."""
    rows = zip(plan.item.tolist(), plan.annotator, plan.gain.tolist(), plan.price.tolist(), strict=True)
    return {
        "questions": [
            {"item": item, "annotator": name, "expected_gain": gain, "price": price} for item, name, gain, price in rows
        ],
        "budget": budget,
        "n_items": plan.n_items,
        "expected_now": plan.expected_now,
        "expected_after": plan.expected_after,
        "next_gain": plan.next_gain,
    }


def _note_unknown(names: Sequence[str], known: Sequence[str]) -> None:
    """Name those unknown to the team: a misspelt name would go unnoticed. Another spelling of a person is refused."""
    new = [name for name in names if name not in known]
    for name in new:
        if (same := same_person(name, known)) is not None:
            raise InvalidParameter(
                f"--people must name people as the team does; {name!r} is unknown to it "
                f"({len(new)} of {len(names)} names are). Did you mean {same!r}? "
                "If it is somebody new, give another name."
            )
    if new:
        console.message(
            f"--people names {count(len(new), 'person', 'people')} unknown to the team ({', '.join(new[:8])}): "
            f"the crowd's average accuracy is assumed.{did_you_mean(new[0], known)}"
        )


def _prices(texts: Sequence[str]) -> float | dict[str, float]:
    """Prices from ``NAME=PRICE`` for some people, or from one ``PRICE`` for all."""
    prices: dict[str, float] = {}
    for text in texts:
        name, named, number = text.rpartition("=")
        try:
            price = float(number)
        except ValueError:
            raise InvalidParameter(f"--price must be a number or NAME=NUMBER; it is {text!r}.") from None
        if not named and len(texts) == 1:
            return price
        if not named:
            raise InvalidParameter(f"--price must name the person if it is repeated; {text!r} does not.")
        prices[name.strip()] = price
    return prices


def _write_plan(plan: Plan, scanned: tables.Table, output: Path | None, *, for_spreadsheet: bool) -> None:
    """Write the questions as a table, best first: to a file, or as CSV to stdout."""
    from twoheads.tables.duckdb import pa
    from twoheads.tables.spreadsheets import without_formulas
    from twoheads.tables.verdict_batches import refuse_taken

    names = [scanned.item_name, "annotator", "expected_gain", "price"]
    refuse_taken(names[0], names[1:])
    columns = [
        pa.array(plan.item, scanned.item_type),
        pa.array(plan.annotator, pa.string()),
        pa.array(plan.gain),
        pa.array(plan.price),
    ]
    batches = [pa.RecordBatch.from_arrays(columns, names=names)]
    if for_spreadsheet:
        batches = list(without_formulas(batches))
    if output is not None:
        tables.write(output, batches)
    if output is not None or console.wants_json():
        return
    tables.write(sys.stdout.buffer, batches, format="csv")
    sys.stdout.flush()


def _sentences(plan: Plan, budget: float) -> list[str]:
    """What is asked, the expected gain, and whether more would pay; one sentence each."""
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
        return [
            *lines,
            f"More would pay: the next question is expected to correct {plan.next_gain:.4f} labels per unit of price.",
        ]
    return [
        *lines,
        "More would not pay: no other single answer is expected to change a label. Run it again with these answers.",
    ]
