"""Errors of each partner that the combination corrects, and those it introduces."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from twoheads.evaluation import Comparison
from twoheads.report.sections.common import unavailable
from twoheads.text import count


def exchange_section(comparison: Comparison) -> dict[str, Any]:
    """Count corrected and introduced errors against each partner."""
    partners = {"human": comparison.human_exchange, "model": comparison.model_exchange}
    if all(exchange is None for exchange in partners.values()):
        return unavailable(
            "Neither people nor a model that gives probabilities have labels on these items to compare with."
        )
    section: dict[str, Any] = {"available": True}
    clauses = []
    for name, exchange in partners.items():
        section[name] = None if exchange is None else asdict(exchange)
        if exchange is not None:
            clauses.append(
                f"corrects {count(exchange.rescued, 'error')} of the {name} and introduces "
                f"{count(exchange.lost, 'error')} where the {name} is right"
            )
    section["words"] = f"The team {'; it '.join(clauses)}."
    return section
