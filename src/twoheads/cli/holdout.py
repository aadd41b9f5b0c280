"""The items of a table to evaluate a team on, and the evaluation that they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twoheads.cli.table_options import print_notes
from twoheads.evaluation import without_truth
from twoheads.evaluation.comparison import compare_judged
from twoheads.evaluation.judging import judged
from twoheads.evaluation.leakage import CROSS_VALIDATED, TOO_KIND
from twoheads.evaluation.team import class_shares_of
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, as_truth
from twoheads.report.sections.people_section import people_section

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner
    from twoheads.tables import Table


def read_items(scanned: Table) -> tuple[Observations, Any]:
    """Read the items of a table and their truth."""
    observations, y = scanned.read()
    print_notes(scanned)
    return observations, y


def evaluate_team(team: Combiner, observations: Observations, y: Any, seed: int) -> dict[str, Any]:
    """Compare human, model and combination; without any truth, what can be known without it."""
    team = team.at_hand(observations)
    truth = as_truth(y, observations)
    if (truth == MISSING).all():
        found = without_truth(team, observations, random_state=seed).as_dict()
        people = people_section(team, observations, truth)
    else:
        items = judged(team, observations, y, random_state=seed)
        found = compare_judged(team, items, random_state=seed).as_dict()
        learnt = items.status in (CROSS_VALIDATED, TOO_KIND)
        people = people_section(team, items.observations, items.truth, fitted_on_same=learnt)
    shares = class_shares_of(team)
    if shares is not None:
        found |= {"class_shares": shares.as_dict(), "notes": [*found["notes"], shares.sentence()]}
    return found | ({"people": people} if people["available"] else {})
