"""Objects of which not every fitted attribute is saved."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Restorable(Protocol):
    """An object some of whose fitted attributes follow from the others, and need not be saved."""

    def saved_state(self) -> dict[str, Any]:
        """The attributes to save."""

    def restore(self) -> None:
        """Compute the others."""
