"""How a team did on its labelled items, each judged without itself: what may be promised from few labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc
from sklearn.base import BaseEstimator

from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.guard import Guard, fit_guard
from twoheads.storage.artifact import register


@register
@dataclass
class Record(BaseEstimator):
    """Counts over labelled items, each predicted from matrices that have not seen it.

    n                          the items' weight
    human_errors, model_errors, errors   how many the people, the model and the combination got wrong
    over_human, over_model     how many only the combination got right, and only that partner
    human_only, model_only     how many only the human got right, and only the model
    log_loss, plain_log_loss   mean log loss of the combination, and of the plain product of the same parts
    log_loss_gain_se           standard error of their difference
    answered, modelled         weight of the items that somebody answered, and that a model has seen
    """

    n: float = 0.0
    human_errors: float = 0.0
    model_errors: float = 0.0
    errors: float = 0.0
    over_human: tuple[float, float] = (0.0, 0.0)
    over_model: tuple[float, float] = (0.0, 0.0)
    human_only: float = 0.0
    model_only: float = 0.0
    log_loss: float = 0.0
    plain_log_loss: float = 0.0
    log_loss_gain_se: float = 0.0
    answered: float = 0.0
    modelled: float = 0.0

    @property
    def chance_best(self) -> float:
        """How likely it is that the combination errs less often than the better of the two partners.

        Of the items that only one of two gets right, a share theta goes to the combination; theta has a uniform
        prior, and the chance is P(theta > 1/2), the smaller one of the two partners'.
        """
        partners = (self.over_human, self.answered), (self.over_model, self.modelled)
        return min((_chance_better(*counts) for counts, spoke in partners if spoke), default=0.5)

    def guard(self) -> Guard:
        """Whom to side with where the combination hesitates."""
        return fit_guard(self.human_only, self.model_only, self.n)


def _chance_better(wins: float, losses: float) -> float:
    return 1.0 - float(betainc(wins + 1.0, losses + 1.0, 0.5))


def record_of(blocks: Sequence[Block], judged: Callable[[Block], tuple[Floats, Floats, Codes]]) -> Record:
    """Count over labelled blocks.

    judged  gives a block's combined probabilities and those of the plain product, (n_classes, n_items) each, and the
            people's label of each item, MISSING where nobody answered; all from what was learnt without the item
    """

    def kernel(block: Block) -> tuple[float, ...]:
        assert block.true_label is not None
        combined, plain, human = judged(block)
        truth, item = block.true_label, np.arange(block.n_items)
        right = combined.argmax(axis=0) == truth
        human_right = human == truth
        asked, seen = human != MISSING, np.ones(len(truth), dtype=bool) if block.no_model is None else ~block.no_model
        model_right = seen & (block.log_proba.argmax(axis=0) == truth)
        loss, plain_loss = (-np.log(np.maximum(each[truth, item], 1e-300)) for each in (combined, plain))
        counts = (
            np.ones(len(truth)),
            asked & ~human_right,
            seen & ~model_right,
            ~right,
            right & ~human_right & asked,
            human_right & ~right,
            right & ~model_right & seen,
            model_right & ~right,
            human_right & ~model_right & seen,
            model_right & ~human_right & asked,
            loss,
            plain_loss,
            (plain_loss - loss) ** 2,
            asked,
            seen,
        )
        return tuple(block.weighted_sum(count.astype(np.float64)) for count in counts)

    n, human, model, combined, *rest = (float(total) for total in sum_blocks(kernel, blocks))
    loss, plain_loss, square = (total / max(n, 1.0) for total in rest[6:9])
    variance = max(square - (plain_loss - loss) ** 2, 0.0)
    return Record(
        n=n,
        human_errors=human,
        model_errors=model,
        errors=combined,
        over_human=(rest[0], rest[1]),
        over_model=(rest[2], rest[3]),
        human_only=rest[4],
        model_only=rest[5],
        log_loss=loss,
        plain_log_loss=plain_loss,
        log_loss_gain_se=float(np.sqrt(variance / max(n, 1.0))),
        answered=rest[9],
        modelled=rest[10],
    )
