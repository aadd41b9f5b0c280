"""Outputs written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from twoheads.errors import InvalidParameter


def ready_folder(out: str | Path) -> Path:
    """The folder to write to, made where it is not there."""
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


def write_files(folder: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files by name. Each is written beside its place first; all take their places when all are whole."""
    ready = {folder / name: folder / f".{name}.{os.getpid()}.part" for name in contents}
    try:
        for (path, part), content in zip(ready.items(), contents.values(), strict=True):
            try:
                part.write_bytes(content)
            except OSError as error:
                raise InvalidParameter(f"{path} cannot be written ({error.strerror}).") from None
        for path, part in ready.items():
            os.replace(part, path)
    finally:
        for part in ready.values():
            with contextlib.suppress(OSError):
                part.unlink()
    return tuple(ready)
