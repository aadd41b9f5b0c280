"""The metrics of a comparison, in one table.

The command line, the JSON, the report and its glossary go through `METRICS`: a new metric is one entry here and one
kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from twoheads.evaluation.bootstrap import MANY, Resampling, Score, mean_score, share_score
from twoheads.evaluation.calibration_scores import classwise_score, top_label_score
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.calibration import best_log_power, raised
from twoheads.kernels.inference.tilting import possible_losses
from twoheads.kernels.scoring import scores
from twoheads.kernels.simplex import FLOOR

#: What else might have been true counts as so many items.
_POSSIBLE_ITEMS = 3.0
#: How likely that was is the forecast with the power that explains the outcomes best. Prior of its logarithm: forecasts
#: are somewhat too sure.
_LOG_POWER_PRIOR = float(np.log(0.8)), 0.28


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """Items of one member of a comparison, as the metrics take them.

    true_label  (n_items,), codes
    error       (n_items,) 0 if the label is right, 1 if wrong, between for a tie among several people
    proba       (n_classes, n_items), or None for a member that gives labels only
    weight      (n_items,)
    replicates  the bootstrap replicates of these items
    """

    true_label: Codes
    error: Floats
    proba: Floats | None
    weight: Floats
    replicates: Resampling

    @property
    def known_proba(self) -> Floats:
        """``proba`` of a member that gives probabilities."""
        assert self.proba is not None
        return self.proba


@dataclass(frozen=True)
class Metric:
    """One metric of a comparison.

    Attributes
    ----------
    name : str
        Its key in JSON and its attribute of `Member`.
    score : callable
        From `ScoredItems` to a `Score`.
    title, short_title : str
        Its names on the page, and in the table of the command line.
    explanation : str
        What it measures, in one sentence.
    unit : str
        "%" for a share, which is shown in per cent.
    digits : int
        How many decimals are shown.
    less_is_better, needs_proba : bool
    """

    name: str
    score: Callable[[ScoredItems], Score]
    title: str
    short_title: str
    explanation: str
    unit: str = ""
    digits: int = 3
    less_is_better: bool = True
    needs_proba: bool = True

    @property
    def scale(self) -> float:
        """Factor from the value to the number shown."""
        return 100.0 if self.unit == "%" else 1.0

    def text(self, value: float | None) -> str:
        """The number shown, without its unit; a dash if there is none."""
        return "–" if value is None else f"{self.scale * value:.{self.digits}f}"


def _error(items: ScoredItems) -> Score:
    return share_score(items.error, items.weight, items.replicates)


def _log_loss(items: ScoredItems) -> Score:
    loss = -np.log(np.maximum(items.known_proba, FLOOR))
    return _mean_loss(items, scores.log_losses(items.known_proba, items.true_label), loss)


def _brier_score(items: ScoredItems) -> Score:
    proba = items.known_proba
    loss = (proba**2).sum(axis=0) + 1.0 - 2.0 * proba
    return _mean_loss(items, scores.brier_scores(proba, items.true_label), loss)


def _mean_loss(items: ScoredItems, seen: Floats, loss: Floats) -> Score:
    """The mean of the losses seen; every outcome of every item, ``loss`` (n_classes, n_items), is possible."""
    if len(seen) > MANY:
        return mean_score(seen, items.weight, items.replicates)
    weight = items.weight * (items.weight.sum() / (items.weight**2).sum())
    power = best_log_power(items.known_proba, items.true_label, weight, _LOG_POWER_PRIOR)
    possible = possible_losses(loss, raised(items.known_proba, power), items=_POSSIBLE_ITEMS)
    return mean_score(seen, items.weight, items.replicates, possible=possible)


def _expected_calibration_error(items: ScoredItems) -> Score:
    return top_label_score(items.known_proba, items.true_label, items.weight)


def _classwise_calibration_error(items: ScoredItems) -> Score:
    return classwise_score(items.known_proba, items.true_label, items.weight)


#: The metrics, in the order they are shown.
METRICS: list[Metric] = [
    Metric("error", _error, "error", "error", "The share of items with the wrong label.", "%", 1, needs_proba=False),
    Metric(
        "log_loss",
        _log_loss,
        "log loss",
        "log loss",
        "The mean negative log-probability of the truth, in nats; a confident error costs most.",
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
    ),
]


def score_all(items: ScoredItems) -> dict[str, Score | None]:
    """Every metric of one member; None for those that need probabilities if it gives labels only."""
    return {
        metric.name: None if metric.needs_proba and items.proba is None else metric.score(items) for metric in METRICS
    }
