"""How far a long fit has come: told to whoever listens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Listener:
    """Hears of each pass over all items; this one keeps silent. A command line draws what it hears."""

    def begin(self, n_items: int) -> None:
        """A pass over so many items begins."""

    def advance(self, n_items: int) -> None:
        """So many more of them are done."""

    def objective(self, value: float) -> None:
        """What is maximised has reached this value."""


_listener: ContextVar[Listener] = ContextVar("twoheads_listener", default=Listener())  # noqa: B039


def listener() -> Listener:
    """Who listens now."""
    return _listener.get()


@contextmanager
def heard_by(someone: Listener) -> Iterator[None]:
    """Tell someone how far fits have come that are made in here."""
    token = _listener.set(someone)
    try:
        yield
    finally:
        _listener.reset(token)
