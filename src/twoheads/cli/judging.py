"""What a team may be judged on: never on truth that it was fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads import tables
from twoheads.cli.teams import provenance
from twoheads.evaluation import compare, cross_validated, without_truth
from twoheads.evaluation.comparison import compare_predictions
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations, as_truth
from twoheads.report.people_section import people_section
from twoheads.tables.fingerprints import row_hashes

#: A team remembers which items' truth it has seen, up to so many.
REMEMBERED = 100_000


def item_hashes(seen: Observations) -> NDArray[np.uint64]:
    """What tells an item of a table with ids again: its id, its answers and the model's row."""
    ids = (int.from_bytes(blake2b(str(item).encode(), digest_size=8).digest(), "big") for item in seen.items.tolist())
    return np.fromiter(ids, dtype=np.uint64, count=len(seen)) ^ row_hashes(seen)


def labelled_hashes(scanned: tables.Table, seen: Observations, y: Any) -> NDArray[np.int64] | None:
    """The hashes of the items whose truth is known; None where items have no ids, or are too many."""
    known = np.flatnonzero(as_truth(y, seen) != MISSING)
    if scanned.item_name not in scanned.columns or len(known) > REMEMBERED:
        return None
    return item_hashes(seen.take(known)).view(np.int64)


def remembered(scanned: tables.Table) -> tuple[str, NDArray[np.int64] | None]:
    """The fingerprint of a table and its `labelled_hashes`, in one pass over it that holds a block at a time."""
    hashes: list[NDArray[np.int64]] | None = []

    def blocks() -> Iterator[Observations]:
        nonlocal hashes
        for seen, y in scanned.blocks():
            some = labelled_hashes(scanned, seen, y)
            hashes = None if some is None or hashes is None else [*hashes, some]
            if hashes is not None and sum(map(len, hashes)) > REMEMBERED:
                hashes = None
            yield seen

    return tables.fingerprint(blocks()), None if hashes is None else np.concatenate(hashes)


def held_out(team: Any, scanned: tables.Table, seen: Observations, y: Any) -> tuple[Observations, Any, bool, list[str]]:
    """The items to judge with their truth, whether all of it was fitted on, and what to say about it.

    Items whose truth the team was fitted on are left out, unless there are no others: then it is to be cross-validated.
    Where items have no ids, only the table as a whole can be known again.
    """
    made = provenance(team)
    known = as_truth(y, seen) != MISSING
    n_known, n_labelled = int(known.sum()), getattr(team, "n_labelled_", None)
    if n_known == 0 or n_labelled == 0:
        return seen, y, False, []
    remembered = made.get("labelled")
    if remembered is None or scanned.item_name not in scanned.columns:
        same = tables.fingerprint(seen) == made.get("fingerprint")
        more = same and n_labelled is not None and n_known > n_labelled
        note = f"The team was fitted on {n_labelled} items with truth; its copies judged here learn from more."
        return seen, y, same, [note] if more else []
    used = known & np.isin(item_hashes(seen).view(np.int64), remembered)
    n_used = int(used.sum())
    if n_used == n_known:
        return seen, y, True, []
    if n_used == 0:
        return seen, y, False, []
    rest = np.flatnonzero(~used)
    note = f"{n_used:,} of {n_known:,} items with truth were fitted on, and are left out: the others are judged."
    return seen.take(rest), np.asarray(y)[rest], False, [note]


def judge(team: Any, scanned: tables.Table, seen: Observations, y: Any, seed: int) -> dict[str, Any]:
    """Human, model and combination compared; what can be known without truth, where there is none."""
    seen, y, same, notes = held_out(team, scanned, seen, y)
    if (as_truth(y, seen) == MISSING).all():
        found = without_truth(team, seen, random_state=seed).as_dict()
    elif same:
        found = compare_predictions(cross_validated(team, seen, y, random_state=seed), random_state=seed).as_dict()
    else:
        found = compare(team, seen, y, random_state=seed).as_dict()
    people = people_section(team)
    if people["available"]:
        found["people"] = people
    return found | {"notes": [*notes, *found["notes"]]}
