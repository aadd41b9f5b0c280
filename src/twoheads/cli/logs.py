"""Logs and warnings of the library while a command runs."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from twoheads.cli import console
from twoheads.errors import InvalidParameter

LEVELS = ("debug", "info", "warning", "error")
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_logger = logging.getLogger("twoheads")


@contextmanager
def logged(level: str | None) -> Iterator[None]:
    """Write the log of the library from a level on to stderr; without a level, nothing of it."""
    if level is None:
        yield
        return
    if level.lower() not in LEVELS:
        raise InvalidParameter(f"--log-level must be {', '.join(LEVELS[:-1])} or {LEVELS[-1]}; it is {level!r}.")
    handler, before = logging.StreamHandler(sys.stderr), _logger.level
    handler.setFormatter(logging.Formatter(_FORMAT))
    _logger.addHandler(handler)
    _logger.setLevel(level.upper())
    try:
        yield
    finally:
        _logger.removeHandler(handler)
        _logger.setLevel(before)


@contextmanager
def warnings_as_messages() -> Iterator[None]:
    """Print warnings as one sentence each, without the line of code that they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = _show
        yield


def _show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    _logger.warning("%s: %s", category.__name__, message)
    console.message(f"Warning: {message}")
