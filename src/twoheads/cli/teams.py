"""Teams by name, and what a team's file remembers of the table it was fitted on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import twoheads as th
from twoheads.errors import InvalidArtifact, InvalidParameter

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner

METHODS: dict[str, Callable[[str], Combiner]] = {
    "recommended": lambda scale: th.recommended(model_scale=scale),
    "guarded": lambda scale: th.recommended(guard=True, model_scale=scale),
    "P+L": lambda scale: th.ProbabilityLabelCombiner(model_scale=scale),
    "SP": lambda scale: th.ProbabilityLabelCombiner(th.OneCoinConfusion(), model_scale=scale),
    "Bayes": lambda scale: th.ProbabilityLabelCombiner(
        th.DirichletConfusion(estimate="mean"), th.TemperatureScaling(estimate="mean"), model_scale=scale
    ),
    "L+L": lambda scale: th.LabelLabelCombiner(model_scale=scale),
    "LR": lambda scale: th.LogisticCombiner(model_scale=scale),
}


def make_team(method: str, model_scale: str) -> Combiner:
    """A team that is yet to be fitted, by the name of its method."""
    if method not in METHODS:
        raise InvalidParameter(f"--method must be one of {', '.join(METHODS)}; it is {method!r}.")
    return METHODS[method](model_scale)


def remember(
    team: Any,
    *,
    method: str,
    seed: int,
    source: dict[str, str],
    columns: dict[str, Any],
    fingerprint: str,
    labelled: Any,
) -> None:
    """Note in the team what it was fitted on, so that it is not judged by the same rows, and can be repeated."""
    team.provenance_ = {
        "method": method,
        "seed": seed,
        "source": source,
        "columns": columns,
        "fingerprint": fingerprint,
        "labelled": labelled,
        "fitted": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "twoheads": th.__version__,
    }


def read_team(path: Path) -> Any:
    """A fitted team from its file."""
    from twoheads.combination.combiner import Combiner

    if not path.exists():
        raise InvalidArtifact(f"There is no file {path}. Make one with: twoheads fit TABLE -o {path}")
    if path.is_dir():
        raise InvalidArtifact(f"{path} is a folder; give the file that 'twoheads fit' wrote.")
    if path.suffix.lower() in (".csv", ".tsv", ".parquet", ".jsonl", ".gz", ".zst"):
        raise InvalidArtifact(f"{path} looks like a table; the team comes first: twoheads COMMAND team.json TABLE")
    team = th.load(path)
    if not isinstance(team, Combiner):
        raise InvalidArtifact(
            f"{path} holds a {type(team).__name__}, not a team. Give a file that 'twoheads fit' wrote."
        )
    return team


def provenance(team: Any) -> dict[str, Any]:
    """What a team's file remembers of its making; empty for a team saved from Python."""
    return dict(getattr(team, "provenance_", {}))
