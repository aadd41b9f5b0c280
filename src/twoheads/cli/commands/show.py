"""``twoheads show``."""

from __future__ import annotations

from typing import Annotated

import typer

from twoheads.cli import console
from twoheads.cli.history import print_history
from twoheads.cli.methods import read_team
from twoheads.cli.options import Team
from twoheads.cli.provenance import described, fitted_when
from twoheads.cli.signatures import Result


def show(
    team: Team,
    history: Annotated[
        bool, typer.Option("--history", help="What was done with the team: when, and with which files.")
    ] = False,
) -> Result:
    """Describe a fitted team in sentences and numbers.

    Example:  twoheads show team.json
    """
    fitted = read_team(team)
    if history:
        print_history(fitted.history())
        return {"history": fitted.history()}
    if made := fitted.provenance():
        console.line(f"{made['method']}, fitted {fitted_when(fitted)} on {', '.join(made['source'].values())}.")
    console.line(fitted.describe())
    return described(fitted)
