"""Who answered how much, as sums over items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.annotators import agreements


class Answering(NamedTuple):
    """Who answered how much, as sums over items.

    items   how many items somebody answered
    given   (n_people,) how many answers each gave
    shared  (n_people,) how many of them others answered too
    agreed  (n_people,) how far those agreed
    """

    items: float
    given: Floats
    shared: Floats
    agreed: Floats

    @property
    def several(self) -> bool:
        """Whether any item has several answers."""
        return bool(self.shared.sum() > 0)

    @property
    def several_on_average(self) -> bool:
        """Whether answered items have two or more: people then tell each other's worth."""
        return bool(self.several and self.given.sum() >= 2 * self.items)


def answering_of(answers: Answers, weight: Floats | None, n_people: int, n_classes: int) -> Answering:
    """Who answered how much in a block; a sum over items: add the blocks' results."""
    answered = answers.per_item() > 0
    items = float(np.count_nonzero(answered) if weight is None else weight[answered].sum())
    return Answering(items, *agreements(answers, weight, n_people, n_classes))
