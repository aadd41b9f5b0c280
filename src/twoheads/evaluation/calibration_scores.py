"""Calibration errors with an interval, and what of them is chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twoheads.evaluation.bootstrap import LEVEL, Score
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.calibration import CalibrationError, classwise_error, top_label_error
from twoheads.text import percent

_MIN_ITEMS = 10  # for an interval
_BINS = 15
#: Outcomes drawn from the probabilities; with very many classes half of them.
_DRAWS, _MANY_CLASSES = 200, 50


@dataclass(frozen=True)
class CalibrationScore(Score):
    """A calibration error of the items, with the 95 % interval of the error that is not chance.

    ``by_chance`` is what a calibrated forecaster with these probabilities shows on average on as many items, and
    ``p_value`` how often it shows as much or more. The interval begins at 0 unless that is below 0.05, and always
    reaches up to the value.
    """

    by_chance: float | None = None
    p_value: float | None = None


def top_label_score(proba: Floats, true_label: Codes, weight: Floats) -> CalibrationScore:
    """The calibration error of the largest probability (ECE); proba (n_classes, n_items)."""
    found = top_label_error(
        proba, true_label, weight, n_bins=_BINS, level=LEVEL, n_draws=_DRAWS, rng=np.random.default_rng(0)
    )
    return _score(found, len(true_label))


def classwise_score(proba: Floats, true_label: Codes, weight: Floats) -> CalibrationScore:
    """The mean over classes of the calibration error of that class's probability; proba (n_classes, n_items)."""
    n_draws = _DRAWS if len(proba) <= _MANY_CLASSES else _DRAWS // 2
    found = classwise_error(
        proba, true_label, weight, n_bins=_BINS, level=LEVEL, n_draws=n_draws, rng=np.random.default_rng(0)
    )
    return _score(found, len(true_label))


def _score(found: CalibrationError, n_items: int) -> CalibrationScore:
    if n_items < _MIN_ITEMS:
        return CalibrationScore(found.value, None, None)
    low, high = min(found.low, found.value), max(found.high, found.value)
    return CalibrationScore(found.value, low, high, found.by_chance, found.p_value)


def chance_note(score: Score | None) -> str | None:
    """How much of the team's calibration error is chance, in a sentence; None where it is not known."""
    if not isinstance(score, CalibrationScore) or score.by_chance is None or score.p_value is None:
        return None
    shown, chance = percent(score.value, 1), percent(score.by_chance, 1)
    start = f"The team's calibration error (ECE) is {shown}; perfectly calibrated probabilities would show {chance}"
    if score.low:
        return f"{start} by chance on as many items: they are miscalibrated."
    # The mean confidence may still differ significantly from the accuracy: that test has no bins, and more power.
    return f"{start} by chance on as many items: this error alone does not show that they are miscalibrated."
