"""Limit what EM learns about people from machines, where these are all that it can compare a person's answer with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from twoheads.combination.fitting.state import FitState
from twoheads.engines.blocks import sum_blocks
from twoheads.kernels.blocks import Block, without_annotators
from twoheads.kernels.priors import AGREEMENT_LABELS

#: With so many people's answers on an item, EM compares them with each other.
_ENOUGH_PEOPLE = 2.0


def limit_unlabelled_people(state: FitState) -> FitState:
    """The state after EM, in whose matrices all unlabelled answers of people count as a few labels.

    Machines of one family agree with each other. Where one person differs, EM takes their side, and would count
    hundreds of errors of a person who is right.
    """
    machines = state.schema.machines_beside_people
    if not machines or _people_per_item(state, machines) >= _ENOUGH_PEOPLE:
        return state
    confusion, people = state.confusion, state.schema.people
    labelled = state.statistics.counts[people]
    unlabelled = np.maximum(confusion.counts_[people] - labelled, 0.0)
    share = min(1.0, AGREEMENT_LABELS / max(float(unlabelled.sum()), 1e-300))
    return replace(state, confusion=confusion.with_counts_of(people, labelled + share * unlabelled))


def _people_per_item(state: FitState, machines: tuple[int, ...]) -> float:
    """The mean number of people's answers on items with any."""

    def kernel(block: Block) -> tuple[int, int]:
        answers = without_annotators(block, machines).answers
        assert answers is not None
        per_item = answers.per_item()
        return int(np.count_nonzero(per_item)), int(per_item.sum())

    n_items, n_answers = sum_blocks(kernel, state.items.blocks())
    return float(n_answers / max(n_items, 1))
