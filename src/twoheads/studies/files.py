"""The folder that results are written to."""

from __future__ import annotations

import os
from pathlib import Path

from twoheads.errors import InvalidParameter


def ready_folder(out: str | Path) -> Path:
    """The folder to write to, created if missing."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(
            f"out must be a folder that can be written; {str(out)!r} is not ({error.strerror})."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidParameter(f"out must be a folder that can be written; {str(out)!r} is not (permission denied).")
    return folder
