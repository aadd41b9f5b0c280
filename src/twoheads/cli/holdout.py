"""The items of a table to evaluate a team on, and the evaluation that they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twoheads.cli.provenance import training_items_of
from twoheads.cli.table_options import TableOptions, print_notes
from twoheads.evaluation import compare, compare_predictions, cross_validated, without_truth
from twoheads.evaluation.leakage import HeldOut, held_out_items
from twoheads.evaluation.team import class_shares_of
from twoheads.kernels.arrays import MISSING
from twoheads.observations import as_truth
from twoheads.report.sections.people_section import people_section

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner


def read_held_out(team: Combiner, data: TableOptions) -> HeldOut:
    """Read a table, without the items whose truth the team was fitted on."""
    scanned = data.scan_for(team)
    observations, y = scanned.read()
    print_notes(scanned)
    has_ids = scanned.item_name in scanned.columns
    return held_out_items(observations, y, training_items_of(team), has_ids=has_ids)


def evaluate_team(team: Combiner, items: HeldOut, seed: int) -> dict[str, Any]:
    """Compare human, model and combination; without any truth, what can be known without it."""
    observations, y = items.observations, items.y
    team = team.at_hand(observations)
    truth = as_truth(y, observations)
    if (truth == MISSING).all():
        found = without_truth(team, observations, random_state=seed).as_dict()
    elif items.fitted_on_same:
        predicted = cross_validated(team, observations, y, random_state=seed)
        found = compare_predictions(predicted, random_state=seed).as_dict()
    else:
        found = compare(team, observations, y, random_state=seed).as_dict()
    people = people_section(team, observations, truth, fitted_on_same=items.fitted_on_same)
    if people["available"]:
        found["people"] = people
    shares = class_shares_of(team)
    if shares is not None:
        found |= {"class_shares": shares.as_dict(), "notes": [*found["notes"], shares.sentence()]}
    return found | {"notes": [*items.notes, *found["notes"]]}
