"""The input and the result of a study."""

from __future__ import annotations

from dataclasses import dataclass, field

from twoheads.studies.data import Data
from twoheads.studies.protocol import Protocol
from twoheads.studies.rows import BEHAVIOURS, Row
from twoheads.studies.setting import Rows, Setting
from twoheads.studies.work import Work


@dataclass(frozen=True)
class Context:
    """The input of a study: data, protocol, and where trials run."""

    data: Data
    protocol: Protocol
    work: Work

    def rows(self) -> dict[tuple[Setting, str], Rows]:
        """The rows of each setting in each behaviour."""
        return {
            (setting, behaviour): self.protocol.rows(setting, behaviour)
            for setting in self.data.settings
            for behaviour in BEHAVIOURS
        }


@dataclass(frozen=True)
class Result:
    """The result of a study.

    Attributes
    ----------
    stem : str
        Name of its table's file, without suffix.
    rows : list of Row
    figures : dict of str to bytes
        Contents of figures by file name.
    notes : list of str
        Remarks needed to understand the numbers.
    """

    stem: str
    rows: list[Row]
    figures: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
