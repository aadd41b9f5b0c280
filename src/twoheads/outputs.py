"""A file that appears whole or not at all, and what can be in its way, in words."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from twoheads.errors import CannotWrite, TwoheadsError


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that appears under its name when all is written, and not at all where something fails.

    Raises
    ------
    CannotWrite
        Where the system refuses.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    with _in_words(path, target):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with _in_words(path, target):
            with open(handle, "wb", buffering=1 << 20) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _in_words(path: str | os.PathLike[str], target: Path) -> Iterator[None]:
    try:
        yield
    except TwoheadsError:
        raise
    except OSError as error:
        number = error.errno or (errno.ENOSPC if "No space left" in str(error) else None)
        if number == errno.ENOENT and not target.parent.is_dir():
            why = f"the folder {str(target.parent)!r} is not there. Make it first, or write elsewhere."
        elif number in (errno.EACCES, errno.EPERM, errno.EROFS):
            why = f"this user may not write in {str(target.parent)!r}. Write elsewhere, or change its permissions."
        elif number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            why = "the disk is full. Nothing was left behind; make room, or write elsewhere."
        elif number == errno.EISDIR:
            why = "a folder has that name. Name a file."
        elif number == errno.ENOTDIR:
            why = f"{str(target.parent)!r} is no folder. Write elsewhere."
        else:
            why = f"{error.strerror or error}."
        refused = CannotWrite(f"{os.fspath(path)} cannot be written: {why}")
        refused.errno = number
        raise refused from error
