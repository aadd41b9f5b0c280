"""What every format of file can do: name its columns, count its rows, and hand them out in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.observations.checks import CONFIDENCE_REMEDY

#: How text says that there is no value, where no class has that name.
NO_VALUE = ("NA", "N/A", "NaN", "nan", "NULL", "null", "None")


@dataclass(frozen=True)
class Wanted:
    """The columns to read.

    item     the column of ids, in its own type; None where there is none
    labels   columns of class names
    numbers  columns of the model's numbers
    nothing  texts that stand for "no value" in this table
    """

    item: str | None = None
    labels: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    nothing: tuple[str, ...] = NO_VALUE

    @property
    def columns(self) -> list[str]:
        """All of them, in this order, each once."""
        return list(dict.fromkeys([*([self.item] if self.item else []), *self.labels, *self.numbers]))


class DataFile(ABC):
    """One file with a table in it.

    A new format writes the four methods below; its errors are sentences (`InvalidObservations`), never a library's own.
    """

    #: Whether its columns have types; where not, everything is text until it is read as something else.
    typed = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns: tuple[str, ...] = tuple(self._read_columns())
        each_once(self.columns, str(path))

    @abstractmethod
    def _read_columns(self) -> Iterable[str]:
        """The names of the columns, in their order."""

    @abstractmethod
    def type_of(self, column: str) -> Any:
        """The Arrow type of a column."""

    @abstractmethod
    def count(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def batches(self, wanted: Wanted, rows: int) -> Iterator[Any]:
        """Arrow record batches of at most about ``rows`` rows with the wanted columns; numbers are floats."""


def each_once(columns: Sequence[str], where: str) -> None:
    """Refuse a table that has a column twice."""
    repeated = [name for name, times in Counter(columns).items() if times > 1]
    if repeated:
        places = [str(at) for at, name in enumerate(columns, 1) if name == repeated[0]]
        more = f"; {len(repeated)} names are repeated" if len(repeated) > 1 else ""
        raise InvalidObservations(
            f"{where} must have each column once; {repeated[0]!r} stands {len(places)} times (columns "
            f"{' and '.join([', '.join(places[:-1]), places[-1]])}{more}). Drop or rename the copies."
        )


def no_number(column: str, row: int, path: Path, value: Any, n_off: int, n_rows: int) -> InvalidObservations:
    """A text where a number should be, in words."""
    remedy = "Correct those entries, or leave the whole row of probabilities blank where the model said nothing."
    if column == "confidence" or column.startswith("confidence_"):
        remedy = CONFIDENCE_REMEDY
    return InvalidObservations(
        f"column {column!r} must hold numbers; row {row} of {path} has {value!r} "
        f"({n_off:,} of {n_rows:,} rows are off). {remedy}"
    )


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
