"""A table from stdin, ``-``: copied into a temporary file, since tables are read more than once."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from twoheads.engines.temporary import remove_folder, temporary_folder
from twoheads.errors import InvalidParameter, TwoheadsError

#: The parameters of commands that name a table.
TABLES = ("table", "answers", "model", "truth")
#: Compressions are recognised by the suffix of a file: that of a stream is seen from its first bytes.
_SUFFIXES = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}

_copy: ContextVar[str | None] = ContextVar("twoheads_stdin", default=None)


@contextmanager
def spooled(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The values of a command's parameters, with a copy of stdin in place of ``-``; it is removed in the end."""
    named = [name for name in TABLES if str(values.get(name)) == "-"]
    if not named:
        yield values
        return
    if len(named) > 1:
        raise InvalidParameter("- is stdin, which holds one table; it is given twice. Give files for the others.")
    folder = Path(temporary_folder())
    token = None
    try:
        copy = _spool(folder)
        token = _copy.set(str(copy))
        yield values | {named[0]: str(copy) if named[0] == "truth" else copy}
    except TwoheadsError as error:
        error.args = (shown(str(error)),)
        raise
    finally:
        if token:
            _copy.reset(token)
        remove_folder(str(folder))


def _spool(folder: Path) -> Path:
    if sys.stdin is None:
        raise InvalidParameter("- is stdin, which is closed. Give a file, or a table on stdin.")
    source = sys.stdin.buffer
    head = source.read(4)
    suffix = next((each for mark, each in _SUFFIXES.items() if head.startswith(mark)), "")
    copy = folder / f"stdin{suffix}"
    with copy.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(source, file, 1 << 20)
    return copy


def is_copy(path: Any) -> bool:
    """Whether a path is that of the copy of stdin."""
    return _copy.get() is not None and str(path) == _copy.get()


def shown(text: str, name: str = "stdin") -> str:
    """A text as users see it: it names stdin, not the copy."""
    copy = _copy.get()
    return text if copy is None else text.replace(copy, name)
