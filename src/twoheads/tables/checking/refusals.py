"""What a check refuses to look at, and says why."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.tables.checking.cells import label_key
from twoheads.tables.checking.profile import Profile
from twoheads.tables.export_files import export_at
from twoheads.tables.formats.opening import Reading
from twoheads.tables.formats.source import Source
from twoheads.text import listed

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


def need_blank(blank: Sequence[str], columns: Sequence[Profile]) -> None:
    """Refuse a text that means "no answer" and is nobody's."""
    there = {label_key(text) for each in columns for text in (*each.spellings, *each.nothings)}
    off = next((text for text in blank if label_key(text) not in there), None)
    if off is not None:
        where = listed([each.name for each in columns]) or "there is none"
        raise InvalidParameter(
            f"blank (--blank) must be texts in a column of labels ({where}); {off!r} is in none. Check its spelling."
        )
