"""What the numbers of a saved team must be: those of its record, and those of L+L."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.label_label import LabelLabelCombiner
from twoheads.storage.damage import need

_LARGEST = 1e100
#: By so much a sum may be above another that it is a part of.
_ROUNDING = 1e-6


def need_record(record: HoldoutRecord) -> None:
    """Refuse a record with numbers that no fit gives."""
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name != "rivals":
            _need_number(record, field.name, value, signed=field.name.startswith("expected"))
    for name in ("unit", "unit_over_human", "unit_over_model"):
        need(getattr(record, name) > 0, f"the {name} of its HoldoutRecord is not positive")
    need(record.answers_per_item >= 1.0 - _ROUNDING, "the answers_per_item of its HoldoutRecord is below 1")
    need(record.both_wrong_p <= 1.0, "the both_wrong_p of its HoldoutRecord is above 1")
    for part, whole in _PARTS:
        fine = getattr(record, part) <= getattr(record, whole) * (1.0 + _ROUNDING) + _ROUNDING
        need(fine, f"the {part} of its HoldoutRecord is more than its {whole}")


#: Numbers of items, and those that they are among.
_PARTS = (
    ("both_wrong", "both_labelled"),
    ("both_wrong_by_chance", "both_labelled"),
    ("both_labelled", "items"),
    ("errors", "n"),
    ("human_errors", "answered"),
    ("model_errors", "modelled"),
    ("answered", "n"),
    ("modelled", "n"),
)


def need_label_label(team: LabelLabelCombiner) -> None:
    """Refuse a team of L+L whose unit is not a weight, or whose labels are not counted."""
    unit: Any = getattr(team, "unit_", None)
    fine = isinstance(unit, float) and 0 < unit < _LARGEST
    need(fine, "its unit_ is not a positive number")
    numbers: Any = getattr(team, "label_numbers_", None)
    fine = isinstance(numbers, np.ndarray) and numbers.shape == (len(team.annotators_) + 1,)
    fine = fine and numbers.dtype.kind == "f" and bool(((numbers >= 0) & (numbers < _LARGEST)).all())
    need(fine, "its label_numbers_ are not a number per person and one of the model")


def _need_number(record: HoldoutRecord, name: str, value: Any, *, signed: bool) -> None:
    for each in value if isinstance(value, tuple) else (value,):
        fine = abs(each) < _LARGEST and (signed or each >= -_ROUNDING)
        need(fine, f"the {name} of its HoldoutRecord is {'not finite' if signed else 'negative or not finite'}")
