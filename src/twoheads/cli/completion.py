"""What the shell completes: the values that an option knows. Files are completed by the shell itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def study_names(incomplete: str) -> list[str]:
    """Complete the name of a study."""
    from twoheads.studies import STUDIES  # takes a moment to load

    return among(STUDIES)(incomplete)


def among(values: Iterable[str]) -> Callable[[str], list[str]]:
    """Complete a value that is one of several."""
    known = list(values)

    def complete(incomplete: str) -> list[str]:
        return [value for value in known if value.startswith(incomplete)]

    return complete
