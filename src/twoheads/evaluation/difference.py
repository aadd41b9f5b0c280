"""The combination against the better half, and what it changes about each partner's answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twoheads.evaluation.bootstrap import Score, difference_score
from twoheads.evaluation.rival_scores import Compared
from twoheads.kernels.arrays import Floats
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True)
class Difference(Shown):
    """The combination's error minus that of the better half, on the items that the better half has labelled.

    better               key of the better half, the best of all rivals: "human", "person" (one at random), "majority",
                         "crowd" (people combined), "model", "models" (their mean) or "best_person"
    name                 of that person or model; "" if there is none
    words                the better half in a sentence
    n_rivals             how many rivals may be the better half
    n_picked             of how many it was picked: these, times the number of people if it is the best of them
    n_items              the items both the combination and the better half have labelled
    better_error, error  the errors of the better half and of the combination on them
    difference           ``error - better_error``, paired by item: below 0 the team is better. The lower end of its
                         interval is corrected for having picked the better half
    fewer_errors         ``1 - error / better_error``; None if the better half never errs
    n_won, n_lost        items only the combination has right, and only the better half
    p_value              of the difference, two-sided, corrected for having picked the better half: below 0.05 exactly
                         if the interval excludes 0
    weighted             whether the items have different weights: an error is then no share of the number of items
    """

    better: str
    name: str
    words: str
    n_rivals: int
    n_picked: int
    n_items: int
    better_error: float
    error: float
    difference: Score
    fewer_errors: float | None
    n_won: int
    n_lost: int
    p_value: float
    weighted: bool = False


@dataclass(frozen=True)
class Exchange(Shown):
    """What the combination changes about one partner's answers: counts of items.

    rescued  the partner is wrong, the combination right
    lost     the partner is right, the combination wrong
    """

    rescued: int
    lost: int
    both_right: int
    both_wrong: int


@dataclass(frozen=True, eq=False)
class Partner:
    """One partner's errors: 0, 1 or between for a tie, (n_items,), and which items it has labelled, (n_items,)."""

    error: Floats
    labelled: NDArray[np.bool_]


def difference_from_better(compared: Compared, team_error: Floats, weight: Floats) -> Difference:
    """Compare the combination with the best of its rivals."""
    rivals = compared.rivals
    best, error = rivals.better_half, compared.errors[rivals.better]
    here = ~np.isnan(error)
    return Difference(
        better=best.key,
        name=best.name,
        words=best.words,
        n_rivals=rivals.n_candidates,
        n_picked=rivals.n_picked,
        n_items=int(here.sum()),
        better_error=best.error,
        error=best.team_error,
        difference=difference_score((team_error - error)[here], weight[here], n_picked=rivals.n_picked),
        fewer_errors=1.0 - best.team_error / best.error if best.errors > 0 else None,
        n_won=round(best.won),
        n_lost=round(best.lost),
        p_value=rivals.p_value,
        weighted=bool(np.ptp(weight[here]) > 0),
    )


def exchange_with(partner: Partner, team_error: Floats) -> Exchange | None:
    """Count items rescued and lost; items on which either is tied are in none of the counts."""
    here = partner.labelled
    if not here.any():
        return None
    wrong, right = here & (partner.error == 1.0), here & (partner.error == 0.0)
    team_right, team_wrong = team_error == 0.0, team_error == 1.0
    return Exchange(
        rescued=int((wrong & team_right).sum()),
        lost=int((right & team_wrong).sum()),
        both_right=int((right & team_right).sum()),
        both_wrong=int((wrong & team_wrong).sum()),
    )
