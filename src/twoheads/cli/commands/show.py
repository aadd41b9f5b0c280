"""``twoheads show``."""

from __future__ import annotations

from twoheads.cli import console
from twoheads.cli.methods import read_team
from twoheads.cli.options import Json, Team


def show(team: Team, json: Json = False) -> None:
    """Describe a fitted team in sentences and numbers.

    Example:  twoheads show team.json
    """
    fitted = read_team(team)
    made = fitted.provenance()
    if json:
        console.as_json({"team": type(fitted).__name__, **made, **fitted.facts()})
        return
    if made:
        console.line(f"{made['method']}, fitted {made['fitted']} on {', '.join(made['source'].values())}.")
    console.line(fitted.describe())
