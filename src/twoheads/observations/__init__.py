"""The border of the library: input in any of its forms, checked once, as frozen `Observations`."""

from __future__ import annotations

from twoheads.observations.checks import as_weight
from twoheads.observations.convert import as_model, as_observations
from twoheads.observations.model_checks import OBSERVATIONS_TERMS, SUM_TOLERANCE, ModelTerms
from twoheads.observations.observations import Observations
from twoheads.observations.people_alone import answers_of_people, machines_in, people_in, without_machines
from twoheads.observations.targets import as_targets, as_truth, counted_items, labelled_items, matched_rows

__all__ = [
    "OBSERVATIONS_TERMS",
    "SUM_TOLERANCE",
    "ModelTerms",
    "Observations",
    "answers_of_people",
    "as_model",
    "as_observations",
    "as_targets",
    "as_truth",
    "as_weight",
    "counted_items",
    "labelled_items",
    "machines_in",
    "matched_rows",
    "people_in",
    "without_machines",
]
