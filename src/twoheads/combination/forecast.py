"""What a team expects to be answered: how likely each answer is, before it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twoheads.combination.remembered import Remembered
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import tempered
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.kernels.scoring.answer_value import answer_log_likelihood_at, fit_answer_temperature
from twoheads.kernels.simplex import normalise_exp

if TYPE_CHECKING:
    from twoheads.combination.probability_label import ProbabilityLabelCombiner

#: More answers than this say no more about one temperature.
ANSWERS = 2000


def learn_answer_temperature(team: ProbabilityLabelCombiner) -> float:
    """The log temperature at which the calibrated model foretells people's answers best; no truth is needed.

    It is learnt from at most `ANSWERS` of those that the team remembers.
    """
    if not team.learns_on:
        return 0.0
    items = Remembered.of([team.memory_], team.annotators_, team.classes_)
    if team.pool_ is not None:
        items = items.mapped(team.pool_.pooled)
    blocks, few = list(items.some(ANSWERS)), items.answered_without_truth()
    if few is not None and few.n_items > sum(_n_answers(block) for block in blocks):  # answers are rare
        blocks = [few]
    n_answers = sum(_n_answers(block) for block in blocks)
    if not n_answers:
        return 0.0
    table = team.confusion_.people().reshape(-1, len(team.classes_))
    parts = [_parts(team, block, table) for block in blocks]
    some = evenly_spaced(n_answers, ANSWERS)
    log_proba, given, weight = (np.concatenate(part, axis=-1)[..., some] for part in zip(*parts, strict=True))
    return fit_answer_temperature(lambda theta: answer_log_likelihood_at(log_proba, given, weight, theta))


def _n_answers(block: Block) -> int:
    assert block.answers is not None
    return int(block.answers.per_item().sum())


def _parts(team: ProbabilityLabelCombiner, block: Block, table: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each answer of a block: the calibrated model's row of its item, its chance under each class, its weight."""
    assert block.answers is not None
    there = block.answers.column != MISSING
    item = item_of_answers(block.answers)[there]
    weight = np.ones(block.n_items) if block.weight is None else block.weight
    return team._tempered(block)[:, item], table[block.answers.column[there]].T, weight[item]


def present_belief(team: ProbabilityLabelCombiner, block: Block, posterior: Floats) -> Floats:
    """The belief from which the next answer is foretold, (n_classes, n_items).

    It is the posterior, and where nobody has answered yet the model at the temperature that foretells answers best: the
    correction for dependence takes back what answers over-count, and there are none.

    posterior  (n_classes, n_items) of the block
    """
    assert block.answers is not None
    n_said = block.answers.per_item() + (0 if block.unsure is None else block.unsure.per_item())
    unanswered = np.flatnonzero(n_said == 0)
    belief = posterior.copy()
    if len(unanswered):
        model = tempered(team._tempered(block), team.answer_log_temperature_)
        log_belief = team._shifted(block, team._with_prior(block, model))
        belief[:, unanswered] = normalise_exp(log_belief[:, unanswered])
    return belief
