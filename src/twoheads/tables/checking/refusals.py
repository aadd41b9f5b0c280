"""What a check refuses to look at, and says why."""

from __future__ import annotations

import os
import shlex

from twoheads.errors import InvalidObservations
from twoheads.tables.export_files import export_at
from twoheads.tables.formats.opening import Reading
from twoheads.tables.formats.source import Source

#: The columns that Label Studio adds to those of its tasks and controls.
_LABEL_STUDIO_CSV = {"id", "annotation_id", "annotator", "lead_time"}


def refuse_export(table: str | os.PathLike[str], how: Reading) -> None:
    """Refuse an export, which has no columns to recognise, with the command that reads it."""
    known = export_at(table, "table", how)
    if known is not None:
        command = shlex.join(["twoheads", "fit", os.fspath(table), "-o", "team.json"])
        raise InvalidObservations(
            f"{os.fspath(table)} is an export of {known.title}, whose answers, predictions and truth are read as they "
            f"are: there are no columns to check. Continue with: {command}"
        )


def refuse_answers_of_label_studio(source: Source, where: str) -> None:
    """Refuse Label Studio's CSV: a row per annotation, in which only a user knows the column of answers."""
    if not _LABEL_STUDIO_CSV.issubset(source.columns):
        return
    command = f"twoheads fit --answers {shlex.quote(where)} --item id --annotator annotator --human COLUMN"
    raise InvalidObservations(
        f"{where} is Label Studio's CSV, which has no predictions and does not show what is ground truth. Export it as "
        f"JSON; or, if no annotation is ground truth, name the column of answers: {command}"
    )
