"""Arrays, wide tables and long tables as the parts of which Observations are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.checks import as_class_codes, same_length
from twoheads.columns import class_columns, need_people, one_of, people_columns, same_classes, sorted_classes
from twoheads.errors import InvalidObservations
from twoheads.frames import Frame, as_column, as_numbers
from twoheads.kernels.answers import Answers, pack_answers, permute_classes
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.labels import class_order, classes_in, encode_labels, is_missing, label_text, typed_classes


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


def read_arrays(human_label: ArrayLike, model_proba: ArrayLike, classes: ArrayLike | None, items: Any) -> Parts:
    """One person's class codes, or class names, and one model's rows."""
    proba = as_numbers(model_proba, "model_proba")
    if proba.ndim != 2:
        raise InvalidObservations(
            f"model_proba must have two dimensions, (n_items, n_classes); it has shape {proba.shape}."
        )
    n_classes = proba.shape[1]
    human = as_column(human_label)
    if human.ndim != 1:
        raise InvalidObservations(
            f"human_label must be one-dimensional, one label per item; it has shape {human.shape}."
        )
    same_length("human_label", len(human), "model_proba", len(proba))
    named, order = (np.arange(n_classes), None) if classes is None else sorted_classes(classes, n_classes)
    if human.dtype.kind in "OU" and any(isinstance(value, str) and not is_missing(value) for value in human.tolist()):
        answers = Answers(encode_labels(human, named, argument="human_label", allow_codes=False))
    else:
        answers = Answers(as_class_codes(human, n_classes, "human_label"))
        answers = answers if order is None else permute_classes(answers, np.argsort(order))
    ids = None if items is None else as_column(items)
    return Parts(named, (proba if order is None else proba[:, order],), answers, items=ids)


def read_frame(X: Any, y: Any, classes: NDArray[Any] | None, *, need_human: bool) -> Parts:
    """A wide table: ``human`` or ``human_<name>``, ``p_<class>``, perhaps ``item``."""
    frame = Frame(X)
    columns, people = class_columns(frame), people_columns(frame)
    if need_human:
        need_people(frame, people)
    given = {name: frame.column(name) for name in people.values()}
    truth = None if y is None else as_column(y)
    named = typed_classes(list(columns), truth, *given.values()) if classes is None else same_classes(columns, classes)
    of_class = [columns[label_text(name)] for name in named.tolist()]
    codes = [encode_labels(labels, named, argument=name, allow_codes=False) for name, labels in given.items()]
    return Parts(
        named,
        (frame.numbers(of_class),),
        _wide_answers(codes, len(named), len(frame)),
        tuple(people) or ("human",),
        frame.column("item") if "item" in frame.columns else None,
        (*people.values(), *of_class),
    )


def read_answers(answers: Any, model: Any, classes: ArrayLike | None) -> Parts:
    """A long table of answers and a table of the model's rows; items are matched by their text."""
    long = Frame(answers, argument="answers")
    names = ("item", "task"), ("annotator", "worker"), ("answer", "label")
    item, annotator, answer = (long.column(one_of(long, some)) for some in names)
    given = None if classes is None else sorted_classes(classes, len(as_column(classes)))[0]
    items: dict[str, Any] = {}
    if model is None:
        named, proba = classes_in(answer) if given is None else given, np.empty((0, 0))
    else:
        table = Frame(model, argument="model")
        columns = class_columns(table)
        named = (
            typed_classes(list(columns), answer) if given is None else same_classes(columns, given, argument="model")
        )
        items = _one_row_per_item(table.column(one_of(table, ("item", "task"))))
        proba = table.numbers([columns[label_text(name)] for name in named.tolist()])
    codes = encode_labels(answer, named, argument="answers", allow_codes=False)
    item_code = _numbered(item, items, "item", "answers")
    people: dict[str, Any] = {}
    person = _numbered(annotator, people, "annotator", "answers")
    place = {name: at for at, name in enumerate(class_order(people))}
    column = np.array([place[name] for name in people], dtype=np.intp)[person] * len(named) + codes
    asked = codes != MISSING
    if model is not None and len(proba) < len(items):
        proba = np.concatenate([proba, np.full((len(items) - len(proba), len(named)), np.nan)])
    return Parts(
        named,
        () if model is None else (proba,),
        pack_answers(item_code[asked], column[asked], len(items)),
        tuple(place) or ("human",),
        as_column(list(items.values())),
    )


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


def _wide_answers(codes: list[Codes], n_classes: int, n_items: int) -> Answers:
    if not codes:
        return Answers(np.full(n_items, MISSING))
    if len(codes) == 1:
        return Answers(codes[0])
    table = np.stack(codes, axis=1)
    item, person = np.nonzero(table != MISSING)
    return pack_answers(item, person * n_classes + table[item, person], n_items)
