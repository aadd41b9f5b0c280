"""Leakage protection: a team is never evaluated on truth that it was fitted on.

At fit, `training_items` notes the table's fingerprint and a hash of every item of known truth. Before an evaluation,
`held_out_items` compares them with the items to evaluate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, as_truth
from twoheads.tables.fingerprints import fingerprint, row_hashes

#: With more labelled items than this their hashes are not kept: only the table as a whole is recognised.
MAX_HASHES = 100_000


@dataclass(frozen=True, eq=False)
class TrainingItems:
    """The items a team was fitted on.

    Attributes
    ----------
    fingerprint : str or None
        Of the whole table, in any order of rows.
    item_hashes : ndarray of shape (n_labelled,) or None
        Of the items of known truth; None if items have no ids, or if there are too many.
    n_labelled : int or None
        How many items had a truth.
    """

    fingerprint: str | None
    item_hashes: NDArray[np.int64] | None
    n_labelled: int | None = None


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The items to evaluate a team on.

    Attributes
    ----------
    observations, y : Observations, array
        The items, and their truth.
    fitted_on_same : bool
        Whether the team was fitted on all of their truth: then it must be cross-validated.
    notes : list of str
        Remarks on what was left out.
    """

    observations: Observations
    y: Any
    fitted_on_same: bool
    notes: list[str]


def training_items(
    observations: Observations, y: Any, *, has_ids: bool, n_labelled: int | None = None
) -> TrainingItems:
    """Note which items a team is fitted on; ``has_ids`` is whether the table has ids of its own."""
    return TrainingItems(fingerprint(observations), _labelled_hashes(observations, y, has_ids), n_labelled)


def training_items_of_blocks(blocks: Iterable[tuple[Observations, Any]], *, has_ids: bool) -> TrainingItems:
    """The same for the blocks of a large table, in one pass that holds one block at a time."""
    hashes: list[NDArray[np.int64]] | None = []

    def passed_on() -> Iterator[Observations]:
        nonlocal hashes
        for observations, y in blocks:
            found = _labelled_hashes(observations, y, has_ids)
            hashes = None if found is None or hashes is None else [*hashes, found]
            if hashes is not None and sum(map(len, hashes)) > MAX_HASHES:
                hashes = None
            yield observations

    whole = fingerprint(passed_on())
    return TrainingItems(whole, None if hashes is None else np.concatenate(hashes))


def held_out_items(observations: Observations, y: Any, trained_on: TrainingItems, *, has_ids: bool) -> HeldOut:
    """The items whose truth the team was not fitted on.

    Items whose truth it was fitted on are left out, unless there are no others: then the team is to be cross-validated.
    Without ids only the table as a whole can be recognised.
    """
    known = as_truth(y, observations) != MISSING
    n_known = int(known.sum())
    if n_known == 0 or trained_on.n_labelled == 0:
        return HeldOut(observations, y, False, [])
    if trained_on.item_hashes is None or not has_ids:
        return _whole_table(observations, y, trained_on, n_known)
    used = known & np.isin(item_hashes(observations).view(np.int64), trained_on.item_hashes)
    n_used = int(used.sum())
    if n_used in (0, n_known):
        return HeldOut(observations, y, n_used == n_known, [])
    rest = np.flatnonzero(~used)
    note = f"The team was fitted on {n_used:,} of {n_known:,} items with truth; these are left out."
    return HeldOut(observations.take(rest), np.asarray(y)[rest], False, [note])


def item_hashes(observations: Observations) -> NDArray[np.uint64]:
    """Hash of each item, from its id, its answers and the model's probabilities, (n_items,)."""
    ids = (
        int.from_bytes(blake2b(str(item).encode(), digest_size=8).digest(), "big")
        for item in observations.items.tolist()
    )
    return np.fromiter(ids, dtype=np.uint64, count=len(observations)) ^ row_hashes(observations)


def _whole_table(observations: Observations, y: Any, trained_on: TrainingItems, n_known: int) -> HeldOut:
    same = fingerprint(observations) == trained_on.fingerprint
    notes = []
    if same and trained_on.n_labelled is not None and n_known > trained_on.n_labelled:
        notes = [
            f"The team was fitted on {trained_on.n_labelled} items with truth; its copies here are fitted on more."
        ]
    return HeldOut(observations, y, same, notes)


def _labelled_hashes(observations: Observations, y: Any, has_ids: bool) -> NDArray[np.int64] | None:
    known = np.flatnonzero(as_truth(y, observations) != MISSING)
    if not has_ids or len(known) > MAX_HASHES:
        return None
    return item_hashes(observations.take(known)).view(np.int64)
