"""How a saved team was fitted: method, files, columns, seed, and which items, so that a fit can be repeated."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import twoheads as th

if TYPE_CHECKING:
    from twoheads.combination.combiner import Combiner
    from twoheads.evaluation.leakage import TrainingItems


def provenance_of_fit(
    *, method: str, seed: int, source: dict[str, str], columns: dict[str, Any], trained_on: TrainingItems
) -> dict[str, Any]:
    """The provenance of a team that was just fitted."""
    return {
        "method": method,
        "seed": seed,
        "source": source,
        "columns": columns,
        "fingerprint": trained_on.fingerprint,
        "labelled": trained_on.item_hashes,
        "fitted": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "twoheads": th.__version__,
    }


def training_items_of(team: Combiner) -> TrainingItems:
    """The items a team was fitted on, as its provenance has them."""
    from twoheads.evaluation.leakage import TrainingItems
    from twoheads.evaluation.team import n_labelled_of

    noted = team.provenance()
    return TrainingItems(noted.get("fingerprint"), noted.get("labelled"), n_labelled_of(team))


def seed_of(team: Combiner, seed: int | None) -> int:
    """The seed of the option, else that of the fit."""
    return int(team.provenance().get("seed", 0)) if seed is None else seed
