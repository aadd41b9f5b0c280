"""When a team prefers one of its two partners, human or model, to its own combination.

Two rules, both from the labelled items, each of which was held out. Where two classes are close, that of the partner
who was right more often wins. And where the record is sure that a partner alone errs less than the combination, the
team answers as that partner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.priors import ONLY_ONE_RIGHT

#: Labels at which the preference in close calls is half as strong.
CLOSE_CALL_LABELS = 30.0
#: With a probability of erring less than a partner below the first, the team answers as that partner; between the two
#: it moves there continuously.
SURE, UNSURE = 0.05, 0.1


@dataclass(frozen=True, slots=True)
class Preference:
    """The better partner, by how much another class must be more probable, and whether it answers alone.

    lead           from -1 (the model is certainly better) to 1 (the human is certainly better)
    log_threshold  the combination overrules the partner only above this log ratio of probabilities
    chances        probability that the combination errs less than the human alone, and than the model alone
    """

    lead: float
    log_threshold: float
    chances: tuple[float, float] = (1.0, 1.0)

    @property
    def human_leads(self) -> bool:
        """Whether the human is the better partner; otherwise it is the model."""
        return self.lead > 0

    @property
    def human_alone(self) -> bool:
        """Whether it is the human, rather than the model, who would answer alone."""
        return self.chances[0] < self.chances[1]

    @property
    def share_alone(self) -> float:
        """Share of that partner's own probabilities in the team's: 0 for the combination, 1 for the partner alone."""
        return float(np.clip((UNSURE - min(self.chances)) / (UNSURE - SURE), 0.0, 1.0))


def fit_preference(
    human_only: float, model_only: float, n: float, chances: tuple[float, float] = (1.0, 1.0)
) -> Preference:
    """The partner that did better on n labelled items, and how far it is preferred.

    ``z = 1 - 2 I_1/2(b + 8, c + 8)`` is the lead, ``log theta = z^2 30 / (30 + n)`` the threshold.

    human_only, model_only  b and c, the weights of items that only the human, and only the model, got right
    chances                 probability that the combination errs less than the human alone, and than the model alone
    """
    lead = 1.0 - 2.0 * float(betainc(human_only + ONLY_ONE_RIGHT, model_only + ONLY_ONE_RIGHT, 0.5))
    return Preference(lead, lead**2 * CLOSE_CALL_LABELS / (CLOSE_CALL_LABELS + n), chances)


def close_calls_to_partner(proba: Floats, partner_label: Codes, log_threshold: float) -> Floats:
    """The partner's class j wins where ``P_k < theta P_j`` for the best other class k; others keep their proportions.

    With ``x = log P_k / P_j`` and t the log threshold, x becomes 0 at t and is unchanged from -2 t down and 2 t up,
    linearly in between: no probability jumps.

    proba          (n_classes, n_items)
    partner_label  (n_items,) codes; an item whose partner is MISSING is not changed
    returns        (n_classes, n_items)
    """
    item, reach = np.arange(proba.shape[1]), 2.0 * log_threshold
    partner, preferred = proba[partner_label, item], proba.copy()
    # The others sum to 1 less the partner's, so that only such items can be close.
    near = (partner_label != MISSING) & (partner * (1.0 + np.exp(-reach)) < proba.sum(axis=0))
    near = np.flatnonzero(near & (proba.max(axis=0) < np.exp(reach) * partner))
    others, here = proba[:, near], np.arange(len(near))
    others[partner_label[near], here] = 0.0
    x = np.log(others.max(axis=0) / partner[near])
    close = np.abs(x) < reach
    near, others, x, here = near[close], others[:, close], x[close], here[: int(close.sum())]
    others *= np.exp(np.interp(x, [-reach, log_threshold, reach], [-reach, 0.0, reach]) - x)
    others[partner_label[near], here] = partner[near]
    preferred[:, near] = others * (proba[:, near].sum(axis=0) / others.sum(axis=0))
    return preferred
