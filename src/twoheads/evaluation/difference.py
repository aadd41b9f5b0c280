"""The combination against its partners: the difference from the better one, and what changes hands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, norm

from twoheads.evaluation.bootstrap import Resampling, Score, difference_score
from twoheads.kernels.arrays import Floats
from twoheads.kernels.scoring import scores


@dataclass(frozen=True)
class Difference:
    """The combination's error minus that of the better partner, on the items with a label of the better partner.

    better               "human", "crowd" or "model": the partner with the lowest error on the items all have labelled
    n_items              the items both the combination and the better partner have labelled
    better_error, error  the errors of the better partner and of the combination on them
    difference           ``error - better_error``, paired by item: below 0 the team is better
    fewer_errors         ``1 - error / better_error``; None if the better partner never errs
    n_won, n_lost        items only the combination has right, and only the better partner
    p_value              McNemar's exact two-sided test of ``n_won`` against ``n_lost``
    """

    better: str
    n_items: int
    better_error: float
    error: float
    difference: Score
    fewer_errors: float | None
    n_won: int
    n_lost: int
    p_value: float


@dataclass(frozen=True)
class Exchange:
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


def difference_from_better(
    partners: dict[str, Partner], team_error: Floats, weight: Floats, replicates: Resampling
) -> Difference | None:
    """Compare the combination with the better of its partners; None if no partner has labelled any item."""
    present = {name: partner for name, partner in partners.items() if partner.labelled.any()}
    if not present:
        return None
    better = _better(present, weight)
    partner, here = present[better], present[better].labelled
    difference, counted = (team_error - partner.error)[here], weight[here]
    error, better_error = (scores.weighted_mean(values[here], counted) for values in (team_error, partner.error))
    won, lost = int(np.count_nonzero(difference < 0)), int(np.count_nonzero(difference > 0))
    return Difference(
        better=better,
        n_items=int(here.sum()),
        better_error=better_error,
        error=error,
        difference=difference_score(difference, counted, replicates.take(here)),
        fewer_errors=1.0 - error / better_error if better_error > 0 else None,
        n_won=won,
        n_lost=lost,
        p_value=_p_value(difference, counted, won, lost),
    )


def exchange_with(partner: Partner, team_error: Floats) -> Exchange | None:
    """Count items rescued and lost; items on which several people are tied are in none of the counts."""
    here = partner.labelled
    if not here.any():
        return None
    wrong, right = here & (partner.error == 1.0), here & (partner.error == 0.0)
    team_right = team_error == 0.0
    return Exchange(
        rescued=int((wrong & team_right).sum()),
        lost=int((right & ~team_right).sum()),
        both_right=int((right & team_right).sum()),
        both_wrong=int((wrong & ~team_right).sum()),
    )


def _better(partners: dict[str, Partner], weight: Floats) -> str:
    """The partner with the lowest error: on the items all have labelled, or if there are none, on its own."""
    shared = np.logical_and.reduce([partner.labelled for partner in partners.values()])

    def error(name: str) -> float:
        rows = shared if shared.any() else partners[name].labelled
        return scores.weighted_mean(partners[name].error[rows], weight[rows])

    return min(partners, key=error)


def _p_value(difference: Floats, weight: Floats, won: int, lost: int) -> float:
    """Test whether wins and losses are equally likely: exact for whole items, else by the normal approximation."""
    if won + lost == 0:
        return 1.0
    whole = bool(np.isin(difference, (-1.0, 0.0, 1.0)).all()) and bool((weight == weight[0]).all())
    if whole:
        return float(binomtest(won, won + lost).pvalue)
    gain = weight * difference
    return float(2.0 * norm.sf(abs(gain.sum()) / np.sqrt((gain**2).sum())))
