"""Facts about L+L and LR: the numbers behind their descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from twoheads.kernels.arrays import Floats
from twoheads.kernels.priors import ACCURACY_RIGHT, ACCURACY_WRONG
from twoheads.observations.labels import label_text


def label_label_facts(
    classes: NDArray[Any],
    annotators: tuple[str, ...],
    counts: tuple[Floats, Floats],
    numbers: tuple[int, int],
    level: float = 0.95,
) -> dict[str, Any]:
    """Facts about L+L: the accuracy of people and of the model, ``[estimate, low, high]``.

    counts   (n_classes, n_classes) of people and of the model: labels by true class, as Kish counts weighted ones
    numbers  how many labels there are of people and of the model
    """
    return {
        "classes": [label_text(name) for name in classes],
        "annotators": list(annotators),
        "level": level,
        "human": {"kind": "measured", "answers": numbers[0], **_accuracy(counts[0], level)},
        "model": {"answers": numbers[1], **_accuracy(counts[1], level)},
    }


def logistic_facts(
    classes: NDArray[Any], annotators: tuple[str, ...], coef: Floats, intercept: Floats, features: str
) -> dict[str, Any]:
    """Facts about LR: mean contributions of the model's log-odds and of an answer to the log-odds of their class."""
    n_classes = len(classes)
    weights = coef.reshape(n_classes, -1, n_classes)  # [class, model or annotator, class that is named]
    own = np.einsum("jpj->pj", weights)
    others = (weights.sum(axis=0) - own) / (n_classes - 1)
    shown = np.isfinite(intercept)
    gain = (own - others)[:, shown].mean(axis=1)
    names = [label_text(name) for name in classes]
    return {
        "classes": names,
        "annotators": list(annotators),
        "features": features,
        "weights": int(coef.size + intercept.size),
        "without_label": [name for name, known in zip(names, shown, strict=True) if not known],
        "weight_of_model": float(gain[0]),
        "weight_of_answer": dict(zip(annotators, gain[1:].tolist(), strict=True)),
    }


def _accuracy(counts: Floats, level: float) -> dict[str, Any]:
    """The accuracy over all classes, with a Beta prior."""
    right, total = float(np.trace(counts)), float(counts.sum())
    low, high = beta.interval(level, right + ACCURACY_RIGHT, total - right + ACCURACY_WRONG)
    accuracy = (right + ACCURACY_RIGHT) / (total + ACCURACY_RIGHT + ACCURACY_WRONG)
    return {"accuracy": [accuracy, float(low), float(high)]}
