"""Which items a team has learnt from, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Recognised:
    """Which items a team has learnt from.

    learnt     (n_items,) items that it has, or may have, learnt from
    certain    whether these are the same items; otherwise other items may have the same answers and probabilities
    complete   whether the others are known not to be among them
    renumbered whether they have the ids of learnt items, but all have other probabilities: perhaps other items
    asked_again whether they have no ids, and may be learnt items with the probabilities of another model
    by_id      whether ids tell all items from the learnt ones: then the others are other items for certain
    advice     why ids do not, where they do not, and what to do
    has_ids    whether the items have ids
    """

    learnt: NDArray[np.bool_]
    certain: bool
    complete: bool
    renumbered: bool = False
    asked_again: bool = False
    by_id: bool = False
    advice: str = ""
    has_ids: bool = False
