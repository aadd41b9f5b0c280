"""The style of the studies' figures, and their files: SVG and PNG, the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from twoheads.rendering.matplotlib_style import new_figure, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, safe for colour-blind readers; each curve has its own marker as well.
COLOURS = {
    "Human": "#56606b",
    "Model": "#56606b",
    "LR on m": "#8c8c8c",
    "LR on log m": "#56b4e9",
    "SP": "#e69f00",
    "L+L": "#d55e00",
    "P+L": "#0072b2",
    "P+L-EM": "#009e73",
    "Bayes": "#cc79a7",
    "Recommended": "#000000",
}
MARKERS = {
    "LR on m": "x",
    "LR on log m": "+",
    "SP": "s",
    "L+L": "v",
    "P+L": "o",
    "P+L-EM": "^",
    "Bayes": "D",
    "Recommended": "*",
}

_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.6,
    "axes.edgecolor": "#56606b",
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "svg.fonttype": "path",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def style() -> AbstractContextManager[None]:
    """The studies' settings of matplotlib, while a figure is drawn and written."""
    return settings(_STYLE, "Drawing a study's figures")


def panels(
    n_rows: int, n_columns: int, *, width: float = 4.2, height: float = 3.2, **shared: Any
) -> tuple[Figure, Any]:
    """A figure of panels, (n_rows, n_columns)."""
    figure = new_figure(width * n_columns, height * n_rows)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **shared)


def as_files(figure: Figure, stem: str) -> dict[str, bytes]:
    """A figure as SVG and PNG, by file name."""
    files = {}
    for suffix, options in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 144})):
        content = io.BytesIO()
        figure.savefig(content, format=suffix, **options)
        files[f"{stem}.{suffix}"] = content.getvalue()
    return files


def reference_lines(axes: Axes, levels: Mapping[str, float]) -> None:
    """Levels that do not depend on the horizontal axis, named at their right ends; close ones to either side."""
    highest, lowest = max(levels.values()), min(levels.values())
    for label, value in levels.items():
        below = value == lowest < highest < 1.08 * lowest
        axes.axhline(value, color=COLOURS["Human"], linewidth=1, dashes=(4, 3))
        axes.annotate(
            label,
            (1, value),
            xycoords=("axes fraction", "data"),
            xytext=(-2, -2 if below else 2),
            textcoords="offset points",
            ha="right",
            va="top" if below else "bottom",
            fontsize=8,
            color=COLOURS["Human"],
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.5},
            zorder=5,
        )


def slug(name: str) -> str:
    """A name as part of a file's name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")
