"""A block: some consecutive items as the arrays that kernels take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Codes, Floats


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive items.

    log_proba   (n_classes, n_items) log of the model's probabilities, normalised and floored; of several models their
                mean, normalised; uniform where no model has seen the item
    answers     the people's answers
    true_label  (n_items,) codes, MISSING where unknown; None where no truth is known
    target      (n_classes, n_items) how likely each class is the true one, where that is known softly; else None
    weight      (n_items,) or None where every item counts once
    unsure      who said "unsure": columns are people; None where nobody did
    confidence  (n_answers,) a number per entry of ``answers.column``, NaN where none was given; None where all are
    members     one (n_classes, n_items) per model where there are several, as ``log_proba``; NaN where it has not seen
                the item
    no_model    (n_items,) whether no model has seen the item; None where each item has been seen
    """

    log_proba: Floats
    answers: Answers | None = None
    true_label: Codes | None = None
    target: Floats | None = None
    weight: Floats | None = None
    unsure: Answers | None = None
    confidence: Floats | None = None
    members: tuple[Floats, ...] = ()
    no_model: NDArray[np.bool_] | None = None

    @property
    def n_items(self) -> int:
        """How many items stand in the block."""
        return int(self.log_proba.shape[1])

    def total_weight(self) -> float:
        """The sum of the items' weights."""
        return float(self.n_items if self.weight is None else self.weight.sum())

    def soft_target(self) -> Floats:
        """The target as probabilities, one-hot where the truth is known, (n_classes, n_items)."""
        if self.target is not None:
            return self.target
        assert self.true_label is not None
        return one_hot(self.true_label, len(self.log_proba))

    def expected(self, values: Floats) -> Floats:
        """Mean of ``values`` (n_classes, n_items) under each item's target, (n_items,)."""
        if self.target is not None:
            return np.asarray(np.einsum("kn,kn->n", self.target, values))
        assert self.true_label is not None
        return np.asarray(values[self.true_label, np.arange(self.n_items)])

    def weighted_sum(self, per_item: Floats) -> float:
        """Sum of a number per item times the items' weights."""
        return float((per_item if self.weight is None else self.weight * per_item).sum())


def one_hot(label: Codes, n_classes: int) -> Floats:
    """1 at each item's label, 0 elsewhere, (n_classes, n_items)."""
    hot = np.zeros((n_classes, len(label)))
    hot[label, np.arange(len(label))] = 1.0
    return hot
