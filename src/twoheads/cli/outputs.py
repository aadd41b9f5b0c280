"""Where results are written, and what can be in the way."""

from __future__ import annotations

import errno
from pathlib import Path

from twoheads.errors import InvalidObservations


def may_write(output: Path, *inputs: Path | str | None) -> None:
    """Refuse an output that is a folder, stands in none, or is one of the inputs."""
    if output.is_dir():
        raise InvalidObservations(f"{output} is a folder; give a file name with -o.")
    if not output.parent.is_dir():
        raise InvalidObservations(f"There is no folder {output.parent}. Make it first, or write elsewhere with -o.")
    if output.exists() and any(path is not None and Path(path).exists() and output.samefile(path) for path in inputs):
        raise InvalidObservations(f"{output} is what is read here, and would be lost. Write elsewhere with -o.")


def of_the_system(error: OSError) -> str:
    """What the operating system refused, in one sentence with the remedy."""
    where = error.filename or "the output"
    if error.errno == errno.ENOSPC:
        return f"The disk is full: {where} was not written. Make room, or write elsewhere with -o."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{where} may not be read or written. Change its permissions, or write elsewhere with -o."
    return f"{where}: {error.strerror or error}."
