"""How figures look: one colour, one marker and one line per member, told apart without colour too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from twoheads.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours of Okabe and Ito (2008), safe for colour-blind readers.
COLOUR = {
    "human": "#d55e00",
    "crowd": "#d55e00",
    "model": "#0072b2",
    "calibrated_model": "#0072b2",
    "combination": "#009e73",
}
MARKER = {"human": "o", "crowd": "X", "model": "s", "calibrated_model": "D", "combination": "^"}
LINE = {"human": "--", "model": ":", "calibrated_model": "-.", "combination": "-"}
INK, MUTED, GRID = "#1b1d1f", "#60656b", "#d8dadd"


def need_matplotlib() -> Any:
    """Matplotlib, or an error that says how to install it."""
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("matplotlib", "cli", "a figure") from None
    return matplotlib


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Axes to draw in: those given, or those of a new figure that no global state knows of."""
    if ax is not None:
        return ax
    need_matplotlib()
    from matplotlib.figure import Figure

    with styled():
        return Figure(figsize=size, layout="constrained").add_subplot()


@contextmanager
def styled() -> Iterator[None]:
    """Draw quietly: no frame, light grid, text as it is (a dollar sign in a class name is no formula)."""
    settings = {
        "text.parse_math": False,
        "font.size": 10.5,
        "axes.labelsize": 10.5,
        "xtick.labelsize": 9.5,
        "ytick.labelsize": 9.5,
        "legend.fontsize": 9.5,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": MUTED,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
    }
    with need_matplotlib().rc_context(settings):
        yield


def shortened(name: str, length: int = 14) -> str:
    """Cut a long class name."""
    return name if len(name) <= length else f"{name[: length - 1]}…"
