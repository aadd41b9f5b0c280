"""Which columns of a table hold the classes, the people and the items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes
from twoheads.observations.frames import Frame, as_column
from twoheads.observations.labels import (
    classes_in,
    is_missing,
    label_text,
    ordered_classes,
    read_as_codes,
    sorted_names,
)
from twoheads.text import listed


def one_of(frame: Frame, names: tuple[str, ...]) -> str:
    """The one of several names for the same thing that the table uses."""
    for name in names:
        if name in frame.columns:
            return name
    raise InvalidObservations(
        f"{frame.argument} must have a column {' or '.join(names)}; its columns are {listed(frame.columns)}."
    )


def class_columns(frame: Frame) -> dict[str, str]:
    """The column of each class, ``p_<class>``, by class name."""
    names = {name.removeprefix("p_"): name for name in frame.columns if name.startswith("p_") and len(name) > 2}
    if not names:
        raise InvalidObservations(
            f"{frame.argument} must have one probability column per class, named p_<class>; "
            f"its columns are {listed(frame.columns)}."
        )
    return names


def model_columns(frame: Frame) -> dict[str, dict[str, str]]:
    """The column of each class, by class name, by model: ``<model>.p_<class>``, or ``p_<class>`` without a name."""
    named = named_models(frame.columns, frame.argument)
    plain = any(name.startswith("p_") and len(name) > 2 for name in frame.columns)
    found = ({"model": class_columns(frame)} if plain or not named else {}) | named
    return found if not named else same_in_models(found, frame.argument)


def named_models(columns: Sequence[str], where: str) -> dict[str, dict[str, str]]:
    """The column of each class, by class name, of each model that has a name: ``<model>.p_<class>``."""
    models: dict[str, dict[str, str]] = {}
    for column in columns:
        model, separator, name = column.partition(".p_")
        if separator and model and name and not column.startswith(("p_", "human_")):
            models.setdefault(model, {})[name] = column
    if "model" in models and any(name.startswith("p_") and len(name) > 2 for name in columns):
        raise InvalidObservations(
            f"{where} must name each model once; 'model' is also the one of the columns p_<class>. Rename one of them."
        )
    return {model: models[model] for model in sorted_names(models)}


def same_in_models(models: dict[str, dict[str, str]], where: str) -> dict[str, dict[str, str]]:
    """The models' columns as given, if every model has a column for each class."""
    every = sorted_names({name for classes in models.values() for name in classes})
    lacking = [(model, name) for model, classes in models.items() for name in every if name not in classes]
    if lacking:
        model, name = lacking[0]
        column = next(iter(models[model].values())).removesuffix(next(iter(models[model]))) + name
        raise InvalidObservations(
            f"{where} must have a column for each class of each model; that of class {name!r} and model {model!r}, "
            f"{column!r}, is missing ({len(lacking)} of {len(models) * len(every)} are missing). "
            "Add it, or drop the model."
        )
    return models


def confidence_columns(columns: Sequence[str], people: Iterable[str]) -> dict[str, str]:
    """The column of each person's confidence by the person's name, where there is one.

    ``confidence_<name>`` goes with ``human_<name>``, and ``confidence`` with ``human`` or the only person; next to
    ``combined_label`` it is a team's, and nobody's here.
    """
    names = list(people)
    found = {name: f"confidence_{name}" for name in names if f"confidence_{name}" in columns}
    if "confidence" in columns and "combined_label" not in columns:
        whose = "human" if "human" in names else names[0] if len(names) == 1 else None
        if whose is not None and whose not in found:
            found[whose] = "confidence"
    return {name: found[name] for name in names if name in found}


def people_columns(frame: Frame) -> dict[str, str]:
    """The column of each person by the person's name: ``human`` first, then each ``human_<name>`` in order."""
    prefix = "human_"
    named = {name.removeprefix(prefix): name for name in frame.columns if name.startswith(prefix) and name != prefix}
    people = {name: named[name] for name in sorted_names(named)}
    if "human" not in frame.columns:
        return people
    if "human" in people:
        raise InvalidObservations(
            f"{frame.argument} must name each person once; 'human' and 'human_human' are one name. Rename one of them."
        )
    return {"human": "human"} | people


def need_people(frame: Frame, people: dict[str, str]) -> None:
    """Refuse a table without any person's column: a misspelt one would be overlooked."""
    if not people:
        raise InvalidObservations(
            f"{frame.argument} must have a column human, or several human_<name>; its columns are "
            f"{listed(frame.columns)}. Add one, blank where nobody was asked."
        )


def same_classes(columns: Iterable[str], classes: NDArray[Any], *, argument: str = "X") -> NDArray[Any]:
    """The classes as given, if the probability columns are those."""
    wanted, there = {label_text(name) for name in classes.tolist()}, set(columns)
    lacking, extra = sorted_names(wanted - there), sorted_names(there - wanted)
    if lacking or extra:
        what = [f"p_{name} is missing" for name in lacking[:3]] + [f"p_{name} was not there" for name in extra[:3]]
        raise InvalidObservations(
            f"{argument} must have the probability columns seen at fit; {', '.join(what)} "
            f"({len(lacking)} of {len(wanted)} are missing, {len(extra)} are more). "
            "Rename the columns, or fit again with these classes."
        )
    return classes


def classes_of_frame(names: list[str], truth: NDArray[Any] | None, answers: list[NDArray[Any]]) -> NDArray[Any]:
    """The classes, in the type of the truth, else of the answers."""
    if truth is not None and truth.ndim == 1:
        check_no_codes(ordered_classes(names, *answers), truth)
    return ordered_classes(names, truth, *answers)


def check_no_codes(classes: NDArray[Any], truth: NDArray[Any]) -> None:
    """Refuse whole numbers as truth where they may be names of text classes or their codes."""
    unclear = read_as_codes(classes, truth)
    if unclear is not None:
        number, other = unclear
        raise InvalidObservations(
            f"y must hold texts, as the answers do; it holds whole numbers, and {number} may be the class {number!r} "
            f"or, as a code in the order of the classes, {other!r}. Give both as text, or both as numbers."
        )


def array_classes(y: Any, classes: NDArray[Any] | None, n_classes: int) -> NDArray[Any]:
    """The classes of an array's probability columns: those known, or codes from 0, or the different labels in ``y``."""
    if classes is not None:
        if len(classes) != n_classes:
            raise InvalidObservations(
                f"X must have one probability column per class; it has {n_classes} and the classes seen at fit are "
                f"{len(classes)}. Give the columns seen at fit."
            )
        return classes
    labels = None if y is None else as_column(y)
    if labels is None or labels.ndim != 1:
        return np.arange(n_classes)
    codes = [str(code) for code in range(n_classes)]
    if labels.dtype.kind in "iuf":
        return ordered_classes(codes, labels, np.arange(n_classes))
    found = classes_in(labels)
    if found.dtype.kind == "b" and n_classes == 2:
        return np.array([False, True])
    if found.dtype.kind in "if" or set(found.tolist()) <= set(codes):
        return _in_columns(ordered_classes(codes, labels, np.arange(n_classes)), codes)
    if len(found) != n_classes:
        raise InvalidObservations(
            f"y must show every class when X is an array of {n_classes} probability columns; "
            f"it has {len(found)} different labels. "
            "Use a data frame with columns human and p_<class>, or class codes from 0."
        )
    return found


def _in_columns(classes: NDArray[Any], codes: list[str]) -> NDArray[Any]:
    """The classes of an array's columns, if those in their order are the codes; texts of numbers beyond 9 are not."""
    if [label_text(name) for name in classes.tolist()] != codes:
        raise InvalidObservations(
            f"y must hold numbers when X is an array of {len(codes)} probability columns; it holds texts of numbers, "
            "and as text '10' precedes '2', so that the class of each column is not clear. Give y as numbers, or a "
            "data frame with columns human and p_<class>."
        )
    return classes


def known_classes(classes: Any) -> NDArray[Any]:
    """Class names given before any items; sorted, since they may name the columns of an array."""
    named, order = given_classes(classes, len(as_column(classes)))
    if order is not None:
        raise InvalidObservations(
            f"classes must be sorted; the first should be {named[0].item()!r}. "
            "Give them, and the columns of an array, in that order."
        )
    return named


def given_classes(classes: Any, n_classes: int) -> tuple[NDArray[Any], Codes | None]:
    """The class names given for columns, in their order, and the column of each; None where that is their order."""
    given = as_column(classes)
    if given.shape != (n_classes,):
        raise InvalidObservations(
            f"classes must name each of the {n_classes} columns of model_proba once; it has shape {given.shape}."
        )
    names = [label_text(name) for name in given.tolist()]
    blank = next((at for at, name in enumerate(given.tolist()) if is_missing(name)), None)
    if blank is not None or len(set(names)) < len(names):
        place = next(at for at, name in enumerate(names) if at == blank or name in names[:at])
        raise InvalidObservations(
            f"classes must name each of the {n_classes} columns of model_proba once; place {place} has "
            f"{given.tolist()[place]!r}, {'which says nothing' if place == blank else 'which stands there twice'}."
        )
    ordered = ordered_classes(names, given)
    place_of = {name: at for at, name in enumerate(names)}
    order = np.array([place_of[label_text(name)] for name in ordered.tolist()], dtype=np.intp)
    return ordered, None if (order == np.arange(n_classes)).all() else order
