"""Confidence against accuracy, of the model and of the combination."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from twoheads.evaluation import Comparison, Predictions, reliability_curve
from twoheads.report.plain import plain

_NAME = {"model": "model", "combination": "team"}


def reliability_section(predicted: Predictions, comparison: Comparison) -> dict[str, Any]:
    """Reliability curves of the model as given and of the combination, and how overconfident each is on average."""
    truth, classes = predicted.classes[predicted.true_label], predicted.classes
    n_bins = int(np.clip(len(predicted) // 20, 1, 15))
    every = np.ones(len(predicted), dtype=bool)
    forecasts = {"combination": (predicted.combined_proba, every, comparison.combination.error.value)}
    if comparison.model is not None:
        model = (predicted.model_proba, predicted.has_model, comparison.model.error.value)
        forecasts = {"model": model, **forecasts}
    curves, gaps = {}, {}
    for name, (proba, rows, error) in forecasts.items():
        curves[name] = asdict(reliability_curve(truth[rows], proba[rows], classes=classes, n_bins=n_bins))
        gaps[name] = float(proba[rows].max(axis=1).mean() - (1.0 - error))
    return {
        "available": True,
        "n_bins": n_bins,
        "curves": plain(curves),
        "overconfidence": gaps,
        "words": " ".join(_sentence(_NAME[name], gap) for name, gap in gaps.items()),
    }


def _sentence(name: str, gap: float) -> str:
    if abs(gap) < 0.01:
        return f"The {name} is about as confident as it is accurate."
    side = "overconfident" if gap > 0 else "underconfident"
    return f"The {name} is {side} by {100 * abs(gap):.1f} points on average."
