"""What answers gained on labelled items, beside what was expected of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.insight.answer_gain import decisive_gains
from twoheads.combination.insight.next_answer import belief_before_answer
from twoheads.combination.items.sampled import SampledItems
from twoheads.combination.rule import CombinationRule
from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.blocks import Block, joined
from twoheads.kernels.scoring.answer_value import gain_factor, gains
from twoheads.kernels.scoring.decisive import MANY_CLASSES
from twoheads.kernels.scoring.ties import label_error
from twoheads.kernels.simplex import normalise_exp

#: One factor needs no more items than this.
MAX_ITEMS = 500


def fit_gain_factor(result: FitResult, answer_log_temperature: float) -> float:
    """How much of an expected gain comes, from the labelled items of the saved sample; 1 without any.

    Of each item with a model row one answer is kept aside: the gain that is expected of that person's answer is
    compared with the realised gain. If every item has one answer, that is taken from the hold-out record, where each
    item is predicted without itself.
    """
    block = _labelled(result)
    if block is None:
        return gain_factor(0.0, 0.0, 0.0, 0.0)
    column = _one_answer(block)
    empty = _with_answers(block, np.full(block.n_items, MISSING))
    before = normalise_exp(result.rule.log_joint(empty))
    person = column // result.schema.n_classes
    expected = float(_expected_gain(result, empty, before, person, answer_log_temperature).mean())
    record = result.holdout
    if record is not None and not result.statistics.has_overlap and record.answered == record.modelled == record.n:
        return gain_factor(expected, *record.over_model, record.n)
    after = normalise_exp(result.rule.log_joint(_with_answers(block, column)))
    assert block.true_label is not None
    less_wrong = label_error(before, block.true_label) - label_error(after, block.true_label)
    won, lost = (float(np.maximum(each, 0.0).sum()) for each in (less_wrong, -less_wrong))
    return gain_factor(expected, won, lost, float(block.n_items))


def _labelled(result: FitResult) -> Block | None:
    """Labelled items of the sample with an answer and a model row; None where there is none."""
    if not result.schema.has_model or result.statistics.labelled is None:
        return None
    sample = SampledItems(result.schema, result.statistics).labelled()
    block = result.schema.people_only(joined(list(sample.subsample(MAX_ITEMS))))
    assert block.answers is not None
    known = block.answers.per_item() > 0
    if block.no_model is not None:
        known &= ~block.no_model
    return block.take(np.flatnonzero(known)) if known.any() else None


def _one_answer(block: Block) -> Codes:
    """The column of one answer of each item: of the first item its first, of the next its second, and so on."""
    assert block.answers is not None
    answers = block.answers
    if answers.start is None:
        return answers.column
    return answers.column[answers.start[:-1] + np.arange(len(answers)) % answers.per_item()]


def _with_answers(block: Block, column: Codes) -> Block:
    """The block with one answer per item in place of its own, or none where it is MISSING."""
    return replace(block, answers=Answers(column), confidence=None, unsure=None)


def _expected_gain(
    result: FitResult, empty: Block, before: Floats, person: Codes, answer_log_temperature: float
) -> Floats:
    """The expected gain of a person's answer about items without any, (n_items,); person (n_items,)."""
    rule: CombinationRule = result.rule
    belief, choice = belief_before_answer(rule, empty, before, answer_log_temperature), before.argmax(axis=0)
    if result.schema.n_classes >= MANY_CLASSES:
        return decisive_gains(rule, empty, belief, choice, np.arange(empty.n_items), person)
    matrix, n_classes = rule.confusion.people()[person], result.schema.n_classes
    column = person * n_classes + np.arange(matrix.shape[1])[:, None]
    after = np.stack([normalise_exp(rule.log_joint(_with_answers(empty, each))) for each in column])
    return gains(np.einsum("nak,kn->an", matrix, belief), after, choice)
