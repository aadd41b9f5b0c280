"""The expected gain of one more answer, with many classes: only answers that can change the decision are computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twoheads.combination.rule import CombinationRule
from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.kernels.answers import with_answer, with_value
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.scoring.decisive import DecisiveAnswers, represented
from twoheads.kernels.simplex import normalise_exp

#: Log ratios of probabilities above this are a rounding, not a change of the decision.
_ROUNDING = 1e-9


def decisive_gains(
    rule: CombinationRule, block: Block, belief: Floats, choice: Codes, item: Codes, person: Codes
) -> Floats:
    """``sum_h p(h) (max_y q(y | h) - q(k0 | h))`` of asking ``person[i]`` about ``item[i]``, (n,).

    Of hundreds of improbable answers to a question a few stand for the others, see `represented`.

    block   the items as they are now
    belief  (n_classes, n_items) from which the next answer is predicted
    choice  (n_items,) k0, the current decision
    item    (n,) position in the block
    person  (n,) index of a matrix of ``rule.confusion.people()``
    """
    given_true = rule.confusion.people()
    question, answer = _decisive(rule, block, choice, item, person)
    proba = _answer_proba(given_true, belief, item, person)[question, answer]
    computed, weight = represented(question, proba)
    question, answer = question[computed], answer[computed]
    gain = np.empty(len(question))

    def write(chunk: slice) -> None:
        at, given = question[chunk], answer[chunk]
        rows, who = item[at], person[at]
        posterior = normalise_exp(rule.log_joint(with_one_more(block.take(rows), who * len(belief) + given)))
        gain[chunk] = posterior.max(axis=0) - posterior[choice[rows], np.arange(len(rows))]

    for _ in map_blocks(write, block_slices(len(question), len(belief))):
        pass
    return np.asarray(np.bincount(question, gain * weight, len(item)), dtype=np.float64)


def _answer_proba(given_true: Floats, belief: Floats, item: Codes, person: Codes) -> Floats:
    """The probability of each answer to each question, (n_questions, n_answers)."""
    proba = np.empty((len(item), given_true.shape[1]))
    for who in np.unique(person).tolist():
        asked = person == who
        proba[asked] = (given_true[who] @ belief[:, item[asked]]).T
    return proba


def with_one_more(block: Block, column: Codes) -> Block:
    """The block with one more answer on each item, without a confidence."""
    assert block.answers is not None
    confidence = None if block.confidence is None else with_value(block.answers, block.confidence)
    return replace(block, answers=with_answer(block.answers, column), confidence=confidence)


def _decisive(rule: CombinationRule, block: Block, choice: Codes, item: Codes, person: Codes) -> tuple[Codes, Codes]:
    """Number of the question, and answer, of each answer that may change the decision."""
    n_classes = len(block.log_proba)
    margin = answer_margin(rule, block, choice)
    if margin is None:
        return np.repeat(np.arange(len(item)), n_classes), np.tile(np.arange(n_classes), len(item))
    table = rule.log_table.reshape(-1, n_classes, n_classes)
    found: list[Codes] = [np.empty(0, dtype=np.intp)] * len(item)
    for who in np.unique(person).tolist():
        answers = DecisiveAnswers.of(table[who])
        for at in np.flatnonzero(person == who).tolist():
            found[at] = answers.find(margin[item[at]], int(choice[item[at]]))
    return np.repeat(np.arange(len(item)), [len(each) for each in found]), np.concatenate(found)


def answer_margin(rule: CombinationRule, block: Block, choice: Codes) -> Floats | None:
    """By how much one more answer must favour each class over the choice to change it, (n_items, n_classes).

    At a node with factors alpha and beta, class y is ahead of the choice k after the answer h, with d the design effect
    of the answers then, only if

        alpha (Z_y - Z_k) + beta / d (L_y - L_k) + c_y - c_k + beta / d (l[h, y] - l[h, k]) > 0

    The probabilities are means over nodes: if k is ahead at each of them, it is ahead. The margin is the smallest over
    nodes, less what the preference for a partner and the class shares can do. None for rules of another form.
    """
    dependence, preference = rule.dependence, rule.preference
    another = rule.panel is not None or rule.response is not None or bool(rule.machines)
    another = another or not rule.has_model or block.no_model is not None
    if dependence is None or another or (preference is not None and preference.share_alone > 0):
        return None
    if dependence.answer_factor_.min() <= 0:
        return None
    assert block.answers is not None
    answered = with_one_more(block, np.zeros(block.n_items, dtype=np.intp))  # by whom, and what, makes no difference
    model = rule.model_evidence(answered, dependence, rule.model_log_proba(block))
    z, given = (each[choice, np.arange(block.n_items)] - each for each in (model, rule.answer_log_likelihood(block)))
    needed = np.full((len(z), 1), 0.0 if preference is None else 2.0 * preference.log_threshold)
    if rule.log_prior_shift is not None:
        shift = rule.log_prior_shift
        needed = np.maximum(needed, shift[:, None] - shift[choice])
    design = 1.0 + block.answers.per_item() * dependence.correlation_
    margin = np.full_like(z, np.inf)
    nodes = dependence.model_factor_, dependence.answer_factor_, dependence.bias_of_
    for factor, answer, at in zip(*nodes, strict=True):
        bias = dependence.bias_[at]
        ahead = factor * z + (bias[choice] - bias[:, None]) - needed - _ROUNDING
        np.minimum(margin, given + ahead * (design / answer), out=margin)
    margin[choice, np.arange(block.n_items)] = np.inf
    return np.ascontiguousarray(margin.T)
