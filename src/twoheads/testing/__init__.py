"""Contracts that a class of your own must keep, as functions that raise AssertionError where it does not.

>>> from twoheads import TemperatureScaling
>>> from twoheads.testing import check_calibrator
>>> check_calibrator(TemperatureScaling)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twoheads.testing.calibrators import check_calibrator
from twoheads.testing.combiners import check_combiner
from twoheads.testing.confusions import check_confusion
from twoheads.testing.exports import check_export
from twoheads.testing.items import check_countable_items, check_items
from twoheads.testing.stores import check_store

if TYPE_CHECKING:
    from twoheads.testing.formats import check_format

__all__ = [
    "check_calibrator",
    "check_combiner",
    "check_confusion",
    "check_countable_items",
    "check_export",
    "check_format",
    "check_items",
    "check_store",
]


def __getattr__(name: str) -> Any:
    if name == "check_format":  # needs Arrow, which the others do not
        from twoheads.testing.formats import check_format

        return check_format
    raise AttributeError(f"module 'twoheads.testing' has no attribute {name!r}")
