"""``twoheads evaluate``."""

from __future__ import annotations

from twoheads.cli import console
from twoheads.cli.class_shares_option import with_class_shares
from twoheads.cli.methods import read_team
from twoheads.cli.options import ClassShares, Json, Metrics, Seed, Team, reads_table
from twoheads.cli.provenance import seed_of
from twoheads.cli.results import print_comparison, print_without_truth
from twoheads.cli.score_tables import print_metrics
from twoheads.cli.table_options import TableOptions, split_names


@reads_table(truth=True)
def evaluate(
    team: Team,
    data: TableOptions,
    class_shares: ClassShares = None,
    metrics: Metrics = None,
    json: Json = False,
    seed: Seed = None,
) -> None:
    """Evaluate human, model and combination side by side, with intervals.

    The team is evaluated on items it has not learnt from. If it has learnt from all of them, it is cross-validated.
    With --metrics, these of the team, of each model and of each person are shown instead.

    Example:  twoheads evaluate team.json held-out.csv
    """
    from twoheads.cli.holdout import evaluate_team, read_items

    fitted = with_class_shares(read_team(team), class_shares)
    items = read_items(data.scan_for(fitted))
    if metrics is not None:
        print_metrics(fitted, *items, split_names(metrics, "--metrics"), seed_of(fitted, seed), as_json=json)
        return
    found = evaluate_team(fitted, *items, seed_of(fitted, seed))
    if json:
        console.as_json(found)
    elif "combination" in found:
        print_comparison(found)
    else:
        print_without_truth(found)
