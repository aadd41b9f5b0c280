"""Sums over items from which the difference of two errors on the same items is tested, block by block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twoheads.kernels.arrays import Floats


class DifferenceSums(NamedTuple):
    """Sums over items of weights w, (n,) each or numbers; d is the difference of two errors, from -1 to 1.

    weight, squared_weight, fourth_power  ``w``, ``w^2`` and ``w^4``, of all items compared
    difference, absolute                  ``w d`` and ``|w d|``
    size, squared                         ``w d^2`` and ``(w d)^2``
    """

    weight: Any
    squared_weight: Any
    fourth_power: Any
    difference: Any
    absolute: Any
    size: Any
    squared: Any


def weighted_differences(difference: Floats, weight: Floats) -> DifferenceSums:
    """What each item adds to the sums, (n_items,) each."""
    weighted = weight * difference
    powers = weight, weight**2, weight**4
    return DifferenceSums(*powers, weighted, np.abs(weighted), weighted * difference, weighted**2)
