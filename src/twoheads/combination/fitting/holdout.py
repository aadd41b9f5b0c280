"""Hold-out counts: errors of a team on its labelled items, each predicted from matrices fitted without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc
from sklearn.base import BaseEstimator

from twoheads.combination.rivals import N_SUMS, RivalList, Rivals, model_labels
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.preference import Preference, fit_preference
from twoheads.storage.artifact import register

#: The strength of the prior that neither of two is better: how much of it there is, and how soon it fades.
PRIOR_ITEMS, PRIOR_FADES = 30.0, 5.0

#: From a labelled block: the combined probabilities and those of the plain product, (n_classes, n_items) each, the
#: label of all answers together, and that of people's, MISSING where there is none; all fitted without the items.
CrossFittedPredictions = Callable[[Block], tuple[Floats, Floats, Codes, Codes]]


@register
@dataclass
class HoldoutRecord(BaseEstimator):
    """Counts over labelled items, each predicted from matrices fitted without it.

    n                          weight of the items
    human_errors, model_errors, errors   errors of the annotators, of the model and of the combination
    over_human, over_model     items that only the combination got right, and only the annotators (or the model)
    human_only, model_only     items that only the annotators got right, and only the model
    log_loss, plain_log_loss   mean log loss of the combination, and of the plain product of the same parts
    log_loss_gain_se           standard error of their difference
    answered, modelled         weight of the items with an answer, and with a model row
    rivals                     whom the combination is compared with on the same items; None without any
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
    rivals: Rivals | None = None

    @property
    def chance_best(self) -> float:
        """The chance that the combination errs less often on new items than the better of annotators and model.

        A draw counts half. Of the items that only one of two gets right, a share theta goes to the combination; its
        prior is ``Beta(s, s)`` with ``s = 1 + 30 / (n + 5)``, and the chance is P(theta > 1/2), the smaller of the
        two. With few labels the team that is used differs from those that each item was predicted with: what one
        won is weaker evidence about the other, and s is larger.
        """
        members = (self.over_human, self.answered), (self.over_model, self.modelled)
        prior = 1.0 + PRIOR_ITEMS / (self.n + PRIOR_FADES)
        return min((_chance_better(*counts, prior) for counts, weight in members if weight), default=0.5)

    def preference(self) -> Preference:
        """Whom of the two partners the team prefers, and how far."""
        if not (self.answered and self.modelled):
            return fit_preference(0.0, 0.0, self.n)
        chances = _chance_better(*self.over_human, 1.0), _chance_better(*self.over_model, 1.0)
        return fit_preference(self.human_only, self.model_only, self.n, chances)


def _chance_better(wins: float, losses: float, prior: float) -> float:
    return 1.0 - float(betainc(wins + prior, losses + prior, 0.5))


class _Sums(NamedTuple):
    """Weights of items, and sums of losses; of a block, arrays of them by item."""

    n: Any
    human_errors: Any
    model_errors: Any
    errors: Any
    won_over_human: Any
    lost_to_human: Any
    won_over_model: Any
    lost_to_model: Any
    human_only: Any
    model_only: Any
    loss: Any
    plain_loss: Any
    squared_gain: Any
    answered: Any
    modelled: Any


def holdout_counts(blocks: Sequence[Block], predictions: CrossFittedPredictions, rivals: RivalList) -> HoldoutRecord:
    """The counts over labelled blocks."""

    def kernel(block: Block) -> tuple[Any, ...]:
        combined, plain, human, people = predictions(block)
        return *_block_sums(block, combined, plain, human), *_rival_sums(rivals, block, combined, people)

    found = sum_blocks(kernel, blocks)
    n_sums = len(found) - N_SUMS
    sums = _Sums(*map(float, found[:n_sums]))
    total = max(sums.n, 1.0)
    loss, plain_loss = sums.loss / total, sums.plain_loss / total
    variance = max(sums.squared_gain / total - (plain_loss - loss) ** 2, 0.0)
    return HoldoutRecord(
        n=sums.n,
        human_errors=sums.human_errors,
        model_errors=sums.model_errors,
        errors=sums.errors,
        over_human=(sums.won_over_human, sums.lost_to_human),
        over_model=(sums.won_over_model, sums.lost_to_model),
        human_only=sums.human_only,
        model_only=sums.model_only,
        log_loss=loss,
        plain_log_loss=plain_loss,
        log_loss_gain_se=float(np.sqrt(variance / total)),
        answered=sums.answered,
        modelled=sums.modelled,
        rivals=rivals.compared(found[n_sums:]),
    )


def _rival_sums(rivals: RivalList, block: Block, combined: Floats, people: Codes) -> tuple[Floats, ...]:
    assert block.answers is not None
    assert block.true_label is not None
    labels = rivals.labels(block.answers, len(combined), model_labels(block), people)
    return rivals.sums(labels, block.true_label, combined.argmax(axis=0), block.weight)


def only_one_right(block: Block, human: Codes) -> tuple[float, float, float]:
    """Weight of a labelled block's items that only the annotators got right, that only the model did, and of all."""
    both = human != MISSING if block.no_model is None else (human != MISSING) & ~block.no_model
    human_right, model_right = human == block.true_label, block.log_proba.argmax(axis=0) == block.true_label
    parts = both & human_right & ~model_right, both & model_right & ~human_right, np.ones(block.n_items)
    human_only, model_only, n = (block.weighted_sum(part.astype(np.float64)) for part in parts)
    return human_only, model_only, n


def _block_sums(block: Block, combined: Floats, plain: Floats, human: Codes) -> tuple[float, ...]:
    assert block.true_label is not None
    truth, item = block.true_label, np.arange(block.n_items)
    answered = human != MISSING
    modelled = np.ones(len(truth), dtype=bool) if block.no_model is None else ~block.no_model
    right, human_right = combined.argmax(axis=0) == truth, human == truth
    model_right = modelled & (block.log_proba.argmax(axis=0) == truth)
    loss, plain_loss = (-np.log(np.maximum(each[truth, item], 1e-300)) for each in (combined, plain))
    counts = _Sums(
        n=np.ones(len(truth)),
        human_errors=answered & ~human_right,
        model_errors=modelled & ~model_right,
        errors=~right,
        won_over_human=right & ~human_right & answered,
        lost_to_human=human_right & ~right,
        won_over_model=right & ~model_right & modelled,
        lost_to_model=model_right & ~right,
        human_only=human_right & ~model_right & modelled,
        model_only=model_right & ~human_right & answered,
        loss=loss,
        plain_loss=plain_loss,
        squared_gain=(plain_loss - loss) ** 2,
        answered=answered,
        modelled=modelled,
    )
    return tuple(block.weighted_sum(count.astype(np.float64)) for count in counts)
