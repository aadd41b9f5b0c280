"""What came of a study: its files, its numbers, and how they compare with the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from twoheads.studies.published import Agreement
from twoheads.studies.rows import Row


@dataclass(frozen=True)
class Outcome:
    """What came of a study.

    Attributes
    ----------
    name : str
    files : tuple of Path
        What was written.
    rows : tuple of Row
        The numbers.
    agreements : tuple of Agreement
        How each published table compares.
    notes, missing : tuple of str
        What a reader must know; what the paper used and is not there.
    parts : tuple of Outcome
        The studies of ``all``.
    """

    name: str
    files: tuple[Path, ...]
    rows: tuple[Row, ...]
    agreements: tuple[Agreement, ...]
    notes: tuple[str, ...]
    missing: tuple[str, ...]
    parts: tuple[Outcome, ...] = ()

    @property
    def text(self) -> str:
        """What to tell a reader: agreement by table, notes, and what is missing."""
        said = []
        for part in self.parts or (self,):
            said += [f"{part.name}: {', '.join(path.name for path in part.files) or 'nothing to run on'}"]
            said += [f"  {line}" for agreement in part.agreements for line in agreement.lines()]
            said += [f"  Note: {note}" for note in part.notes]
        if self.missing:
            said += ["Not there, and so left out:", *(f"  {what}" for what in self.missing)]
        return "\n".join(said)
