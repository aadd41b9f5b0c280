"""Labels of a column as class codes: each distinct label is matched once, by its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations.labels import is_missing, label_text, means_unsure, ordered_classes
from twoheads.tables.duckdb import pa, pc
from twoheads.tables.formats.data_file import NO_VALUE
from twoheads.text import count, spelling

UNKNOWN = -2
UNSURE = -3
#: A whole number as programs write it in a column with gaps.
WHOLE = re.compile(r"(-?\d+)\.0+")


class Coder:
    """The code of each class, by its text.

    A text that is not a class is matched without the blanks around it, and as a whole number without its ``.0``, as
    programs write whole numbers in a column with gaps. Blank, -1 and the usual words for "no value" are MISSING unless
    a class has that name. An answer that is one of the words ``unsure`` and not a class is UNSURE. A ``loose`` coder
    also matches what differs from one class only by case or blanks.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Coder(["1", "1.0", "NA"]).codes([pa.array(["1", "1.0", "NA", "nan", None, "7"])]).tolist()
    [0, 1, 2, -1, -1, -2]
    """

    def __init__(self, names: Sequence[str], unsure: frozenset[str] = frozenset(), *, loose: bool = False) -> None:
        self.names, self.is_loose = list(names), loose
        self._codes = {name: at for at, name in enumerate(names)}
        self._spellings = by_spelling(names) if loose else {}
        self._unsure = unsure
        taken = (*unsure, *self._spellings)
        self.nothing = tuple(word for word in NO_VALUE if word not in self._codes and word.casefold() not in taken)

    def code(self, value: Any) -> int:
        """The code of one label; UNSURE or UNKNOWN if it is not a class."""
        if is_missing(value) and value not in self._codes:
            return MISSING
        exact = self._exact_code(value)
        if exact is not None:
            return exact
        text = label_text(value)
        if self.matches_loosely(value):
            return self._codes[self._spellings[spelling(text)]]
        return MISSING if text.strip() in ("-1", "-1.0", *self.nothing) else UNKNOWN

    def matches_loosely(self, value: Any) -> bool:
        """Whether only case or blanks differ from a class, and the coder accepts that."""
        return self.is_loose and not is_missing(value) and self._is_respelt(value)

    def _is_respelt(self, value: Any) -> bool:
        return self._exact_code(value) is None and spelling(label_text(value)) in self._spellings

    def _exact_code(self, value: Any) -> int | None:
        """The code of a class or of "unsure"; None for any other text."""
        text = label_text(value)
        tries = [text, text.strip()]
        if text in ("True", "False", "true", "false"):
            tries += [text.lower(), text.capitalize()]
        if whole := WHOLE.fullmatch(text.strip()):
            tries.append(whole[1])
        for known in tries:
            if known in self._codes:
                return self._codes[known]
        return UNSURE if any(means_unsure(known, self._unsure) for known in tries) else None

    def loose_labels(self, column: Sequence[Any]) -> Counter[str]:
        """How often each label occurs in Arrow arrays that is matched only loosely."""
        return _counted(column, self.matches_loosely) if self.is_loose else Counter()

    def unknown_labels(self, column: Sequence[Any]) -> Counter[str]:
        """How often each label occurs in Arrow arrays that is not a class."""
        return _counted(column, lambda label: self.code(label) == UNKNOWN)

    def codes(self, column: Sequence[Any]) -> Codes:
        """The code of each label of a column, as Arrow arrays one after the other."""
        return code_by(column, self.code)


def _counted(column: Sequence[Any], wanted: Callable[[Any], bool]) -> Counter[str]:
    """How often each label occurs in Arrow arrays, of those that are wanted."""
    found: Counter[str] = Counter()
    for chunk in column:
        for each in pc.value_counts(chunk).to_pylist():
            if wanted(each["values"]):
                found[label_text(each["values"])] += each["counts"]
    return found


def plain_text(text: str) -> str:
    """A label without the blanks around it, and a whole number without its ``.0``."""
    whole = WHOLE.fullmatch(text.strip())
    return whole[1] if whole else text.strip()


def by_spelling(names: Iterable[str]) -> dict[str, str]:
    """Each class by its spelling; classes that have the same one are refused."""
    found: dict[str, str] = {}
    for name in names:
        if (other := found.setdefault(spelling(name), name)) != name:
            raise InvalidParameter(
                "loose_labels (--loose-labels) needs classes that differ by more than case or blanks; "
                f"{other!r} and {name!r} do not. Name the classes with classes (--classes), or leave it out."
            )
    return found


def loose_notes(found: Counter[str], names: Iterable[str]) -> list[str]:
    """The note on labels that were matched to a class only loosely."""
    if not found:
        return []
    known = by_spelling(names)
    shown = [f"{label!r} is {known[spelling(label)]!r} ({n:,})" for label, n in found.most_common(8)]
    more = f", and {len(found) - 8:,} more spellings" if len(found) > 8 else ""
    n = sum(found.values())
    return [f"{count(n, 'label')} matched to classes apart from case and blanks: {', '.join(shown)}{more}."]


def code_by(chunks: Sequence[Any], code: Callable[[Any], int]) -> Codes:
    """``code(value)`` of each value of Arrow arrays, called once for each distinct value of an array."""
    parts = [np.empty(0, dtype=np.intp)]
    for chunk in chunks:
        encoded = chunk if pa.types.is_dictionary(chunk.type) else pc.dictionary_encode(chunk)
        table = np.array([*map(code, encoded.dictionary.to_pylist()), code(None)], dtype=np.intp)
        indices = encoded.indices
        if indices.null_count:
            indices = indices.fill_null(len(table) - 1)
        parts.append(table[indices.to_numpy(zero_copy_only=False)])
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def classes_of(names: Iterable[str], kinds: Sequence[Any]) -> NDArray[Any]:
    """The classes in the type of the columns of labels, found by content if these have none, and in order.

    Parameters
    ----------
    names : iterable of str
        The names of the classes.
    kinds : sequence of Arrow types
        Those of the columns of labels, truth first; none for text files.
    """
    for kind in (each.value_type if pa.types.is_dictionary(each) else each for each in kinds):
        if pa.types.is_boolean(kind):
            return ordered_classes(names, np.array([True]))
        if pa.types.is_floating(kind):
            return ordered_classes(names, np.array([np.nan, 0.0]))
        if pa.types.is_integer(kind):
            break
        if not pa.types.is_null(kind):
            return ordered_classes(names, np.array([""]))
    return ordered_classes(names, np.array([0]))


def labels_of(codes: Codes, classes: NDArray[Any]) -> NDArray[Any]:
    """Class codes as labels; where the class is not known, blank, NaN, -1 or (if those are classes) None."""
    unknown = codes == MISSING
    labels: NDArray[Any] = classes[codes]
    if not unknown.any():
        return labels
    if classes.dtype.kind == "b" or (classes.dtype.kind == "i" and (classes == -1).any()):
        labels = labels.astype(object)
        labels[unknown] = None
    else:
        labels[unknown] = {"U": "", "f": np.nan}.get(classes.dtype.kind, -1)
    return labels
