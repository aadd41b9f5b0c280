"""Scores of members as the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from twoheads.evaluation.bootstrap import Score


class Scored(Protocol):
    """A member with its scores."""

    @property
    def n_items(self) -> int:
        """How many items it has labelled."""

    @property
    def scores(self) -> dict[str, Score | None]:
        """By the name of the metric."""


def member_columns(members: Mapping[str, Scored]) -> dict[str, list[Any]]:
    """One entry per member and metric that it has."""
    lines = [
        (name, member.n_items, metric, score.value, score.low, score.high)
        for name, member in members.items()
        for metric, score in member.scores.items()
        if score is not None
    ]
    names = ("member", "n_items", "metric", "value", "low", "high")
    return {name: [line[at] for line in lines] for at, name in enumerate(names)}
