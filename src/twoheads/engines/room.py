"""A lack of memory, or of disk for temporary files, as one sentence wherever it shows."""

from __future__ import annotations

import contextlib
import errno
import tempfile
from collections.abc import Iterator

from twoheads.errors import NoRoom

_FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
#: How libraries report a lack of memory in errors of other types: of the system, of the loader, of threads.
_NO_MEMORY = (
    "cannot allocate memory",
    "failed to map segment",
    "can't start new thread",
    "could not create thread",
    "failed to launch worker thread",
    "resource temporarily unavailable",
    "failed to allocate",
    "std::bad_alloc",
    "malloc of size",
)
#: How Python reports that nothing can be written to any folder for temporary files.
_NO_FOLDER = "No usable temporary directory"


@contextlib.contextmanager
def room(trouble: str) -> Iterator[None]:
    """Re-raise a lack of memory or of disk as `NoRoom`; ``trouble`` begins the message."""
    try:
        yield
    except NoRoom:
        raise
    except Exception as error:
        if not lacks_room(error):
            raise
        raise no_room(trouble, error) from None


def no_room(trouble: str, error: BaseException) -> NoRoom:
    """The sentence for a lack of memory or of disk."""
    if _NO_FOLDER in str(error):
        what = "no folder for temporary files can be written to. Make room in one, or name another folder in TMPDIR."
        return NoRoom(f"{trouble}: {what}")
    disk = f"in the folder for temporary files ({tempfile.gettempdir()})"
    if _is_full_disk(error):
        what = f"there is no room {disk}. Make room there, or name another folder in TMPDIR."
    elif type(error).__name__ == "OutOfMemoryException":  # DuckDB's, which may be for want of disk to spill to
        what = f"there is no room in memory, or {disk}. Make room there, or name another folder in TMPDIR."
    else:
        what = "there is not enough memory. Give the program more, or use a smaller table."
    return NoRoom(f"{trouble}: {what}")


def lacks_room(error: BaseException) -> bool:
    """Whether an error is a lack of memory or of disk."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException" or _is_full_disk(error):
        return True
    if isinstance(error, OSError) and (error.errno == errno.ENOMEM or _NO_FOLDER in str(error)):
        return True
    text = str(error).lower()
    return any(words in text for words in _NO_MEMORY)


def _is_full_disk(error: BaseException) -> bool:
    return (isinstance(error, OSError) and error.errno in _FULL_DISK) or "No space left" in str(error)
