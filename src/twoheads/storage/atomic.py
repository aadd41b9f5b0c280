"""Atomic writing: a file or folder appears complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import shutil
import socket
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from twoheads.engines.temporary import part_of, remove_leftovers
from twoheads.errors import CannotWrite, TwoheadsError

_BUFFER = 1 << 20
_log = logging.getLogger(__name__)


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its name when everything is written; if anything fails, nothing is left behind.

    A file that is replaced keeps its permissions and its owner; a new one has those of any new file. What is not a
    regular file, such as a device or a pipe, is written into.

    Raises
    ------
    CannotWrite
        If the system refuses; the message has the reason and a remedy.
    """
    with contextlib.ExitStack() as opened:
        yield opened.enter_context(_into(path) if is_special(path) else _replacing(path))


@contextlib.contextmanager
def _replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A temporary file that replaces a regular one, or becomes a new one."""
    target = Path(os.path.realpath(path))
    temporary = part_of(target)
    with _translated(path):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
        before = _status(target)
        remove_leftovers(target.parent)
        # Nobody else may read it before it has the permissions of the file that it replaces.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if before is None else 0o600)
    try:
        with _Output(handle, path) as raw, io.BufferedWriter(raw, _BUFFER) as file:
            if before is not None:
                _keep_owner_and_mode(handle, before, path)
            yield cast("BinaryIO", file)
            file.flush()
            with _translated(path):
                os.fsync(handle)
        with _translated(path):
            os.replace(temporary, target)
        _log.info("wrote %s", target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _into(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A device, a pipe or a socket, opened for writing."""
    with contextlib.ExitStack() as opened:
        with _translated(path):
            if stat.S_ISSOCK(os.stat(path).st_mode):
                connection = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                connection.connect(os.fspath(path))
                handle = os.dup(connection.fileno())
            else:
                handle = os.open(path, os.O_WRONLY)
        raw = opened.enter_context(_Output(handle, path))
        yield cast("BinaryIO", opened.enter_context(io.BufferedWriter(raw, _BUFFER)))


class _Output(io.FileIO):
    """An open file whose errors name the path that the user has given."""

    def __init__(self, handle: int, path: str | os.PathLike[str]) -> None:
        super().__init__(handle, "wb")
        self._path = path

    def write(self, data: Any, /) -> int:
        """Write; an error is `CannotWrite`, so that it is not taken for one of reading or of temporary files."""
        with _translated(self._path):
            return super().write(data)


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether a path names a device, a pipe or a socket: something to write into, not to replace."""
    found = _status(path)
    return found is not None and not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode)


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """The status of what a path names, through links; None if there is nothing."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _keep_owner_and_mode(handle: int, before: os.stat_result, path: str | os.PathLike[str]) -> None:
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(handle, before.st_uid, before.st_gid)
        except PermissionError:
            raise CannotWrite(
                f"{os.fspath(path)} cannot be replaced: it belongs to another user or group, which cannot be kept. "
                "Remove it first, or write elsewhere."
            ) from None
    os.fchmod(handle, stat.S_IMODE(before.st_mode))


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
    target = Path(os.path.realpath(path))
    temporary = part_of(target)
    remove_leftovers(target.parent)
    with _translated(path):
        temporary.mkdir()
    try:
        yield temporary
        with _translated(path):
            temporary.rename(target)
        _log.info("wrote the folder %s", target)
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
    if number == errno.ENAMETOOLONG:
        return "its name is too long for the file system. Give it a shorter one."
    return f"{error.strerror or error}."


@contextlib.contextmanager
def _translated(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise errors of the system as `CannotWrite`, except a pipe that its reader has closed."""
    try:
        yield
    except (TwoheadsError, BrokenPipeError):
        raise
    except OSError as error:
        folder = os.path.dirname(os.path.realpath(path))
        refused = CannotWrite(f"{_visible(path)} cannot be written: {system_reason(error, folder)}")
        refused.errno = _number(error)
        raise refused from error


def _visible(path: str | os.PathLike[str]) -> str:
    """A path up to the folder that is being written under a hidden name, which the user has not chosen."""
    parts = Path(path).parts
    hidden = [i for i, part in enumerate(parts) if part.startswith(".") and part.endswith(".part")]
    return str(Path(*parts[: hidden[0]])) if hidden else os.fspath(path)


def _number(error: OSError) -> int | None:
    """The number of an error; Arrow raises some without one."""
    return error.errno or (errno.ENOSPC if "No space left" in str(error) else None)
