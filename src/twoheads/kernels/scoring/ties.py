"""Ties among classes: the label with the largest score, shared equally among those tied, whatever their order.

A predicted label must be one class, and is the first of those tied. What is counted of it is not: a tie of m classes
counts 1/m for each, so that no statistic changes where classes are renamed.
"""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import MISSING, Codes, Floats

#: Scores, probabilities or their logarithms that differ by less are tied: they differ by rounding only.
TIED = 1e-9


def top_shares(scores: Floats) -> Floats:
    """The label with the largest score as shares, ``1 / m`` for each of m tied classes; both (n_classes, n_items)."""
    top = scores >= scores.max(axis=0) - TIED
    return np.asarray(top / top.sum(axis=0))


def of_truth(values: Floats, truth: Codes) -> Floats:
    """The value of each item's true class, (n_items,); values (n_classes, n_items)."""
    return np.asarray(values[truth, np.arange(len(truth))])


def label_error(scores: Floats, truth: Codes) -> Floats:
    """``1 - s_y`` of the label's shares s: 0 if right, 1 if wrong, between for a tie with the truth, (n_items,)."""
    return 1.0 - of_truth(top_shares(scores), truth)


def sole_label(shares: Floats) -> Codes:
    """The label of each item that has just one, else MISSING, (n_items,); shares (n_classes, n_items)."""
    return np.where(shares.max(axis=0) == 1.0, shares.argmax(axis=0), MISSING)


def agreement(one: Floats, other: Floats) -> Floats:
    """``sum_k s_k t_k``: how probably two labels agree if ties are broken at random, (n_items,).

    one, other  (n_classes, n_items) labels as shares
    """
    found: Floats = np.einsum("kn,kn->n", one, other)
    return found
