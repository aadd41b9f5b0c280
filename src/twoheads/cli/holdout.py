"""The items of a table to evaluate a team on, and the evaluation that they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twoheads.cli.table_options import hint_at_truth, print_notes
from twoheads.combination.items import fits_in_memory
from twoheads.evaluation import without_truth
from twoheads.evaluation.comparison import compare_judged
from twoheads.evaluation.judging import judged
from twoheads.evaluation.leakage import CROSS_VALIDATED, TOO_KIND
from twoheads.evaluation.team import class_shares_of
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, as_truth
from twoheads.report.sections.people_section import people_section
from twoheads.tables.sampling import sample_table

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner
    from twoheads.tables import Table


#: Of a table too large to be read whole, at most so many items of known truth are judged, and as many of the others.
MOST_ITEMS = 250_000


def read_items(scanned: Table) -> tuple[Observations, Any, str]:
    """Read the items of a table and their truth; of too many to be read whole a sample, which a sentence names."""
    if fits_in_memory(scanned):
        observations, y = scanned.read()
        note = ""
    else:
        observations, y = sample_table(scanned, MOST_ITEMS)
        n_known = int((as_truth(y, observations) != MISSING).sum())
        by = "the hashes of their ids" if observations.has_ids else "the hashes of their row numbers"
        note = (
            f"The table has {scanned.n_rows:,} items, too many to be read whole: {len(observations):,} of them are "
            f"judged, {n_known:,} with truth, chosen at random by {by}."
        )
    print_notes(scanned)
    if y is None:
        hint_at_truth(scanned)
    return observations, y, note


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
