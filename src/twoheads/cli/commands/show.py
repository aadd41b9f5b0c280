"""``twoheads show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from twoheads.cli import console
from twoheads.cli.history import print_history
from twoheads.cli.methods import read_team
from twoheads.cli.options import Json, Team
from twoheads.cli.provenance import fitted_when

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner


def show(
    team: Team,
    history: Annotated[
        bool, typer.Option("--history", help="What was done with the team: when, and with which files.")
    ] = False,
    json: Json = False,
) -> None:
    """Describe a fitted team in sentences and numbers.

    Example:  twoheads show team.json
    """
    fitted = read_team(team)
    made = fitted.provenance()
    if history:
        _show_history(fitted, json=json)
        return
    if json:
        console.as_json({"team": type(fitted).__name__, **made, **fitted.facts()})
        return
    if made:
        console.line(f"{made['method']}, fitted {fitted_when(fitted)} on {', '.join(made['source'].values())}.")
    console.line(fitted.describe())


def _show_history(team: Combiner, *, json: bool) -> None:
    if json:
        console.as_json({"history": team.history()})
    else:
        print_history(team.history())
