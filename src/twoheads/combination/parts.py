"""The parts of an estimator: a fresh copy of what was given, or of the default."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn.base import clone

from twoheads.errors import InvalidParameter

Part = TypeVar("Part")


def part(given: Any, kind: type, default: type[Part], argument: str) -> Part:
    """A copy of ``given`` that is yet to be fitted, or the default; refuse what is not of its kind."""
    if given is None:
        return default()
    if isinstance(given, type) and issubclass(given, kind):
        raise InvalidParameter(
            f"{argument} must be an object, not a class; it is {given.__name__}. Write {given.__name__}()."
        )
    if not isinstance(given, kind):
        raise InvalidParameter(f"{argument} must be a {kind.__name__}, such as {default.__name__}(); it is {given!r}.")
    return clone(given)  # type: ignore[no-any-return]
