"""What a study is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

from twoheads.studies.data import Data
from twoheads.studies.protocol import Protocol
from twoheads.studies.rows import Row
from twoheads.studies.work import Work


@dataclass(frozen=True)
class Context:
    """What a study is given: data, how to make trials, and where they run."""

    data: Data
    protocol: Protocol
    work: Work


@dataclass(frozen=True)
class Result:
    """What a study gives back.

    Attributes
    ----------
    stem : str
        Name of its table's file, without suffix.
    rows : list of Row
    figures : dict of str to bytes
        Contents of figures by file name.
    notes : list of str
        What a reader must know to understand the numbers.
    """

    stem: str
    rows: list[Row]
    figures: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
