"""Expectation-maximisation of the unknown truth, the annotators' matrices and the calibrator.

    E-step   responsibilities of the classes given the parameters, and their sums over items (`e_step`)
    M-step   new parameters from these sums (`m_step`)

The objective is the log posterior of the parameters. Known truth is a responsibility fixed to one-hot.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from twoheads.calibration.base import Calibrator
from twoheads.combination.class_prior import log_prevalence
from twoheads.combination.fitting.soft_counts import SoftCounts, overlap_of, soft_counts_of
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel
from twoheads.engines.blocks import add_up, as_blocks, block_slices, sum_blocks
from twoheads.engines.progress import current_callback
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.posterior import responsibilities

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Parameters:
    """The parameters that EM estimates.

    log_class_prior  (n_classes,) for items without a model row; None where classes are equally likely
    """

    confusion: Confusion
    calibrator: Calibrator
    response: ResponseModel | None = None
    log_class_prior: Floats | None = None

    def log_prior(self) -> float:
        """Log-density of the parameters under their priors, up to a constant."""
        return self.confusion.log_prior() + self.calibrator.log_prior()


@dataclass(frozen=True)
class EMSettings:
    """Settings of EM.

    unlabelled_weight  weight of an unlabelled item, next to 1 for a labelled one
    max_iter, tol      it stops after so many iterations, or when the objective gains less than so much per item
    correlation        of answers on one item, for the design effect; 0 is Dawid and Skene's EM
    hold_calibrator    whether the calibrator stays as it is
    learn_class_prior  whether the class prior is estimated too
    response_weight    factor on the counts of ways of answering
    """

    n_annotators: int
    unlabelled_weight: float = 1.0
    max_iter: int = 1000
    tol: float = 1e-8
    correlation: float = 0.0
    hold_calibrator: bool = False
    learn_class_prior: bool = False
    response_weight: float = 1.0


@dataclass(frozen=True)
class Expectation:
    """Result of an E-step.

    sums  of `Calibrator.em_sums`, where the calibrator has an EM step
    soft  blocks with responsibilities as targets, where it has to be refitted
    """

    log_likelihood: float
    counts: SoftCounts
    sums: tuple[float, ...] = ()
    soft: Sequence[Block] | None = None


@dataclass(frozen=True)
class EMResult:
    """The parameters EM ended with, the objective at each iteration, and the estimated prevalence of the classes."""

    parameters: Parameters
    objective: Floats
    prevalence: Floats


def expectation_maximisation(blocks: Sequence[Block], start: Parameters, settings: EMSettings) -> EMResult:
    """Run EM from initial parameters until the objective gains less than ``tol`` per item.

    Where the calibrator has an EM step, an iteration is one pass over the blocks and one Newton step, halved if the
    objective falls; else the calibrator is refitted. "Unsure" counts only on items with a model row, an answer or
    known truth.
    """
    blocks = as_blocks(blocks).stored()  # many passes: keeping them pays
    blocks = blocks.transform(partial(_prepared, unlabelled_weight=settings.unlabelled_weight))
    (total_weight,) = sum_blocks(lambda block: (block.total_weight(),), blocks)
    enough = settings.tol * max(float(total_weight), 1.0)
    overlap = overlap_of(blocks) if start.confusion.uses_overlap else None
    parameters, earlier = start, start.calibrator
    objective: list[float] = []
    prevalence, converged = np.empty(0), False
    while not converged and len(objective) < settings.max_iter:
        expectation = e_step(blocks, parameters, settings)
        value = expectation.log_likelihood + parameters.log_prior()
        if objective and value < objective[-1] - 1e-12 * abs(objective[-1]) and parameters.calibrator.has_em_step:
            calibrator = copy(parameters.calibrator)
            moved = calibrator.step_back(earlier)
            parameters = replace(parameters, calibrator=calibrator)
            if moved:
                continue
        converged = bool(objective) and abs(value - objective[-1]) < enough
        objective.append(value)
        current_callback().objective(value)
        _log.debug("EM, iteration %d: log posterior %.6f", len(objective), value)
        earlier = parameters.calibrator
        prevalence = expectation.counts.classes / expectation.counts.classes.sum()
        parameters = m_step(expectation, parameters, settings, overlap)
    _log.info("EM: %d iterations, log posterior %.6f", len(objective), objective[-1] if objective else float("nan"))
    if not converged:
        warnings.warn(
            f"EM has not converged after {settings.max_iter} iterations; increase max_iter.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return EMResult(parameters, np.array(objective), prevalence)


def e_step(blocks: Sequence[Block], parameters: Parameters, settings: EMSettings) -> Expectation:
    """Responsibilities of the classes given the parameters, and their sums over items."""
    model = _Model(parameters, parameters.confusion.log_table(), settings.n_annotators, settings.correlation)
    if parameters.calibrator.has_em_step or settings.hold_calibrator:
        return _with_sums(model, blocks)
    return _with_soft_targets(model, blocks)


def m_step(
    expectation: Expectation, parameters: Parameters, settings: EMSettings, overlap: Floats | None = None
) -> Parameters:
    """New parameters from the sums over items.

    overlap  (n_classes, n_classes) which classes the model confuses, where the confusion estimate uses it
    """
    counts, response = expectation.counts, parameters.response
    log_class_prior = parameters.log_class_prior
    if settings.learn_class_prior:
        log_class_prior = log_prevalence(counts.classes / counts.classes.sum())
    return Parameters(
        copy(parameters.confusion).fit_counts(counts.annotators, overlap, crowd_counts=counts.crowd),
        parameters.calibrator if settings.hold_calibrator else _new_calibrator(expectation, parameters.calibrator),
        None if response is None else copy(response).fit_soft_counts(settings.response_weight * counts.response),
        log_class_prior,
    )


def _new_calibrator(expectation: Expectation, calibrator: Calibrator) -> Calibrator:
    if expectation.soft is None:
        return copy(calibrator).em_step(expectation.sums)
    return copy(calibrator).fit_blocks(expectation.soft, len(expectation.counts.classes))


@dataclass(frozen=True)
class _Model:
    """The parameters during an E-step, with the log of the annotators' matrices."""

    parameters: Parameters
    log_table: Floats
    n_annotators: int
    correlation: float

    def responsibility(self, block: Block) -> tuple[float, Floats, Floats]:
        """The block's log-likelihood, responsibilities times weights, and the calibrated log-probabilities."""
        assert block.answers is not None
        response, log_prior = self.parameters.response, self.parameters.log_class_prior
        calibrated = self.parameters.calibrator.calibrate(block.log_proba)
        if log_prior is not None and block.no_model is not None:
            calibrated = np.where(block.no_model, log_prior[:, None], calibrated)
        ways = None if response is None else response.log_likelihood(block)
        share, log_likelihood = responsibilities(
            calibrated, block.answers, self.log_table, block.true_label, self.correlation, ways
        )
        value = block.weighted_sum(log_likelihood)
        if block.weight is not None:
            share *= block.weight
        return value, share, calibrated

    def counts(self, block: Block, share: Floats) -> SoftCounts:
        response, n_annotators = self.parameters.response, self.n_annotators
        return soft_counts_of(block, share, response, n_annotators=n_annotators, correlation=self.correlation)


def _with_sums(model: _Model, blocks: Sequence[Block]) -> Expectation:
    """Counts, log-likelihood, and the calibrator's sums."""
    calibrator = model.parameters.calibrator

    def kernel(block: Block) -> tuple[float | Floats, ...]:
        shares, sums = [], []
        for rows in block_slices(block.n_items, len(block.log_proba)):
            piece = block.rows(rows)
            value, share, calibrated = model.responsibility(piece)
            shares.append(share)
            sums.append((value, *calibrator.em_sums(piece.log_proba, calibrated, share)))
        share = shares[0] if len(shares) == 1 else np.concatenate(shares, axis=1)
        return *model.counts(block, share), *add_up(sums)

    annotators, crowd, response, classes, value, *sums = sum_blocks(kernel, blocks)
    return Expectation(float(value), SoftCounts(annotators, crowd, response, classes), sums=tuple(sums))


def _with_soft_targets(model: _Model, blocks: Sequence[Block]) -> Expectation:
    """Counts, log-likelihood, and blocks to refit the calibrator on; blocks on disk compute these in each pass."""

    def kernel(block: Block) -> tuple[tuple[float | Floats, ...], Block]:
        value, share, _ = model.responsibility(block)
        return (value, *model.counts(block, share)), _soft(block, share)

    steps = as_blocks(blocks).transform(kernel)
    value, *counts = steps.sum(lambda step: step[0])
    return Expectation(float(value), SoftCounts(*counts), soft=steps.transform(lambda step: step[1]))


def _soft(block: Block, share: Floats) -> Block:
    """The block with responsibilities as targets."""
    if block.weight is not None:
        share = np.divide(share, block.weight, out=np.zeros_like(share), where=block.weight > 0)
    return Block(block.log_proba, target=share, weight=block.weight)


def _prepared(block: Block, *, unlabelled_weight: float) -> Block:
    """The block with EM's weights, and "unsure" only where it counts."""
    return replace(_without_lone_unsure(block), weight=_weight(block, unlabelled_weight))


def _without_lone_unsure(block: Block) -> Block:
    """Drop "unsure" from items with no model row, answer or truth: there it would only reinforce its own estimate."""
    if block.unsure is None or block.no_model is None:
        return block
    assert block.answers is not None
    alone = block.no_model & (block.answers.per_item() == 0)
    if block.true_label is not None:
        alone &= block.true_label == MISSING
    return replace(block, unsure=block.unsure.without(alone)) if alone.any() else block


def _weight(block: Block, unlabelled_weight: float) -> Floats | None:
    if unlabelled_weight == 1.0:
        return block.weight
    assert block.true_label is not None
    weight = np.where(block.true_label == MISSING, unlabelled_weight, 1.0)
    return weight if block.weight is None else weight * block.weight
