"""The stages from which EM starts."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from twoheads.combination.fitting.soft_counts import counts_from_votes
from twoheads.combination.fitting.state import FitState
from twoheads.engines.blocks import BLOCK_NUMBERS
from twoheads.kernels.blocks import Block
from twoheads.kernels.priors import EM_CORRELATION


def start(state: FitState) -> FitState:
    """Set confusion and calibrator to their priors."""
    schema, blocks = state.schema, em_blocks(state)
    confusion = copy(state.confusion).start(schema.n_annotators, schema.n_classes)
    calibrator = copy(state.calibrator).start(blocks, schema.n_classes)
    return replace(state, confusion=confusion, calibrator=calibrator, em_blocks=blocks)


def start_from_votes(state: FitState) -> FitState:
    """Set the confusion from the votes on each item, or its truth, and the calibrator to its prior."""
    blocks, n_annotators = em_blocks(state), state.schema.n_annotators
    correlation = em_correlation(state)
    counts = counts_from_votes(
        blocks,
        n_annotators=n_annotators,
        correlation=correlation,
        unlabelled_weight=unlabelled_weight(state),
    )
    confusion = copy(state.confusion).fit_counts(counts.annotators, crowd_counts=counts.crowd)
    calibrator = copy(state.calibrator).start(blocks, state.schema.n_classes)
    prevalence = np.asarray(counts.classes / counts.classes.sum())
    return replace(state, confusion=confusion, calibrator=calibrator, prevalence=prevalence, em_blocks=blocks)


def em_correlation(state: FitState) -> float:
    """Correlation of answers on one item inside EM; 0 without a dependence, as in Dawid and Skene's EM."""
    return 0.0 if state.dependence is None else EM_CORRELATION * state.correlation_share


def unlabelled_weight(state: FitState) -> float:
    """The team's weight of unlabelled items beside labelled ones."""
    return state.parts.unlabelled_weight if state.statistics.n_labelled else 1.0


def em_blocks(state: FitState) -> Sequence[Block]:
    """Blocks for EM: larger where there are many annotators, up to eight times, as each adds the counts of them all."""
    n_rows, n_classes = state.schema.n_annotators + 1, state.schema.n_classes
    return state.items.blocks(min_items=max(64, min(n_rows * n_classes, 8 * BLOCK_NUMBERS // n_classes)))
