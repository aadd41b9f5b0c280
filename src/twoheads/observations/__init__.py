"""The border of the library: input in any of its forms, checked once, as frozen `Observations`."""

from __future__ import annotations

from twoheads.observations.observations import (
    SUM_TOLERANCE,
    Observations,
    as_model,
    as_observations,
    as_targets,
    as_truth,
    as_weight,
    labelled_items,
)

__all__ = [
    "SUM_TOLERANCE",
    "Observations",
    "as_model",
    "as_observations",
    "as_targets",
    "as_truth",
    "as_weight",
    "labelled_items",
]
