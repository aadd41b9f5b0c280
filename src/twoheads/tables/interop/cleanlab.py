"""cleanlab: wide labels, a row per item and a column per annotator, NaN where not asked, beside ``pred_probs``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import item_of_answers, pack_answers, permute_classes
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.observations import Observations
from twoheads.observations.checks import as_class_codes, same_length
from twoheads.observations.columns import named_classes
from twoheads.observations.frames import Frame, as_column, as_numbers, is_frame


def from_cleanlab(labels: Any, pred_probs: ArrayLike, *, classes: ArrayLike | None = None) -> Observations:
    """Observations from the arguments of cleanlab's multi-annotator functions.

    Parameters
    ----------
    labels : data frame or array of shape (n_items, n_annotators)
        Class codes from 0, NaN where an annotator was not asked; a frame's columns name the annotators, and the index
        of a pandas frame the items.
    pred_probs : array of shape (n_items, n_classes)
        The model's probabilities; a pandas frame must have the index of ``labels``.
    classes : array of shape (n_classes,), optional
        The class of each column; the columns' numbers by default.

    Examples
    --------
    >>> nan = float("nan")
    >>> observations = from_cleanlab([[0, nan], [1, 1], [nan, 0]], [[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]])
    >>> observations.annotators, observations.answers.per_item().tolist()
    (('0', '1'), [1, 2, 1])
    """
    if is_frame(labels):
        frame = Frame(labels, argument="labels")
        names, columns = frame.columns, [frame.column(name) for name in frame.columns]
    else:
        table = as_numbers(labels, "labels")
        if table.ndim != 2:
            raise InvalidObservations(
                f"labels must have a row per item and a column per annotator; they have shape {table.shape}."
            )
        names, columns = [str(at) for at in range(table.shape[1])], list(table.T)
    proba = as_numbers(pred_probs, "pred_probs")
    if proba.ndim != 2:
        raise InvalidObservations(f"pred_probs must have shape (n_items, n_classes); they have shape {proba.shape}.")
    n_items, n_classes = proba.shape
    same_length("labels", len(columns[0]) if columns else 0, "pred_probs", n_items)
    items = _index(labels, pred_probs)
    codes = [
        as_class_codes(column, n_classes, f"labels of {name}") for name, column in zip(names, columns, strict=True)
    ]
    table = np.stack(codes, axis=1)
    item, annotator = np.nonzero(table != MISSING)
    answers = pack_answers(item, annotator * n_classes + table[item, annotator], n_items)
    named, order = (np.arange(n_classes), None) if classes is None else named_classes(as_column(classes), n_classes)
    if order is not None:
        answers, proba = permute_classes(answers, np.argsort(order)), proba[:, order]
    people = tuple(names)
    return Observations.checked(classes=named, model_proba=(proba,), answers=answers, annotators=people, items=items)


def _index(labels: Any, pred_probs: Any) -> NDArray[Any] | None:
    """The ids of items: the index of a pandas frame; None if there is none."""
    index, other = (_index_values(each) for each in (labels, pred_probs))
    if index is None:
        return None if other is None else np.array(other)
    times = Counter(index)
    twice = next((name for name in index if times[name] > 1), None)
    if twice is not None:
        raise InvalidObservations(f"the index of labels must name each item once; {twice!r} is repeated.")
    if other is not None and index != other:
        at = next(at for at, (one, two) in enumerate(zip(index, other, strict=True)) if one != two)
        raise InvalidObservations(
            f"labels and pred_probs must have the same index; at position {at} they have {index[at]!r} and "
            f"{other[at]!r}. Reindex one of them."
        )
    return np.array(index)


def _index_values(frame: Any) -> list[Any] | None:
    return list(frame.index.tolist()) if hasattr(frame, "columns") and hasattr(frame, "index") else None


def to_cleanlab(observations: Observations) -> tuple[NDArray[Any], Floats]:
    """Wide labels (class codes, NaN where not asked) and ``pred_probs``, both with a row per item.

    The columns of labels are ``observations.annotators``, and its rows ``observations.items``. Where the model has no
    prediction its probabilities are equal. cleanlab itself needs at least one label per item.

    For several models ``pred_probs`` is (n_models, n_items, n_classes), as cleanlab's functions for ensembles take it.
    The format has no place for "unsure", which becomes NaN, nor for confidence; of two answers of one annotator on one
    item it holds the last.

    Examples
    --------
    >>> observations = Observations.from_arrays([1, -1], [[0.5, 0.5], [0.1, 0.9]], classes=["no", "yes"])
    >>> labels, pred_probs = to_cleanlab(observations)
    >>> labels.tolist(), pred_probs.tolist()
    ([[1.0], [nan]], [[0.5, 0.5], [0.1, 0.9]])
    """
    labels = np.full((len(observations), len(observations.annotators)), np.nan)
    answers = observations.answers
    item = item_of_answers(answers)
    answered = answers.column != MISSING
    annotator, answer = np.divmod(answers.column[answered], observations.n_classes)
    labels[item[answered], annotator] = answer
    rows = [_proba(observations, values) for values in observations.model_proba]
    if not rows:
        rows = [np.full((len(observations), observations.n_classes), 1.0 / observations.n_classes)]
    return labels, rows[0] if len(rows) == 1 else np.stack(rows)


def _proba(observations: Observations, values: NDArray[Any]) -> Floats:
    """One model's probabilities, equal where it has no prediction."""
    proba = np.full(values.shape, 1.0 / observations.n_classes)
    there = ~np.isnan(values).any(axis=1)
    known = values[there].astype(np.float64)
    proba[there] = known if observations.model_scale == "probability" else softmax(known, axis=1)
    return proba
