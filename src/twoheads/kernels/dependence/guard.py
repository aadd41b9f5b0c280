"""A guard against doing worse than the better of the two partners, when few labels tell which one that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from twoheads.kernels.arrays import MISSING, Codes, Floats


@dataclass(frozen=True, slots=True)
class Guard:
    """Whom to side with, and how firmly.

    lead           from -1 (the model is surely better) to 1 (the human is surely better)
    log_threshold  the combination overrules the partner only if it is this much surer of its own class
    """

    lead: float
    log_threshold: float

    @property
    def human_leads(self) -> bool:
        """Whether the human is the partner to side with; else it is the model."""
        return self.lead > 0


def partner_wins(
    model_label: Codes, human_label: Codes, true_label: Codes, weight: Floats | None = None
) -> tuple[float, float]:
    """How often only the human was right, and only the model; a sum over items: add the blocks' results.

    model_label, human_label, true_label  (n_items,) codes
    """
    human_right, model_right = human_label == true_label, model_label == true_label
    human_only = (human_right & ~model_right).astype(np.float64)
    model_only = (model_right & ~human_right).astype(np.float64)
    if weight is None:
        return float(human_only.sum()), float(model_only.sum())
    return float(human_only @ weight), float(model_only @ weight)


def fit_guard(human_only: float, model_only: float, n: float) -> Guard:
    """Partner that did better on n labelled items, and how much that is worth.

    ``z = 1 - 2 I_1/2(b + 1, c + 1)`` is the lead, ``log theta = 2 z^2 30 / (30 + n)`` the threshold.

    human_only, model_only  b and c as ``partner_wins`` gives them
    """
    lead = 1.0 - 2.0 * float(betainc(human_only + 1.0, model_only + 1.0, 0.5))
    return Guard(lead, 2.0 * lead**2 * 30.0 / (30.0 + n))


def guarded(proba: Floats, partner_label: Codes, log_threshold: float) -> Floats:
    """Where the combination's class k is not the partner's j and ``P_k < theta P_j``, both get their mean and j wins.

    proba          (n_classes, n_items)
    partner_label  (n_items,) codes; an item whose partner is MISSING stays as it is
    returns        (n_classes, n_items)
    """
    item = np.arange(proba.shape[1])
    label = proba.argmax(axis=0)
    top, partner = proba[label, item], proba[partner_label, item]
    close = (label != partner_label) & (partner_label != MISSING) & (top < np.exp(log_threshold) * partner)
    guarded = proba.copy()
    mean = (top + partner)[close] / 2
    # A hair to either side, so that whoever takes the largest finds j.
    hair = 4 * np.finfo(np.float64).eps
    guarded[label[close], item[close]] = mean * (1.0 - hair)
    guarded[partner_label[close], item[close]] = mean * (1.0 + hair)
    return guarded
