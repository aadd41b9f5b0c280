"""A guard against doing worse than the better of human and model, when few labels show which that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from twoheads.kernels.arrays import MISSING, Codes, Floats


@dataclass(frozen=True, slots=True)
class Guard:
    """The better partner, and by how much the combination must prefer another class to overrule it.

    lead           from -1 (the model is certainly better) to 1 (the human is certainly better)
    log_threshold  the combination overrules the partner only above this log ratio of probabilities
    """

    lead: float
    log_threshold: float

    @property
    def human_leads(self) -> bool:
        """Whether the human is the better partner; otherwise it is the model."""
        return self.lead > 0


def fit_guard(human_only: float, model_only: float, n: float) -> Guard:
    """The partner that did better on n labelled items, and the threshold for overruling it.

    ``z = 1 - 2 I_1/2(b + 1, c + 1)`` is the lead, ``log theta = 2 z^2 30 / (30 + n)`` the threshold.

    human_only, model_only  b and c, the weights of items that only the human, and only the model, got right
    """
    lead = 1.0 - 2.0 * float(betainc(human_only + 1.0, model_only + 1.0, 0.5))
    return Guard(lead, 2.0 * lead**2 * 30.0 / (30.0 + n))


def guarded(proba: Floats, partner_label: Codes, log_threshold: float) -> Floats:
    """Where the combination's class k is not the partner's j and ``P_k < theta P_j``, both get their mean and j wins.

    proba          (n_classes, n_items)
    partner_label  (n_items,) codes; an item whose partner is MISSING is not changed
    returns        (n_classes, n_items)
    """
    item = np.arange(proba.shape[1])
    label = proba.argmax(axis=0)
    top, partner = proba[label, item], proba[partner_label, item]
    close = (label != partner_label) & (partner_label != MISSING) & (top < np.exp(log_threshold) * partner)
    guarded = proba.copy()
    mean = (top + partner)[close] / 2
    # Slightly unequal, so that the partner's class is the largest.
    epsilon = 4 * np.finfo(np.float64).eps
    guarded[label[close], item[close]] = mean * (1.0 - epsilon)
    guarded[partner_label[close], item[close]] = mean * (1.0 + epsilon)
    return guarded
