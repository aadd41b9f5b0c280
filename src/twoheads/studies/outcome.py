"""The outcome of a study: its files, its numbers, and how they compare with the paper's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from twoheads.studies.published import Agreement
from twoheads.studies.rows import Row


@dataclass(frozen=True)
class Outcome:
    """The outcome of a study.

    Attributes
    ----------
    name : str
    files : tuple of Path
        The files written.
    rows : tuple of Row
        The numbers.
    agreements : tuple of Agreement
        How each published table compares.
    notes, missing : tuple of str
        Remarks; what the paper used and is missing.
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

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects that JSON can hold."""
        return {
            "name": self.name,
            "files": [str(path) for path in self.files],
            "rows": [asdict(row) for row in self.rows],
            "agreements": [
                {
                    "table": each.table,
                    "title": each.title,
                    "n_compared": len(each.compared),
                    "n_agreeing": each.n_agreeing,
                    "n_absent": each.n_absent,
                }
                for each in self.agreements
            ],
            "notes": list(self.notes),
            "missing": list(self.missing),
        }

    @property
    def text(self) -> str:
        """Agreement by table, notes, and what is missing, as text."""
        lines = []
        for part in self.parts or (self,):
            lines += [f"{part.name}: {', '.join(path.name for path in part.files) or 'nothing to run on'}"]
            lines += [f"  {line}" for agreement in part.agreements for line in agreement.lines()]
            lines += [f"  Note: {note}" for note in part.notes]
        if self.missing:
            lines += ["Missing, and left out:", *(f"  {what}" for what in self.missing)]
        return "\n".join(lines)
