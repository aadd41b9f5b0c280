"""Standard streams that may be closed: a command then ends quietly, as the tools of Unix do."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _Closed(io.RawIOBase):
    """A stream without a reader."""

    def writable(self) -> bool:
        return True

    def write(self, _: Any, /) -> int:
        raise BrokenPipeError


def complete() -> None:
    """Occupy the numbers of closed standard streams, so that no file gets them, and replace the streams."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), write_through=True)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, open until the end


def silence() -> None:
    """Send what is still to be written nowhere: its reader has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, open until the end
