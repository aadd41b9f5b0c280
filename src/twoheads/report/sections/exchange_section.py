"""Errors of each partner that the combination corrects, and those it introduces."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from twoheads.evaluation import Comparison
from twoheads.report.sections.common import unavailable
from twoheads.text import count


def exchange_section(comparison: Comparison) -> dict[str, Any]:
    """Count corrected and introduced errors against each partner."""
    human = "majority" if any(rival.key == "majority" for rival in comparison.rivals) else "human"
    partners = {
        "human": (human, comparison.human, comparison.human_exchange),
        "model": ("model", comparison.model, comparison.model_exchange),
    }
    if all(exchange is None for *_, exchange in partners.values()):
        return unavailable(
            "Neither people nor a model that gives probabilities have labels on these items to compare with."
        )
    section: dict[str, Any] = {"available": True}
    clauses, ties = [], []
    for key, (name, member, exchange) in partners.items():
        section[key] = None if exchange is None else asdict(exchange)
        if exchange is not None and member is not None:
            clauses.append(
                f"corrects {count(exchange.rescued, 'error')} of the {name} and introduces "
                f"{count(exchange.lost, 'error')} where the {name} is right"
            )
            tied = member.n_items - sum(asdict(exchange).values())
            if tied:
                ties.append(f" {count(tied, 'item')} on which it or the {name} is tied {_is(tied)} not counted.")
    section["words"] = f"The team {'; it '.join(clauses)}.{''.join(ties)}"
    return section


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
