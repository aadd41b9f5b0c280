"""Confidence against accuracy, of the model and of the combination."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from twoheads.evaluation import Comparison, Predictions, reliability_curve
from twoheads.evaluation.bootstrap import Score
from twoheads.report.plain import plain

_NAME = {"model": "model", "combination": "team"}


def reliability_section(predicted: Predictions, comparison: Comparison) -> dict[str, Any]:
    """Reliability curves of the model as given and of the combination, and mean confidence less accuracy."""
    truth, classes = predicted.classes[predicted.true_label], predicted.classes
    n_bins = int(np.clip(len(predicted) // 20, 1, 15))
    every = np.ones(len(predicted), dtype=bool)
    forecasts = {"combination": (predicted.combined_proba, every, comparison.combination.error)}
    if comparison.model is not None:
        model = (predicted.model_proba, predicted.has_model, comparison.model.error)
        forecasts = {"model": model, **forecasts}
    curves, gaps = {}, {}
    for name, (proba, rows, error) in forecasts.items():
        weight = None if predicted.weight is None else predicted.weight[rows]
        curve = reliability_curve(truth[rows], proba[rows], classes=classes, n_bins=n_bins, sample_weight=weight)
        curves[name] = asdict(curve)
        gaps[name] = _gap(float(np.average(proba[rows].max(axis=1), weights=weight)), error)
    return {
        "available": True,
        "n_bins": n_bins,
        "curves": plain(curves),
        "overconfidence": plain(gaps),
        "words": " ".join(_sentence(_NAME[name], gap) for name, gap in gaps.items()),
    }


def _gap(confidence: float, error: Score) -> Score:
    """Mean confidence less accuracy, with the interval of the error: confidences are given, and outcomes are chance."""
    shift = confidence - 1.0
    low, high = (None if end is None else shift + end for end in (error.low, error.high))
    return Score(shift + error.value, low, high)


def _sentence(name: str, gap: Score) -> str:
    if gap.low is None or gap.high is None:
        return f"There are too few items to tell whether the {name} is as confident as it is accurate."
    ends = f"[{_points(gap.low)}, {_points(gap.high)}]"
    if gap.low <= 0 <= gap.high:
        difference = f"{_points(gap.value)} points {ends}"
        return f"The {name}'s mean confidence is not significantly different from its accuracy ({difference})."
    side = "overconfident" if gap.value > 0 else "underconfident"
    return f"The {name} is {side}: its mean confidence minus its accuracy is {_points(gap.value)} points {ends}."


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")
