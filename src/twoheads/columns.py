"""Which columns of a table hold the classes, the people and the items, and in which order the classes stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.frames import Frame, as_column
from twoheads.kernels.arrays import Codes
from twoheads.labels import class_order, classes_in, is_missing, label_text, typed_classes


def one_of(frame: Frame, names: tuple[str, ...]) -> str:
    """The one of several names for the same thing that the table uses."""
    for name in names:
        if name in frame.columns:
            return name
    raise InvalidObservations(
        f"{frame.argument} must have a column {' or '.join(names)}; its columns are {_listed(frame.columns)}."
    )


def class_columns(frame: Frame) -> dict[str, str]:
    """The column of each class, ``p_<class>``, by class name, in the order of the classes."""
    names = {name.removeprefix("p_"): name for name in frame.columns if name.startswith("p_") and len(name) > 2}
    if not names:
        raise InvalidObservations(
            f"{frame.argument} must have one probability column per class, named p_<class>; "
            f"its columns are {_listed(frame.columns)}."
        )
    return {name: names[name] for name in class_order(names)}


def people_columns(frame: Frame) -> dict[str, str]:
    """The column of each person by the person's name: ``human`` first, then each ``human_<name>`` in order."""
    prefix = "human_"
    named = {name.removeprefix(prefix): name for name in frame.columns if name.startswith(prefix) and name != prefix}
    people = {name: named[name] for name in class_order(named)}
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
            f"{_listed(frame.columns)}. Add one, blank where nobody was asked."
        )


def same_classes(columns: dict[str, str], classes: NDArray[Any], *, argument: str = "X") -> NDArray[Any]:
    """The classes as given, if the probability columns are those."""
    wanted = {label_text(name) for name in classes.tolist()}
    lacking, extra = class_order(wanted - set(columns)), class_order(set(columns) - wanted)
    if lacking or extra:
        what = [f"p_{name} is missing" for name in lacking[:3]] + [f"p_{name} was not there" for name in extra[:3]]
        raise InvalidObservations(
            f"{argument} must have the probability columns seen at fit; {', '.join(what)} "
            f"({len(lacking)} of {len(wanted)} are missing, {len(extra)} are more). "
            "Rename the columns, or fit again with these classes."
        )
    return classes


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
        return typed_classes(codes, labels, np.arange(n_classes))
    found = classes_in(labels)
    if found.dtype.kind == "b" and n_classes == 2:
        return np.array([False, True])
    if found.dtype.kind in "if" or set(found.tolist()) <= set(codes):
        return typed_classes(codes, labels, np.arange(n_classes))
    if len(found) != n_classes:
        raise InvalidObservations(
            f"y must show every class when X is an array of {n_classes} probability columns; "
            f"it has {len(found)} different labels. "
            "Use a data frame with columns human and p_<class>, or class codes from 0."
        )
    return found


def sorted_classes(classes: Any, n_classes: int) -> tuple[NDArray[Any], Codes | None]:
    """Given class names, sorted, and the given place of each; None where they are sorted already."""
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
    ordered = class_order(names)
    place_of = {name: at for at, name in enumerate(names)}
    order = np.array([place_of[name] for name in ordered], dtype=np.intp)
    return typed_classes(ordered, given), None if ordered == names else order


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
