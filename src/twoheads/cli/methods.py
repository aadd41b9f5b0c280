"""Teams by the name of their method, and from their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import twoheads as th
from twoheads.errors import InvalidArtifact, InvalidParameter
from twoheads.tables.formats.registry import looks_like_table
from twoheads.text import did_you_mean

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner
    from twoheads.evaluation import UnfittedTeam

METHODS: dict[str, Callable[[str], Combiner]] = {
    "recommended": lambda scale: th.recommended(model_scale=scale),
    "P+L": lambda scale: th.ProbabilityLabelCombiner(model_scale=scale),
    "SP": lambda scale: th.ProbabilityLabelCombiner(th.OneCoinConfusion(), model_scale=scale),
    "Bayes": lambda scale: th.ProbabilityLabelCombiner(
        th.DirichletConfusion(estimate="mean"), th.TemperatureScaling(estimate="mean"), model_scale=scale
    ),
    "L+L": lambda scale: th.LabelLabelCombiner(model_scale=scale),
    "LR": lambda scale: th.LogisticCombiner(model_scale=scale),
}

#: The methods that ``compare`` knows, in their order.
COMPARED = ("recommended", "P+L", "P+L-EM", "L+L", "SP", "LR", "Bayes")


def compared_methods(names: list[str], model_scale: str) -> dict[str, UnfittedTeam]:
    """Unfitted teams by the names of their methods; P+L-EM is P+L fitted without any truth."""
    from twoheads.evaluation import FitWithoutTruth

    unknown = [name for name in names if name not in COMPARED]
    if unknown or not names:
        raise InvalidParameter(f"--methods must be some of {', '.join(COMPARED)}; it has {(unknown or [''])[0]!r}.")
    return {
        name: FitWithoutTruth(METHODS["P+L"](model_scale)) if name == "P+L-EM" else METHODS[name](model_scale)
        for name in names
    }


def make_team(method: str, model_scale: str) -> Combiner:
    """An unfitted team by the name of its method."""
    if method not in METHODS:
        meant = did_you_mean(method, METHODS)
        raise InvalidParameter(f"--method must be one of {', '.join(METHODS)}; it is {method!r}.{meant}")
    return METHODS[method](model_scale)


def read_team(path: Path) -> Combiner:
    """A fitted team from its file."""
    from twoheads.combination.combiner import Combiner

    if not path.exists():
        raise InvalidArtifact(f"There is no file {path}. Make one with: twoheads fit TABLE -o {path}")
    if path.is_dir():
        raise InvalidArtifact(f"{path} is a folder; give the file that 'twoheads fit' wrote.")
    if looks_like_table(path.name):
        raise InvalidArtifact(f"{path} looks like a table; the team comes first: twoheads COMMAND team.json TABLE")
    team = th.load(path)
    if not isinstance(team, Combiner):
        raise InvalidArtifact(
            f"{path} holds a {type(team).__name__}, not a team. Give a file that 'twoheads fit' wrote."
        )
    return team
