"""The items of a table to evaluate a team on, and the evaluation that they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twoheads.cli.table_options import TableOptions, print_notes
from twoheads.evaluation import compare, without_truth
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, as_truth
from twoheads.report.sections.people_section import people_section

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner


def read_items(team: Combiner, data: TableOptions) -> tuple[Observations, Any]:
    """Read the items of a table and their truth."""
    scanned = data.scan_for(team)
    observations, y = scanned.read()
    print_notes(scanned)
    return observations, y


def evaluate_team(team: Combiner, observations: Observations, y: Any, seed: int) -> dict[str, Any]:
    """Compare human, model and combination; without any truth, what can be known without it."""
    if (as_truth(y, observations) == MISSING).all():
        found = without_truth(team, observations, random_state=seed).as_dict()
    else:
        found = compare(team, observations, y, random_state=seed).as_dict()
    people = people_section(team)
    return found | ({"people": people} if people["available"] else {})
