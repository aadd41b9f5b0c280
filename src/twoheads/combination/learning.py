"""How a team learns from items: its parts from sums, then what is fitted on top of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twoheads.calibration.base import Calibrator
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.answering import Answering
from twoheads.combination.dependence import Dependence
from twoheads.combination.em import EM_CORRELATION, expectation_maximisation, start_from_votes
from twoheads.combination.labelled import crowd_counts_by_fold
from twoheads.combination.left_out import left_out_likelihood
from twoheads.combination.memory import Memory, remember, united
from twoheads.combination.parts import part
from twoheads.combination.pool import ModelPool
from twoheads.combination.record import record_of
from twoheads.combination.remembered import AnyItems, Remembered
from twoheads.confusion.base import Confusion
from twoheads.confusion.dirichlet import DirichletConfusion
from twoheads.confusion.manner import Manner
from twoheads.engines.blocks import BLOCK_NUMBERS, transform_blocks
from twoheads.kernels.answers import answer_log_likelihood
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.agreement import agreement_log_density
from twoheads.kernels.dependence.likelihood import MODE_LABELS

if TYPE_CHECKING:
    from twoheads.combination.probability_label import ProbabilityLabelCombiner

#: Log-probabilities in the sample of a large table from which its fit starts (64 MB).
SAMPLE_NUMBERS = 8_000_000

#: Scale of the prior of a log temperature that the calibrator holds.
HELD_SD = 1e-3

#: Scale of the prior of the log temperature of several models together, each calibrated already.
POOL_SD = 0.4

#: Scale of the prior of a log temperature that EM has learnt from items that several people answered.
LEARNT_SCALE = 0.2

#: Log-likelihoods of labels that differ by less are tied: they differ by rounding only.
TIED = 1e-9


def learn(team: ProbabilityLabelCombiner, items: AnyItems, before: Memory | None = None) -> None:
    """Learn from items and what is remembered of earlier ones."""
    team._class_prior()
    team.__dict__.pop("_answer_log_temperature", None)  # that of earlier items
    team.confusion_ = part(team.confusion, Confusion, DirichletConfusion, "confusion")
    team.calibrator_ = part(team.calibrator, Calibrator, TemperatureScaling, "calibrator")
    team.dependence_ = None if team.dependence is None else part(team.dependence, Dependence, Dependence, "dependence")
    team.manner_ = _start_manner(team, items, before)
    blocks: Sequence[Block] = []
    if isinstance(items, Remembered):
        team.memory_ = items.memory
    else:
        blocks = items.blocks()
        team.memory_ = remember(
            items,
            blocks,
            items.seen.annotators or ("human",),
            correlation=0.0 if team.dependence_ is None else team.dependence_.prior_correlation,
            overlap=team.confusion_.uses_overlap,
            manner=team.manner_,
            temperature=_temperature_alone(team),
        )
        if before is not None:
            team.memory_ = united([before, team.memory_], team.annotators_)
            items, blocks = Remembered(items.seen, team.memory_), []
    team.record_ = None
    team.objective_ = np.empty(0)
    team.n_labelled_, team.n_unlabelled_ = team.memory_.n_labelled_, team.memory_.n_unlabelled_
    team.labels_per_class_ = team.memory_.labels_per_class_
    team.prevalence_ = (team.labels_per_class_ + 1.0) / (team.labels_per_class_ + 1.0).sum()
    team.pool_ = _fit_pool(team, items)
    if team.pool_ is not None:
        items = items.mapped(team.pool_.pooled)
    answering = team.memory_.answering()
    team.answering_ = team.memory_.answering_
    if team.n_labelled_:
        known = items.labelled()
        if team.n_unlabelled_ or team.pool_ is not None or not blocks:
            blocks = known.blocks()
        _fit_labelled(team, blocks, answering, remembered=isinstance(items, Remembered))
        if team.dependence_ is not None:
            correlation = team.dependence_.prior_correlation
            if answering.several_on_average and team.n_unlabelled_ and team.unlabelled_weight:
                _fit_unlabelled(team, items, answering)
                correlation = EM_CORRELATION
                agreement, prior = None, _learnt_log_temperature(team, LEARNT_SCALE)
            else:
                agreement = _agreement(team, items) if team.unlabelled_weight else None
                prior = _log_temperature_prior(team)
            by_fold = None
            if answering.several or len(team.annotators_) > 1:
                by_fold = crowd_counts_by_fold(blocks, len(team.classes_), correlation)
            _fit_dependence(team, team.dependence_, known, blocks, by_fold, agreement, prior)
    del blocks  # EM makes its own
    if team.n_unlabelled_ and (not team.n_labelled_ or (team.unlabelled_weight and team.dependence_ is None)):
        _fit_unlabelled(team, items, answering)


def _temperature_alone(team: ProbabilityLabelCombiner) -> TemperatureScaling:
    """Where the log-likelihood of the model's temperature is looked at most closely."""
    if type(team.calibrator_) is TemperatureScaling and team.calibrator_.log_temperature_sd > 0:
        return team.calibrator_
    return TemperatureScaling(estimate="likelihood")


def _start_manner(team: ProbabilityLabelCombiner, items: AnyItems, before: Memory | None) -> Manner | None:
    """Levels of confidence as they were cut at first, or are now; None where nobody gave any, or said "unsure"."""
    memory = items.memory if isinstance(items, Remembered) else before
    manner = Manner()
    if memory is not None and memory.manner_bounds_ is not None:
        manner.bounds_ = memory.manner_bounds_
        return manner.fit_counts(np.zeros((len(team.classes_) * manner.n_symbols + 1, len(team.classes_))))
    confidences = items.confidences()
    return None if confidences is None else manner.start(confidences, len(team.classes_))


def _fit_pool(team: ProbabilityLabelCombiner, items: AnyItems) -> ModelPool | None:
    """Learn to make one of several models; None where there is one."""
    if len(team.models_) == 1:
        return None
    pool = ModelPool(team.calibrator_)
    limit = min(MODE_LABELS, SAMPLE_NUMBERS // len(team.classes_))
    if not team.n_labelled_:
        return pool.start(items.some(limit), len(team.classes_))
    team.calibrator_ = TemperatureScaling(log_temperature_mean=0.0, log_temperature_sd=POOL_SD)
    return pool.fit_blocks(items.labelled().some(limit), len(team.classes_))


def _fit_labelled(
    team: ProbabilityLabelCombiner, blocks: Sequence[Block], answering: Answering, *, remembered: bool
) -> None:
    """Learn the parts from the sums over labelled items, or from the items where sums do not tell all."""
    memory = team.memory_
    one = len(team.annotators_) == 1 and not answering.several
    overlap = memory.overlap_ if team.confusion_.uses_overlap else None
    team.confusion_.fit_counts(memory.counts_, overlap, crowd_counts=None if one else memory.crowd_counts_)
    if team.manner_ is not None:
        team.manner_.fit_counts(memory.manner_counts_)
    calibrator = team.calibrator_
    if team.pool_ is None and type(calibrator) is TemperatureScaling and (remembered or calibrator.estimate != "mean"):
        calibrator.fit_values(memory.temperature_values_)
    else:
        calibrator.fit_blocks(blocks, len(team.classes_))


def _block_items(n_people: int, n_classes: int) -> int:
    """How many items a block of EM should have at least.

    Each adds counts of every person and of all together: blocks of fewer numbers than those spend their time adding.
    None is to be eight times as large as blocks are.
    """
    return max(64, min((n_people + 1) * n_classes, 8 * BLOCK_NUMBERS // n_classes))


def _fit_unlabelled(team: ProbabilityLabelCombiner, items: AnyItems, answering: Answering) -> None:
    """Learn the parts by EM; where people tell each other's worth, the model's temperature too."""
    n_people, n_classes = len(team.annotators_), len(team.classes_)
    blocks = items.blocks(least=_block_items(n_people, n_classes))
    correlation = 0.0 if team.dependence_ is None else EM_CORRELATION
    if not team.n_labelled_:
        if answering.several_on_average and not items.seen.model_proba:
            team.prevalence_ = start_from_votes(blocks, team.confusion_, n_annotators=n_people, correlation=correlation)
        else:
            team.confusion_.start(n_people, n_classes)
        team.calibrator_.start(blocks, n_classes)
        if team.dependence_ is not None and not answering.several_on_average:
            _start_dependence(team, team.dependence_, items)
    elif (team.confusion_.human_given_true_ == 0).any():  # EM can never leave a zero
        team.confusion_.start(n_people, n_classes)
    progress = expectation_maximisation(
        blocks,
        team.confusion_,
        team.calibrator_,
        team.manner_,
        n_annotators=n_people,
        unlabelled_weight=team.unlabelled_weight if team.n_labelled_ else 1.0,
        max_iter=team.max_iter,
        tol=team.tol,
        correlation=correlation,
        hold_calibrator=team.dependence_ is not None and not answering.several_on_average,
        log_prior=team._log_prior(),
        learn_prior=isinstance(team.class_prior, str) and team.class_prior == "learn",
    )
    team.objective_, team.prevalence_ = progress.objective, progress.prevalence
    if team.dependence_ is not None and answering.several_on_average and not team.n_labelled_:
        team.dependence_.start(log_temperature_prior=_learnt_log_temperature(team, HELD_SD), n_classes=n_classes)


def _start_dependence(team: ProbabilityLabelCombiner, dependence: Dependence, items: AnyItems) -> None:
    """Learn of the model's temperature from items without any truth; the calibrator is to hold it during EM."""
    dependence.start(
        log_temperature_prior=_log_temperature_prior(team),
        n_classes=len(team.classes_),
        agreement=_agreement(team, items),
    )
    if isinstance(team.calibrator_, TemperatureScaling):
        team.calibrator_.hold(dependence.mean_log_temperature())


def _agreement(team: ProbabilityLabelCombiner, items: AnyItems) -> Callable[[Floats], Floats] | None:
    """What items without truth say of the model's temperature; None where nobody answered one, or it is held."""
    if _log_temperature_prior(team)[1] <= HELD_SD:
        return None
    pairs = items.answered_without_truth()
    if pairs is None:
        return None
    return agreement_log_density(
        team._model_side(pairs), _label_shares(team, pairs), *team.confusion_.accuracy_posterior()
    )


def _label_shares(team: ProbabilityLabelCombiner, block: Block) -> Floats:
    """The people's label as shares, (n_classes, n_items): equal among classes for which several answers are tied."""
    assert block.answers is not None
    if block.answers.start is None:
        return np.asarray(np.eye(len(team.classes_))[:, team._human_label(block)])
    likelihood = answer_log_likelihood(block.answers, team.confusion_.log_table())
    best = likelihood >= likelihood.max(axis=0) - TIED
    return np.asarray(best / best.sum(axis=0))


def _fit_dependence(
    team: ProbabilityLabelCombiner,
    dependence: Dependence,
    known: AnyItems,
    blocks: Sequence[Block],
    fold_counts: Floats | None,
    agreement: Callable[[Floats], Floats] | None,
    log_temperature_prior: tuple[float, float],
) -> None:
    left_out = left_out_likelihood(
        team.confusion_, team.manner_, blocks, weight=known.weight_of_one(), fold_counts=fold_counts
    )
    sample: Sequence[Block] = []
    if len(known) > MODE_LABELS:
        limit = min(MODE_LABELS, SAMPLE_NUMBERS // len(team.classes_))
        # The Hessian is a product of matrices: with many classes it wants more items at a time.
        sample = known.some(limit, least=1024)
        blocks = blocks if blocks[0].n_items >= 1024 else known.blocks(least=1024)
    dependence.fit(
        _seen_by_dependence(team, blocks),
        _seen_by_dependence(team, sample),
        left_out,
        n=float(team.memory_.asked_[0] if team.has_model_ else team.memory_.asked_.sum()),
        log_temperature_prior=log_temperature_prior,
        n_classes=len(team.classes_),
        agreement=agreement,
    )
    plain = dependence.plain()

    def judged(block: Block) -> tuple[Floats, Floats, Codes]:
        given = left_out(block)
        return team._proba(block, given, dependence), team._proba(block, given, plain), team._human_label(block, given)

    team.record_ = record_of(sample or blocks, judged)


def _learnt_log_temperature(team: ProbabilityLabelCombiner, scale: float) -> tuple[float, float]:
    """Location and scale of what is left to learn of the model's log temperature after EM."""
    if isinstance(team.calibrator_, TemperatureScaling):
        return team.calibrator_.log_temperature_, scale
    return 0.0, scale


def _log_temperature_prior(team: ProbabilityLabelCombiner) -> tuple[float, float]:
    """Location and scale of what is left for the dependence stage to learn of the model's temperature."""
    if isinstance(team.calibrator_, TemperatureScaling):
        return team.calibrator_.log_temperature_mean, max(team.calibrator_.log_temperature_sd, HELD_SD)
    return 0.0, 0.25


def _seen_by_dependence(team: ProbabilityLabelCombiner, blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks with the model's side as the stage takes it; items of one side alone say nothing of dependence."""

    def make(block: Block) -> Block:
        alone = np.concatenate(block.single_source_items(has_model=team.has_model_))
        weight = block.weight
        if len(alone):
            weight = np.ones(block.n_items) if weight is None else weight.copy()
            weight[alone] = 0.0
        return replace(block, log_proba=team._model_side(block), weight=weight)

    return transform_blocks(make, blocks)
