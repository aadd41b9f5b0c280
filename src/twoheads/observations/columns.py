"""Which columns of a table hold items, answers and models' numbers, by name; and the classes that they show.

`twoheads.tables.schema.roles` adds the options that name other columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes
from twoheads.observations.frames import as_column
from twoheads.observations.labels import (
    classes_in,
    is_missing,
    label_text,
    ordered_classes,
    sorted_names,
)
from twoheads.text import cut, listed

#: Names of the same column, in order of preference.
ITEM, ANNOTATOR, ANSWER, TRUTH = ("item", "task"), ("annotator", "worker"), ("answer", "label"), ("truth",)
#: The columns of a model's numbers, and of one annotator's answers; * is the class or the annotator.
PROBABILITY, HUMAN = "p_*", "human_*"


def first_of(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The first of several names for the same thing that is a column."""
    return next((name for name in names if name in columns), None)


def one_of(columns: Sequence[str], names: Sequence[str], where: str) -> str:
    """The first of several names for the same thing that is a column; one must be."""
    found = first_of(columns, names)
    if found is None:
        raise InvalidObservations(
            f"{where} must have a column {' or '.join(names)}; its columns are {listed(columns)}."
        )
    return found


def matching(columns: Sequence[str], pattern: str) -> dict[str, str]:
    """The columns that match a pattern, by the text in place of its ``*``."""
    before, _, after = pattern.partition("*")
    ends = len(before) + len(after)
    found = [name for name in columns if name.startswith(before) and name.endswith(after) and len(name) > ends]
    return {name[len(before) : len(name) - len(after)]: name for name in found}


def class_columns(columns: Sequence[str], where: str) -> dict[str, str]:
    """The column of each class, ``p_<class>``, by class name."""
    found = matching(columns, PROBABILITY)
    if not found:
        raise InvalidObservations(
            f"{where} must have one probability column per class, named p_<class>; its columns are {listed(columns)}."
        )
    return found


def model_columns(columns: Sequence[str], where: str) -> dict[str, dict[str, str]]:
    """The column of each class, by class name, by model: ``<model>.p_<class>``, or ``p_<class>`` without a name."""
    named = named_models(columns, where)
    if named and not matching(columns, PROBABILITY):
        return same_in_models(named, where)
    return same_in_models({"model": class_columns(columns, where)} | named, where)


def refuse_no_model(columns: Sequence[str], people: Sequence[str], sure: Iterable[str], where: str) -> None:
    """Refuse a table without a model's columns, unless it holds several people's answers and nothing else.

    Another column could be a misspelt one of a model.

    people, sure  the columns of people's answers, and of their confidences
    """
    others = [name for name in columns if name not in {*people, *sure, "item", "truth"}]
    if len(people) > 1 and not others:
        return
    remedy = (
        "Name them so; or give a model's labels or scores, in a column <model>.label or <model>.score, or the answers "
        "of several people, in columns human_<name>."
    )
    if len(people) > 1:
        remedy = (
            f"Without a model, drop all columns but human_<name>, confidence_<name>, item and truth; {others[0]!r} "
            f"could be a model's ({len(others)} of {len(columns)} columns could)."
        )
    raise InvalidObservations(
        f"{where} must have one probability column per class, named p_<class>; its columns are {listed(columns)}. "
        f"{remedy}"
    )


def has_model_columns(columns: Sequence[str]) -> bool:
    """Whether any column holds a model's numbers by its name."""
    return bool(matching(columns, PROBABILITY) or named_models(columns, ""))


def named_models(columns: Sequence[str], where: str) -> dict[str, dict[str, str]]:
    """The column of each class, by class name, of each model that has a name: ``<model>.p_<class>``."""
    models: dict[str, dict[str, str]] = {}
    for column in columns:
        model, separator, name = column.partition(".p_")
        if separator and model and name and not column.startswith(("p_", "human_")):
            models.setdefault(model, {})[name] = column
    if "model" in models and matching(columns, PROBABILITY):
        raise InvalidObservations(
            f"{where} must name each model once; 'model' is also the name for the columns p_<class>. "
            "Rename one of them."
        )
    return {model: models[model] for model in sorted_names(models)} if models else {}


def same_in_models(models: dict[str, dict[str, str]], where: str) -> dict[str, dict[str, str]]:
    """``models``, if every model has a column for each class; of two classes one is enough."""
    every = sorted_names({name for classes in models.values() for name in classes})
    if len(models) == 1 or len(every) <= 2:
        return models
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


def class_names(models: dict[str, dict[str, str]]) -> list[str]:
    """The classes that the columns of models name, in the order of the columns."""
    return list(dict.fromkeys(name for columns in models.values() for name in columns))


def annotator_columns(columns: Sequence[str], where: str) -> dict[str, str]:
    """The column of each annotator's answers by name: ``human`` first, then each ``human_<name>`` in order.

    ``human_<name>.score`` holds scores.
    """
    named = matching([name for name in columns if not name.endswith(".score")], HUMAN)
    found = {name: named[name] for name in sorted_names(named)} if named else {}
    if "human" not in columns:
        return found
    if "human" in found:
        raise InvalidObservations(
            f"{where} must name each person once; 'human' and 'human_human' are the same name. Rename one of them."
        )
    return {"human": "human"} | found


def need_annotators(annotators: Iterable[str], columns: Sequence[str], where: str) -> None:
    """Refuse a table without a column of answers: a misspelt one would be overlooked."""
    if not list(annotators):
        raise InvalidObservations(
            f"{where} must have a column of a person's answers, named human or human_<name>; its columns are "
            f"{listed(columns)}. Add one, blank where nobody was asked."
        )


def confidence_columns(columns: Sequence[str], annotators: Iterable[str]) -> dict[str, str]:
    """The column of each annotator's confidence by name, if there is one.

    ``confidence_<name>`` goes with ``human_<name>``, and ``confidence`` with ``human`` or the only annotator. Next to
    ``combined_label`` it is the confidence of a team, and not used.
    """
    names = list(annotators)
    found = {name: f"confidence_{name}" for name in names if f"confidence_{name}" in columns}
    if "confidence" in columns and "combined_label" not in columns:
        whose = "human" if "human" in names else names[0] if len(names) == 1 else None
        if whose is not None and whose not in found:
            found[whose] = "confidence"
    return {name: found[name] for name in names if name in found}


def same_classes(columns: Iterable[str], classes: NDArray[Any], *, argument: str = "X") -> NDArray[Any]:
    """``classes``, if the probability columns are those, or one of two; a table without a model has none."""
    wanted, there = {label_text(name) for name in classes.tolist()}, set(columns)
    lacking, extra = sorted_names(wanted - there), sorted_names(there - wanted)
    if extra or (there and lacking and len(wanted) > 2):
        what = [f"p_{name} is missing" for name in lacking[:3]] + [f"p_{name} is new" for name in extra[:3]]
        raise InvalidObservations(
            f"{argument} must have the same probability columns as at fit; {', '.join(what)} "
            f"({len(lacking)} of {len(wanted)} are missing, {len(extra)} are new). "
            "Rename the columns, or fit again with these classes."
        )
    return classes


def array_classes(y: Any, classes: NDArray[Any] | None, n_classes: int) -> NDArray[Any]:
    """The classes of an array's probability columns: those known, or codes from 0, or the distinct labels in ``y``."""
    if classes is not None:
        if len(classes) != n_classes:
            raise InvalidObservations(
                f"X must have one probability column per class; it has {n_classes} and there were {len(classes)} "
                "classes at fit. Give the same columns as at fit."
            )
        return classes
    labels = None if y is None else as_column(y)
    if labels is None or labels.ndim != 1:
        return np.arange(n_classes)
    codes = [str(code) for code in range(n_classes)]
    if labels.dtype.kind in "iuf":
        return ordered_classes(codes, labels, np.arange(n_classes))
    return _classes_of_labels(labels, codes)


def _classes_of_labels(labels: NDArray[Any], codes: list[str]) -> NDArray[Any]:
    """The classes of an array's columns, from labels that are not an array of numbers."""
    found, n_classes = classes_in(labels), len(codes)
    if found.dtype.kind == "b" and n_classes == 2:
        return np.array([False, True])
    if found.dtype.kind in "if" or set(found.tolist()) <= set(codes):
        return _in_columns(ordered_classes(codes, labels, np.arange(n_classes)), codes)
    if len(found) != n_classes:
        raise InvalidObservations(
            f"y must show every class when X is an array of {n_classes} probability columns; "
            f"it has {len(found)} distinct labels. "
            "Use a data frame with columns human and p_<class>, or class codes from 0."
        )
    return found


def _in_columns(classes: NDArray[Any], codes: list[str]) -> NDArray[Any]:
    """``classes``, if the codes are in their order; texts of numbers beyond 9 are not."""
    if [label_text(name) for name in classes.tolist()] != codes:
        raise InvalidObservations(
            f"y must hold numbers when X is an array of {len(codes)} probability columns; it holds numbers as text, "
            "and as text '10' precedes '2', so that the class of each column is not clear. Give y as numbers, or a "
            "data frame with columns human and p_<class>."
        )
    return classes


def known_classes(classes: Any) -> NDArray[Any]:
    """Class names that come before any items, which must be sorted: they may name the columns of an array."""
    named, order = named_classes(classes, len(as_column(classes)))
    if order is not None:
        raise InvalidObservations(
            f"classes must be sorted; the first should be {named[0].item()!r}. "
            "Give them, and the columns of an array, in that order."
        )
    return named


def required_classes(classes: Any) -> NDArray[Any]:
    """Class names that are given in any order, sorted."""
    column = as_column(classes)
    if column.ndim != 1:
        raise InvalidObservations(
            f"classes must be a list with the name of each class once; it is {cut(repr(classes))}. "
            "Give it as in classes=['no', 'yes']."
        )
    return named_classes(column, len(column))[0]


def named_classes(classes: Any, n_classes: int) -> tuple[NDArray[Any], Codes | None]:
    """The class names of columns, sorted, and the column of each; None if they are in order already."""
    column = as_column(classes)
    rule = f"classes must name each of the {n_classes} columns of model_proba once"
    if column.shape != (n_classes,):
        raise InvalidObservations(f"{rule}; it has shape {column.shape}.")
    values = column.tolist()
    names = [label_text(name) for name in values]
    for at, name in enumerate(names):
        if is_missing(values[at]) or name in names[:at]:
            what = "blank" if is_missing(values[at]) else "repeated"
            raise InvalidObservations(f"{rule}; position {at} has {values[at]!r}, which is {what}.")
    ordered = ordered_classes(names, column)
    position = {name: at for at, name in enumerate(names)}
    order = np.array([position[label_text(name)] for name in ordered.tolist()], dtype=np.intp)
    return ordered, None if (order == np.arange(n_classes)).all() else order
