"""The stages that run EM."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from twoheads.combination.class_prior import learns_class_prior
from twoheads.combination.fitting import dependence_stage, start_stage
from twoheads.combination.fitting.em import EMSettings, Parameters, expectation_maximisation
from twoheads.combination.fitting.people_beside_machines import limit_unlabelled_people
from twoheads.combination.fitting.state import FitState
from twoheads.kernels.confusion.matrices import MANY_CLASSES
from twoheads.kernels.priors import AGREEMENT_LABELS


def run_em(state: FitState, *, hold_calibrator: bool = False, unlabelled_weight: float | None = None) -> FitState:
    """Fit the parts by EM, from where they are; by default with the team's weight of unlabelled items."""
    schema, parts, confusion = state.schema, state.parts, state.confusion
    # Agreement is weaker evidence of accuracy than labels are; but how people answer is seen on every item.
    response_weight = 1.0 if unlabelled_weight is None else 1.0 / unlabelled_weight
    if unlabelled_weight is None:
        unlabelled_weight = start_stage.unlabelled_weight(state)
    # EM cannot change a probability of 0, which may come from few labelled items.
    if state.statistics.n_labelled and not state.em_blocks and (confusion.human_given_true_ == 0).any():
        confusion = copy(confusion).start(schema.n_annotators, schema.n_classes)
    correlation = start_stage.em_correlation(state)
    if state.dependence is not None and state.labelled_blocks:  # from that of the labelled items' counts
        correlation = state.correlation + dependence_stage.unlabelled_share(state) * (correlation - state.correlation)
    settings = EMSettings(
        schema.n_annotators,
        unlabelled_weight=unlabelled_weight,
        max_iter=parts.max_iter,
        tol=parts.tol,
        correlation=correlation,
        hold_calibrator=hold_calibrator,
        learn_class_prior=learns_class_prior(parts.class_prior, state.statistics, parts.dependence),
        response_weight=response_weight,
    )
    start = Parameters(confusion, state.calibrator, state.response, state.rule.log_class_prior)
    result = expectation_maximisation(state.em_blocks or start_stage.em_blocks(state), start, settings)
    fitted = replace(
        state,
        confusion=result.parameters.confusion,
        calibrator=result.parameters.calibrator,
        response=result.parameters.response,
        objective=result.objective,
        prevalence=result.prevalence,
        correlation=correlation,
        em_blocks=(),
    )
    return limit_unlabelled_people(fitted) if schema.machines else fitted


def run_em_of_matrices(state: FitState) -> FitState:
    """EM with the calibrator held: all items together have the weight of a few labels, but show what people confuse.

    Where the only answer on an item and the model's row differ, nothing shows which is right; so many items that agree
    are not worth as many labels.
    """
    weight = min(1.0, AGREEMENT_LABELS / max(state.statistics.answered_items, 1e-300))
    fitted = run_em(state, hold_calibrator=True, unlabelled_weight=weight)
    if not state.confusion.uses_overlap or not 2 < state.schema.n_classes <= MANY_CLASSES:
        return fitted
    whole = run_em(replace(fitted, em_blocks=state.em_blocks), hold_calibrator=True, unlabelled_weight=1.0)
    return replace(fitted, confusion=fitted.confusion.with_errors_of(whole.confusion))
