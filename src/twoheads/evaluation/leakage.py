"""Leakage protection: a team is never said to be held out from truth that it has learnt from.

A fitted team knows the items it has learnt from (`twoheads.combination.learnt`); `status_of` compares them with the
items to evaluate, and `items_to_judge` decides what can be said of which of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from twoheads.combination.learnt import MembersAtFit, Recognised
from twoheads.evaluation.team import Team, learnt_of
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations import Observations
from twoheads.text import count

#: How the items to evaluate relate to those the team has learnt from.
HELD_OUT = "held out"
NOT_RECOGNISED = "none recognised as learnt from"
TOO_KIND = "learnt from: too kind"
UNKNOWN = "whether held out cannot be known"
#: They are to be cross-validated.
CROSS_VALIDATED = "cross-validated"

_SAME_CONTENT = "items with the same answers and probabilities"


@dataclass(frozen=True, eq=False)
class ToJudge:
    """The items to evaluate a team on.

    rows    (n_rows,) positions of the items, with those of unknown truth
    status  `HELD_OUT`, `NOT_RECOGNISED`, `CROSS_VALIDATED`, `TOO_KIND` or `UNKNOWN`
    notes   remarks, a sentence each
    """

    rows: Codes
    status: str
    notes: list[str] = field(default_factory=list)


def status_of(team: Team, observations: Observations, truth: Codes) -> str:
    """What predictions by the team itself are: as `ToJudge.status`, and `TOO_KIND` if it has learnt from any item."""
    known = np.flatnonzero(truth != MISSING)
    if not len(known):
        return HELD_OUT
    found = _recognised(team, observations, known)
    if found is None:
        return UNKNOWN
    if found.learnt.any():
        return TOO_KIND if found.certain else UNKNOWN
    return _not_learnt(found)[0] if found.complete else UNKNOWN


def items_to_judge(team: Team, observations: Observations, truth: Codes, *, held_out: bool | None = None) -> ToJudge:
    """The items to evaluate a team on, and how.

    Items whose truth it has learnt from are left out, unless there are no others: then it is to be cross-validated.
    ``held_out`` is what the user says of the items: True if none was learnt from, False if all were; None to find out.
    """
    rows, known = np.arange(len(observations)), np.flatnonzero(truth != MISSING)
    if held_out is False:
        return _all_learnt(rows, len(known), [])
    found = _recognised(team, observations, known) if len(known) else None
    if held_out or not len(known):
        return _as_told(rows, found)
    if found is None:
        return ToJudge(rows, UNKNOWN, [f"{type(team).__name__} does not know the items it has learnt from."])
    n_learnt, n_known = int(found.learnt.sum()), len(known)
    if n_learnt == 0:
        return ToJudge(rows, *_not_learnt(found)) if found.complete else ToJudge(rows, UNKNOWN, [_TOO_MANY])
    if found.asked_again:
        return ToJudge(rows, UNKNOWN, [f"{_ASKED_AGAIN} {_sentence(found.advice)}"])
    if found.renumbered:
        note = f"{n_learnt:,} of {n_known:,} items with truth have ids of items the team was fitted on, but other "
        return ToJudge(rows, UNKNOWN, [note + "probabilities. If they are other items, give them ids of their own."])
    if n_learnt == n_known or not found.complete:
        note = "The team was fitted on these items" + (
            "." if found.certain else f", or on {_SAME_CONTENT}; {found.advice}."
        )
        return _all_learnt(rows, n_known, [note])
    if not found.certain:
        note = f"{n_learnt:,} of {n_known:,} items with truth may be among those the team was fitted on, or be other "
        return ToJudge(rows, UNKNOWN, [note + f"{_SAME_CONTENT}; {found.advice}."])
    note = f"The team was fitted on {n_learnt:,} of {n_known:,} items with truth; these are left out."
    status, notes = _not_learnt(found)
    return ToJudge(np.setdiff1d(rows, known[found.learnt]), status, [note, *notes])


_ASKED_AGAIN = (
    "These may be items the team was fitted on, with probabilities of another model: their answers are alike."
)
_TOO_MANY = "The team was fitted on too many items to keep all of them in mind; none of those kept is here."


def _recognised(team: Team, observations: Observations, known: Codes) -> Recognised | None:
    """Which of the known items the team has learnt from; None if it does not know what it has learnt from."""
    learnt = learnt_of(team)
    if learnt is None:
        return None
    if not learnt.n_items:
        return Recognised(np.zeros(len(known), dtype=bool), True, True, by_id=True)
    members = MembersAtFit.of(team)
    # All of them: whether ids number the rows is seen in the whole table.
    found = learnt.recognise(observations, members)
    unclear = not found.certain and bool(found.learnt[known].any())
    # Where contents are unclear, those that are not recognised are the rare ones, and no sample of anything.
    if not unclear and learnt.may_be_asked_again(observations.take(known), found.learnt[known], members):
        return replace(found, learnt=np.ones(len(known), dtype=bool), certain=False, asked_again=True)
    renumbered = found.renumbered and unclear
    return replace(found, learnt=found.learnt[known], certain=not unclear, renumbered=renumbered)


def _not_learnt(found: Recognised) -> tuple[str, list[str]]:
    """What items are that were not recognised: ids tell for certain, contents only beside the same model.

    Also a note on why ids that there are do not tell.
    """
    if found.by_id:
        return HELD_OUT, []
    return NOT_RECOGNISED, [_sentence(found.advice)] if found.has_ids else []


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _all_learnt(rows: Codes, n_known: int, notes: list[str]) -> ToJudge:
    """Items that were all learnt from: to be cross-validated if there are two at least."""
    return ToJudge(rows, CROSS_VALIDATED if n_known > 1 else TOO_KIND, notes)


def _as_told(rows: Codes, found: Recognised | None) -> ToJudge:
    """All items as held out, unless some were certainly learnt from."""
    if found is None or not found.learnt.any() or not found.certain:
        return ToJudge(rows, HELD_OUT)
    n_learnt = int(found.learnt.sum())
    return ToJudge(rows, TOO_KIND, [f"The team has learnt from {count(n_learnt, 'item')} of these with truth."])
