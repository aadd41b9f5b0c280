"""A team against its rivals: sums over items, which rival is the best, and a test corrected for having picked it.

Every sum is over items, so that the rivals can be counted block by block. Which rival is the best depends on the
rivals' labels alone, never on the team's: it is the same however the team's own predictions were made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring.differences import DifferenceSums, weighted_differences

#: With fewer answers on labelled items, a person is neither ranked nor a rival.
ENOUGH_ANSWERS = 10
#: Who has labelled less than this share of the items, by their weight, does not stand for all.
ENOUGH_ITEMS = 0.5
_ROUNDING = 1e-9
#: Errors closer than this are equal.
_EQUAL = 1e-12


class PairedSums(NamedTuple):
    """Sums over the items that each of several has labelled, (n,) each.

    n_items              of the items
    errors, team_errors  weighted errors of the rival, and of the team on the same items
    won, lost            items that only the team has right (more right), and only the rival
    differences          of the two errors
    """

    n_items: Any
    errors: Any
    team_errors: Any
    won: Any
    lost: Any
    differences: DifferenceSums

    @classmethod
    def of(cls, rows: Floats) -> PairedSums:
        """From a row for each sum, in this order, (12, n)."""
        n_items, errors, team_errors, won, lost, *tested = rows
        return cls(n_items, errors, team_errors, won, lost, DifferenceSums(*tested))

    @property
    def weight(self) -> Any:
        """The weight of the items."""
        return self.differences.weight


class RivalSums(NamedTuple):
    """What is known of a team's rivals.

    fixed   (12, n_rivals) the rows of `PairedSums`, a column for each rival
    people  (12, n_people) the same of each person
    both    (2, n_rivals, n_rivals) items that two rivals have both labelled: their weight, and the first one's errors
    beside  (4, n_rivals, n_people) items that a person and a rival have both labelled: their weight, the rival's
            errors, the person's errors, and the sum of squared weights
    total   (2,) number and weight of all items, labelled by a rival or not
    """

    fixed: Floats
    people: Floats
    both: Floats
    beside: Floats
    total: Floats

    def only(self, rivals: list[int]) -> RivalSums:
        """The sums of some of the rivals."""
        both = self.both[:, rivals][:, :, rivals]
        return RivalSums(self.fixed[:, rivals], self.people, both, self.beside[:, rivals], self.total)

    @property
    def enough(self) -> float:
        """The weight of items from which on a rival may be the better half: half of all, or the most that any has."""
        most = float(PairedSums.of(self.fixed).weight.max())
        return (1.0 - _ROUNDING) * min(ENOUGH_ITEMS * float(self.total[1]), most)


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
    rival, item = np.nonzero(~np.isnan(errors))
    at, group = np.concatenate([item, answered.item]), np.concatenate([rival, n_rivals + answered.person])
    error = np.concatenate([errors[rival, item], answered.error])
    paired = _paired(error, team_error[at], weight[at], group, n_rivals + n_people)
    beside = np.zeros((4, n_rivals, n_people))
    for at_rival, error in enumerate(errors):
        both = ~np.isnan(error[answered.item])
        person, counted = answered.person[both], weight[answered.item[both]]
        for row, values in enumerate((1.0, error[answered.item[both]], answered.error[both], counted)):
            beside[row, at_rival] = np.bincount(person, counted * values, n_people)
    labelled = 1.0 * ~np.isnan(errors)
    two = np.stack([(each * weight) @ labelled.T for each in (labelled, np.nan_to_num(errors))])
    total = np.array([np.count_nonzero(weight > 0), weight.sum()], dtype=np.float64)
    return RivalSums(paired[:, :n_rivals], paired[:, n_rivals:], two, beside, total)


def _paired(error: Floats, team_error: Floats, weight: Floats, group: Codes, n_groups: int) -> Floats:
    """The rows of `PairedSums`, a column for each group, (12, n_groups)."""
    difference = error - team_error
    counted = weight > 0
    won, lost = (1.0 * (counted & side) for side in (difference > 0, difference < 0))
    tested = weighted_differences(-difference, weight)
    rows = 1.0 * counted, weight * error, weight * team_error, won, lost, *tested
    return np.stack([np.bincount(group, row, n_groups) for row in rows])


def may_lead(sums: RivalSums) -> NDArray[np.bool_]:
    """Which rivals have labelled enough of the items to be the better half of the whole, (n_rivals,)."""
    return np.asarray(PairedSums.of(sums.fixed).weight >= sums.enough)


def best_rival(sums: RivalSums) -> int:
    """The rival with the lowest error of those that may be the better half; of equal ones the first.

    One of those with the most items, the first, is the measure r: the error of another one, j, is ``e_r + e_j(both) -
    e_r(both)``, with the errors on the items that both have labelled. So nobody is best because its items were easy.
    Where there are none, its own error counts.
    """
    own, may = PairedSums.of(sums.fixed), may_lead(sums)
    measure = int(np.argmax(own.weight >= (1.0 - _ROUNDING) * own.weight.max()))
    weight, errors, measured = sums.both[0, :, measure], sums.both[1, :, measure], sums.both[1, measure]
    with np.errstate(invalid="ignore", divide="ignore"):
        alone = own.errors / own.weight
        error = np.where(weight > 0, alone[measure] + (errors - measured) / weight, alone)
    error = np.where(may, error, np.inf)
    return int(np.argmax(error <= error.min() + _EQUAL))


def best_person(sums: RivalSums, rival: int, among: NDArray[np.bool_]) -> tuple[int | None, bool]:
    """The person with the lowest error beside a rival, and whether it is lower than the rival's.

    A person's difference from the rival, on the items that both have labelled, is shrunk to that of all people as if
    by `ENOUGH_ANSWERS` more answers, beside Kish's number of them: of many people, some are right ten times in a row by
    chance. None if there is nobody.

    among  (n_people,) who is considered
    """
    weight, rival_errors, person_errors, squares = sums.beside[:, rival]
    there = among & (weight > 0)
    if not there.any():
        return None, False
    usual_difference = (person_errors.sum() - rival_errors.sum()) / weight.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        difference, number = (person_errors - rival_errors) / weight, weight**2 / squares
        shrunk = (number * difference + ENOUGH_ANSWERS * usual_difference) / (number + ENOUGH_ANSWERS)
    best = int(np.where(there, shrunk, np.inf).argmin())
    return best, bool(shrunk[best] < -_EQUAL)


def candidates(sums: RivalSums) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """People with enough answers: who may be the better half, and who has labelled too few items, (n_people,) each."""
    own = PairedSums.of(sums.people)
    ranked, of_all = own.n_items >= ENOUGH_ANSWERS, own.weight >= sums.enough
    return ranked & of_all, ranked & ~of_all


def corrected(p: float, *, team_errs_more: bool, n_picked: int) -> float:
    """The p-value of the difference from the best of so many rivals.

    The best was picked by its low error, which favours it: that the team errs less still is shown by ``p`` itself.
    That the team errs more may be luck of the picked one: Bonferroni's bound.
    """
    return min(1.0, p * n_picked) if team_errs_more else p
