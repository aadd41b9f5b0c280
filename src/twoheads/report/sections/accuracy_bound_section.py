"""Theorem 1 of Kerrigan et al. (2021) beside the measured accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.evaluation import Predictions, check_accuracy_bound
from twoheads.evaluation.team import Team, confusion_of
from twoheads.kernels.scoring.ties import label_error
from twoheads.report.sections.common import labelled_by_both, unavailable
from twoheads.text import percent


def accuracy_bound_section(team: Team, predicted: Predictions) -> dict[str, Any]:
    """The lower bound of the accuracy of the plain product, that accuracy, and the team's."""
    confusion = confusion_of(team)
    if confusion is None or predicted.calibrated_proba is None:
        return unavailable("The theorem holds for calibrated probabilities times a confusion matrix, not this method.")
    matrix = np.asarray(confusion.human_given_true_)
    if matrix.ndim != 2:
        return unavailable("The theorem is about one person and one model; here are several people.")
    rows = labelled_by_both(predicted)
    if len(rows) == 0:
        return unavailable("This needs items of known truth with both an answer and a model prediction.")
    classes = predicted.classes
    found = check_accuracy_bound(
        predicted.calibrated_proba[rows],
        matrix,
        classes[predicted.human_label[rows]],
        classes[predicted.true_label[rows]],
        stronger=True,
        classes=classes,
    )
    measured = float(1.0 - label_error(predicted.combined_proba[rows].T, predicted.true_label[rows]).mean())
    return {
        "available": True,
        "n_items": len(rows),
        "bound": found.bound,
        "product_accuracy": found.accuracy,
        "accuracy": measured,
        "words": (
            f"The accuracy of the plain product of human and model is at least {percent(found.bound, 1)} on these "
            f"items; measured, it is {percent(found.accuracy, 1)}, and that of the team {percent(measured, 1)}."
        ),
    }
