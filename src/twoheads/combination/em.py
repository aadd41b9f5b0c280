"""Expectation-maximisation: the truth where it is not known, the people's matrices and the calibrator, in turns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from twoheads.calibration.base import Calibrator
from twoheads.confusion.base import Confusion
from twoheads.confusion.manner import Manner
from twoheads.engines.blocks import Blocks, as_blocks, block_slices, sum_blocks
from twoheads.engines.progress import current_callback
from twoheads.engines.threads import add_up
from twoheads.kernels.answers import as_crowd, design_effect, soft_counts, vote_shares
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.confusion.hierarchical import model_overlap
from twoheads.kernels.posterior import responsibilities
from twoheads.kernels.simplex import FLOOR

#: How much answers on one item are taken to resemble each other inside EM. The whole correction there ruins the
#: intervals of people's accuracies.
EM_CORRELATION = 0.1


@dataclass(frozen=True)
class Progress:
    """How EM went: the log posterior at each iteration, whether it settled, and how common it found the classes."""

    objective: Floats
    converged: bool
    prevalence: Floats


def expectation_maximisation(
    blocks: Sequence[Block],
    confusion: Confusion,
    calibrator: Calibrator,
    manner: Manner | None = None,
    *,
    n_annotators: int,
    unlabelled_weight: float,
    max_iter: int,
    tol: float,
    correlation: float = 0.0,
    hold_calibrator: bool = False,
    log_prior: Floats | None = None,
    learn_prior: bool = False,
) -> Progress:
    """Better the started parts, in place, until the log posterior gains less than ``tol`` per item.

    Known truth is a posterior fixed to one-hot. Where the calibrator learns from sums, an iteration is one pass over
    the blocks and its step one of Newton's, halved should the log posterior ever fall; else the calibrator is fitted
    anew.
    With ``hold_calibrator`` it stays as it is. Several answers on an item count for less by the design effect of
    ``correlation``; at 0 this is Dawid and Skene's. Items that no model has seen have the prior ``log_prior``, which is
    learnt from all items if ``learn_prior``.
    "Unsure" counts only on items of whose truth something else tells: the truth, a model, or an answer.
    """
    blocks = as_blocks(blocks).stored()  # gone through so often that keeping them pays
    parts = blocks.transform(lambda block: replace(_telling(block), weight=_weight(block, unlabelled_weight)))
    (total_weight,) = sum_blocks(lambda part: (part.total_weight(),), parts)
    enough = tol * max(float(total_weight), 1.0)
    one_pass = _pass_by_sums if calibrator.learns_from_sums or hold_calibrator else _pass_by_refit
    overlap = overlap_of(parts) if confusion.uses_overlap else None
    path: list[float] = []
    earlier = copy(calibrator)
    settled = False
    prevalence = np.full(0, 0.0)
    while not settled and len(path) < max_iter:
        people = People(confusion.log_table(), manner, n_annotators, correlation, log_prior)
        value, counts, maximise = one_pass(parts, people, calibrator)
        objective = value + confusion.log_prior() + calibrator.log_prior()
        fell = bool(path) and objective < path[-1] - 1e-12 * abs(path[-1])
        if fell and calibrator.learns_from_sums and calibrator.step_back(earlier):
            continue
        settled = bool(path) and abs(objective - path[-1]) < enough
        path.append(objective)
        current_callback().objective(objective)
        earlier = copy(calibrator)
        confusion.fit_counts(counts[0], overlap, crowd_counts=counts[1])
        if manner is not None:
            manner.fit_counts(counts[2])
        prevalence = counts[3] / counts[3].sum()
        if learn_prior:
            log_prior = log_prevalence(prevalence)
        if not hold_calibrator:
            maximise()
    if not settled:
        warnings.warn(
            f"EM has not settled after {max_iter} iterations; give it more with max_iter.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Progress(np.array(path), settled, prevalence)


def log_prevalence(prevalence: Floats) -> Floats:
    """Log of how common classes are, with the floor of a model's probabilities."""
    return np.asarray(np.log(np.maximum(prevalence, FLOOR)))


def start_from_votes(blocks: Sequence[Block], confusion: Confusion, *, n_annotators: int, correlation: float) -> Floats:
    """Start ``confusion`` from what the votes on each item say, as Dawid and Skene do; returns the classes' shares.

    For where no model has seen any item, and several people have.
    """

    def kernel(block: Block) -> Counts:
        assert block.answers is not None
        n_classes = len(block.log_proba)
        shares = vote_shares(block.answers, n_classes)
        if block.weight is not None:
            shares *= block.weight
        people = People(np.empty((0, n_classes)), None, n_annotators, correlation, None)
        return people.counts(block, shares)

    persons, crowd, _, total = sum_blocks(kernel, blocks)
    confusion.fit_counts(persons, crowd_counts=crowd)
    return np.asarray(total / total.sum())


def overlap_of(blocks: Sequence[Block]) -> Floats:
    """Which classes the model confuses, over all blocks, (n_classes, n_classes)."""
    (overlap,) = sum_blocks(lambda block: (model_overlap(block.log_proba, block.weight),), blocks)
    return np.asarray(overlap)


@dataclass(frozen=True)
class People:
    """What is believed of the people at the moment.

    table        (n_columns, n_classes) log-probability of each person's answers
    correlation  how much answers on one item resemble each other
    """

    table: Floats
    manner: Manner | None
    n_annotators: int
    correlation: float
    log_prior: Floats | None

    def counts(self, block: Block, share: Floats) -> Counts:
        """Soft counts of each person, of all (answers on one item count for less), of ways to answer, and of classes.

        share    (n_classes, n_items) how likely each class is true, times the items' weights
        returns  (n_annotators, n_classes, n_classes), (n_classes, n_classes), (n_ways, n_classes), (n_classes,)
        """
        assert block.answers is not None
        answers, n_classes = block.answers, len(share)
        if answers.start is not None:
            share = np.asfortranarray(share)  # item by item, as the sums over several answers read it
        counts = soft_counts(answers, share, self.n_annotators * n_classes)
        counts = counts.reshape(self.n_annotators, n_classes, n_classes)
        ways = np.empty(0) if self.manner is None else self.manner.counts(block, share)
        total = share.sum(axis=1)
        design = design_effect(answers, self.correlation) if self.correlation else np.ones(1)
        if np.ptp(design) == 0:  # as many answers on every item
            crowd = counts.sum(axis=0) / design[0]
        else:
            crowd = soft_counts(as_crowd(answers, n_classes), share, n_classes, 1.0 / design)
        return counts, crowd, ways, total

    def prior(self, block: Block, calibrated: Floats) -> Floats:
        """The calibrated log-probabilities, with the prior of the classes where no model has seen the item."""
        if self.log_prior is None or block.no_model is None:
            return calibrated
        return np.where(block.no_model, self.log_prior[:, None], calibrated)


Counts = tuple[Floats, Floats, Floats, Floats]
Pass = tuple[float, Counts, Callable[[], object]]


def _e_step(block: Block, people: People, calibrator: Calibrator) -> tuple[float, Counts, Floats]:
    """The block's log-likelihood, its counts, and responsibilities times weights."""
    value, share, _ = _beliefs(block, people, calibrator)
    return value, people.counts(block, share), share


def _beliefs(block: Block, people: People, calibrator: Calibrator) -> tuple[float, Floats, Floats]:
    """The block's log-likelihood, responsibilities times weights, and what the calibrator said."""
    assert block.answers is not None
    calibrated = people.prior(block, calibrator.calibrate(block.log_proba))
    manner = None if people.manner is None else people.manner.log_likelihood(block)
    share, log_likelihood = responsibilities(
        calibrated, block.answers, people.table, block.true_label, people.correlation, manner
    )
    value = block.weighted_sum(log_likelihood)
    if block.weight is not None:
        share *= block.weight
    return value, share, calibrated


def _pass_by_sums(parts: Blocks[Block], people: People, calibrator: Calibrator) -> Pass:
    def kernel(block: Block) -> tuple[float | Floats, ...]:
        shares, sums = [], []
        for rows in block_slices(block.n_items, len(block.log_proba)):
            piece = block.rows(rows)
            value, share, calibrated = _beliefs(piece, people, calibrator)
            shares.append(share)
            sums.append((value, *calibrator.em_sums(piece.log_proba, calibrated, share)))
        share = shares[0] if len(shares) == 1 else np.concatenate(shares, axis=1)
        return *people.counts(block, share), *add_up(sums)

    persons, crowd, ways, total, value, *sums = sum_blocks(kernel, parts)
    return float(value), (persons, crowd, ways, total), lambda: calibrator.em_step(tuple(sums))


def _pass_by_refit(parts: Blocks[Block], people: People, calibrator: Calibrator) -> Pass:
    before = copy(calibrator)  # blocks that are not kept make the E-step again in each pass of the M-step

    def e_step(block: Block) -> tuple[tuple[float | Floats, ...], Block]:
        value, counts, share = _e_step(block, people, before)
        target = _unweighted(share, block.weight)
        return (value, *counts), Block(block.log_proba, target=target, weight=block.weight)

    steps = parts.transform(e_step)
    value, *counts = steps.sum(lambda step: step[0])
    soft, n_classes = steps.transform(lambda step: step[1]), counts[0].shape[-1]
    return float(value), tuple(counts), lambda: calibrator.fit_blocks(soft, n_classes)


def _unweighted(share: Floats, weight: Floats | None) -> Floats:
    return share if weight is None else np.divide(share, weight, out=np.zeros_like(share), where=weight > 0)


def _telling(block: Block) -> Block:
    """The block without "unsure" where nothing else tells of the truth: it would teach but what it is taken to mean."""
    if block.unsure is None or block.no_model is None:
        return block
    assert block.answers is not None
    dark = block.no_model & (block.answers.per_item() == 0)
    if block.true_label is not None:
        dark &= block.true_label == MISSING
    return replace(block, unsure=block.unsure.without(dark)) if dark.any() else block


def _weight(block: Block, unlabelled_weight: float) -> Floats | None:
    if unlabelled_weight == 1.0:
        return block.weight
    assert block.true_label is not None
    weight = np.where(block.true_label == MISSING, unlabelled_weight, 1.0)
    return weight if block.weight is None else weight * block.weight
