"""Input of the dependence stage: the model's log-probabilities and the answers' log-likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from twoheads.engines.blocks import sum_blocks
from twoheads.engines.progress import current_callback
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.grid import dependence_values
from twoheads.kernels.dependence.mode import dependence_sums
from twoheads.kernels.numerics.sampling import Hashes

#: Log-likelihood of a block's answers, (n_classes, n_items), from matrices fitted without their items.
OutOfFoldLikelihood = Callable[[Block], Floats]


@dataclass(frozen=True)
class Evidence:
    """A block as input of the kernels.

    log_proba       (n_classes, n_items) log m
    log_likelihood  (n_classes, n_items) of the answers, out of fold
    true_label      (n_items,)
    weight          (n_items,) or None
    more_answers    (n_items,) number of answers less 1; None where no item has several
    hashes          two (n_items,) of what the items are, by which many are sampled; None where they are few
    """

    log_proba: Floats
    log_likelihood: Floats
    true_label: Codes
    weight: Floats | None
    more_answers: Codes | None
    hashes: tuple[Hashes, Hashes] | None = None

    @classmethod
    def of(
        cls, block: Block, out_of_fold: OutOfFoldLikelihood, hashes: tuple[Hashes, Hashes] | None = None
    ) -> Evidence:
        """The evidence of a labelled block."""
        assert block.true_label is not None
        return cls(block.log_proba, out_of_fold(block), block.true_label, block.weight, more_answers(block), hashes)

    def total_weight(self) -> float:
        """The sum of the items' weights."""
        return float(len(self.true_label) if self.weight is None else self.weight.sum())

    def discounted(self, correlation: float) -> tuple[Floats, Floats, Codes, Floats | None]:
        """Arguments of the kernels, the log-likelihood divided by the design effect."""
        return self.log_proba, self.discounted_likelihood(correlation), self.true_label, self.weight

    def discounted_likelihood(self, correlation: float) -> Floats:
        """The log-likelihood divided by the design effect."""
        if self.more_answers is None:
            return self.log_likelihood
        return self.log_likelihood / (1.0 + self.more_answers * correlation)

    def item_weight(self) -> Floats:
        """The weight of each item, (n_items,)."""
        return np.ones(len(self.true_label)) if self.weight is None else self.weight

    def take(self, rows: Codes) -> Evidence:
        """The items at these positions."""
        return Evidence(
            self.log_proba[:, rows],
            self.log_likelihood[:, rows],
            self.true_label[rows],
            None if self.weight is None else self.weight[rows],
            None if self.more_answers is None else self.more_answers[rows],
            None if self.hashes is None else (self.hashes[0][rows], self.hashes[1][rows]),
        )


def more_answers(block: Block) -> Codes | None:
    """Number of answers less 1 on each item; None where no item has several."""
    if block.answers is None or block.answers.start is None:
        return None
    return np.maximum(block.answers.per_item() - 1, 0)


@dataclass(frozen=True)
class KeptEvidence:
    """Sums over evidence that is kept between passes, as functions of the parameters."""

    blocks: Sequence[tuple[Floats, Floats, Codes, Floats | None]]

    @property
    def sums(self) -> Callable[..., Any]:
        """`dependence_sums` over all items."""
        if len(self.blocks) == 1:
            return partial(dependence_sums, *self.blocks[0])
        return lambda *at: sum_blocks(lambda evidence: dependence_sums(*evidence, *at), self.blocks)

    @property
    def values(self) -> Callable[..., Any]:
        """`dependence_values` over all items."""
        if len(self.blocks) == 1:
            return partial(dependence_values, *self.blocks[0])
        return lambda *at: sum_blocks(lambda evidence: (dependence_values(*evidence, *at),), self.blocks)[0]


@dataclass(frozen=True)
class StreamedEvidence:
    """The same with nothing kept between passes, for tables too large to keep."""

    blocks: Sequence[Block]
    out_of_fold: OutOfFoldLikelihood

    def sums(self, correlation: float, *at: Any) -> Any:
        """`dependence_sums` over all items, at a correlation and the parameters ``at``."""
        out_of_fold = self.out_of_fold

        def kernel(block: Block) -> Any:
            return dependence_sums(*Evidence.of(block, out_of_fold).discounted(correlation), *at)

        total = sum_blocks(kernel, self.blocks)
        current_callback().objective(float(total[0]))
        return total
