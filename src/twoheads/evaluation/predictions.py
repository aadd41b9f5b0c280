"""What is compared: for each item the truth, the human's label, the model's row and the combination's, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations, as_observations, as_truth, as_weight


@dataclass(frozen=True, eq=False)
class Predictions:
    """Human, model and combination on the same items.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    items : ndarray of shape (n_items,)
        The items' ids.
    true_label : ndarray of shape (n_items,)
        Codes; -1 where the truth is not known.
    human_label : ndarray of shape (n_items,)
        Codes; -1 where nobody was asked. Of several answers the most frequent, the first class in a tie.
    human_error : ndarray of shape (n_items,)
        0 where the human is right and 1 where wrong; of several people the majority, a tie broken by lot counting its
        chance of being wrong. NaN where the truth is not known or nobody was asked.
    has_model : ndarray of shape (n_items,)
        Whether the model has a row for the item; where not, it stands as uniform below.
    model_proba, combined_proba : ndarray of shape (n_items, n_classes)
    calibrated_proba : ndarray of shape (n_items, n_classes) or None
        The model's rows as the team calibrates them; None where the team has no calibrator.
    weight : ndarray of shape (n_items,) or None
    how : str
        How they came about, in words: "held out", "5-fold cross-validation", ...
    crowd_proba : ndarray of shape (n_items, n_classes) or None
        What the team makes of the people's answers without the model; None where no item has several answers, or no
        model has seen any.
    """

    classes: NDArray[Any]
    items: NDArray[Any]
    true_label: Codes
    human_label: Codes
    human_error: Floats
    has_model: NDArray[np.bool_]
    model_proba: Floats
    calibrated_proba: Floats | None
    combined_proba: Floats
    weight: Floats | None = None
    how: str = "held out"
    crowd_proba: Floats | None = None

    def __len__(self) -> int:
        return len(self.true_label)

    @property
    def model_label(self) -> Codes:
        """The model's label, (n_items,) codes; -1 where it has no row."""
        return np.where(self.has_model, self.model_proba.argmax(axis=1), MISSING)

    @property
    def combined_label(self) -> Codes:
        """The combination's label, (n_items,) codes."""
        return np.asarray(self.combined_proba.argmax(axis=1))

    def take(self, rows: NDArray[Any]) -> Self:
        """Predictions for some items, by positions or a mask."""
        return replace(
            self,
            items=self.items[rows],
            true_label=self.true_label[rows],
            human_label=self.human_label[rows],
            human_error=self.human_error[rows],
            has_model=self.has_model[rows],
            model_proba=self.model_proba[rows],
            calibrated_proba=None if self.calibrated_proba is None else self.calibrated_proba[rows],
            combined_proba=self.combined_proba[rows],
            weight=None if self.weight is None else self.weight[rows],
            crowd_proba=None if self.crowd_proba is None else self.crowd_proba[rows],
        )


def predictions(team: Any, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None) -> Predictions:
    """Collect what a fitted team, its model and its human say of items that the team was not fitted on.

    Parameters
    ----------
    team : Combiner
        Fitted.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,), optional
        The truth; None, NaN, -1 or blank where it is not known.
    sample_weight : array of shape (n_items,), optional

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> found = predictions(ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1]), X, [0, 1, 0, 1])
    >>> found.human_label.tolist(), found.model_label.tolist(), found.combined_label.tolist()
    ([0, 1, 0, 1], [0, 1, 1, 1], [0, 1, 0, 1])
    """
    seen = as_observations(X, classes=team.classes_, model_scale=team.model_scale)
    return predicted(team, seen, as_truth(y, seen), as_weight(sample_weight, len(seen)))


def predicted(team: Any, seen: Observations, true_label: Codes, weight: Floats | None) -> Predictions:
    """Predictions for observations whose classes are the team's."""
    calibrator = getattr(team, "calibrator_", None)
    model = np.empty((len(seen), seen.n_classes))
    calibrated = None if calibrator is None else np.empty_like(model)

    def write(rows: slice) -> None:
        log_proba = seen.block(rows).log_proba
        model[rows] = np.exp(log_proba).T
        if calibrated is not None and calibrator is not None:
            calibrated[rows] = np.exp(calibrator.calibrate(log_proba)).T

    for _ in map_blocks(write, block_slices(len(seen), seen.n_classes)):
        pass
    human_label, human_error = majority(seen, true_label)
    has_model, combined, crowd = seen.has_model(), team.predict_proba(seen), None
    if seen.answers.start is not None and has_model.any() and calibrator is not None:
        crowd = team.predict_proba(replace(seen, model_proba=(), models=()))
    return Predictions(
        seen.classes,
        seen.items,
        true_label,
        human_label,
        human_error,
        has_model,
        model,
        calibrated,
        combined,
        weight,
        crowd_proba=crowd,
    )


def majority(seen: Observations, true_label: Codes) -> tuple[Codes, Floats]:
    """Label of the people for each item, and its error; see `Predictions`."""
    answers, n_classes = seen.answers, seen.n_classes
    error = np.full(len(seen), np.nan)
    known = true_label != MISSING
    if answers.start is None:
        label = np.where(answers.column == MISSING, MISSING, answers.column % n_classes)
        judged = known & (label != MISSING)
        error[judged] = label[judged] != true_label[judged]
        return label, error
    item = item_of_answers(answers)
    votes = np.bincount(item * n_classes + answers.column % n_classes, minlength=len(seen) * n_classes)
    votes = votes.reshape(len(seen), n_classes)
    most = votes.max(axis=1)
    label = np.where(most > 0, votes.argmax(axis=1), MISSING)
    judged = np.flatnonzero(known & (most > 0))
    first = votes[judged] == most[judged, None]
    error[judged] = 1.0 - first[np.arange(len(judged)), true_label[judged]] / first.sum(axis=1)
    return label, error
