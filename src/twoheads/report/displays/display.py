"""What all displays have: where they were drawn, and figures to publish."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twoheads.rendering.notebook import Shown
from twoheads.report.displays.style import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Width of a column of a two-column page, in inches.
COLUMN = 3.5


class Display(Shown):
    """A figure that is drawn by ``plot``; a notebook shows it, unless it is in axes of pyplot, which show themselves.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where it was drawn.
    """

    ax_: Axes
    figure_: Figure

    def summary(self) -> dict[str, Any]:
        """What it holds, by name."""
        return {name: value for name, value in super().summary().items() if not name.endswith("_")}

    def _repr_html_(self) -> str:
        if not hasattr(self, "figure_") or hasattr(self.figure_, "number"):
            return super()._repr_html_()
        file = io.StringIO()
        with styled():
            self.figure_.savefig(file, format="svg", metadata={"Date": None})
        text = file.getvalue()
        return text[text.index("<svg") :]

    def _drawn_in(self, ax: Axes) -> None:
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)  # type: ignore[assignment]

    def save(self, path: str | Path, *, width: float = COLUMN) -> None:
        """Write the figure, as SVG, PDF or PNG by the suffix, so many inches wide: one column by default.

        Fonts of PDF and SVG remain text.
        """
        if not hasattr(self, "figure_"):
            raise ValueError(f"{type(self).__name__} must be drawn before it is saved. Call plot() first.")
        before = self.figure_.get_size_inches().copy()
        self.figure_.set_size_inches(width, width * before[1] / before[0])
        try:
            with styled(for_paper=True):
                self.figure_.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None, dpi=300)
        finally:
            self.figure_.set_size_inches(*before)
