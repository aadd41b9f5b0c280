"""What every file format implements: name its columns, count its rows, and read them in batches."""

from __future__ import annotations

import hashlib
import os
import socket
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.observations.checks import CONFIDENCE_REMEDY
from twoheads.observations.frames import NUMBER_REMEDY
from twoheads.observations.members import SCORE_REMEDY

#: Pieces of a file that identify it, and their bytes: all of a file below a megabyte.
_SAMPLES, _SAMPLED = 64, 1 << 14
#: Texts that mean "no value", unless a class has that name.
NO_VALUE = ("NA", "N/A", "NaN", "nan", "NULL", "null", "None")

#: The first row of a piece of a file or table, and the row after its last.
Span = tuple[int, int]


@dataclass(frozen=True)
class Wanted:
    """The columns to read.

    item     the column of ids, in its own type; None if there is none
    labels   columns of class names
    numbers  columns of the model's numbers
    nothing  texts that mean "no value" in this table
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
    """One file that holds a table.

    A new format implements the four abstract methods, and `row_groups` if pieces of a file can be read by themselves;
    `twoheads.testing.check_format` tests it. Its errors are sentences (`InvalidObservations`), never those of a
    library. An entry in `twoheads.tables.formats.registry` makes it known.
    """

    #: Whether columns have types; if not, every value is text until it is read as something else.
    typed = True
    #: The mark between the whole number and the decimals of numbers that are texts.
    decimal = "."
    #: What was changed or left out in reading, in sentences.
    notes: tuple[str, ...] = ()
    #: Whether a file is a workbook, of which one sheet is read.
    has_sheets = False

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Where it is, whatever the folder of the process that reads it.
        self.place = os.path.abspath(path)
        self._identity: str | None = None
        self.columns: tuple[str, ...] = tuple(self._read_columns())
        each_once(self.columns, str(path))

    def __getstate__(self) -> dict[str, Any]:
        """The state that is sent to other processes: with the identity of the file, which they check."""
        return self.__dict__ | {"_identity": self._identity or identity_of(self.place)}

    def _check_identity(self) -> None:
        """Refuse another file than the one that the sender of this object has opened; here, nothing is checked."""
        if self._identity is None:
            return
        there = identity_of(self.place) if os.path.exists(self.place) else None
        if there != self._identity:
            what = "there is none" if there is None else "it has another content"
            raise InvalidObservations(
                f"{self.place} must be the same file on every machine of a cluster; on {socket.gethostname()} {what}. "
                "Put the table in a folder that all of them share."
            )
        self._identity = None  # checked once

    @abstractmethod
    def _read_columns(self) -> Iterable[str]:
        """The names of the columns, in their order."""

    @abstractmethod
    def type_of(self, column: str) -> Any:
        """The Arrow type of a column."""

    @abstractmethod
    def count(self) -> int:
        """The number of rows."""

    @abstractmethod
    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Arrow record batches of at most about ``rows`` rows with the wanted columns, in order; numbers are floats.

        ``span`` limits them to whole `row_groups`; it is None for a format without them.
        """

    def row_groups(self) -> list[int] | None:
        """The number of rows of each piece that can be read by itself; None if the file can only be read whole."""
        return None


def each_once(columns: Sequence[str], where: str) -> None:
    """Refuse a table that has a column twice."""
    repeated = [name for name, times in Counter(columns).items() if times > 1]
    if repeated:
        places = [str(at) for at, name in enumerate(columns, 1) if name == repeated[0]]
        more = f"; {len(repeated)} names are repeated" if len(repeated) > 1 else ""
        raise InvalidObservations(
            f"{where} must have each column once; {repeated[0]!r} appears {len(places)} times (columns "
            f"{' and '.join([', '.join(places[:-1]), places[-1]])}{more}). Drop or rename the copies."
        )


def not_a_number(column: str, row: int, path: Path, value: Any, n_off: int, n_rows: int) -> InvalidObservations:
    """A text in a column of numbers, at a row counted from 1."""
    is_confidence = column == "confidence" or column.startswith("confidence_")
    is_score = column == "score" or column.endswith(".score")
    remedy = CONFIDENCE_REMEDY if is_confidence else SCORE_REMEDY if is_score else NUMBER_REMEDY
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


def identity_of(path: str) -> str:
    """A text that identifies a file: its size, and bytes from its beginning, its end and many places between."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        found = hashlib.sha256(str(size).encode())
        for at in range(_SAMPLES + 1):
            file.seek(max(0, size - _SAMPLED) * at // _SAMPLES)
            found.update(file.read(_SAMPLED))
    return found.hexdigest()


class TableWriter(ABC):
    """Writes record batches to an open binary file; made with the file and the schema of the batches."""

    @abstractmethod
    def write(self, batch: Any) -> None:
        """Write one batch."""

    def close(self) -> None:
        """Finish the table; the file stays open."""
        return

    def abandon(self) -> None:
        """Give up after an error; the file is discarded."""
        return
