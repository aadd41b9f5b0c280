"""The metrics of a comparison, in one table.

The command line, the JSON, the report and its glossary go through `METRICS`: a new metric is one entry here and one
kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twoheads.evaluation.bootstrap import LEVEL, MANY, MIN_ITEMS, Score, mean_score, share_score
from twoheads.evaluation.calibration_scores import classwise_score, top_label_score
from twoheads.evaluation.label_metrics import LABEL_METRICS
from twoheads.evaluation.metric import Metric, ScoredItems
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.powers import best_log_power, raised
from twoheads.kernels.inference.tilting import possible_losses, tilting_interval
from twoheads.kernels.scoring import scores
from twoheads.kernels.simplex import FLOOR

#: What else might have been true counts as so many items.
_POSSIBLE_ITEMS = 3.0
#: Wrong labels of the truth, as a share of these.
_MISLABELLED = 0.5
#: How likely that was is the forecast with the power that explains the outcomes best. Prior of its logarithm: forecasts
#: are somewhat too sure.
_LOG_POWER_PRIOR = float(np.log(0.8)), 0.28


def _error(items: ScoredItems) -> Score:
    return share_score(items.error, items.weight, items.replicates)


def _log_losses(items: ScoredItems) -> Floats:
    return scores.log_losses(items.known_proba, items.true_label)


def _log_loss(items: ScoredItems) -> Score:
    return _mean_loss(items, _log_losses(items), -np.log(np.maximum(items.known_proba, FLOOR)))


def _brier_scores(items: ScoredItems) -> Floats:
    return scores.brier_scores(items.known_proba, items.true_label)


def _brier_score(items: ScoredItems) -> Score:
    proba = items.known_proba
    return _mean_loss(items, _brier_scores(items), (proba**2).sum(axis=0) + 1.0 - 2.0 * proba)


def _mean_loss(items: ScoredItems, seen: Floats, loss: Floats) -> Score:
    """The mean of the losses seen; every outcome of every item, ``loss`` (n_classes, n_items), is possible."""
    if not MIN_ITEMS <= len(seen) <= MANY:
        return mean_score(seen, items.weight, items.replicates)
    # Had every item's most probable class been true, no mean up to here would be ruled out from above.
    best, each = items.known_proba.argmax(axis=0), np.arange(len(seen))
    reach = tilting_interval(loss[best, each], items.weight, LEVEL, possible=_possible(items, best, loss))[1]
    possible = _possible(items, items.true_label, loss)
    return mean_score(seen, items.weight, items.replicates, possible=possible, reach=reach)


def _possible(items: ScoredItems, true_label: Codes, loss: Floats) -> tuple[Floats, Floats]:
    """What else might have been true, were these the outcomes: losses, and their weights in items."""
    weight = items.weight * (items.weight.sum() / (items.weight**2).sum())
    power = best_log_power(items.known_proba, true_label, weight, _LOG_POWER_PRIOR)
    proba = raised(items.known_proba, power)
    return possible_losses(loss, proba, items=_POSSIBLE_ITEMS, mislabelled=_MISLABELLED)


def _expected_calibration_error(items: ScoredItems) -> Score:
    return top_label_score(items.known_proba, items.true_label, items.weight)


def _classwise_calibration_error(items: ScoredItems) -> Score:
    return classwise_score(items.known_proba, items.true_label, items.weight)


#: The metrics, in the order they are shown.
METRICS: list[Metric] = [
    Metric(
        "error",
        _error,
        "error",
        "error",
        "The share of items with the wrong label.",
        "%",
        1,
        needs_proba=False,
        parts=lambda items: items.error,
    ),
    Metric(
        "log_loss",
        _log_loss,
        "log loss",
        "log loss",
        "The mean negative log-probability of the truth, in nats; a confident error costs most.",
        parts=_log_losses,
    ),
    Metric(
        "expected_calibration_error",
        _expected_calibration_error,
        "calibration error",
        "ECE",
        "How far the stated confidence is from the accuracy (ECE); 0 is perfect, but chance adds to it with few items.",
        "%",
        1,
    ),
    Metric(
        "classwise_calibration_error",
        _classwise_calibration_error,
        "class-wise calibration error",
        "cwECE",
        "The same for the probability of every class, averaged over classes (cwECE).",
        "%",
        2,
    ),
    Metric(
        "brier_score",
        _brier_score,
        "Brier score",
        "Brier",
        "The squared distance of the probabilities from the truth, from 0 (perfect) to 2.",
        parts=_brier_scores,
    ),
    *LABEL_METRICS,
]


def score_all(items: ScoredItems, metrics: Sequence[Metric] | None = None) -> dict[str, Score | None]:
    """Metrics of one member, by default those shown; None for one that needs probabilities if it gives labels only."""
    chosen = [metric for metric in METRICS if metric.shown] if metrics is None else metrics
    return {
        metric.name: None if metric.needs_proba and items.proba is None else metric.score(items) for metric in chosen
    }
