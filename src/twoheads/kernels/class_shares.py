"""Class shares of a crowd without a model: those of the majority votes, drawn towards equal ones."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.answers import Answers, vote_shares
from twoheads.kernels.arrays import Floats
from twoheads.kernels.priors import MAJORITY_POWER, SHARES_STRENGTH


def majority_counts(answers: Answers, n_classes: int, weight: Floats | None) -> Floats:
    """Weight of the answered items whose majority is each class, (n_classes,); a tie is split. Add up over blocks."""
    shares = vote_shares(answers, n_classes)
    leading = shares >= shares.max(axis=0) - 1e-9
    counted = (answers.per_item() > 0) if weight is None else weight * (answers.per_item() > 0)
    return np.asarray((leading / leading.sum(axis=0)) @ counted, dtype=np.float64)


def crowd_class_shares(majority: Floats, labels: Floats) -> Floats:
    """Shares proportional to m^.75, m the majority's, worth ten labels beside those there are, (n_classes,).

    Nothing is iterated, so no class can vanish.

    majority  (n_classes,) from `majority_counts`
    labels    (n_classes,) weight of the labelled items of each class
    """
    power = (majority + 0.5) ** MAJORITY_POWER
    counts = labels + SHARES_STRENGTH * power / power.sum()
    return np.asarray(counts / counts.sum())
