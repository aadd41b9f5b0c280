"""Temporary files and folders, named by their process, so that a later run can remove those of a dead one."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_OWNER = r"(?P<machine>[0-9a-f]{8})-(?P<pid>\d+)-(?P<start>\d+)-[0-9a-f]{8}"
_FOLDER = re.compile(rf"twoheads-{_OWNER}")
_PART = re.compile(rf"\..*\.{_OWNER}\.part", re.DOTALL)
#: The longest name of a file, in bytes, on the usual file systems.
_LONGEST = 255
#: The folders in ``TMPDIR`` that this process has made and not removed yet.
_made: set[str] = set()


def temporary_name() -> str:
    """A new name for a folder in ``TMPDIR``."""
    return os.path.join(tempfile.gettempdir(), f"twoheads-{_owner()}")


def temporary_folder() -> str:
    """Make a folder in ``TMPDIR``, to be removed by `remove_folder`, and remove those of dead processes there."""
    remove_leftovers(Path(tempfile.gettempdir()))
    folder = temporary_name()
    _made.add(folder)  # first: a signal may come at any moment
    os.mkdir(folder, 0o700)
    return folder


def remove_folder(folder: str) -> None:
    """Remove a folder that `temporary_folder` has made; any other is an error, and is left alone."""
    if not _FOLDER.fullmatch(os.path.basename(folder)):
        raise ValueError(f"{folder} is not a temporary folder of twoheads")
    shutil.rmtree(folder, ignore_errors=True)
    _made.discard(folder)


@atexit.register
def _remove_made() -> None:
    """At the end of the process, remove the folders whose maker was interrupted before it could take care of them."""
    own = f"-{os.getpid()}-"
    for folder in [name for name in _made if own in os.path.basename(name)]:
        remove_folder(folder)


def part_of(target: Path) -> Path:
    """A hidden name beside a file or folder, to write to first."""
    ending = f".{_owner()}.part"
    shown = target.name.encode("utf-8", "surrogateescape")[: _LONGEST - len(ending) - 1]
    return target.with_name(f".{shown.decode('utf-8', 'ignore')}{ending}")


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files and folders of ours in a folder whose process is dead."""
    with contextlib.suppress(OSError):
        for entry in list(_leftovers(folder)):
            _remove(entry)


def _leftovers(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            found = _FOLDER.fullmatch(entry.name) or _PART.fullmatch(entry.name)
            if found and found["machine"] == _machine() and not _is_alive(int(found["pid"]), int(found["start"])):
                yield Path(entry.path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def _owner() -> str:
    pid = os.getpid()
    return f"{_machine()}-{pid}-{_start_of(pid) or 0}-{secrets.token_hex(4)}"


@cache
def _machine() -> str:
    """Where process numbers mean something: this machine, and within it this container."""
    try:
        processes = os.readlink("/proc/self/ns/pid")
    except OSError:
        processes = ""
    return hashlib.sha256(f"{os.uname().nodename} {processes}".encode()).hexdigest()[:8]


def _is_alive(pid: int, start: int) -> bool:
    """Whether a process with this number runs, and is the one that started then."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's, or a number too large for any process
        return True
    return start == 0 or _start_of(pid) in (None, start)


def _start_of(pid: int) -> int | None:
    """When a process started, in clock ticks since the system did; None where the system does not show it."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[19])
