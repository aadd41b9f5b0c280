"""The style of figures: one colour, one marker and one line per member, distinct without colour too."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

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
#: The colours and markers of what is drawn over or beside others, in their order.
CYCLE = ("#009e73", "#0072b2", "#d55e00", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("^", "s", "o", "D", "v", "X", "P")
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


#: Fonts of a figure that is written for print: smaller, and text remains text.
_PAPER = {"svg.fonttype": "none", "pdf.fonttype": 42}


def styled(*, for_paper: bool = False) -> AbstractContextManager[None]:
    """The report's settings of matplotlib: no frame, a light grid."""
    return settings(_STYLE | (_PAPER if for_paper else {}))


def n_drawn(ax: Axes) -> int:
    """How many named curves are in the axes already."""
    return len(ax.get_legend_handles_labels()[1])


def colour_of(ax: Axes, key: str, color: Any) -> Any:
    """The colour to draw in: the one given, that of a member, or, over others, the next one."""
    if color is not None:
        return color
    first, already = COLOUR.get(key, CYCLE[0]), n_drawn(ax)
    return first if already == 0 else [each for each in CYCLE if each != first][(already - 1) % (len(CYCLE) - 1)]


def legend(ax: Axes, *, least: int = 2) -> None:
    """A legend below the axes, where so many curves have names."""
    if n_drawn(ax) >= least:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=3, handlelength=1.7, columnspacing=1.0)


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Axes to draw in: ``ax``, or those of a new figure."""
    if ax is not None:
        return ax
    with styled():
        return new_figure(*size).add_subplot()


def shortened(name: str, length: int = 14) -> str:
    """Cut a long name in the middle: names that begin alike often end differently."""
    if len(name) <= length:
        return name
    tail = (length - 1) // 2
    return f"{name[: length - 1 - tail]}…{name[-tail:]}"
