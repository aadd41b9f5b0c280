"""A long table of answers and a table of models' rows as the fields of Observations, not yet checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations, Problem
from twoheads.kernels.answers import pack_answers, pack_values
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations.builders import Fields, frame_rows
from twoheads.observations.checks import as_confidence
from twoheads.observations.columns import (
    ANNOTATOR,
    ITEM,
    class_names,
    model_columns,
    one_of,
    required_classes,
    same_classes,
)
from twoheads.observations.frames import Frame, as_column
from twoheads.observations.labels import (
    classes_in,
    encode_labels,
    is_missing,
    label_text,
    ordered_classes,
    sorted_names,
    split_unsure,
    unsure_words,
)
from twoheads.observations.long_scores import LongScores, answers_and_scores
from twoheads.observations.two_classes import texts_of, with_other_class


def read_answers(
    answers: Any,
    model: Any,
    classes: ArrayLike | None,
    unsure: Any,
    *,
    positive: Any = None,
    model_scale: str = "probability",
) -> Fields:
    """A long table of answers and a table of models' rows; items are matched by their text."""
    long = Frame(answers, argument="answers")
    item, annotator = (long.column(one_of(long.columns, names, "answers")) for names in (ITEM, ANNOTATOR))
    answer, score = answers_and_scores(long, positive)
    known = None if classes is None else required_classes(classes)
    if model is None:
        texts = [] if known is None else [label_text(name) for name in known.tolist()]
        answer, unsure_at = split_unsure(answer, unsure_words(unsure, texts), "answers")
        rows = ModelRows(classes_in(answer) if known is None else known, {}, {})
    else:
        table = Frame(model, argument="model")
        columns = model_columns(table.columns, table.argument)
        texts = class_names(columns)
        answer, unsure_at = split_unsure(answer, unsure_words(unsure, texts), "answers")
        if known is None:
            texts = with_other_class(texts, texts_of([answer]), "model", _first_column(columns))
        named = ordered_classes(texts, answer) if known is None else same_classes(texts, known, argument="model")
        rows = _model_rows(table, columns, named, model_scale)
    codes = encode_labels(answer, rows.classes, argument="answers", allow_codes=False)
    item_code = _numbered(item, rows.items, "item", "answers")
    annotator_code, annotators = _annotator_codes(annotator)
    answered, n_items, n_classes = np.flatnonzero(codes != MISSING), len(rows.items), len(rows.classes)
    scores = None
    if score is not None:
        scored = LongScores(score, item_code, annotator_code, annotators)
        place, names = scored.others(answered)
        scores = scored.scores(n_items, rows.classes, positive)
        annotator_code, annotators = place[annotator_code], names
    place, column = item_code[answered], annotator_code[answered] * n_classes + codes[answered]
    sure = as_confidence(long.column("confidence"), "column 'confidence'") if "confidence" in long.columns else None
    return {
        "classes": rows.classes,
        "model_proba": tuple(_filled(proba, n_items) for proba in rows.probas.values()),
        "answers": pack_answers(place, column, n_items),
        "annotators": annotators or (("human",) if scores is None else ()),
        "scores": scores,
        "items": as_column(list(rows.items.values())),
        "models": tuple(rows.probas),
        "unsure": None if unsure_at is None else pack_answers(item_code[unsure_at], annotator_code[unsure_at], n_items),
        "confidence": None if sure is None else pack_values(place, column, sure[answered], n_items),
    }


def _annotator_codes(annotator: NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    """The number of each row's annotator, and their names in the order of those numbers."""
    found: dict[str, Any] = {}
    code = _numbered(annotator, found, "annotator", "answers")
    names = tuple(sorted_names(found))
    number = {name: at for at, name in enumerate(names)}
    return np.array([number[name] for name in found], dtype=np.intp)[code], names


@dataclass(frozen=True)
class ModelRows:
    """A table of models' rows.

    classes  (n_classes,) in order
    items    the ids by their text, in the order of the table
    probas   (n_items, n_classes) by the name of the model
    """

    classes: NDArray[Any]
    items: dict[str, Any]
    probas: dict[str, NDArray[Any]]


def _first_column(columns: dict[str, dict[str, str]]) -> str:
    return next(iter(next(iter(columns.values())).values()))


def _model_rows(table: Frame, columns: dict[str, dict[str, str]], classes: NDArray[Any], scale: str) -> ModelRows:
    """A table with a row per item, or with a column ``model`` a row per item and model."""
    ids = table.column(one_of(table.columns, ITEM, table.argument))
    names = [label_text(label) for label in classes.tolist()]
    rows = {model: frame_rows(table, by_class, names, scale) for model, by_class in columns.items()}
    if "model" not in table.columns:
        return ModelRows(classes, _one_row_per_item(ids), rows)
    if list(rows) != ["model"]:
        raise InvalidObservations(
            "model must name its models in a column model or in columns <model>.p_<class>; it does both. Drop one."
        )
    items: dict[str, Any] = {}
    models: dict[str, Any] = {}
    item, which = _numbered(ids, items, "item", "model"), _numbered(table.column("model"), models, "model", "model")
    _one_row_of_each(item, which, list(items.values()), list(models))
    probas = {}
    for model in sorted_names(models):
        mine = which == list(models).index(model)
        probas[model] = np.full((len(items), len(classes)), np.nan)
        probas[model][item[mine]] = rows["model"][mine]
    return ModelRows(classes, items, probas)


def _one_row_of_each(item: Codes, which: Codes, items: list[Any], models: list[str]) -> None:
    pair = item * len(models) + which
    first = np.full(len(items) * len(models), len(pair))
    np.minimum.at(first, pair, np.arange(len(pair)))
    times = np.bincount(pair, minlength=len(first))
    if (times > 1).any():
        off = int(np.where(times > 1, first, len(pair)).argmin())
        raise InvalidObservations(
            f"model must have one row per item and model; item {items[off // len(models)]!r} has {times[off]} of model "
            f"{models[off % len(models)]!r} ({len(pair) - int((times > 0).sum())} of {len(pair)} rows are repeats). "
            "Keep one of each."
        )


def _filled(proba: NDArray[Any], n_items: int) -> NDArray[Any]:
    """Rows of the first items, and gaps for the rest."""
    if len(proba) == n_items:
        return proba
    return np.concatenate([proba, np.full((n_items - len(proba), proba.shape[1]), np.nan)])


def _one_row_per_item(items: NDArray[Any]) -> dict[str, Any]:
    place: dict[str, Any] = {}
    code = _numbered(items, place, "item", "model")
    if len(place) < len(code):
        times = np.bincount(code)
        repeated = int(np.argmax(times > 1))
        raise InvalidObservations(
            f"model must have one row per item; item {list(place.values())[repeated]!r} has {times[repeated]} "
            f"({len(code) - len(place)} of {len(code)} rows are repeats). Keep one row of each item."
        )
    return place


def _numbered(names: NDArray[Any], known: dict[str, Any], column: str, argument: str) -> Codes:
    """The number of each name, by its text, in ``known``; new names are added to it."""
    values = names.tolist()
    off = [row for row, name in enumerate(values) if is_missing(name)]
    if off:
        rule, remedy = f"must name the {column} in every row", "Name it, or drop those rows."
        raise InvalidObservations(Problem(argument, rule, off[0], "is blank", len(off), len(values), remedy))
    number = {text: at for at, text in enumerate(known)}
    codes = np.empty(len(values), dtype=np.intp)
    for row, name in enumerate(values):
        text = label_text(name)
        codes[row] = number.setdefault(text, len(number))
        known.setdefault(text, name)
    return codes
