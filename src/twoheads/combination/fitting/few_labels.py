"""The stage in which unlabelled items inform the matrix of one person, as far as labels are few."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from twoheads.combination.fitting import dependence_stage
from twoheads.combination.fitting.state import FitState
from twoheads.kernels.answers import soft_counts
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.priors import AGREEMENT_LABELS
from twoheads.kernels.simplex import normalise_exp

#: With more labels unlabelled items would count as less than half of a label: they are left out of the matrix.
MOST_LABELS = 200
#: So many of the unlabelled items are enough. With more classes, most cells of their counts would cost too much.
MOST_UNLABELLED, MOST_CLASSES = 1000, 100


def add_unlabelled(state: FitState) -> FitState:
    """Add to the counts of labels what unlabelled items show, by the matrix before any label and the model.

    With n labels they count as 10 * 10 / (10 + n) labels altogether. The shape that errors have where each counts in
    full has the share 10 / (10 + n). So little changes from no label to one, and nothing with many. Fewer than 20 items
    count less, so that no single one makes a jump.
    """
    n, confusion = float(state.statistics.labels_per_class.sum()), state.confusion
    is_one = state.single and state.schema.has_model and confusion.uses_overlap
    if not is_one or n > MOST_LABELS or state.schema.n_classes > MOST_CLASSES:
        return state
    block = state.items.answered_unlabelled(MOST_UNLABELLED)
    soft = None if block is None else _soft_counts(state, block)
    if soft is None or not soft.any():
        return state
    share = dependence_stage.unlabelled_share(state) * AGREEMENT_LABELS / (AGREEMENT_LABELS + n)
    weight = min(AGREEMENT_LABELS * share, dependence_stage.unlabelled_weight(state)) / soft.sum()
    return replace(state, confusion=confusion.backed(soft, weight, share))


def _soft_counts(state: FitState, block: Block) -> Floats:
    """Answers by the posterior of the truth, of items with a model row, (n_answers, n_classes)."""
    assert block.answers is not None
    weight = np.ones(block.n_items) if block.weight is None else block.weight.copy()
    if block.no_model is not None:
        weight[block.no_model] = 0.0
    held = dependence_stage.hold_temperature(state).calibrator
    before = copy(state.confusion).start(1, state.schema.n_classes)  # without labels: none is evidence of itself by it
    rule = replace(state.rule, calibrator=held, confusion=before, dependence=None, log_prior_shift=None)
    return soft_counts(block.answers, normalise_exp(rule.log_joint(block)), state.confusion.counts_.shape[1], weight)
