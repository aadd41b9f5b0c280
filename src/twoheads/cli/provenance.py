"""How a saved team was fitted: method, files, columns and seed, so that a fit can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import twoheads as th

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner


def provenance_of_fit(*, method: str, seed: int, source: dict[str, str], columns: dict[str, Any]) -> dict[str, Any]:
    """The provenance of a team that was just fitted."""
    return {
        "method": method,
        "seed": seed,
        "source": source,
        "columns": columns,
        "fitted": now(),
        "twoheads": th.__version__,
    }


def save_team(
    team: Combiner, output: Path, provenance: dict[str, Any], history: Sequence[Any], *, keep_sample: bool = True
) -> None:
    """Save a fitted team, with how it was fitted, what was done with it, and what describing it computes."""
    team.note_provenance(provenance).note_history(history)
    team.describe()
    team.save(output, keep_sample=keep_sample)


def described(team: Combiner) -> dict[str, Any]:
    """A team in numbers, for JSON: its class, its provenance, and what was learnt."""
    return {"team": type(team).__name__, **team.provenance(), **team.facts()}


def seed_of(team: Combiner, seed: int | None) -> int:
    """The seed of the option, else that of the fit."""
    return int(team.provenance().get("seed", 0)) if seed is None else seed


def now() -> str:
    """The time to the minute, as files have it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def today() -> str:
    """The date of something made now."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def fitted_when(team: Combiner) -> str | None:
    """When a team was fitted: of one with kept items, the time of the last change."""
    made, history = team.provenance(), team.history()
    found = made.get("fitted") or (history[-1].get("when") if history else None)
    return None if found is None else str(found)
