"""The chance that a team errs less than its partners, from items of known truth that were held out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.kernels.priors import (
    REALISED_FREEDOM,
    REALISED_LABELS,
    REALISED_PER_ITEM,
    REALISED_SD,
    SEVERAL_GAIN,
    UNSEEN_GAIN,
    UNSEEN_SD,
)

#: Nodes on either side of 0.
NODES = (np.arange(400) + 0.5) / 400


@lru_cache(maxsize=256)  # a team needs that of its record with every block that it predicts
def chance_better(won: float, lost: float, expected: float, n: float, answers: float = 1.0) -> float:
    """Probability that the team errs less often than a partner on new items; a draw counts half.

    Of n held-out items the team alone got ``won`` right, the partner alone ``lost``, where the team's own probabilities
    expected it to win ``expected`` more than it loses. The mean d of ``won - lost`` in n items has a prior around
    ``E = expected + 0.08 + 0.4 (1 - 1 / answers^2)``, a Student t of 3 degrees of freedom whose squared scale is

        0.45^2 (1 + 60 / n) E^2  +  0.2^2 (won + lost)^2  +  0.3^2

    The first term is how far what probabilities expect is off, more so with few labels; the second, how far all of them
    are off together on the items that decide; the third, what items not seen may add. With ``won - lost ~ Normal(d, won
    + lost + 1)`` it is P(d > 0).

    Probabilities are better evidence than counts here: of three items on which two differ, one or two decide by luck.
    Where nothing differs yet, a team of several people and a model is better than both more often than one of two.

    answers  mean number of answers on an item
    """
    centre, seen = expected + UNSEEN_GAIN + SEVERAL_GAIN * (1.0 - answers**-2), won - lost
    variance = won + lost + 1.0
    spread = REALISED_SD**2 * (1.0 + REALISED_LABELS / max(n, 1.0)) * centre**2
    scale = float(np.sqrt(spread + REALISED_PER_ITEM**2 * (won + lost) ** 2 + UNSEEN_SD**2))

    def log_density(mean: Floats) -> Floats:
        prior = np.log1p(((mean - centre) / scale) ** 2 / REALISED_FREEDOM) * (REALISED_FREEDOM + 1.0) / 2.0
        return -prior - 0.5 * (seen - mean) ** 2 / variance

    reach = max(abs(centre) + 12.0 * scale, abs(seen) + 6.0 * float(np.sqrt(variance)))
    above, below = log_density(reach * NODES), log_density(-reach * NODES)
    top = max(above.max(), below.max())
    better, worse = (float(np.exp(side - top).sum()) for side in (above, below))
    return better / (better + worse)


def chance_best(chances: tuple[float, ...]) -> float:
    """Probability that the team errs less often than every partner, from that for each; 0.5 without any.

    It lies between the product of all, if they were independent, and the smallest of them, if one implied the others:
    the geometric mean of the two.
    """
    return float(np.sqrt(np.prod(chances) * min(chances))) if chances else 0.5
