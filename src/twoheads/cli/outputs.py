"""Checks of where a command writes, and messages for errors of the system."""

from __future__ import annotations

import os
from pathlib import Path

from twoheads.errors import InvalidObservations
from twoheads.storage.atomic import system_reason


def check_output(output: Path, *inputs: Path | str | None) -> None:
    """Refuse an output that is a folder, is in a missing folder, or is one of the inputs."""
    if output.is_dir():
        raise InvalidObservations(f"{output} is a folder; give a file name with -o.")
    if not output.parent.is_dir():
        raise InvalidObservations(f"There is no folder {output.parent}. Make it first, or write elsewhere with -o.")
    if output.exists() and any(path is not None and Path(path).exists() and output.samefile(path) for path in inputs):
        raise InvalidObservations(f"{output} is also an input; writing it would destroy it. Write elsewhere with -o.")


def system_error(error: OSError) -> str:
    """Message for an error of the operating system that the library did not translate."""
    where = str(error.filename or "the output")
    return f"{where}: {system_reason(error, os.path.dirname(os.path.abspath(where)))}"
