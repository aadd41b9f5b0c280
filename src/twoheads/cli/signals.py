"""Signals that end a command: the first raises an exception, so that everything is cleaned up; more are ignored."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from typing import Any

#: Signals that a terminal, a system that shuts down or a scheduler of jobs sends, where there are such signals.
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
#: Seconds in which more signals are ignored; after them, clean-up is stuck, and may be interrupted.
_PATIENCE = 5.0

#: Seconds after which a signal that was lost comes again.
_LATER = 0.05

_last: tuple[int, float] | None = None


def catch() -> None:
    """Raise KeyboardInterrupt for each signal that ends a command, unless it is ignored, as under nohup."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    sys.unraisablehook = _unraisable


def ignore() -> None:
    """Ignore these signals: the process is about to end."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def has_come() -> bool:
    """Whether one of these signals has come: what a library makes of it, such as an error of reading, is no mistake."""
    return _last is not None


def exit_code() -> int:
    """The exit code of a command that a signal has ended: 128 and its number, as shells have it."""
    return 128 + (_last[0] if _last else signal.SIGINT)


def _end(number: int, _: Any) -> None:
    global _last
    if _last and time.monotonic() - _last[1] < _PATIENCE:
        return
    _last = (number, time.monotonic())
    raise KeyboardInterrupt


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """A signal that came while an object was removed, where Python drops exceptions, comes again a little later."""
    global _last
    if not issubclass(lost.exc_type, KeyboardInterrupt) or _last is None:
        sys.__unraisablehook__(lost)
        return
    number, _last = _last[0], None
    again = threading.Timer(_LATER, _thread.interrupt_main, (number,))
    again.daemon = True
    again.start()
