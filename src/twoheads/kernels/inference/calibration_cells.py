"""Cells of a calibration error: for each class the bins of its probability, and what is expected and seen in each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.grouped_rows import sums
from twoheads.kernels.scoring.scores import bin_codes, equal_mass_boundaries


class Cells(NamedTuple):
    """A cell for each class and bin.

    cell    (n_classes, n_items) the cell of each item's probability
    weight  (n_items,) what each item counts over the total, divided by the number of classes
    size    how many cells there are
    """

    cell: Codes
    weight: Floats
    size: int


def equal_mass_cells(proba: Floats, weight: Floats, n_bins: int) -> Cells:
    """Bins of equal weight for each class; proba (n_classes, n_items), weight (n_items,)."""
    bins = np.stack([bin_codes(row, equal_mass_boundaries(row, weight, n_bins)) for row in proba])
    cell = bins + n_bins * np.arange(len(proba))[:, None]
    return Cells(cell, weight / (weight.sum() * len(proba)), n_bins * len(proba))


def expected_cells(proba: Floats, cells: Cells) -> Floats:
    """``sum_{i in cell} w_i p_i``, (n_cells,); proba (n_classes, n_items)."""
    return sums(cells.cell.ravel(), (proba * cells.weight).ravel(), cells.size)


def outcome_cells(labels: Codes, cells: Cells) -> Floats:
    """``sum_{i in cell} w_i 1[y_i = class]`` of each draw; labels (n_draws, n_items), returns (n_draws, n_cells)."""
    n_draws, n_items = labels.shape
    cell = cells.cell[labels, np.arange(n_items)] + cells.size * np.arange(n_draws)[:, None]
    weight = np.broadcast_to(cells.weight, labels.shape).ravel()
    return sums(cell.ravel(), weight, n_draws * cells.size).reshape(n_draws, cells.size)
