"""Arrays and wide tables as the fields of Observations, not yet checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import (
    Answers,
    permute_classes,
    sorted_answers,
    sorted_values,
)
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations.checks import as_class_codes, as_confidence, check_columns, same_length
from twoheads.observations.columns import (
    annotator_columns,
    class_names,
    confidence_columns,
    has_model_columns,
    model_columns,
    named_classes,
    need_annotators,
    refuse_no_model,
    required_classes,
    same_classes,
)
from twoheads.observations.frames import Frame, as_column, as_numbers
from twoheads.observations.labels import (
    classes_of_frame,
    encode_labels,
    is_missing,
    label_text,
    ordered_classes,
    split_unsure,
    unsure_words,
)
from twoheads.observations.members import Scores, member_columns, read_scores
from twoheads.observations.two_classes import both_columns, texts_of, with_other_class

Mask = NDArray[np.bool_]


class AnswerFields(TypedDict):
    """The fields of `Observations` that annotators fill."""

    answers: Answers
    unsure: NotRequired[Answers | None]
    confidence: NotRequired[Floats | None]


class Fields(AnswerFields):
    """The fields of `Observations`, as `Observations.checked` takes them."""

    classes: NDArray[Any]
    model_proba: tuple[NDArray[Any], ...]
    annotators: NotRequired[tuple[str, ...]]
    items: NotRequired[NDArray[Any] | None]
    columns: NotRequired[tuple[str, ...] | None]
    models: NotRequired[tuple[str, ...] | None]
    machines: NotRequired[tuple[str, ...]]
    scores: NotRequired[Scores | None]


def read_arrays(
    human_label: ArrayLike, model_proba: Any, classes: ArrayLike | None, items: Any, confidence: ArrayLike | None
) -> Fields:
    """One annotator's class codes or class names, and one model's rows, or several models' by name."""
    human = as_column(human_label)
    if human.ndim != 1:
        raise InvalidObservations(
            f"human_label must be one-dimensional, one label per item; it has shape {human.shape}."
        )
    probas = _rows_by_model(model_proba, len(human))
    n_classes = next(iter(probas.values())).shape[1]
    named, order = (np.arange(n_classes), None) if classes is None else named_classes(classes, n_classes)
    codes, unsure = _codes_or_names(human, named, order)
    sure = None if confidence is None else as_confidence(confidence, "confidence")
    if sure is not None:
        same_length("confidence", len(sure), "human_label", len(human))
    return {
        "classes": named,
        "model_proba": tuple(proba if order is None else proba[:, order] for proba in probas.values()),
        "annotators": ("human",),
        "columns": None,
        "items": None if items is None else as_column(items),
        "models": tuple(probas),
        "machines": (),
        "scores": None,
        **wide_answers([codes], [unsure], [sure], n_classes, len(human)),
    }


def _rows_by_model(model_proba: Any, n_items: int) -> dict[str, NDArray[Any]]:
    """Each model's rows as numbers, by its name; all of one shape."""
    if not isinstance(model_proba, Mapping):
        arguments, rows = {"model": "model_proba"}, {"model": model_proba}
    else:
        rows = {str(name): values for name, values in model_proba.items()}
        arguments = {name: f"model_proba of {name!r}" for name in rows}
        if not rows or len(rows) < len(model_proba):
            raise InvalidObservations(
                f"model_proba must hold each model's rows under its name; its keys are {list(model_proba)!r}."
            )
    probas = {name: as_numbers(values, arguments[name]) for name, values in rows.items()}
    for name, proba in probas.items():
        if proba.ndim != 2:
            raise InvalidObservations(
                f"{arguments[name]} must have two dimensions, (n_items, n_classes); it has shape {proba.shape}."
            )
    n_classes = next(iter(probas.values())).shape[1]
    for name, proba in probas.items():
        same_length("human_label", n_items, arguments[name], len(proba))
        check_columns(proba, n_classes, arguments[name])
    return probas


def _codes_or_names(human: NDArray[Any], classes: NDArray[Any], order: Codes | None) -> tuple[Codes, Mask | None]:
    """The codes of one annotator's labels, and where they mean "unsure"; texts are names of classes."""
    if human.dtype.kind in "OU" and any(isinstance(value, str) and not is_missing(value) for value in human.tolist()):
        words = unsure_words((), map(label_text, classes.tolist()))
        human, unsure = split_unsure(human, words, "human_label")
        return encode_labels(human, classes, argument="human_label", allow_codes=False), unsure
    codes = as_class_codes(human, len(classes), "human_label")
    return codes if order is None else permute_classes(Answers(codes), np.argsort(order)).column, None


def read_frame(
    X: Any,
    y: Any,
    classes: ArrayLike | None,
    unsure: Any,
    *,
    need_human: bool,
    need_model: bool = True,
    positive: Any = None,
    model_scale: str = "probability",
) -> Fields:
    """A wide table: ``human`` or ``human_<name>``, ``p_<class>`` or ``<model>.p_<class>``, perhaps more."""
    frame = Frame(X)
    annotators = annotator_columns(frame.columns, frame.argument)
    sure_columns = confidence_columns(frame.columns, annotators)
    models = model_columns(frame.columns, frame.argument) if has_model_columns(frame.columns) else {}
    names = class_names(models)
    members = member_columns(frame.columns, frame.argument, annotators, models, positive=positive)
    if need_model and not members and not models:
        if not need_human:
            model_columns(frame.columns, frame.argument)  # which names the columns that there are
        refuse_no_model(frame.columns, list(annotators.values()), sure_columns.values(), frame.argument)
    if need_human and not members:
        need_annotators(annotators, frame.columns, frame.argument)
    classes = None if classes is None else required_classes(classes)
    words = unsure_words(unsure, names if classes is None else map(label_text, classes.tolist()))
    answered = annotators | members.labels
    split = {column: split_unsure(frame.column(column), words, column) for column in answered.values()}
    labels = {column: certain for column, (certain, _) in split.items()}
    truth = None if y is None else as_column(y)
    named = _classes(names, truth, list(labels.values()), models) if classes is None else same_classes(names, classes)
    codes = [encode_labels(values, named, argument=column, allow_codes=False) for column, values in labels.items()]
    masks = [mask for _, mask in split.values()]
    texts = [label_text(name) for name in named.tolist()]
    used = [[columns[name] for name in texts if name in columns] for columns in models.values()]
    return {
        "classes": named,
        "model_proba": tuple(frame_rows(frame, columns, texts, model_scale) for columns in models.values()),
        "annotators": tuple(answered) or (() if members else ("human",)),
        "items": frame.column("item") if "item" in frame.columns else None,
        "columns": (*answered.values(), *members.scores.values(), *(column for each in used for column in each)),
        "models": tuple(models),
        "machines": tuple(members.labels),
        "scores": read_scores(members, frame.column, named, positive) if members.scores else None,
        **wide_answers(codes, masks, _confidences(frame, answered, sure_columns), len(named), len(frame)),
    }


def _classes(
    names: list[str], truth: NDArray[Any] | None, answers: list[NDArray[Any]], models: dict[str, dict[str, str]]
) -> NDArray[Any]:
    """The classes that columns of models name; where they name none or one, with those of answers and truth."""
    if len(names) > 1:
        return classes_of_frame(names, truth, answers)
    found = texts_of(answers)
    # Whole numbers may be codes of classes, unless answers are numbers too.
    if truth is not None and truth.ndim == 1 and (len({*names, *found}) < 2 or truth.dtype.kind not in "iuf"):
        found = found + texts_of([truth])
    if names:
        column = next(iter(next(iter(models.values())).values()))
        names = with_other_class(names, found, "X", column)
    return ordered_classes(names or set(found), truth, *answers)


def frame_rows(frame: Frame, columns: dict[str, str], names: list[str], scale: str) -> NDArray[Any]:
    """A model's numbers, a column per class; of two classes one is enough."""
    if len(columns) == 1 < len(names):
        ((name, column),) = columns.items()
        return both_columns(frame.numbers([column]), names.index(name) == 1, scale, column)
    return frame.numbers([columns[name] for name in names])


def _confidences(frame: Frame, annotators: dict[str, str], columns: dict[str, str]) -> list[Floats | None]:
    """Each annotator's confidences, or None without a column of them."""
    found = {name: as_confidence(frame.column(column), f"column {column!r}") for name, column in columns.items()}
    return [found.get(name) for name in annotators]


def wide_answers(
    codes: list[Codes], unsure: list[Mask | None], confidence: list[Floats | None], n_classes: int, n_items: int
) -> AnswerFields:
    """Answers from a column of codes per annotator, where they were "unsure", and how confident they were."""
    if not codes:
        return {"answers": Answers(np.full(n_items, MISSING))}
    unsure_by = None
    if any(mask is not None for mask in unsure):
        nowhere = np.zeros(n_items, dtype=bool)
        item, annotator = np.nonzero(np.stack([nowhere if mask is None else mask for mask in unsure], axis=1))
        unsure_by = sorted_answers(item, annotator, n_items)
    sure = None
    if any(numbers is not None for numbers in confidence):
        unknown = np.full(n_items, np.nan)
        sure = np.stack([unknown if numbers is None else numbers for numbers in confidence], axis=1)
    if len(codes) == 1:
        alone = None if sure is None else np.where(codes[0] != MISSING, sure[:, 0], np.nan)
        return {"answers": Answers(codes[0]), "unsure": unsure_by, "confidence": alone}
    table = np.stack(codes, axis=1)
    item, annotator = np.nonzero(table != MISSING)
    column = annotator * n_classes + table[item, annotator]
    return {
        "answers": sorted_answers(item, column, n_items),
        "unsure": unsure_by,
        "confidence": None if sure is None else sorted_values(item, sure[item, annotator], n_items),
    }
