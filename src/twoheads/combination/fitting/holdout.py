"""Hold-out counts: errors of a team on its labelled items, each predicted from matrices fitted without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.rivals import N_SUMS, RivalList, model_errors
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.inference.both_wrong import both_wrong_counts, counted_p_value
from twoheads.kernels.scoring.ties import top_shares


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of a labelled block that were fitted without its items, (n_classes, n_items) each.

    combined, plain  probabilities of the combination, and of the plain product
    human, people    the label of all answers together, and that of people's answers, as shares: equal among tied
                     classes, 0 without an answer
    """

    combined: Floats
    plain: Floats
    human: Floats
    people: Floats


CrossFittedPredictions = Callable[[Block], HeldOut]


class _Sums(NamedTuple):
    """Weights of items, and sums of losses; of a block, arrays of them by item."""

    n: Any
    squares: Any
    differ_from_human: Any
    squares_from_human: Any
    differ_from_model: Any
    squares_from_model: Any
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
    answers: Any
    modelled: Any


def holdout_counts(blocks: Sequence[Block], predictions: CrossFittedPredictions, rivals: RivalList) -> HoldoutRecord:
    """The counts over labelled blocks."""

    def kernel(block: Block) -> tuple[Any, ...]:
        predicted = predictions(block)
        team, model = top_shares(predicted.combined), top_shares(block.log_proba)
        numbers = _n_items(block), _errors_of_both(block, predicted.human, model)
        sums = _block_sums(block, predicted, team=team, model=model)
        return *sums, *numbers, *_rival_sums(rivals, block, team, predicted.people)

    found = sum_blocks(kernel, blocks)
    n_sums = len(found) - N_SUMS - 2
    sums, items, both = _Sums(*map(float, found[:n_sums])), float(found[n_sums]), found[n_sums + 1]
    total = max(sums.n, 1e-300)
    unit = sums.squares / total if sums.n else 1.0
    loss, plain_loss = sums.loss / total, sums.plain_loss / total
    variance = max(sums.squared_gain / total - (plain_loss - loss) ** 2, sums.believed_squared_gain / total)
    by_chance, p_value = counted_p_value(both.astype(np.intp))
    return HoldoutRecord(
        n=sums.n,
        items=items,
        unit=unit,
        unit_over_human=sums.squares_from_human / sums.differ_from_human if sums.differ_from_human else unit,
        unit_over_model=sums.squares_from_model / sums.differ_from_model if sums.differ_from_model else unit,
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
        log_loss_gain_se=float(np.sqrt(variance * unit / total)),
        answered=sums.answered,
        modelled=sums.modelled,
        answers_per_item=sums.answers / sums.answered if sums.answered else 1.0,
        both_labelled=float(both[0].sum()),
        both_wrong=float(both[3].sum()),
        both_wrong_by_chance=by_chance,
        both_wrong_p=p_value,
        rivals=rivals.compared(found[n_sums + 2 :]),
    )


def _rival_sums(rivals: RivalList, block: Block, team: Floats, people: Floats) -> tuple[Floats, ...]:
    assert block.answers is not None
    assert block.true_label is not None
    truth = block.true_label
    of_truth = truth, np.arange(len(truth))
    crowd = np.where(people.any(axis=0), 1.0 - people[of_truth], np.nan)
    labels = rivals.labels(block.answers, len(team), model_errors(block), crowd)
    return rivals.sums(labels, truth, 1.0 - team[of_truth], block.weight)


def only_one_right(block: Block, human: Floats) -> tuple[float, float, float]:
    """Weight of a labelled block's items that only the annotators got right, that only the model did, and of all.

    human  (n_classes, n_items) the annotators' label as shares
    """
    human_only, model_only = _only_one_right(block, human, top_shares(block.log_proba))
    weight = np.ones(len(human_only)) if block.weight is None else block.weight
    return float(weight @ human_only), float(weight @ model_only), float(weight.sum())


def _only_one_right(block: Block, human: Floats, model: Floats) -> tuple[Floats, Floats]:
    """Whether only the annotators, and only the model, got each item right, (n_items,).

    Where several classes are equally probable a label is right by a share, whatever their order.

    human, model  (n_classes, n_items) labels as shares
    """
    assert block.true_label is not None
    both = human.any(axis=0) & _modelled(block)
    human_right, model_right = (each[block.true_label, np.arange(len(block.true_label))] for each in (human, model))
    return both * human_right * (1.0 - model_right), both * (1.0 - human_right) * model_right


def _errors_of_both(block: Block, human: Floats, model: Floats) -> Floats:
    """`both_wrong_counts` of annotators and model, where either has one label; items of weight 0 are none."""
    assert block.true_label is not None
    one_each = (human.max(axis=0) == 1.0) & (model.max(axis=0) == 1.0) & _modelled(block) & _counted(block)
    wrong = [each[block.true_label, np.arange(len(block.true_label))][one_each] == 0.0 for each in (human, model)]
    return both_wrong_counts(wrong[0], wrong[1], block.true_label[one_each], len(human)).astype(np.float64)


def _n_items(block: Block) -> float:
    return float(np.count_nonzero(_counted(block)))


def _counted(block: Block) -> NDArray[np.bool_]:
    return np.ones(block.log_proba.shape[1], dtype=bool) if block.weight is None else block.weight > 0


def _modelled(block: Block) -> NDArray[np.bool_]:
    return np.ones(block.log_proba.shape[1], dtype=bool) if block.no_model is None else ~block.no_model


def _block_sums(block: Block, predicted: HeldOut, *, team: Floats, model: Floats) -> tuple[float, ...]:
    """`_Sums` of a block; labels of team and model as shares."""
    assert block.answers is not None
    assert block.true_label is not None
    combined, plain, human = predicted.combined, predicted.plain, predicted.human
    of_truth = block.true_label, np.arange(len(block.true_label))
    weight = np.ones(len(block.true_label)) if block.weight is None else block.weight
    answered, modelled = human.any(axis=0), _modelled(block)
    ahead_of_human, ahead_of_model = (
        np.where(there, (team - other)[of_truth], 0.0) for other, there in ((human, answered), (model, modelled))
    )
    from_human, from_model = (
        there & (np.abs(team - other).max(axis=0) > 0.0) for other, there in ((human, answered), (model, modelled))
    )
    human_only, model_only = _only_one_right(block, human, model)
    loss, plain_loss = (-np.log(np.maximum(each[of_truth], 1e-300)) for each in (combined, plain))
    counts = _Sums(
        n=np.ones(len(block.true_label)),
        squares=weight,
        differ_from_human=from_human,
        squares_from_human=weight * from_human,
        differ_from_model=from_model,
        squares_from_model=weight * from_model,
        human_errors=np.where(answered, 1.0 - human[of_truth], 0.0),
        model_errors=np.where(modelled, 1.0 - model[of_truth], 0.0),
        errors=1.0 - team[of_truth],
        won_over_human=np.maximum(ahead_of_human, 0.0),
        lost_to_human=np.maximum(-ahead_of_human, 0.0),
        won_over_model=np.maximum(ahead_of_model, 0.0),
        lost_to_model=np.maximum(-ahead_of_model, 0.0),
        expected_over_human=np.where(answered, ((team - human) * combined).sum(axis=0), 0.0),
        expected_over_model=np.where(modelled, ((team - model) * combined).sum(axis=0), 0.0),
        human_only=human_only,
        model_only=model_only,
        loss=loss,
        plain_loss=plain_loss,
        squared_gain=(plain_loss - loss) ** 2,
        believed_squared_gain=_believed_squared_gain(combined, plain),
        answered=answered,
        answers=answered * block.answers.per_item(),
        modelled=modelled,
    )
    return tuple(float(weight @ count) for count in counts)


def _believed_squared_gain(combined: Floats, plain: Floats) -> Floats:
    """The mean square of the difference of two log losses if the truth came from either forecast, (n_items,).

    The two differ most on rare outcomes, which a few items may not have shown.

    combined, plain  (n_classes, n_items)
    """
    gain = np.log(np.maximum(combined, 1e-300) / np.maximum(plain, 1e-300))
    return np.asarray((0.5 * (combined + plain) * gain**2).sum(axis=0))
