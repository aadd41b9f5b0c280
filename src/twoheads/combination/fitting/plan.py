"""Which stages a fit consists of.

| labels | dependence | mean overlap >= 2 | stages |
|---|---|---|---|
| none | no | | start (or votes), EM |
| none | yes | no | start, agreement, held temperature, EM of the matrices |
| none | yes | yes | start (or votes), EM, dependence from its prior, at EM's temperature |
| some | no | | counts; (votes, and) EM if there are unlabelled items of positive weight |
| some | yes | no | counts; agreement, and few labels, if there are unlabelled items; dependence |
| some | yes | yes | counts, dependence; with unlabelled items start (or votes) and EM between, and its temperature |

After the dependence, a panel is fitted where members and labels are many enough (`panel_stage.panel_members`).
Where mean overlap is at least 2, EM starts as it does without labels: from votes if there is no model, the votes on
labelled items being their truth, else, with a dependence, from the priors. Started from a few labels alone, on which
most members happen to err, it would take all classes for each other. Unlabelled items of weight 0 are ignored where
there are labels.
"""

from __future__ import annotations

import logging
from enum import Enum

_log = logging.getLogger(__name__)


class Stage(Enum):
    """One step of a fit."""

    START = "set the parts to their priors"
    VOTES = "set the matrices from the votes, the calibrator to its prior"
    COUNTS = "fit the parts to the labelled items"
    AGREEMENT = "density of the temperature from unlabelled items"
    HELD_TEMPERATURE = "fix the calibrator's temperature from the agreement"
    EM = "EM of all parts"
    EM_OF_MATRICES = "EM with the calibrator held"
    FEW_LABELS = "add to few labels what unlabelled items show of one person"
    DEPENDENCE = "fit the dependence, with the calibrator's prior of the temperature"
    DEPENDENCE_AFTER_EM = "fit the dependence, with a temperature near EM's"
    DEPENDENCE_FROM_PRIOR = "set the dependence to its prior, at EM's temperature"
    PANEL = "fit weights of related members to the labelled items"


def plan_fit(
    *,
    has_labels: bool,
    has_unlabelled: bool,
    has_dependence: bool,
    mean_overlap: bool,
    has_model: bool,
    has_panel: bool = False,
) -> tuple[Stage, ...]:
    """The stages of a fit, in order.

    Parameters
    ----------
    has_labels : bool
        Whether the truth of any item is known.
    has_unlabelled : bool
        Whether there are unlabelled items of positive weight.
    has_dependence : bool
        Whether the team corrects for dependence.
    mean_overlap : bool
        Whether answered items have two answers or more on average.
    has_model : bool
        Whether there is a model.
    has_panel : bool
        Whether there are members and labels enough to give members weights of their own.
    """
    start = Stage.VOTES if mean_overlap and not has_model else Stage.START
    if has_labels:
        panel = (Stage.PANEL,) if has_panel and has_dependence else ()
        em = (start, Stage.EM) if mean_overlap and (has_dependence or not has_model) else (Stage.EM,)
        stages = (Stage.COUNTS, *_with_labels(em, has_unlabelled, has_dependence, mean_overlap), *panel)
    else:
        stages = (start, *_without_labels(has_dependence, mean_overlap))
    _log.info("stages of the fit: %s", "; ".join(stage.value for stage in stages))
    return stages


def _with_labels(
    em: tuple[Stage, ...], has_unlabelled: bool, has_dependence: bool, mean_overlap: bool
) -> tuple[Stage, ...]:
    if not has_dependence:
        return em if has_unlabelled else ()
    if not has_unlabelled:
        return (Stage.DEPENDENCE,)
    if mean_overlap:
        return *em, Stage.DEPENDENCE_AFTER_EM
    return Stage.AGREEMENT, Stage.FEW_LABELS, Stage.DEPENDENCE


def _without_labels(has_dependence: bool, mean_overlap: bool) -> tuple[Stage, ...]:
    if not has_dependence:
        return (Stage.EM,)
    if mean_overlap:
        return Stage.EM, Stage.DEPENDENCE_FROM_PRIOR
    return Stage.AGREEMENT, Stage.HELD_TEMPERATURE, Stage.EM_OF_MATRICES
