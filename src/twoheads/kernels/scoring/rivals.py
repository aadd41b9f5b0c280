"""A team against its rivals: sums over items, which rival is the best, and a test corrected for having picked it.

Every sum is over items, so that the rivals can be counted block by block. Which rival is the best depends on the
rivals' labels alone, never on the team's: it is the same however the team's own predictions were made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twoheads.kernels.arrays import Codes, Floats

#: With fewer answers on labelled items, a person is neither ranked nor a rival.
ENOUGH_ANSWERS = 10


class PairedSums(NamedTuple):
    """Sums over the items that each of several has labelled, (n,) each.

    n_items, weight      of the items
    errors, team_errors  weighted errors of the rival, and of the team on the same items
    won, lost            items that only the team has right (more right), and only the rival
    absolute, squared    of the weighted difference of the two errors
    """

    n_items: Any
    weight: Any
    errors: Any
    team_errors: Any
    won: Any
    lost: Any
    absolute: Any
    squared: Any


class RivalSums(NamedTuple):
    """What is known of a team's rivals.

    fixed   (8, n_rivals) `PairedSums` of each rival
    people  (8, n_people) of each person
    shared  (2, n_rivals) weight of the items that all rivals have labelled, and errors on them
    beside  (3, n_rivals, n_people) items that a person and a rival have both labelled: their weight, the rival's
            errors, the person's errors
    """

    fixed: Floats
    people: Floats
    shared: Floats
    beside: Floats


class Answered(NamedTuple):
    """Answers one by one, (n_answers,) each: whose, on which item, and whether it is wrong (1) or right (0)."""

    person: Codes
    item: Codes
    error: Floats


def rival_sums(
    errors: Floats, team_error: Floats, weight: Floats | None, answered: Answered, n_people: int
) -> RivalSums:
    """The sums of a block of labelled items.

    errors      (n_rivals, n_items) 0, 1 or between for a tie; NaN where a rival has no label
    team_error  (n_items,)
    """
    n_rivals, n_items = errors.shape
    weight = np.ones(n_items) if weight is None else weight
    fixed = np.empty((8, n_rivals))
    beside = np.zeros((3, n_rivals, n_people))
    for at, error in enumerate(errors):
        here = ~np.isnan(error)
        nobody = np.zeros(int(here.sum()), dtype=np.intp)
        fixed[:, at] = _paired(error[here], team_error[here], weight[here], nobody, 1)[:, 0]
        both = here[answered.item]
        person, counted = answered.person[both], weight[answered.item[both]]
        for row, values in enumerate((1.0, error[answered.item[both]], answered.error[both])):
            beside[row, at] = np.bincount(person, counted * values, n_people)
    people = _paired(answered.error, team_error[answered.item], weight[answered.item], answered.person, n_people)
    shared = ~np.isnan(errors).any(axis=0)
    on_shared = np.stack([np.full(n_rivals, weight[shared].sum()), errors[:, shared] @ weight[shared]])
    return RivalSums(fixed, people, on_shared, beside)


def _paired(error: Floats, team_error: Floats, weight: Floats, group: Codes, n_groups: int) -> Floats:
    """`PairedSums` of each group, (8, n_groups)."""
    difference = error - team_error
    counted = weight > 0
    columns = PairedSums(
        1.0 * counted,
        weight,
        weight * error,
        weight * team_error,
        1.0 * (counted & (difference > 0)),
        1.0 * (counted & (difference < 0)),
        weight * np.abs(difference),
        (weight * difference) ** 2,
    )
    return np.stack([np.bincount(group, column, n_groups) for column in columns])


def best_rival(sums: RivalSums) -> int:
    """The rival with the lowest error on the items all have labelled, or if there are none, on its own."""
    weight, errors = sums.shared
    own = PairedSums(*sums.fixed)
    if not (weight > 0).all():
        weight, errors = own.weight, own.errors
    with np.errstate(invalid="ignore", divide="ignore"):
        return int(np.nanargmin(errors / weight))


def best_person(sums: RivalSums, rival: int) -> tuple[int | None, bool]:
    """The person with the lowest error beside a rival, and whether it is lower than the rival's.

    A person's difference from the rival, on the items that both have labelled, is shrunk to that of all people as if
    by `ENOUGH_ANSWERS` more answers: of many people, some are right ten times in a row by chance. None if nobody has
    enough answers.
    """
    weight, rival_errors, person_errors = sums.beside[:, rival]
    enough = (PairedSums(*sums.people).n_items >= ENOUGH_ANSWERS) & (weight > 0)
    if not enough.any():
        return None, False
    usual_difference = (person_errors.sum() - rival_errors.sum()) / weight.sum()
    shrunk = (person_errors - rival_errors + ENOUGH_ANSWERS * usual_difference) / (weight + ENOUGH_ANSWERS)
    best = int(np.where(enough, shrunk, np.inf).argmin())
    return best, bool(shrunk[best] < -1e-12)


def n_candidates(sums: RivalSums) -> int:
    """How many people have enough answers."""
    return int((PairedSums(*sums.people).n_items >= ENOUGH_ANSWERS).sum())


def corrected(p: float, *, team_errs_more: bool, n_picked: int) -> float:
    """The p-value of the difference from the best of so many rivals.

    The best was picked by its low error, which favours it: that the team errs less still is shown by ``p`` itself.
    That the team errs more may be luck of the picked one: Bonferroni's bound.
    """
    return min(1.0, p * n_picked) if team_errs_more else p
