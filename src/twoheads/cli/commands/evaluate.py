"""``twoheads evaluate``."""

from __future__ import annotations

from twoheads.cli import console
from twoheads.cli.class_shares_option import with_class_shares
from twoheads.cli.methods import read_team
from twoheads.cli.options import ClassShares, Metrics, Seed, Team, reads_table
from twoheads.cli.provenance import seed_of
from twoheads.cli.results import print_comparison, print_without_truth
from twoheads.cli.score_tables import print_metrics
from twoheads.cli.signatures import Result
from twoheads.cli.table_options import TableOptions, split_names


@reads_table(truth=True)
def evaluate(
    team: Team, data: TableOptions, class_shares: ClassShares = None, metrics: Metrics = None, seed: Seed = None
) -> Result:
    """Evaluate human, model and combination side by side, with intervals.

    The team is evaluated on items it has not learnt from. If it has learnt from all of them, it is cross-validated.
    With --metrics, these metrics are shown instead, for the team, each model and each person.

    Example:  twoheads evaluate team.json held-out.csv
    """
    from twoheads.cli.holdout import evaluate_team, read_items

    fitted = with_class_shares(read_team(team), class_shares)
    observations, y, note = read_items(data.scan_for(fitted))
    found = evaluate_team(fitted, observations, y, seed_of(fitted, seed))
    found["notes"] += [note] if note else []
    if metrics is not None:
        return found | print_metrics(
            fitted, observations, y, split_names(metrics, "--metrics"), random_state=seed_of(fitted, seed)
        )
    if console.wants_json():  # it has the notes too
        return found
    if "combination" in found:
        print_comparison(found)
    else:
        print_without_truth(found)
    return found
