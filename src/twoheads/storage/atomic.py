"""Atomic writing: a file or folder appears complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from twoheads.errors import CannotWrite, TwoheadsError


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its name when everything is written; if anything fails, nothing is left behind.

    Raises
    ------
    CannotWrite
        If the system refuses; the message has the reason and a remedy.
    """
    target, temporary = _places(path)
    with _translated(path, target):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with _translated(path, target):
            with open(handle, "wb", buffering=1 << 20) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_files(folder: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write several files by name; all of them take their names when all are written."""
    with contextlib.ExitStack() as open_files:
        for name, content in contents.items():
            file = open_files.enter_context(atomic_write(folder / name))
            file.write(content)
            file.flush()
    return tuple(folder / name for name in contents)


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder that takes its name when everything in it is written."""
    target, temporary = _places(path)
    with _translated(path, target):
        temporary.mkdir()
    try:
        yield temporary
        with _translated(path, target):
            temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def system_reason(error: OSError, folder: str | os.PathLike[str]) -> str:
    """Reason of an error of the operating system with its remedy; ``folder`` is where the file is or should be."""
    number = _number(error)
    if number == errno.ENOENT and not os.path.isdir(folder):
        return f"the folder {os.fspath(folder)!r} does not exist. Make it first, or write elsewhere."
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"permission denied in {os.fspath(folder)!r}. Change its permissions, or use another folder."
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "the disk is full. Nothing was left behind; make room, or write elsewhere."
    if number == errno.EISDIR:
        return "a folder has that name. Name a file."
    if number == errno.ENOTDIR:
        return f"{os.fspath(folder)!r} is not a folder. Write elsewhere."
    return f"{error.strerror or error}."


def _places(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """The real path, and a hidden one beside it to write to first."""
    target = Path(os.path.realpath(path))
    return target, target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")


@contextlib.contextmanager
def _translated(path: str | os.PathLike[str], target: Path) -> Iterator[None]:
    """Raise errors of the system as `CannotWrite`."""
    try:
        yield
    except TwoheadsError:
        raise
    except OSError as error:
        refused = CannotWrite(f"{os.fspath(path)} cannot be written: {system_reason(error, target.parent)}")
        refused.errno = _number(error)
        raise refused from error


def _number(error: OSError) -> int | None:
    """The number of an error; Arrow raises some without one."""
    return error.errno or (errno.ENOSPC if "No space left" in str(error) else None)
