"""Arguments of the metrics: true labels, probabilities and weights, adapted from the checks of observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import SUM_TOLERANCE
from twoheads.observations.checks import as_weight, same_length
from twoheads.observations.labels import encode_labels, is_missing, label_text, ordered_classes, same_texts


@dataclass(frozen=True)
class Scored:
    """Items of positive weight, as the arrays that kernels take.

    classes     (n_classes,)
    true_label  (n_items,), codes
    proba       (n_classes, n_items)
    weight      (n_items,), positive
    """

    classes: NDArray[Any]
    true_label: Codes
    proba: Floats
    weight: Floats


def as_scored(y: ArrayLike, proba: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None) -> Scored:
    """Check the items of a metric; items of weight 0 are left out."""
    columns = as_proba(proba, "proba")
    named, true_label = as_truth(y, classes, len(columns), columns.shape[1], "proba")
    weight = as_item_weight(sample_weight, true_label.size)
    counts = weight > 0.0
    if counts.all():
        return Scored(named, true_label, columns, weight)
    return Scored(named, true_label[counts], columns[:, counts], weight[counts])


def as_truth(
    y: ArrayLike, classes: ArrayLike | None, n_classes: int, n_items: int, beside: str
) -> tuple[NDArray[Any], Codes]:
    """Class of each column and code of each true label."""
    labels = as_labels(y, "y")
    same_length("y", labels.size, beside, n_items)
    named = as_classes(classes, labels, n_classes)
    return named, as_codes(labels, named, "y")


def as_labels(values: ArrayLike, argument: str) -> NDArray[Any]:
    """One label per item, none of them missing."""
    labels = np.asarray(values)
    if labels.ndim != 1:
        raise InvalidObservations(
            f"{argument} must be one-dimensional, one label per item; it has shape {labels.shape}."
        )
    if labels.size == 0:
        raise InvalidObservations(f"{argument} must have at least one row; it has none.")
    if labels.dtype.kind in "Of":
        off = np.flatnonzero([is_missing(value) for value in labels.tolist()])
        _refuse_missing(off, labels.size, argument)
    if labels.dtype.kind != "O":
        return labels
    whole = [value for value in labels.tolist() if isinstance(value, int) and not isinstance(value, bool)]
    return np.array(whole if len(whole) == labels.size else [label_text(value) for value in labels.tolist()])


def as_classes(classes: ArrayLike | None, labels: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Class of each column: ``classes``, or the sorted labels, or 0 .. n_classes - 1."""
    if classes is not None:
        named = np.asarray(classes)
        different = len({label_text(name) for name in named.ravel().tolist()})
        if named.ndim != 1 or named.size != n_classes or different != n_classes:
            raise InvalidObservations(
                f"classes must name each of the {n_classes} columns of the probabilities once; "
                f"it has shape {named.shape} with {different} different names."
            )
        return named
    found = np.unique(labels)
    if found.size == n_classes:
        _refuse_unclear_order(found)
        return found
    if found.dtype.kind == "b" and n_classes == 2:
        return np.array([False, True])
    if found.dtype.kind in "iuf" and np.isin(found, np.arange(n_classes)).all():
        return np.arange(n_classes)
    raise InvalidObservations(
        f"y must have every class if classes is not given; there are {n_classes} columns of probabilities and "
        f"{found.size} different labels, the first {found[0].item()!r}. Give classes, the label of each column."
    )


def _refuse_unclear_order(found: NDArray[Any]) -> None:
    """Refuse texts of numbers whose order as text is not that of the numbers."""
    numbers = ordered_classes(found.tolist(), np.array([0])) if found.dtype.kind == "U" else found
    if not same_texts(numbers, found):
        raise InvalidObservations(
            f"classes must be given where labels are texts of numbers, since as text {found[1].item()!r} precedes "
            f"{found[-1].item()!r}; they are not. Give classes, the label of each column."
        )


def shared_classes(labels: dict[str, NDArray[Any]], classes: ArrayLike | None) -> NDArray[Any]:
    """``classes``, or all labels of several arguments, sorted; they must be of one type."""
    if classes is not None:
        return as_classes(classes, np.empty(0), np.size(classes))
    types = {name: _label_type(values) for name, values in labels.items()}
    if len(set(types.values())) > 1:
        (one, first), (two, second) = sorted(types.items(), key=lambda pair: pair[1])[:: len(types) - 1]
        raise InvalidObservations(
            f"{one} and {two} must hold labels of one type; {one} holds {first} and {two} holds {second}. "
            "Give classes, or labels of one type."
        )
    return np.unique(np.concatenate(list(labels.values())))


def as_codes(labels: NDArray[Any], classes: NDArray[Any], argument: str) -> Codes:
    """Code of each label; every one must be a class."""
    codes = encode_labels(labels, classes, argument=argument)
    _refuse_missing(np.flatnonzero(codes == MISSING), codes.size, argument)
    return codes


def as_proba(values: ArrayLike, argument: str) -> Floats:
    """Probabilities, not normalised again, class-major: (n_items, n_classes) in, (n_classes, n_items) out."""
    columns = _class_major(values, argument)
    with np.errstate(invalid="ignore"):
        total = columns.sum(axis=0)
        off = np.flatnonzero(~((columns >= 0.0).all(axis=0) & (np.abs(total - 1.0) <= SUM_TOLERANCE)))
    if off.size:
        row, entries = int(off[0]), columns[:, off[0]]
        wrong = entries[~(np.isfinite(entries) & (entries >= 0.0))]
        what = f"row {row} has {wrong[0]:g}" if wrong.size else f"row {row} sums to {total[row]:.4g}"
        # The checks of observations recommend a model_scale, which a metric does not have.
        raise InvalidObservations(
            f"{argument} must be finite, not negative and sum to 1 in every row; {what} "
            f"({off.size} of {total.size} rows are off). "
            "Give probabilities: divide each row by its sum, or turn logits into probabilities first."
        )
    return columns


def as_evidence(values: ArrayLike, argument: str) -> Floats:
    """Weights of the classes, finite and not negative, class-major: (n_items, n_classes) to (n_classes, n_items)."""
    columns = _class_major(values, argument)
    off = np.flatnonzero(~(np.isfinite(columns) & (columns >= 0.0)).all(axis=0))
    if off.size:
        raise InvalidObservations(
            f"{argument} must be finite and not negative; row {off[0]} is not "
            f"({off.size} of {columns.shape[1]} rows are off). Give probabilities or likelihoods."
        )
    return columns


def _class_major(values: ArrayLike, argument: str) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.ndim != 2 or array.shape[1] < 2 or len(array) == 0:
        raise InvalidObservations(
            f"{argument} must be numbers of shape (n_items, n_classes) with at least one item and two classes; "
            f"it has shape {array.shape} and type {array.dtype}."
        )
    return np.ascontiguousarray(array.T, dtype=np.float64)


def as_given_true(values: ArrayLike, argument: str, n_classes: int | None) -> Floats:
    """Matrix of one distribution per column, (n_classes, n_classes)."""
    matrix = np.asarray(values)
    expected = len(matrix) if n_classes is None and matrix.ndim else n_classes
    if matrix.dtype.kind not in "biuf" or matrix.shape != (expected, expected) or matrix.size == 0:
        raise InvalidObservations(
            f"{argument} must be numbers of shape (n_classes, n_classes); it has shape {matrix.shape} and type "
            f"{matrix.dtype}, and there are {expected} classes."
        )
    matrix = matrix.astype(np.float64)
    total = matrix.sum(axis=0)
    off = np.flatnonzero(~((matrix >= 0.0).all(axis=0) & (np.abs(total - 1.0) <= SUM_TOLERANCE)))
    if off.size:
        raise InvalidObservations(
            f"{argument} must not be negative and sum to 1 in every column; column {off[0]} sums to "
            f"{total[off[0]]:.4g} ({off.size} of {total.size} columns are off). "
            "Transpose it if its rows are the distributions."
        )
    return matrix


def as_item_weight(sample_weight: ArrayLike | None, n_items: int) -> Floats:
    """Weight of each item, 1 by default; at least one is positive."""
    weight = as_weight(sample_weight, n_items, beside="y")
    return np.ones(n_items) if weight is None else weight


def whole_number(value: int, name: str) -> int:
    """Whole number of at least 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InvalidParameter(f"{name} must be a whole number of at least 1; it is {value!r}.")
    return int(value)


def _label_type(labels: NDArray[Any]) -> str:
    return {"b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers"}.get(labels.dtype.kind, "text")


def _refuse_missing(off: NDArray[np.intp], n_items: int, argument: str) -> None:
    if off.size:
        raise InvalidObservations(
            f"{argument} must be known for every item here; row {off[0]} is missing "
            f"({off.size} of {n_items} rows are off). Leave those items out."
        )
