"""Predictions to compare: truth, the human's label, the model's and the combination's probabilities of each item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.calibration.base import Calibrator
from twoheads.combination.rivals import RivalList, model_errors
from twoheads.confusion.score_levels import ScoreLevels, answered
from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.evaluation.leakage import status_of
from twoheads.evaluation.team import Team, at_hand, calibrator_of, levels_of, observed_by
from twoheads.kernels.answers import Answers, item_of_answers, vote_shares
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.scoring.ties import top_shares
from twoheads.observations import (
    Observations,
    answers_of_people,
    as_truth,
    as_weight,
    matched_rows,
    without_machines,
)
from twoheads.observations.frames import new_frame
from twoheads.observations.labels import label_text
from twoheads.rendering.notebook import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Shown):
    """Human, model and combination on the same items.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    items : ndarray of shape (n_items,)
        The items' ids.
    true_label : ndarray of shape (n_items,)
        Codes; -1 if the truth is unknown.
    human_label : ndarray of shape (n_items,)
        Codes; -1 without an answer. Of several answers the most frequent, the first class in a tie.
    human_error : ndarray of shape (n_items,)
        0 if the human is right and 1 if wrong; of several people the majority, with the expected error of a tie broken
        at random. NaN if the truth is unknown or there is no answer.
    has_model : ndarray of shape (n_items,)
        Whether the model has a prediction for the item; without one, it is uniform below.
    model_proba, combined_proba : ndarray of shape (n_items, n_classes)
    calibrated_proba : ndarray of shape (n_items, n_classes) or None
        The model's probabilities as the team calibrates them; None if the team has no calibrator.
    weight : ndarray of shape (n_items,) or None
    how : str
        How they were made: "held out", "5-fold cross-validation", "learnt from: too kind", ...
    crowd_proba : ndarray of shape (n_items, n_classes) or None
        The people's answers as the team combines them without the model; None if no item has several answers, or none
        has a model prediction.
    answers, annotators, machines : Answers, tuple of str, tuple of str
        The annotators' answers, scores being the side on which they are, the names, and those that are machines; None
        if only ``human_error`` is known.
    models, model_errors : tuple of str, ndarray of shape (n_labels, n_items)
        The models' names, and the errors of each, and with several of their mean: 0, 1 or between for a tie; NaN
        without a row or truth.
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
    answers: Answers | None = None
    annotators: tuple[str, ...] = ("human",)
    machines: tuple[str, ...] = ()
    models: tuple[str, ...] = ("model",)
    model_errors: Floats | None = None

    def __len__(self) -> int:
        return len(self.true_label)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per item: labels by name, blank where there is none, and the combined probabilities."""
        names = np.array([*self.classes.tolist(), None], dtype=object)  # -1 is the last
        columns: dict[str, Any] = {"item": self.items}
        for name in ("true_label", "human_label", "model_label", "combined_label"):
            columns[name] = names[getattr(self, name)]
        for label, row in zip(self.classes.tolist(), self.combined_proba.T, strict=True):
            columns[f"p_{label_text(label)}"] = row
        return new_frame(columns, kind)

    @property
    def model_label(self) -> Codes:
        """The model's label, (n_items,) codes, the first class in a tie; -1 if it has no prediction."""
        return np.where(self.has_model, self.model_proba.argmax(axis=1), MISSING)

    @property
    def combined_label(self) -> Codes:
        """The combination's label, (n_items,) codes; the first class in a tie."""
        return np.asarray(self.combined_proba.argmax(axis=1))

    @property
    def human_shares(self) -> Floats:
        """The human's label as shares, of several people the majority: 1 / m in a tie of m, 0 without an answer.

        Of shape (n_classes, n_items); so are the next two.
        """
        if self.answers is None:
            return np.asarray(np.arange(len(self.classes))[:, None] == self.human_label, dtype=np.float64)
        listed = RivalList(self.annotators, (), machines=self.machines)
        people = listed.labels(self.answers, len(self.classes), np.empty((0, len(self)))).answers
        return np.asarray(top_shares(vote_shares(people, len(self.classes))) * (people.per_item() > 0))

    @property
    def model_shares(self) -> Floats:
        """The model's label as shares: 1 / m in a tie of m, 0 if it has no prediction."""
        return np.asarray(top_shares(self.model_proba.T) * self.has_model)

    @property
    def combined_shares(self) -> Floats:
        """The combination's label as shares: 1 / m in a tie of m."""
        return top_shares(self.combined_proba.T)

    def take(self, rows: NDArray[Any]) -> Self:
        """Predictions for a subset of the items, by positions or a mask."""
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
            answers=None if self.answers is None else self.answers.take(np.arange(len(self))[rows]),
            model_errors=None if self.model_errors is None else self.model_errors[:, rows],
        )


def predictions(team: Team, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None) -> Predictions:
    """Predictions of a fitted team, of its model and of its human; ``how`` says whether the items are held out.

    Parameters
    ----------
    team : Team
        Fitted.
    X : Observations, data frame, or array of shape (n_items, 1 + n_classes)
    y : array of shape (n_items,), optional
        The truth; None, NaN, -1 or blank if unknown.
    sample_weight : array of shape (n_items,), optional

    Examples
    --------
    >>> from twoheads import ProbabilityLabelCombiner
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> found = predictions(ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1]), X, [0, 1, 0, 1])
    >>> found.human_label.tolist(), found.model_label.tolist(), found.combined_label.tolist()
    ([0, 1, 0, 1], [0, 1, 1, 1], [0, 1, 0, 1])
    """
    observations, truth, weight = matched_items(team, X, y, sample_weight)
    return replace(predict_all(team, observations, truth, weight), how=status_of(team, observations, truth))


def matched_items(
    team: Team, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[Observations, Codes, Floats | None]:
    """Items as the team sees them, the codes of their truth and their weights, matched row by row."""
    observations = observed_by(team, X)
    y, sample_weight = matched_rows(X, y, sample_weight)
    weight = as_weight(sample_weight, len(observations))
    return observations, as_truth(y, observations), weight


def combines_apart(read: Observations) -> bool:
    """Whether some item has answers of several people, and some item a model row or a machine's answer."""
    return answers_of_people(read).start is not None and bool(read.has_model().any() or read.machines)


def predict_all(
    team: Team,
    observations: Observations,
    true_label: Codes,
    weight: Floats | None,
    *,
    levels: ScoreLevels | None = None,
    crowd_apart: bool | None = None,
) -> Predictions:
    """Predictions for observations whose classes are the team's.

    levels       by which scores are a human's or a machine's label; those of the team by default
    crowd_apart  whether people are also combined without the rest; found from these items by default
    """
    team = at_hand(team, observations)
    calibrator = calibrator_of(team)
    model, calibrated, errors = _model_proba(observations, calibrator, true_label)
    has_model, combined, crowd = observations.has_model(), team.predict_proba(observations), None
    read = answered(observations, levels or levels_of(team))
    human_label, human_error = majority(read, true_label)
    if (combines_apart(read) if crowd_apart is None else crowd_apart) and calibrator is not None:
        people = without_machines(answered(observations, levels_of(team)))
        crowd = team.predict_proba(replace(people, model_proba=(), models=()))
    return Predictions(
        observations.classes,
        observations.items,
        true_label,
        human_label,
        human_error,
        has_model,
        model,
        calibrated,
        combined,
        weight,
        crowd_proba=crowd,
        answers=read.answers,
        annotators=read.annotators,
        machines=read.machines,
        models=observations.models if observations.model_proba else (),
        model_errors=errors,
    )


def majority(observations: Observations, true_label: Codes) -> tuple[Codes, Floats]:
    """Majority label of the people for each item, and its error; see `Predictions`. Machines do not vote."""
    n_items, n_classes = len(observations), observations.n_classes
    answers = answers_of_people(observations)
    error = np.full(n_items, np.nan)
    known = true_label != MISSING
    if answers.start is None:
        label = np.where(answers.column == MISSING, MISSING, answers.column % n_classes)
        evaluated = known & (label != MISSING)
        error[evaluated] = label[evaluated] != true_label[evaluated]
        return label, error
    item = item_of_answers(answers)
    votes = np.bincount(item * n_classes + answers.column % n_classes, minlength=n_items * n_classes)
    votes = votes.reshape(n_items, n_classes)
    most = votes.max(axis=1)
    label = np.where(most > 0, votes.argmax(axis=1), MISSING)
    rows = np.flatnonzero(known & (most > 0))
    first = votes[rows] == most[rows, None]
    error[rows] = 1.0 - first[np.arange(len(rows)), true_label[rows]] / first.sum(axis=1)
    return label, error


def _model_proba(
    observations: Observations, calibrator: Calibrator | None, true_label: Codes
) -> tuple[Floats, Floats | None, Floats]:
    """The model's probabilities as given and as calibrated, (n_items, n_classes) each, and all models' errors."""
    n_models = len(observations.model_proba)
    errors = np.empty((n_models + 1 if n_models > 1 else 1, len(observations)))
    model = np.empty((len(observations), observations.n_classes))
    calibrated = None if calibrator is None else np.empty_like(model)

    def write(rows: slice) -> None:
        block = observations.block(rows, true_label=true_label[rows])
        log_proba, errors[:, rows] = block.log_proba, model_errors(block)
        model[rows] = np.exp(log_proba).T
        if calibrated is not None and calibrator is not None:
            calibrated[rows] = np.exp(calibrator.calibrate(log_proba)).T

    for _ in map_blocks(write, block_slices(len(observations), observations.n_classes)):
        pass
    return model, calibrated, errors
