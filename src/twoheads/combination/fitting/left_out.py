"""Predictions of labelled items from parameters of the combination fitted without them, while labels are few."""

from __future__ import annotations

import numpy as np

from twoheads.combination.rule import CombinationRule
from twoheads.dependence import Dependence
from twoheads.dependence.evidence import OutOfFoldLikelihood
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.left_out import NUMBERS


def left_out_posteriors(
    rule: CombinationRule,
    out_of_fold: OutOfFoldLikelihood,
    dependence: Dependence,
    plain: Dependence,
    n_labels: float | None,
    block: Block,
) -> tuple[Floats, Floats, Floats]:
    """Likelihood of a labelled block's answers, its posteriors, and those of the plain product, (n_classes, n_items).

    With few labels each of them moves the parameters of the combination: they too are then left out.

    n_labels  the weight of all labels; None where they are so many that a single one moves nothing
    """
    likelihood, both = out_of_fold(block), np.ones(block.n_items, dtype=bool)
    both[np.concatenate(block.single_source_items(has_model=rule.has_model))] = False
    if n_labels is None or len(dependence.weight_) * likelihood.size > NUMBERS or not both.any():
        combined, product = rule.posteriors(block, likelihood, dependence, plain)
        return likelihood, combined, product
    left_out = _left_out(rule, dependence, block, likelihood, np.flatnonzero(both), n_labels)
    if both.all():
        return likelihood, *left_out
    combined, product = rule.posteriors(block, likelihood, dependence, plain)
    combined[:, both], product[:, both] = left_out
    return likelihood, combined, product


def _left_out(
    rule: CombinationRule, dependence: Dependence, block: Block, likelihood: Floats, rows: Codes, n_labels: float
) -> tuple[Floats, Floats]:
    """Predictions of items with an answer and a model row, from parameters fitted without the item."""
    few = block.take(rows)
    log_proba = rule.model_log_proba(few)
    logs = log_proba, rule.model_evidence(few, dependence, log_proba)
    assert few.answers is not None
    assert few.true_label is not None
    weights = few.weight, n_labels
    return dependence.left_out_probas(logs, likelihood[:, rows], few.true_label, few.answers, weights)
