"""Items compared by their content: a hash of their answers, and two numbers made of their probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.inference.same_items import (
    aligned_p_value,
    equal_counts_p_value,
    other_numbers_p_value,
    other_values_p_value,
)

#: Contents identify items if no larger share of them is repeated.
REPEATED = 0.01
#: Items with more candidates than this are not compared one by one.
_MOST_NEAR = 64
#: As many items are needed to see whether answers are repeated, and probabilities that were rounded.
_FEW_ANSWERS, _FEW_ROUNDED = 50, 20
#: Probabilities that are compared more exactly than this were not rounded.
_EXACT = 1e-6
#: Other items look as if they were the same ones with this probability at most, by each of three signs.
_DOUBT = 0.01


class Contents(NamedTuple):
    """What items are recognised by.

    key    (n_items,) hash of the answers
    place  (2, n_items) weighted means of the probabilities, from 0 to 1; 0 without any
    """

    key: NDArray[np.int64]
    place: Floats

    def take(self, rows: NDArray[np.bool_]) -> Contents:
        """Those of some items."""
        return Contents(self.key[rows], self.place[:, rows])

    def without_answers(self) -> Contents:
        """The same as if all items had the same answers."""
        return Contents(np.zeros_like(self.key), self.place)

    def of_one_place(self) -> NDArray[np.bool_]:
        """Items with probabilities that no other item has, (n_items,)."""
        _, place, count = np.unique(self.place, axis=1, return_inverse=True, return_counts=True)
        return np.asarray((count[place.ravel()] == 1) & self.place.any(axis=0))


def n_near(learnt: Contents, those: Contents, tolerance: float) -> Codes:
    """How many learnt items have the key of each item, and places no further from its own than the tolerance."""
    keys, rank = np.unique(learnt.key, return_inverse=True)
    line = _on_line(rank, learnt.place[0])
    order = np.argsort(line, kind="stable")
    line, second = line[order], learnt.place[1][order]
    sought = _on_line(np.searchsorted(keys, those.key), those.place[0])
    first, last = np.searchsorted(line, sought - tolerance, "left"), np.searchsorted(line, sought + tolerance, "right")
    last = np.where(np.isin(those.key, keys), last, first)
    found = np.where(last - first > _MOST_NEAR, last - first, 0)  # so many that it is not worth a closer look
    for step in range(_MOST_NEAR):
        rows = np.flatnonzero((first + step < last) & (last - first <= _MOST_NEAR))
        found[rows] += np.abs(second[first[rows] + step] - those.place[1][rows]) <= tolerance
    return np.asarray(found)


def share_repeated(items: Contents, tolerance: float) -> float:
    """Share of the items that are as near to another one."""
    return float(np.mean(n_near(items, items, tolerance) > 1)) if len(items.key) else 0.0


def told_by_part(learnt: Contents, those: Contents, tolerance: float) -> NDArray[np.bool_]:
    """Items with the answers, or with the probabilities, of a learnt item, where either alone tells items apart.

    An item that one more person has answered about has its probabilities still; one that the model was asked about
    again has its answers. Probabilities that several items have in common (such as 0 and 1) tell nothing.
    """
    found = np.zeros(len(those.key), dtype=bool)
    few = min(len(learnt.key), len(those.key))
    if few >= _FEW_ANSWERS and max(_share_equal(each.key) for each in (learnt, those)) <= REPEATED:
        found |= np.isin(those.key, learnt.key)
    single = those.of_one_place()
    one, other = learnt.take(learnt.of_one_place()).without_answers(), those.take(single).without_answers()
    enough = min(len(one.key), len(other.key)) >= (1 if tolerance <= _EXACT else _FEW_ROUNDED)
    if enough and max(share_repeated(each, tolerance) for each in (one, other)) <= REPEATED:
        found[single] |= n_near(one, other, tolerance) > 0
    return found


def looks_asked_again(
    learnt: Contents, those: Contents, own_rest: NDArray[np.bool_], their_rest: NDArray[np.bool_]
) -> bool:
    """Whether items that are not recognised may be learnt ones with the probabilities of another model.

    Three signs: the same answers come in the same order; each combination of answers comes exactly as often; or answers
    are about as frequent, and probabilities are of another kind. Few items, or a part of them in another order and with
    probabilities of the same kind, show none.

    own_rest    (n_learnt,) the learnt items that are not recognised among those
    their_rest  (n_items,) the items that are not recognised
    """
    if not (own_rest.any() and their_rest.any()):
        return False
    keys = np.unique(np.concatenate([learnt.key, those.key]))
    first, second = np.searchsorted(keys, learnt.key), np.searchsorted(keys, those.key)
    in_place = np.where(own_rest, first, MISSING), np.where(their_rest, second, MISSING)
    first, second = first[own_rest], second[their_rest]
    if min(aligned_p_value(*in_place), equal_counts_p_value(first, second)) < _DOUBT:
        return True
    places = learnt.place[:, own_rest], those.place[:, their_rest]
    return other_numbers_p_value(*places) < _DOUBT <= other_values_p_value(first, second)


def _share_equal(key: NDArray[np.int64]) -> float:
    """Share of the items whose key another one has."""
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    return float(np.mean(count[place] > 1))


def _on_line(rank: Codes, place: Floats) -> Floats:
    """Places of each key on a stretch of the line of its own: tolerances are below 1."""
    return np.asarray(4.0 * rank + place)
