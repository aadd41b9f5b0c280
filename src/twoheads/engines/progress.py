"""Progress callbacks of long fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class ProgressCallback:
    """Called during each pass over all items. This one does nothing; the command line draws a progress bar."""

    def begin(self, n_items: int) -> None:
        """A pass over so many items begins."""

    def advance(self, n_items: int) -> None:
        """So many more of them are done."""

    def objective(self, value: float) -> None:
        """The value that the objective has reached."""


_callback: ContextVar[ProgressCallback] = ContextVar("twoheads_progress", default=ProgressCallback())  # noqa: B039


def current_callback() -> ProgressCallback:
    """The current callback."""
    return _callback.get()


@contextmanager
def progress_to(callback: ProgressCallback) -> Iterator[None]:
    """Report the progress of fits made inside this context to a callback."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)
