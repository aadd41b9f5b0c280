"""Labels and class names, matched by their text: the integer 3, the float 3.0 and the name "3" are one class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations, InvalidParameter, Problem
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations.label_remedy import label_remedy
from twoheads.text import listed

_UNKNOWN = -2


def is_missing(value: Any) -> bool:
    """Whether a single value is missing: None, NaN, pandas' NA and NaT, or blank text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float | np.floating) and bool(value != value)


def label_text(value: Any) -> str:
    """The text by which a label is matched to a class name: a whole number without its decimal point."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _is_integer_text(name: str) -> bool:
    """Whether a name is a whole number of 64 bits, written as `str` writes it."""
    digits = name.removeprefix("-")
    return len(digits) < 20 and digits.isdecimal() and name.isascii() and str(int(name)) == name and _fits(int(name))


def _fits(number: int) -> bool:
    return -(2**63) <= number < 2**63


def _is_number_text(name: str) -> bool:
    try:
        return math.isfinite(float(name)) and label_text(float(name)) == name
    except ValueError:
        return False


def sorted_names(names: Iterable[str]) -> list[str]:
    """Names of annotators or models in order: by number if all are numbers, else by text. Not for classes."""
    known = list(names)
    return sorted(known, key=float) if all(map(_is_number_text, known)) else sorted(known)


def classes_in(labels: NDArray[Any]) -> NDArray[Any]:
    """The distinct labels, sorted, in their own type; missing ones (None, NaN, blank, -1) are not classes."""
    names = {label_text(value) for value in distinct(labels, "y") if not is_missing(value)}
    return ordered_classes(names - {"-1"}, labels)


def ordered_classes(names: Iterable[str], *labels: NDArray[Any] | None) -> NDArray[Any]:
    """The classes in their type and in their order. This is the only place that decides either.

    The type is that of the first labels that have one: whole numbers, numbers, booleans or text. Whole numbers with
    gaps are integers even if the gaps made them floats, as NumPy and pandas do. The order is scikit-learn's, that of
    the type: numbers by value, text by text, so that "10" precedes "9" and 9 precedes 10. Code that holds columns or
    codes of classes orders them as this array does, by name.

    Examples
    --------
    >>> ordered_classes(["2", "10", "9"], np.array([9])).tolist()
    [2, 9, 10]
    >>> ordered_classes(["2", "10", "9"], np.array(["9"])).tolist()
    ['10', '2', '9']
    """
    known = list(names)
    cut = next((name for name in known if name.endswith("\0")), None)
    if cut is not None:
        raise InvalidObservations(f"a class name must not end in a NUL character; {cut!r} does. Rename that class.")
    return np.sort(_typed(known, labels))


def in_order(classes: NDArray[Any]) -> bool:
    """Whether classes are as `ordered_classes` returns them: of one type, each once, sorted."""
    return classes.dtype.kind in "biufU" and bool((classes[:-1] < classes[1:]).all())


def same_texts(classes: NDArray[Any], others: NDArray[Any]) -> bool:
    """Whether two arrays of classes name the same classes in the same order, perhaps in different types."""
    return [label_text(name) for name in classes.tolist()] == [label_text(name) for name in others.tolist()]


def classes_of_frame(names: list[str], truth: NDArray[Any] | None, answers: list[NDArray[Any]]) -> NDArray[Any]:
    """The classes, in the type of the truth, else of the answers."""
    if truth is not None and truth.ndim == 1:
        check_no_codes(ordered_classes(names, *answers), truth)
    return ordered_classes(names, truth, *answers)


def check_no_codes(classes: NDArray[Any], truth: NDArray[Any]) -> None:
    """Refuse whole numbers as truth if they may be names of text classes or their codes.

    scikit-learn turns labels of text into codes before it fits (`cross_val_predict`). Where classes are texts of
    numbers, such as "0" to "11", the code 2 is that of "10": the number alone does not show which is meant.
    """
    if classes.dtype.kind != "U" or _kind(truth) not in ("i", "f"):
        return
    names = classes.tolist()
    known = [value for value in distinct(truth, "y") if not is_missing(value) and value >= 0]
    numbers = [int(value) for value in known if math.isfinite(value) and value == int(value)]
    if not numbers or max(numbers) >= len(names) or not {str(number) for number in numbers} <= set(names):
        return
    for number in numbers:
        if names[number] != str(number):
            raise InvalidObservations(
                f"y must hold texts, as the answers do; it holds whole numbers, and {number} may be the class "
                f"{str(number)!r} or, as a code in the order of the classes, {names[number]!r}. "
                "Give both as text, or both as numbers; scikit-learn's cross_val_predict makes codes of texts."
            )


def _typed(names: list[str], labels: Iterable[NDArray[Any] | None]) -> NDArray[Any]:
    for values in labels:
        kind = "" if values is None else _kind(values)
        if kind == "i" and all(map(_is_integer_text, names)):
            return np.array([int(name) for name in names], dtype=np.intp)
        if kind in ("i", "f") and all(map(_is_number_text, names)):
            return np.array([float(name) for name in names])
        if kind == "b" and set(names) <= {"False", "True"}:
            return np.array([name == "True" for name in names])
        if kind:
            break
    return np.array(names, dtype=np.str_)


def _kind(values: NDArray[Any]) -> str:
    """The kind of labels: i for whole numbers, f for numbers, b for booleans, U for text, "" if none is known."""
    if values.dtype.kind == "O":
        return _kind_of_objects(values)
    if values.dtype.kind == "f":
        return _kind_of_floats(values)
    return {"u": "i"}.get(values.dtype.kind, values.dtype.kind) if values.size else ""


def _kind_of_objects(values: NDArray[Any]) -> str:
    known = [value for value in values.ravel().tolist() if not is_missing(value)]
    types = set(map(type, known))
    if not types:
        return ""
    if all(issubclass(kind, bool | np.bool_) for kind in types):
        return "b"
    if any(issubclass(kind, bool | str) or not issubclass(kind, int | float | np.number) for kind in types):
        return "U"
    if all(issubclass(kind, int | np.integer) for kind in types):
        return "i"
    return _kind_of_floats(np.array([float(value) for value in known] + [np.nan] * (len(known) < values.size)))


def _kind_of_floats(values: NDArray[Any]) -> str:
    """Whole numbers with gaps are i: only the gaps made them floats."""
    gaps = np.isnan(values)
    if gaps.all():
        return ""
    return "i" if gaps.any() and (np.floor(values) == values)[~gaps].all() else "f"


def distinct(labels: NDArray[Any], argument: str) -> Iterable[Any]:
    """Each distinct label, as a Python object."""
    if labels.dtype.kind in "biuf":
        different: list[Any] = np.unique(labels).tolist()
        return different
    try:
        return set(labels.tolist())
    except TypeError:
        row, value = next((i, v) for i, v in enumerate(labels.tolist()) if getattr(v, "__hash__", None) is None)
        raise InvalidObservations(
            f"{argument} must hold one label per row; row {row} has {value!r}. Give names or numbers."
        ) from None


def unsure_words(unsure: str | Iterable[Any], classes: Iterable[str]) -> frozenset[str]:
    """The texts that mean "unsure", in lower case: that word, unless a class has that name, and those of ``unsure``."""
    more = [unsure] if isinstance(unsure, str) or not isinstance(unsure, Iterable) else list(unsure)
    known = {name.strip().casefold() for name in classes}
    words = [label_text(word).strip().casefold() for word in more]
    for word, text in zip(more, words, strict=True):
        if is_missing(word) or text in known:
            what = "one is blank" if is_missing(word) else f"{word!r} is a class"
            raise InvalidParameter(
                f'unsure (--unsure) must hold words that mean "don\'t know"; {what}. Give the words that people use.'
            )
    return frozenset(words) | ({"unsure"} - known)


def split_unsure(
    labels: NDArray[Any], words: frozenset[str], argument: str
) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Labels with gaps where they mean "unsure", and a mask of those, (n_labels,); None if there are none."""
    if labels.ndim != 1 or (labels.dtype.kind in "biuf" and not any(map(_is_number_text, words))):
        return labels, None
    found = {value for value in distinct(labels, argument) if means_unsure(value, words)}
    if not found:
        return labels, None
    unsure = np.fromiter((value in found for value in labels.tolist()), dtype=bool, count=len(labels))
    rest = labels.astype(object)
    rest[unsure] = None
    return rest, unsure


def means_unsure(value: Any, words: frozenset[str]) -> bool:
    """Whether an answer means "unsure"."""
    return not is_missing(value) and label_text(value).strip().casefold() in words


def encode_labels(labels: Any, classes: NDArray[Any], *, argument: str, allow_codes: bool = True) -> Codes:
    """The code of each label in ``classes``, MISSING where the label is missing (None, NaN, blank, -1).

    ``-1`` is missing unless a class has that name. If no class name is a number and ``allow_codes``, whole numbers are
    read as codes, as scikit-learn's LabelEncoder makes them (cross_val_predict passes those).
    """
    values = np.asarray(labels)
    if values.ndim != 1:
        raise InvalidObservations(
            f"{argument} must be one-dimensional, one label per item; it has shape {values.shape}."
        )
    names = [label_text(name) for name in classes.tolist()]
    codes = {name: at for at, name in enumerate(names)}
    if allow_codes and not any(map(_is_number_text, names)) and _kind(values) in ("i", "f"):
        codes = {str(at): at for at in range(len(names))}
    codes.setdefault("-1", MISSING)
    encoded = _encode(values, codes, argument)
    unknown = np.flatnonzero(encoded == _UNKNOWN)
    if len(unknown):
        value = values[unknown[0]]
        value = value.item() if isinstance(value, np.generic) else value
        raise InvalidObservations(unknown_label(argument, value, int(unknown[0]), len(unknown), len(values), names))
    return encoded


def unknown_label(argument: str, value: Any, row: int, n_off: int, n_rows: int, names: Sequence[str]) -> Problem:
    """A label that is not one of the classes, ``names``."""
    classes = listed([repr(name) for name in names], 8)
    remedy = f"The classes are {classes}. {label_remedy(label_text(value).strip(), names, is_number=_is_number_text)}"
    return Problem(argument, "must hold classes", row, f"has {value!r}", n_off, n_rows, remedy)


def _encode(values: NDArray[Any], codes: dict[str, int], argument: str) -> Codes:
    """The code of each label, _UNKNOWN where it is none of ``codes``; by a table lookup for small whole numbers."""
    if values.dtype.kind == "f" and (encoded := _encode_whole_floats(values, codes, argument)) is not None:
        return encoded
    if values.dtype.kind in "iu" and len(values) and int(values.max()) - int(values.min()) < 100_000:
        low, high = int(values.min()), int(values.max())
        table = np.array([codes.get(str(number), _UNKNOWN) for number in range(low, high + 1)], dtype=np.intp)
        position: Codes = (values - values.min()).astype(np.intp)
        return table[position]
    listed_values = values.tolist()
    different = set(listed_values) if values.dtype.kind == "f" else distinct(values, argument)
    table_of = {value: MISSING if is_missing(value) else codes.get(label_text(value), _UNKNOWN) for value in different}
    return np.fromiter((table_of[value] for value in listed_values), dtype=np.intp, count=len(listed_values))


def _encode_whole_floats(values: NDArray[Any], codes: dict[str, int], argument: str) -> Codes | None:
    """The code of each label if all finite ones are whole numbers that floats hold exactly, else None."""
    finite = np.isfinite(values)
    whole = np.where(finite, values, MISSING)
    if (whole != np.floor(whole)).any() or np.abs(whole).max(initial=0.0) >= 2**53:
        return None
    encoded = _encode(whole.astype(np.int64), codes, argument)
    encoded[~finite] = np.where(np.isnan(values[~finite]), MISSING, _UNKNOWN)
    return encoded
