"""Whether human and model err on the same items."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.evaluation import Predictions, independence
from twoheads.kernels.arrays import MISSING
from twoheads.kernels.inference.both_wrong import both_wrong_p_value
from twoheads.kernels.scoring.ties import sole_label
from twoheads.report.plain import plain_dict
from twoheads.report.sections.common import labelled_by_both, unavailable
from twoheads.text import SIGNIFICANCE, p_value, percent

_MAX_ITEMS = 20_000  # items tested


def independence_section(predicted: Predictions, random_state: int | None) -> dict[str, Any]:
    """Test the conditional independence of human and model, and whether both err on the same items."""
    rows = labelled_by_both(predicted)
    sole = [sole_label(shares)[rows] for shares in (predicted.human_shares, predicted.model_shares)]
    rows = rows[np.logical_and(*(label != MISSING for label in sole))]  # a tie is neither right nor wrong
    if len(rows) < 2:
        return unavailable(
            "This needs at least two items of known truth on which people and the model each have one label, not tied."
        )
    items = predicted.take(rows[:: max(1, len(rows) // _MAX_ITEMS)])
    classes = items.classes
    found = independence(
        items.model_proba,
        classes[items.human_label],
        classes[items.true_label],
        classes=classes,
        n_permutations=500,
        random_state=random_state,
    )
    human_wrong, model_wrong = items.human_label != items.true_label, items.model_label != items.true_label
    both = float((human_wrong & model_wrong).mean())
    n_expected, p_both = both_wrong_p_value(human_wrong, model_wrong, items.true_label)
    expected = n_expected / len(items)
    section = {
        "available": True,
        "n_items": len(items),
        "conditional_mutual_information": found.conditional_mutual_information,
        "by_chance": found.by_chance,
        "p_value": found.p_value,
        "both_wrong": both,
        "both_wrong_if_independent": expected,
        "both_wrong_p_value": p_both,
        "words": _sentence(found.p_value, p_both, both, expected),
    }
    return plain_dict(section)


def _sentence(p: float, p_both: float, both: float, expected: float) -> str:
    """The second test counts where the first is significant: of 20 independent pairs, one is called dependent."""
    shares = (
        f"both are wrong on {percent(both, 1)} of the items, against {percent(expected, 1)} if errors were independent "
        "within each class"
    )
    if p >= SIGNIFICANCE:
        return f"No significant dependence between the labels of human and model ({p_value(p)}): {shares}."
    if p_both >= SIGNIFICANCE:
        return (
            f"The labels of human and model depend on each other given the truth ({p_value(p)}), but the two do not "
            f"err on the same items significantly more often for it: {shares}."
        )
    return (
        f"Human and model err on the same items more often than by chance ({p_value(p_both)}): {shares}. "
        "Their agreement is weaker evidence than it seems; use a method that models dependence, or ask a second "
        "person about hard items."
    )
