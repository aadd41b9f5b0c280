"""What is taken away where each labelled answer is left out: the whole weight of its item, from its own cell.

An answer that stands for w items of the population is w in the counts, all of which come from its own item. A cell is a
pair (column of the answer, truth). Rows without an answer are needed at every distinct weight of a cell: they are
computed at a bounded number of weights, and between these they are polynomials of the weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander

from twoheads.kernels.arrays import Codes, Floats

#: Distinct weights of a cell up to which every one is computed; of more, the heaviest, and points between the others.
EXACT, HEAVIEST = 12, 4
_POINTS = EXACT - HEAVIEST
_FROM_POINTS: Floats = np.asarray(np.linalg.inv(chebvander(chebpts1(_POINTS), _POINTS - 1)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Removals:
    """The points (column, truth, weight) at which rows without an answer are computed, cell by cell.

    With more than `EXACT` distinct weights in a cell, the `HEAVIEST` are points themselves. Each of the others is less
    than a fifth of the cell's count, where rows are smooth in the weight: a polynomial through 8 Chebyshev points has
    them to 1e-8 (`tests/kernels/test_removal.py`).

    column, truth, weight  (n_points,)
    place                  from the cell, ``column * n_classes + truth``, to its place in ``number``
    number                 (at most `EXACT`, n_cells) the points of each cell, the first repeated after its last
    """

    column: Codes
    truth: Codes
    weight: Floats
    place: Codes
    number: Codes
    n_classes: int

    @classmethod
    def of_cells(cls, cell: Codes, n_classes: int) -> Removals:
        """Where every answer has the weight 1.

        cell  (n_cells,) ascending
        """
        return cls(
            *np.divmod(cell, n_classes), np.ones(len(cell)), _places(cell), np.arange(len(cell))[None], n_classes
        )

    @classmethod
    def of_answers(cls, parts: Sequence[tuple[Codes, Floats]], n_classes: int) -> Removals:
        """Of weighted answers.

        parts  (n,) cells and (n,) weights of answers, block by block
        """
        found = [np.unique(np.stack([cell.astype(np.float64), weight]), axis=1) for cell, weight in parts]
        own, weight = np.unique(np.concatenate([np.empty((2, 0)), *found], axis=1), axis=1)
        cell, first, size = np.unique(own.astype(np.intp), return_index=True, return_counts=True)
        points = [_points(weight[start : start + n]) for start, n in zip(first, size, strict=True)]
        sizes = np.array([len(each) for each in points], dtype=np.intp)
        start = np.cumsum(sizes) - sizes
        turn = np.arange(sizes.max(initial=1))[:, None]
        number = start + np.where(turn < sizes, turn, 0)
        column, truth = np.divmod(np.repeat(cell, sizes), n_classes)
        return cls(column, truth, np.concatenate([np.empty(0), *points]), _places(cell), number, n_classes)

    def places(self, column: Codes, truth: Codes, weight: Floats | None) -> tuple[Codes, Floats]:
        """The points from which each answer's row follows, and their shares in it.

        column, truth, weight  (n,) of answers that are among those known; no weight is 1
        returns                (width, n) twice
        """
        number = np.take(self.number, self.place[column * self.n_classes + truth], axis=1)
        known, own = self.weight[number], np.ones(len(column)) if weight is None else weight
        same = known == own
        same[1:] &= ~same[:1]  # the first point, repeated, counts once
        share = same.astype(np.float64)
        between = np.flatnonzero(~same.any(axis=0))
        if len(between):
            share[:_POINTS, between] = _shares(own[between], known[0, between], known[_POINTS - 1, between])
        return number, share


def _places(cell: Codes) -> Codes:
    place = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.intp)
    place[cell] = np.arange(len(cell))
    return place


def _points(weights: Floats) -> Floats:
    """The weights of one cell, ascending, at which rows are computed."""
    if len(weights) <= EXACT:
        return weights
    rest = weights[:-HEAVIEST]
    middle, half = 0.5 * (rest[-1] + rest[0]), 0.5 * (rest[-1] - rest[0])
    return np.concatenate([middle + half * chebpts1(_POINTS), weights[-HEAVIEST:]])


def _shares(weight: Floats, low: Floats, high: Floats) -> Floats:
    """Of each Chebyshev point in the polynomial's value, (8, n).

    low, high  (n,) the first and the last of the points
    """
    reach = chebpts1(_POINTS)[-1]
    at = reach * (2.0 * (weight - low) / (high - low) - 1.0)
    return np.asarray((chebvander(at, _POINTS - 1) @ _FROM_POINTS).T)
