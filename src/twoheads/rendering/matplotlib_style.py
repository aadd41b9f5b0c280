"""Matplotlib in one place: its settings, and figures without pyplot's global state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from twoheads.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHARED: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "twoheads",  # the same bytes every time
}


def need_matplotlib(purpose: str = "a figure") -> Any:
    """Matplotlib, or an error with how to install it."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra.instead_of(error, "matplotlib", "cli", purpose) from None
    return matplotlib


@contextmanager
def settings(own: Mapping[str, Any], purpose: str = "a figure") -> Iterator[None]:
    """Matplotlib's settings while a figure is drawn or written: the shared ones and those of the caller."""
    with need_matplotlib(purpose).rc_context(_SHARED | dict(own)):
        yield


def new_figure(width: float, height: float) -> Figure:
    """A figure that no global state knows of."""
    need_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
