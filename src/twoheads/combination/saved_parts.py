"""What the parts of a saved team must hold: arrays of the shapes that its classes and people need, within ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from twoheads.calibration.dirichlet import DirichletCalibration
from twoheads.calibration.ensemble_temperature import EnsembleTemperatureScaling
from twoheads.calibration.imax import IMaxBinning
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.calibration.vector import VectorScaling
from twoheads.combination.combiner import Combiner
from twoheads.combination.fitting.holdout_record import HoldoutRecord
from twoheads.combination.label_label import LabelLabelCombiner
from twoheads.combination.learnt import LearntItems
from twoheads.combination.logistic import LogisticCombiner
from twoheads.combination.pool import ModelPool
from twoheads.combination.saved_record import need_label_label, need_record
from twoheads.combination.statistics.reservoir import ItemSample
from twoheads.combination.statistics.sufficient import SufficientStatistics
from twoheads.confusion.base import Confusion
from twoheads.confusion.response import ResponseModel, scored_rank
from twoheads.dependence import Dependence
from twoheads.kernels.arrays import MISSING
from twoheads.storage.annotations import need_declared_parameters, need_declared_types
from twoheads.storage.damage import need

_INF = float("inf")
#: Larger numbers are not computed with: their products are infinite.
_LARGEST = 1e100
#: By so much a sum of probabilities may be above 1, or its logarithm above 0.
_ROUNDING = 1e-5
#: Arrays of floats by class: their shape, a letter per dimension, and the range of their entries. K is the number of
#: classes, P of people; the same small letter is the same length within an object.
_ARRAYS: dict[type, dict[str, tuple[str, float, float]]] = {
    Confusion: {"counts_": ("PKK", 0, _INF), "crowd_given_true_": ("KK", 0, 1)},
    TemperatureScaling: {"nodes_": ("n", -_INF, _INF), "node_weights_": ("n", 0, _INF)},
    VectorScaling: {"coef_": ("K", -_INF, _INF), "intercept_": ("K", -_INF, _INF)},
    DirichletCalibration: {"coef_": ("KK", -_INF, _INF), "intercept_": ("K", -_INF, _INF)},
    EnsembleTemperatureScaling: {"weights_": ("w", 0, 1)},
    IMaxBinning: {"edges_": ("re", -_INF, _INF), "bin_proba_": ("rb", 0, 1)},
    ModelPool: {
        "weight_": ("m", -_INF, _INF),
        "coefficient_": ("c", -_INF, _INF),
        "covariance_": ("cc", -_INF, _INF),
    },
    Dependence: {
        "weight_": ("g", 0, _INF),
        "log_temperature_": ("g", -_INF, _INF),
        "partner_correlation_": ("g", -_INF, _INF),
        "model_factor_": ("g", -_INF, _INF),
        "answer_factor_": ("g", -_INF, _INF),
        "bias_": ("bK", -_INF, _INF),
    },
    ResponseModel: {
        "bounds_": ("l", -_INF, _INF),
        "counts_": ("sK", 0, _INF),
        "labelled_scores_": ("tK", 0, _INF),
        "unsure_given_true_": ("K", 0, 1),
        "score_level_given_": ("xyK", 0, 1),
    },
    SufficientStatistics: {
        "labels_per_class": ("K", 0, _INF),
        "counts": ("PKK", 0, _INF),
        "crowd_counts": ("KK", 0, _INF),
        "answered": ("2", 0, _INF),
        "overlap": ("KK", 0, _INF),
        "annotation_counts": ("3P", 0, _INF),
        "answer_numbers": ("Pk", 0, _INF),
        "label_numbers": ("u", 0, _INF),
        "majority": ("K", 0, _INF),
        "temperature_values": ("t", -_INF, _INF),
    },
    LabelLabelCombiner: {"model_counts_": ("KK", 0, _INF), "true_given_model_": ("KK", 0, 1)},
    LearntItems: {"place": ("2i", -_INF, _INF)},
}


def need_parts(team: Combiner) -> None:
    """Check every object inside a team: declared types, shapes and ranges."""
    n_classes = len(team.classes_)
    sizes = {"K": n_classes, "k": n_classes + 1, "u": n_classes + 3, "P": len(team.annotators_), "2": 2, "3": 3}
    if isinstance(team, LabelLabelCombiner):
        need(isinstance(getattr(team, "confusion_", None), Confusion), "its confusion_ is not a Confusion")
    for part in _objects(team):
        need_declared_types(part)
        need_declared_parameters(part)
        for cls, arrays in _ARRAYS.items():
            if isinstance(part, cls):
                _need_arrays(part, arrays, dict(sizes))
        if isinstance(part, ItemSample):
            _need_sample(part, team)
        elif isinstance(part, Confusion):
            _need_confusion(part, sizes)
        elif isinstance(part, LogisticCombiner):
            _need_logistic(part, sizes)
        elif isinstance(part, HoldoutRecord):
            need_record(part)
        elif isinstance(part, LabelLabelCombiner):
            need_label_label(part)


def need_floats(values: Any, shape: tuple[int | None, ...], name: str, low: float = -_INF, high: float = _INF) -> None:
    """Refuse what is not an array of finite floats of a shape, None for any length, within a range."""
    fine = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.ndim == len(shape)
    fine = fine and all(want is None or have == want for have, want in zip(values.shape, shape, strict=True))
    need(fine, f"its {name} is not an array of the shape that its classes and people need")
    within = (np.abs(values) <= _LARGEST) & (values >= low) & (values <= high + 1e-9)
    need(bool(within.all()), f"its {name} has entries out of range")


def _objects(value: Any) -> Iterator[Any]:
    """An object, and all objects in its parameters and fitted attributes."""
    if isinstance(value, tuple | list):
        for entry in value:
            yield from _objects(entry)
    elif isinstance(value, BaseEstimator):
        yield value
        for entry in vars(value).values():
            yield from _objects(entry)


def _need_arrays(part: Any, arrays: Mapping[str, tuple[str, float, float]], sizes: dict[str, int]) -> None:
    if not any(hasattr(part, name) for name in arrays):
        return  # a parameter, which is not fitted
    for name, (letters, low, high) in arrays.items():
        values: Any = getattr(part, name, None)
        shape = tuple(sizes.get(letter) for letter in letters)
        need_floats(values, shape, f"{type(part).__name__}.{name}", low, high)
        sizes |= dict(zip(letters, values.shape, strict=True))


def _need_confusion(part: Confusion, sizes: Mapping[str, int]) -> None:
    if not hasattr(part, "counts_"):
        return
    n_classes, n_people = sizes["K"], sizes["P"]
    shape = (n_classes, n_classes) if n_people == 1 else (n_people, n_classes, n_classes)
    need_floats(getattr(part, "human_given_true_", None), shape, "confusion_.human_given_true_", 0, 1)


def _need_logistic(team: LogisticCombiner, sizes: Mapping[str, int]) -> None:
    need(team.features in ("log", "probability"), "its features are not 'log' or 'probability'")
    n_classes = sizes["K"]
    need_floats(getattr(team, "coef_", None), (n_classes, n_classes * (1 + sizes["P"])), "coef_")
    start: Any = getattr(team, "intercept_", None)
    fine = isinstance(start, np.ndarray) and start.dtype.kind == "f" and start.shape == (n_classes,)
    need(fine and not np.isnan(start).any() and bool(start.max() < _INF), "its intercept_ is not a number per class")
    need(bool(np.isfinite(start).any()), "its intercept_ leaves no class")


def _need_sample(sample: ItemSample, team: Combiner) -> None:
    """Refuse a sample whose arrays are not of the same items, or that name people or classes that are not there."""
    n_items, n_classes, n_people = len(sample.key), len(team.classes_), len(team.annotators_)
    rows = [sample.log_proba, *sample.members]
    fine = sample.key.ndim == 1 and all(row.shape == (n_classes, n_items) for row in rows)
    fine = fine and not np.isnan(sample.log_proba).any()  # one of several models may lack a row
    need(fine, "the rows of its ItemSample are not of the same items and classes")
    need(not any(bool((row > _ROUNDING).any()) for row in rows), "the rows of its ItemSample are not log-probabilities")
    need(len(sample.members) in (0, len(team.models_)), "its ItemSample is of other models")
    one_each = [sample.weight, sample.true_label, sample.no_model]
    fine = all(values is None or values.shape == (n_items,) for values in one_each)
    need(fine and _is_finite(sample.key) and _is_finite(sample.weight), "its ItemSample is not of the same items")
    need(
        bool((sample.weight >= 0).all() and (np.diff(sample.key) >= 0).all()), "the keys of its ItemSample do not rise"
    )
    if sample.true_label is not None:
        fine = bool(((sample.true_label >= MISSING) & (sample.true_label < n_classes)).all())
        need(fine, "the true_label of its ItemSample is not a class")
    _need_answers(sample.column, sample.start, n_items, n_people * n_classes)
    if sample.unsure_column is not None:
        _need_answers(sample.unsure_column, sample.unsure_start, n_items, n_people)
    fine = sample.confidence is None or sample.confidence.shape == sample.column.shape
    need(fine, "the confidence of its ItemSample is not a number per answer")
    _need_levels(sample, team)


def _need_levels(sample: ItemSample, team: Combiner) -> None:
    """Refuse levels of scores that are not there."""
    levels = team.levels_
    if sample.confidence is None or levels is None:
        return
    member = scored_rank(np.array(levels.places(team.annotators_)), sample.column // len(team.classes_))
    at = np.flatnonzero((member >= 0) & ~np.isnan(sample.confidence))
    middle, size = np.array([levels.middle_cuts, levels.sizes])[:, member[at]]
    level = sample.confidence[at] + (middle - 0.5)
    fine = bool(((level >= 0) & (level < size) & (level % 1 == 0)).all())
    need(fine, "the confidence of its ItemSample is not a level of its scores")


def _need_answers(column: NDArray[Any], start: NDArray[Any] | None, n_items: int, n_columns: int) -> None:
    lowest = MISSING if start is None else 0
    fine = column.ndim == 1 and bool(((column >= lowest) & (column < n_columns)).all())
    need(fine, "the answers of its ItemSample are not of its people and classes")
    if start is None:
        need(len(column) == n_items, "the answers of its ItemSample are not one per item")
        return
    fine = start.shape == (n_items + 1,) and start[0] == 0 and start[-1] == len(column)
    need(bool(fine and (np.diff(start) >= 0).all()), "the answers of its ItemSample are not in the order of its items")


def _is_finite(values: NDArray[Any]) -> bool:
    return bool((np.abs(values) <= _LARGEST).all())
