"""The items of a table to evaluate a team on, and the evaluation that they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twoheads.cli.provenance import training_items_of
from twoheads.cli.table_options import print_notes
from twoheads.evaluation import compare, compare_predictions, cross_validated, without_truth
from twoheads.evaluation.leakage import HeldOut, held_out_items
from twoheads.kernels.arrays import MISSING
from twoheads.observations import as_truth
from twoheads.report.sections.people_section import people_section

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner
    from twoheads.tables import Table


def read_held_out(team: Combiner, scanned: Table) -> HeldOut:
    """Read a table, without the items whose truth the team was fitted on."""
    observations, y = scanned.read()
    print_notes(scanned)
    has_ids = scanned.item_name in scanned.columns
    return held_out_items(observations, y, training_items_of(team), has_ids=has_ids)


def evaluate_team(team: Combiner, items: HeldOut, seed: int) -> dict[str, Any]:
    """Compare human, model and combination; without any truth, what can be known without it."""
    observations, y = items.observations, items.y
    if (as_truth(y, observations) == MISSING).all():
        found = without_truth(team, observations, random_state=seed).as_dict()
    elif items.fitted_on_same:
        predicted = cross_validated(team, observations, y, random_state=seed)
        found = compare_predictions(predicted, random_state=seed).as_dict()
    else:
        found = compare(team, observations, y, random_state=seed).as_dict()
    people = people_section(team)
    if people["available"]:
        found["people"] = people
    return found | {"notes": [*items.notes, *found["notes"]]}
