"""Hold-out counts: errors of a team on its labelled items, each predicted from matrices fitted without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.combination.rivals import N_SUMS, RivalList, Rivals, model_labels
from twoheads.combination.rule import TIED
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.preference import Preference, fit_preference
from twoheads.kernels.scoring.chance import chance_best, chance_better
from twoheads.storage.artifact import register

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
    expected_over_human, expected_over_model   how many more of the first than of the second its probabilities say
    human_only, model_only     items that only the annotators got right, and only the model
    log_loss, plain_log_loss   mean log loss of the combination, and of the plain product of the same parts
    log_loss_gain_se           standard error of their difference, no less than both of them believe
    answered, modelled         weight of the items with an answer, and with a model row
    rivals                     whom the combination is compared with on the same items; None without any
    """

    n: float = 0.0
    human_errors: float = 0.0
    model_errors: float = 0.0
    errors: float = 0.0
    over_human: tuple[float, float] = (0.0, 0.0)
    over_model: tuple[float, float] = (0.0, 0.0)
    expected_over_human: float = 0.0
    expected_over_model: float = 0.0
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

        A draw counts half. Where a member answers alone, the team draws with it.
        """
        chance = chance_best(tuple(each for each in self._chances() if each is not None))
        return chance + self.preference().share_alone * (0.5 - chance)

    def preference(self) -> Preference:
        """Whom of the two partners the team prefers, and how far."""
        over_human, over_model = self._chances()
        if over_human is None or over_model is None:
            return fit_preference(0.0, 0.0, self.n)
        return fit_preference(self.human_only, self.model_only, self.n, (over_human, over_model))

    def _chances(self) -> tuple[float | None, float | None]:
        """The chance that it errs less than the annotators, and than the model; None where there is none."""
        human = chance_better(*self.over_human, self.expected_over_human, self.n) if self.answered else None
        model = chance_better(*self.over_model, self.expected_over_model, self.n) if self.modelled else None
        return human, model


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
    expected_over_human: Any
    expected_over_model: Any
    human_only: Any
    model_only: Any
    loss: Any
    plain_loss: Any
    squared_gain: Any
    believed_squared_gain: Any
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
    variance = max(sums.squared_gain / total - (plain_loss - loss) ** 2, sums.believed_squared_gain / total)
    return HoldoutRecord(
        n=sums.n,
        human_errors=sums.human_errors,
        model_errors=sums.model_errors,
        errors=sums.errors,
        over_human=(sums.won_over_human, sums.lost_to_human),
        over_model=(sums.won_over_model, sums.lost_to_model),
        expected_over_human=sums.expected_over_human,
        expected_over_model=sums.expected_over_model,
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
    human_only, model_only = _only_one_right(block, human)
    return block.weighted_sum(human_only), block.weighted_sum(model_only), block.total_weight()


def _only_one_right(block: Block, human: Codes) -> tuple[Floats, Floats]:
    """Whether only the annotators, and only the model, got each item right, (n_items,).

    A model that finds several classes equally probable is right by a share, whatever their order.
    """
    both = human != MISSING if block.no_model is None else (human != MISSING) & ~block.no_model
    top = block.log_proba >= block.log_proba.max(axis=0) - TIED
    human_right, model_right = human == block.true_label, block.expected(top / top.sum(axis=0))
    return both * human_right * (1.0 - model_right), both * ~human_right * model_right


def _block_sums(block: Block, combined: Floats, plain: Floats, human: Codes) -> tuple[float, ...]:
    assert block.true_label is not None
    truth, item = block.true_label, np.arange(block.n_items)
    answered = human != MISSING
    modelled = np.ones(len(truth), dtype=bool) if block.no_model is None else ~block.no_model
    label = combined.argmax(axis=0)
    right, human_right = label == truth, human == truth
    model = block.log_proba.argmax(axis=0)
    model_right = modelled & (model == truth)
    human_only, model_only = _only_one_right(block, human)
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
        expected_over_human=np.where(answered, combined[label, item] - combined[human, item], 0.0),
        expected_over_model=np.where(modelled, combined[label, item] - combined[model, item], 0.0),
        human_only=human_only,
        model_only=model_only,
        loss=loss,
        plain_loss=plain_loss,
        squared_gain=(plain_loss - loss) ** 2,
        believed_squared_gain=_believed_squared_gain(combined, plain),
        answered=answered,
        modelled=modelled,
    )
    return tuple(block.weighted_sum(count.astype(np.float64)) for count in counts)


def _believed_squared_gain(combined: Floats, plain: Floats) -> Floats:
    """The mean square of the difference of two log losses if the truth came from either forecast, (n_items,).

    What one of them loses or wins most, it does on rare outcomes, which few items may not have shown.

    combined, plain  (n_classes, n_items)
    """
    gain = np.log(np.maximum(combined, 1e-300) / np.maximum(plain, 1e-300))
    return np.asarray((0.5 * (combined + plain) * gain**2).sum(axis=0))
