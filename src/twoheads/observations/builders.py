"""Arrays, wide tables and long tables as the parts of which Observations are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import (
    Answers,
    pack_answers,
    pack_values,
    permute_classes,
    sorted_answers,
    sorted_values,
)
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations.checks import as_class_codes, as_confidence, check_columns, same_length
from twoheads.observations.columns import (
    classes_of_frame,
    confidence_columns,
    given_classes,
    model_columns,
    need_people,
    one_of,
    people_columns,
    same_classes,
)
from twoheads.observations.frames import Frame, as_column, as_numbers
from twoheads.observations.labels import (
    classes_in,
    encode_labels,
    is_missing,
    label_text,
    ordered_classes,
    set_apart,
    sorted_names,
    unsure_words,
)


@dataclass(frozen=True)
class Parts:
    """What `twoheads.observations.Observations` are made of; None for ids and names that there are not."""

    classes: NDArray[Any]
    model_proba: tuple[NDArray[Any], ...]
    answers: Answers
    annotators: tuple[str, ...] = ("human",)
    items: NDArray[Any] | None = None
    columns: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    unsure: Answers | None = None
    confidence: Floats | None = None


def read_arrays(
    human_label: ArrayLike, model_proba: Any, classes: ArrayLike | None, items: Any, confidence: ArrayLike | None
) -> Parts:
    """One person's class codes, or class names, and one model's rows, or several models' by name."""
    named_models = isinstance(model_proba, Mapping)
    rows = {str(name): values for name, values in model_proba.items()} if named_models else {"model": model_proba}
    if not rows or (named_models and len(rows) < len(model_proba)):
        raise InvalidObservations(
            f"model_proba must give each model's rows by its name; its keys are {list(model_proba)!r}."
        )
    arguments = {name: f"model_proba of {name!r}" if named_models else "model_proba" for name in rows}
    probas = [as_numbers(values, arguments[name]) for name, values in rows.items()]
    for argument, proba in zip(arguments.values(), probas, strict=True):
        if proba.ndim != 2:
            raise InvalidObservations(
                f"{argument} must have two dimensions, (n_items, n_classes); it has shape {proba.shape}."
            )
    n_classes = probas[0].shape[1]
    human = as_column(human_label)
    if human.ndim != 1:
        raise InvalidObservations(
            f"human_label must be one-dimensional, one label per item; it has shape {human.shape}."
        )
    for argument, proba in zip(arguments.values(), probas, strict=True):
        same_length("human_label", len(human), argument, len(proba))
        check_columns(proba, n_classes, argument)
    named, order = (np.arange(n_classes), None) if classes is None else given_classes(classes, n_classes)
    unsure = None
    if human.dtype.kind in "OU" and any(isinstance(value, str) and not is_missing(value) for value in human.tolist()):
        human, unsure = set_apart(human, unsure_words((), map(label_text, named.tolist())), "human_label")
        codes = encode_labels(human, named, argument="human_label", allow_codes=False)
    else:
        codes = as_class_codes(human, n_classes, "human_label")
        codes = codes if order is None else permute_classes(Answers(codes), np.argsort(order)).column
    sure = None if confidence is None else as_confidence(confidence, "confidence")
    if sure is not None:
        same_length("confidence", len(sure), "human_label", len(human))
    ids = None if items is None else as_column(items)
    return Parts(
        named,
        tuple(proba if order is None else proba[:, order] for proba in probas),
        items=ids,
        models=tuple(rows),
        **wide_answers([codes], [unsure], [sure], n_classes, len(human)),
    )


def read_frame(X: Any, y: Any, classes: NDArray[Any] | None, unsure: Any, *, need_human: bool) -> Parts:
    """A wide table: ``human`` or ``human_<name>``, ``p_<class>`` or ``<model>.p_<class>``, perhaps more."""
    frame = Frame(X)
    models, people = model_columns(frame), people_columns(frame)
    if need_human:
        need_people(frame, people)
    names = list(next(iter(models.values())))
    words = unsure_words(unsure, names)
    given, said_unsure = {}, []
    for column in people.values():
        given[column], where = set_apart(frame.column(column), words, column)
        said_unsure.append(where)
    truth = None if y is None else as_column(y)
    named = classes_of_frame(names, truth, list(given.values())) if classes is None else same_classes(names, classes)
    codes = [encode_labels(labels, named, argument=name, allow_codes=False) for name, labels in given.items()]
    sure_columns = confidence_columns(frame.columns, people)
    sure = [
        as_confidence(frame.column(sure_columns[name]), f"column {sure_columns[name]!r}")
        if name in sure_columns
        else None
        for name in people
    ]
    of_model = [[columns[label_text(name)] for name in named.tolist()] for columns in models.values()]
    return Parts(
        named,
        tuple(map(frame.numbers, of_model)),
        annotators=tuple(people) or ("human",),
        items=frame.column("item") if "item" in frame.columns else None,
        columns=(*people.values(), *(column for columns in of_model for column in columns)),
        models=tuple(models),
        **wide_answers(codes, said_unsure, sure, len(named), len(frame)),
    )


def read_answers(answers: Any, model: Any, classes: ArrayLike | None, unsure: Any) -> Parts:
    """A long table of answers and a table of the model's rows; items are matched by their text."""
    long = Frame(answers, argument="answers")
    names = ("item", "task"), ("annotator", "worker"), ("answer", "label")
    item, annotator, answer = (long.column(one_of(long, some)) for some in names)
    given = None if classes is None else given_classes(classes, len(as_column(classes)))[0]
    texts = [] if given is None else [label_text(name) for name in given.tolist()]
    items: dict[str, Any] = {}
    probas: dict[str, NDArray[Any]] = {}
    if model is None:
        answer, unsure_at = set_apart(answer, unsure_words(unsure, texts), "answers")
        named = classes_in(answer) if given is None else given
    else:
        table = Frame(model, argument="model")
        columns = model_columns(table)
        texts = list(next(iter(columns.values())))
        answer, unsure_at = set_apart(answer, unsure_words(unsure, texts), "answers")
        named = ordered_classes(texts, answer) if given is None else same_classes(texts, given, argument="model")
        items, probas = _model_rows(table, columns, named)
    codes = encode_labels(answer, named, argument="answers", allow_codes=False)
    item_code = _numbered(item, items, "item", "answers")
    people: dict[str, Any] = {}
    person = _numbered(annotator, people, "annotator", "answers")
    place = {name: at for at, name in enumerate(sorted_names(people))}
    person = np.array([place[name] for name in people], dtype=np.intp)[person]
    asked, n_items = np.flatnonzero(codes != MISSING), len(items)
    who, column = item_code[asked], person[asked] * len(named) + codes[asked]
    sure = as_confidence(long.column("confidence"), "column 'confidence'") if "confidence" in long.columns else None
    return Parts(
        named,
        tuple(_filled(proba, n_items) for proba in probas.values()),
        pack_answers(who, column, n_items),
        tuple(place) or ("human",),
        as_column(list(items.values())),
        models=tuple(probas),
        unsure=None if unsure_at is None else pack_answers(item_code[unsure_at], person[unsure_at], n_items),
        confidence=None if sure is None else pack_values(who, column, sure[asked], n_items),
    )


def _model_rows(
    table: Frame, columns: dict[str, dict[str, str]], classes: NDArray[Any]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The items of a table of model rows, by their text, and each model's rows."""
    ids = table.column(one_of(table, ("item", "task")))
    rows = {
        name: table.numbers([some[label_text(label)] for label in classes.tolist()]) for name, some in columns.items()
    }
    if "model" not in table.columns:
        return _one_row_per_item(ids), rows
    if list(rows) != ["model"]:
        raise InvalidObservations(
            "model must name its models in a column model or in columns <model>.p_<class>; it does both. Drop one."
        )
    items: dict[str, Any] = {}
    names: dict[str, Any] = {}
    item, which = _numbered(ids, items, "item", "model"), _numbered(table.column("model"), names, "model", "model")
    _one_row_of_each(item, which, list(items.values()), list(names))
    probas = {}
    for name in sorted_names(names):
        mine = which == list(names).index(name)
        probas[name] = np.full((len(items), len(classes)), np.nan)
        probas[name][item[mine]] = rows["model"][mine]
    return items, probas


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
    """The number of each name, by its text, in ``known``, which grows by the names that are new."""
    listed = names.tolist()
    off = [row for row, name in enumerate(listed) if is_missing(name)]
    if off:
        raise InvalidObservations(
            f"{argument} must name the {column} in every row; row {off[0]} is blank "
            f"({len(off)} of {len(listed)} rows are off). Name it, or drop those rows."
        )
    place = {text: at for at, text in enumerate(known)}
    codes = np.empty(len(listed), dtype=np.intp)
    for row, name in enumerate(listed):
        text = label_text(name)
        codes[row] = place.setdefault(text, len(place))
        known.setdefault(text, name)
    return codes


def wide_answers(
    codes: list[Codes],
    unsure: list[NDArray[np.bool_] | None],
    confidence: list[Floats | None],
    n_classes: int,
    n_items: int,
) -> dict[str, Any]:
    """The parts that people give: a column of codes each, where they said "unsure", how sure they were."""
    if not codes:
        return {"answers": Answers(np.full(n_items, MISSING))}
    nobody, nothing = np.zeros(n_items, dtype=bool), np.full(n_items, np.nan)
    said = None
    if any(where is not None for where in unsure):
        item, person = np.nonzero(np.stack([nobody if where is None else where for where in unsure], axis=1))
        said = sorted_answers(item, person, n_items)
    sure = None
    if any(numbers is not None for numbers in confidence):
        sure = np.stack([nothing if numbers is None else numbers for numbers in confidence], axis=1)
    if len(codes) == 1:
        alone = None if sure is None else np.where(codes[0] != MISSING, sure[:, 0], np.nan)
        return {"answers": Answers(codes[0]), "unsure": said, "confidence": alone}
    table = np.stack(codes, axis=1)
    item, person = np.nonzero(table != MISSING)
    column = person * n_classes + table[item, person]
    return {
        "answers": sorted_answers(item, column, n_items),
        "unsure": said,
        "confidence": None if sure is None else sorted_values(item, sure[item, person], n_items),
    }
