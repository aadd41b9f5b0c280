"""What all displays have: where they were drawn, and figures to publish."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from twoheads.report.displays.style import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Width of a column of a two-column page, in inches.
COLUMN = 3.5


class Display:
    """A figure that is drawn by ``plot``.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where it was drawn.
    """

    ax_: Axes
    figure_: Figure

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
