"""The style of figures: one colour, one marker and one line per member, distinct without colour too."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from twoheads.rendering.matplotlib_style import new_figure, settings

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


_STYLE = {
    "text.parse_math": False,  # a dollar sign in a class name does not begin a formula
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
    "lines.linewidth": 1.8,
}


def styled() -> AbstractContextManager[None]:
    """The report's settings of matplotlib: no frame, a light grid."""
    return settings(_STYLE)


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Axes to draw in: ``ax``, or those of a new figure."""
    if ax is not None:
        return ax
    with styled():
        return new_figure(*size).add_subplot()


def shortened(name: str, length: int = 14) -> str:
    """Cut a long class name."""
    return name if len(name) <= length else f"{name[: length - 1]}…"
