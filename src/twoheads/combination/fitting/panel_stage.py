"""The stage that gives related members weights of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twoheads.combination.fitting import dependence_stage
from twoheads.combination.fitting.holdout import CrossFittedPredictions, HeldOut, holdout_counts
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.fitting.state import FitState
from twoheads.combination.panel import Panel
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block, joined

#: Fewest answered labels, fewest of them that a member must have answered, and fewest members.
FEWEST_LABELS, FEWEST_ANSWERS, FEWEST_MEMBERS = 20, 10, 3
#: Most members, those with the most answers on labelled items; most labelled items, and of their log-probabilities.
MOST_MEMBERS, MOST_ITEMS, MOST_NUMBERS = 32, 2500, 6000
#: With more classes, leaving an item out would cost more than the rest of a fit.
MOST_CLASSES = 100


def panel_members(statistics: SufficientStatistics) -> Codes:
    """The annotators who get a weight of their own, ascending; none where labels, members or answers are too few.

    Members who together answer less than once about an item would leave most items as they are: then there are none.
    What is enough is a number, whatever the weights of the items.
    """
    answers = statistics.answer_numbers[:, :-1].sum(axis=1)
    enough = np.flatnonzero(answers >= FEWEST_ANSWERS)
    labels = float(statistics.label_numbers[statistics.n_classes])
    several = statistics.mean_overlap_at_least_two and len(enough) >= FEWEST_MEMBERS
    if not several or labels < FEWEST_LABELS or statistics.n_classes > MOST_CLASSES:
        return np.empty(0, dtype=np.intp)
    members = enough[np.argsort(-answers[enough], kind="stable")[:MOST_MEMBERS]]
    return np.sort(members) if answers[members].sum() >= labels else np.empty(0, dtype=np.intp)


def fit_panel(state: FitState) -> FitState:
    """Fit the panel to labelled items, each with the posterior of matrices fitted without it; of many, to a sample."""
    assert state.dependence is not None
    assert state.labelled is not None
    members, labelled = state.panel_members, state.labelled
    limit = min(MOST_ITEMS, MOST_NUMBERS // state.schema.n_classes)
    predictions = dependence_stage.held_out_predictions(state)
    block, panel = joined(list(labelled.subsample(limit))), Panel()
    predicted = predictions(block)
    left_out = panel.fit_labelled(
        block,
        predicted.combined,
        members,
        scored=np.empty(0, dtype=np.intp) if state.response is None else state.response.scored_[0],
        correlation=state.dependence.correlation_,
    )
    if len(labelled) <= limit:
        holdout = holdout_counts([block], lambda _: replace(predicted, combined=left_out), state.rivals)
    else:
        holdout = _holdout_of_many(state, panel, predictions, block, left_out)
    return replace(state, panel=panel, holdout=holdout)


def _holdout_of_many(
    state: FitState, panel: Panel, predictions: CrossFittedPredictions, sample: Block, left_out: Floats
) -> HoldoutRecord:
    """The record of more items than the panel was fitted to: those it was fitted to have their own truth left out."""
    assert sample.number is not None
    order = np.argsort(sample.number)
    number = sample.number[order]

    def held_out(block: Block) -> HeldOut:
        assert block.number is not None
        predicted = predictions(block)
        proba = panel.proba(predicted.combined, block)
        place = np.minimum(np.searchsorted(number, block.number), len(number) - 1)
        own = np.flatnonzero(number[place] == block.number)
        proba[:, own] = left_out[:, order[place[own]]]
        return replace(predicted, combined=proba)

    return holdout_counts(dependence_stage.few_labelled(state), held_out, state.rivals)
