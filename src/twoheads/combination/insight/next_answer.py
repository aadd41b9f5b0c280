"""Predict the next answer, before it is asked for."""

from __future__ import annotations

import numpy as np

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.items.sampled import SampledItems
from twoheads.combination.rule import CombinationRule
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import tempered
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.kernels.scoring import answer_value
from twoheads.kernels.simplex import normalise_exp

#: One temperature needs no more answers than this.
MAX_ANSWERS = 2000


def fit_answer_temperature(result: FitResult) -> float:
    """The log temperature at which the calibrated model best predicts people's answers; no truth is needed.

    It is fitted to at most `MAX_ANSWERS` answers of the saved sample; 0 without any.
    """
    if not result.statistics.has_sample:
        return 0.0
    items = SampledItems(result.schema, result.statistics)
    blocks, few = list(items.subsample(MAX_ANSWERS)), items.answered_unlabelled()
    if few is not None and few.n_items > sum(_n_answers(block) for block in blocks):  # answers are rare
        blocks = [few]
    blocks = [result.schema.people_only(block) for block in blocks]
    n_answers = sum(_n_answers(block) for block in blocks)
    if not n_answers:
        return 0.0
    table = result.rule.confusion.people().reshape(-1, result.schema.n_classes)
    arrays = [_by_answer(result.rule, block, table) for block in blocks]
    rows = evenly_spaced(n_answers, MAX_ANSWERS)
    log_proba, given_true, weight = (np.concatenate(each, axis=-1)[..., rows] for each in zip(*arrays, strict=True))
    return answer_value.fit_answer_temperature(
        lambda theta: answer_value.answer_log_likelihood_at(log_proba, given_true, weight, theta)
    )


def belief_before_answer(
    rule: CombinationRule, block: Block, posterior: Floats, answer_log_temperature: float
) -> Floats:
    """The belief from which the next answer is predicted, (n_classes, n_items).

    It is the posterior, and for items without an answer the model at the temperature that predicts answers best: the
    correction for dependence discounts answers, and there are none.

    posterior  (n_classes, n_items) of the block
    """
    assert block.answers is not None
    n_answers = block.answers.per_item() + (0 if block.unsure is None else block.unsure.per_item())
    unanswered = np.flatnonzero(n_answers == 0)
    belief = posterior.copy()
    if len(unanswered):
        model = tempered(rule.calibrated_log_proba(block), answer_log_temperature)
        log_belief = rule.with_prior_shift(block, rule.with_class_prior(block, model))
        belief[:, unanswered] = normalise_exp(log_belief[:, unanswered])
    return belief


def _n_answers(block: Block) -> int:
    assert block.answers is not None
    return int(block.answers.per_item().sum())


def _by_answer(rule: CombinationRule, block: Block, table: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each answer: the calibrated model's row of its item, its probability under each class, its weight."""
    assert block.answers is not None
    there = block.answers.column != MISSING
    item = item_of_answers(block.answers)[there]
    weight = np.ones(block.n_items) if block.weight is None else block.weight
    return rule.calibrated_log_proba(block)[:, item], table[block.answers.column[there]].T, weight[item]
