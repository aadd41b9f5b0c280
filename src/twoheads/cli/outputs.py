"""Checks of where a command writes, and messages for errors of the system."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from twoheads.cli import console
from twoheads.engines.room import lacks_room, no_room
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.storage.atomic import is_special, system_reason
from twoheads.tables.formats.registry import suffixes, written_as
from twoheads.tables.kept import is_of_kept_items


def check_output(output: Path, inputs: Iterable[Path], *, option: str = "-o") -> None:
    """Refuse an output that cannot be written, or that is one of the inputs, before anything is computed.

    ``inputs`` are the files that are opened, not the patterns and folders that name them; ``option`` names the output.
    """
    elsewhere = f"elsewhere with {option}."
    if str(output) == "-":
        raise InvalidParameter(f"{option} - is stdout, where this command writes no file. Name a file with {option}.")
    if output.is_dir():
        raise InvalidObservations(f"{output} is a folder; give a file name with {option}.")
    if not output.parent.is_dir():
        raise InvalidObservations(f"There is no folder {output.parent}. Make it first, or write {elsewhere}")
    if output.exists() and any(path.exists() and output.samefile(path) for path in inputs):
        raise InvalidObservations(f"{output} is also an input; writing it would destroy it. Write {elsewhere}")
    folder = Path(os.path.realpath(output)).parent
    if is_of_kept_items(folder):
        raise InvalidObservations(f"{folder} holds items that a team keeps, and nothing else. Write {elsewhere}")
    if not is_special(output) and folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidObservations(
            f"{output} cannot be written: permission denied in {str(folder)!r}. Change its permissions, or write "
            f"{elsewhere}"
        )


def refuse_both(output: Path | None) -> None:
    """Refuse a table and JSON that would both be written to stdout."""
    if console.wants_json() and str(output) == "-":
        raise InvalidParameter("--json and -o - both write to stdout. Name a file with -o, or leave one of them out.")


def check_spreadsheet(output: Path | None, *, engine: str = "local") -> None:
    """Refuse to escape formulas in a table that is not text: CSV or TSV."""
    form = None if output is None or str(output) == "-" else written_as(suffixes(output.name)[0])
    if engine != "local" or (form and form.name not in ("csv", "tsv")):
        raise InvalidParameter("--for-spreadsheet is for CSV and TSV; leave it out for other formats.")


def explained(error: Exception) -> str | None:
    """The sentence for a lack of memory or disk, or for an error of the system; None for any other error."""
    place = error.filename if isinstance(error, OSError) else None
    if lacks_room(error) and (place is None or str(place).startswith(tempfile.gettempdir())):
        return str(no_room("the command could not finish", error))
    return _system_error(error) if isinstance(error, OSError) else None


def _system_error(error: OSError) -> str:
    where = str(error.filename or "the output")
    return f"{where}: {system_reason(error, os.path.dirname(os.path.abspath(where)))}"
