"""Fit a team: from parts and items to a `FitResult`, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from twoheads.calibration.base import Calibrator
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.fitting import dependence_stage, em_stage, few_labels, panel_stage, start_stage
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.fitting.plan import Stage, plan_fit
from twoheads.combination.fitting.shared_errors import correlation_share
from twoheads.combination.fitting.state import FitState
from twoheads.combination.items.collect import StatisticsSettings, collect_statistics
from twoheads.combination.items.protocol import CountableItems, Items, Schema
from twoheads.combination.items.sampled import SampledItems
from twoheads.combination.parts import Parts
from twoheads.combination.pool import ModelPool
from twoheads.combination.rivals import model_errors
from twoheads.combination.rule import CombinationRule
from twoheads.combination.statistics.folds import by_content
from twoheads.combination.statistics.sufficient import SufficientStatistics, merge_statistics
from twoheads.confusion.response import ResponseModel
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.confusion.shapes import model_overlap
from twoheads.kernels.dependence.posterior import MODE_LABELS
from twoheads.kernels.priors import POOL_SD


@dataclass(frozen=True, eq=False)
class FitResult:
    """The result of a fit.

    schema      classes, annotators and models of all items
    rule        the fitted parts, and how they are combined
    statistics  of all items, to continue the fit with
    holdout     counts over labelled items, each held out; None without labels or dependence
    prevalence  (n_classes,) of the classes: among labelled items, or among all where EM was run
    objective   the log posterior at each iteration of EM; empty where EM was not run
    """

    schema: Schema
    rule: CombinationRule
    statistics: SufficientStatistics
    holdout: HoldoutRecord | None
    prevalence: Floats
    objective: Floats


def fit_team(
    parts: Parts, items: CountableItems | SampledItems, *, earlier: SufficientStatistics | None = None
) -> FitResult:
    """Fit the parts to items, and to the statistics of earlier ones. None of the arguments is changed."""
    state = _initial_state(parts, items, earlier)
    stages = plan_fit(
        has_labels=state.statistics.n_labelled > 0,
        has_unlabelled=state.statistics.n_unlabelled > 0 and parts.unlabelled_weight > 0,
        has_dependence=state.dependence is not None,
        mean_overlap=state.mean_overlap,
        has_model=state.schema.has_model,
        has_panel=len(state.panel_members) > 0,
    )
    for stage in stages:
        state = _STAGES[stage](state)
    return FitResult(state.schema, state.rule, state.statistics, state.holdout, state.prevalence, state.objective)


def _initial_state(
    parts: Parts, items: CountableItems | SampledItems, earlier: SufficientStatistics | None
) -> FitState:
    """Statistics collected, several models pooled, and the labelled items' blocks made."""
    opened = _opened(parts, items, earlier)
    schema = opened.items.schema
    machines = schema.machines and schema.machines_beside_people
    labels = opened.statistics.labels_per_class + 1.0
    pool, calibrator = None, parts.calibrator
    if len(schema.models) > 1:
        pool, calibrator = _fit_pool(parts, opened)
    fitted_on, labelled = opened.items, opened.labelled
    if pool is not None:
        pooled = partial(_pooled, pool)
        fitted_on = fitted_on.transform(pooled)
        labelled = None if labelled is None else labelled.transform(pooled)
    blocks: Sequence[Block] = ()
    if labelled is not None:
        reusable = pool is None and not opened.statistics.n_unlabelled
        blocks = opened.blocks if reusable and opened.blocks is not None else labelled.blocks()
        if parts.dependence is not None and opened.statistics.answered[1] > 0 and len(labelled) <= MODE_LABELS:
            labelled = labelled.transform(by_content(blocks, schema.annotators))
            blocks = labelled.blocks()
    share = 1.0
    if parts.dependence is not None and opened.statistics.has_overlap:
        share = correlation_share(opened.items.blocks() if opened.blocks is None else opened.blocks)
    return FitState(
        parts=parts,
        schema=schema,
        items=fitted_on,
        statistics=opened.statistics,
        sampled=isinstance(opened.items, SampledItems),
        single=schema.n_annotators == 1 and not opened.statistics.has_overlap,
        mean_overlap=opened.statistics.mean_overlap_at_least_two,
        confusion=parts.confusion.apart(machines) if machines else parts.confusion,
        calibrator=calibrator,
        dependence=parts.dependence,
        response=opened.response,
        pool=pool,
        prevalence=labels / labels.sum(),
        panel_members=panel_stage.panel_members(opened.statistics),
        labelled=labelled,
        labelled_blocks=blocks,
        correlation=parts.correlation,
        correlation_share=share,
    )


@dataclass(frozen=True)
class _Opened:
    """Items to fit on, the statistics of all, levels of confidence, and the items' blocks where these were made.

    labelled  the labelled items among them; None where there are none
    """

    items: Items
    labelled: Items | None
    statistics: SufficientStatistics
    response: ResponseModel | None
    blocks: Sequence[Block] | None = None


def _opened(parts: Parts, items: CountableItems | SampledItems, earlier: SufficientStatistics | None) -> _Opened:
    response = _start_response(items, earlier)
    if isinstance(items, SampledItems):
        return _Opened(items, items.labelled() if items.statistics.n_labelled else None, items.statistics, response)
    sizes = items.n_labelled, len(items) - items.n_labelled
    labelled, blocks = items.labelled() if sizes[0] else None, items.blocks()
    settings = StatisticsSettings(
        correlation=parts.correlation,
        overlap=parts.confusion.uses_overlap,
        response=response,
        search_prior=parts.calibrator.search_prior(),
    )
    statistics = collect_statistics(items.schema, sizes, blocks, labelled, settings)
    if earlier is None:
        return _Opened(items, labelled, statistics, response, blocks)
    annotators = tuple(dict.fromkeys((*earlier.annotators, *statistics.annotators)))
    merged = merge_statistics([earlier, statistics], annotators)
    machines = tuple(name for name in annotators if name in (*earlier.machines, *items.schema.machines))
    schema = replace(items.schema, annotators=annotators, has_model=merged.has_model, machines=machines)
    if response is not None:  # people are numbered as before
        response = ResponseModel().start_at(response.bounds_, schema.n_classes, schema.scored)
    sample = SampledItems(schema, merged)
    return _Opened(sample, sample.labelled() if merged.n_labelled else None, merged, response)


def _start_response(items: CountableItems | SampledItems, earlier: SufficientStatistics | None) -> ResponseModel | None:
    """Levels of confidence as in earlier fits, or as cut now; None without any confidence or "unsure"."""
    statistics = items.statistics if isinstance(items, SampledItems) else earlier
    bounds = None if statistics is None else statistics.response_bounds
    confidences = None if isinstance(items, SampledItems) else items.confidences()
    if statistics is not None and bounds is not None and (confidences is None or statistics.has_confidence):
        return ResponseModel().start_at(bounds, items.schema.n_classes, items.schema.scored)
    if confidences is None:
        if items.schema.levels is None:
            return None
        confidences = np.empty(0), None
    return ResponseModel().start(confidences[0], items.schema.n_classes, items.schema.scored, confidences[1])


def _fit_pool(parts: Parts, opened: _Opened) -> tuple[ModelPool, Calibrator]:
    """The pool of several models, and the calibrator of their mean."""
    n_classes = opened.items.schema.n_classes
    pool, limit = ModelPool(parts.calibrator), dependence_stage.sample_limit(n_classes)
    if opened.labelled is None:
        return pool.start(opened.items.subsample(limit), n_classes), parts.calibrator
    calibrator = TemperatureScaling(log_temperature_mean=0.0, log_temperature_sd=POOL_SD)
    return pool.fit_blocks(opened.labelled.subsample(limit), n_classes), calibrator


def _pooled(pool: ModelPool, block: Block) -> Block:
    """The block with one model in place of several, whose own errors are kept where the truth is known."""
    return replace(pool.pooled(block), model_errors=None if block.true_label is None else model_errors(block))


def _fit_counts(state: FitState) -> FitState:
    """Fit the parts to the labelled items' statistics, or to the items where these are not sufficient."""
    statistics, n_classes = state.statistics, state.schema.n_classes
    overlap = _overlap(state) if state.confusion.uses_overlap else None
    crowd_counts = None if state.single else statistics.crowd_counts
    confusion = copy(state.confusion).fit_counts(statistics.counts, overlap, crowd_counts=crowd_counts)
    response = state.response
    if response is not None:
        assert statistics.response_counts is not None
        response = copy(response).fit_labelled_counts(statistics.response_counts)
    calibrator = copy(state.calibrator)
    values = statistics.temperature_values
    if state.pool is not None or not calibrator.fit_statistics(values, sampled=state.sampled):
        calibrator.fit_blocks(state.labelled_blocks, n_classes)
    fitted = replace(state, confusion=confusion, response=response, calibrator=calibrator)
    return fitted if state.dependence is not None else fitted.without_blocks()


def _overlap(state: FitState) -> Floats:
    """Which classes the model confuses: on labelled items, and on the others where EM will not use them anyway."""
    overlap = state.statistics.overlap
    weight = 0.0 if state.dependence is None else dependence_stage.unlabelled_weight(state)
    block = state.items.answered_unlabelled() if weight > 0 else None
    if block is None:
        return overlap
    return overlap + model_overlap(block.log_proba, weight * block.weight_shares())


_STAGES: dict[Stage, Callable[[FitState], FitState]] = {
    Stage.START: start_stage.start,
    Stage.VOTES: start_stage.start_from_votes,
    Stage.COUNTS: _fit_counts,
    Stage.AGREEMENT: dependence_stage.fit_agreement,
    Stage.HELD_TEMPERATURE: dependence_stage.hold_temperature,
    Stage.EM: em_stage.run_em,
    Stage.EM_OF_MATRICES: em_stage.run_em_of_matrices,
    Stage.FEW_LABELS: few_labels.add_unlabelled,
    Stage.DEPENDENCE: dependence_stage.fit_dependence,
    Stage.DEPENDENCE_AFTER_EM: dependence_stage.fit_dependence_after_em,
    Stage.DEPENDENCE_FROM_PRIOR: dependence_stage.dependence_from_prior,
    Stage.PANEL: panel_stage.fit_panel,
}
